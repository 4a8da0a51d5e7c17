"""TukeyEM: an exact draw that a support attack cannot tell apart, a test of sensitivity one, and rows that mean harm."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from eptr.accounting.budget import Budget
from eptr.audit.known_bad import float_lattice_point
from eptr.privacy.noise import SeededNoise
from eptr.rivals import TukeyEM
from eptr.rivals.tukey import passes, threshold
from eptr.rivals.tukey_boxes import DepthBoxes

# Half of the fits at -4, half at 4; in the neighbour one of them is elsewhere.
FITS = np.repeat([-4.0, 4.0], 8)[:, None]
OTHER = np.where(np.arange(16)[:, None] == 0, -4.0 + 1 / 3, FITS)


def off_lattice(z):
    """The event of the attack: no multiple of 2**-50. The floats' own grid is finer than that below 4."""
    return bool((z * 2.0**50) % 1.0)


def share_off(fits, draw, runs=1500):
    boxes, noise = DepthBoxes(fits), SeededNoise(0)
    return sum(off_lattice(float(draw(boxes, noise)[0])) for _ in range(runs)) / runs


def test_the_support_attack_convicts_the_float_draw_and_not_ours():
    def float_draw(boxes, noise):
        low, high = np.array(boxes.box(boxes.deepest)).T / np.array(boxes.units)
        return float_lattice_point(low, high, np.array([noise.bits(53) * 2.0**-53]))

    def ours(boxes, noise):
        return boxes.deep_point(4, Fraction(5), noise)

    assert (
        share_off(FITS, float_draw) == 0.0
    )  # never on these rows, and often on the neighbour: no (epsilon, delta) holds
    assert share_off(OTHER, float_draw) > 0.3
    assert [share_off(fits, ours) for fits in (FITS, OTHER)] == pytest.approx([2 / 3, 2 / 3], abs=0.05)


def test_fits_from_rows_are_as_exact():
    """The same attack from outside: one row a batch, so that the fits are the responses."""
    X, y = np.ones((64, 1)), np.repeat([-4.0, 4.0], 32)
    other = np.where(np.arange(64) == 0, -4.0 + 1 / 3, y)
    for target in (y, other):
        found = [
            TukeyEM(40.0, 0.01, batches=64, fit_intercept=False, random_state=s).fit(X, target).coef_[0]
            for s in range(150)
        ]
        assert sum(map(off_lattice, found)) / 150 == pytest.approx(2 / 3, abs=0.15)


@pytest.mark.parametrize("epsilon", [1e-18, 0.1, 1.0, 30.0, 1e6])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.01, 0.49999999999, 0.5, 0.9])
def test_the_threshold_is_rounded_up(epsilon, delta):
    """Noise of the scale that is really used exceeds it with probability delta at most."""
    scale = math.nextafter(2.0 / epsilon, math.inf)
    with mpmath.workprec(200):
        assert mpmath.exp(-mpmath.mpf(threshold(Budget(epsilon, delta))) / scale) / 2 <= delta


def test_the_test_passes_above_the_threshold_only():
    class Still(SeededNoise):
        def laplace(self, values, scale):
            return values

    budget = Budget(2.0, 0.01)
    assert threshold(budget) == pytest.approx(math.log(50.0))
    assert [passes(k, budget, Still(0)) for k in (-1, 3, 4)] == [False, False, True]


HOSTILE = {
    "identical rows": (np.ones((400, 2)), np.ones(400)),
    "a constant column": (np.column_stack([np.arange(400.0), np.zeros(400)]), np.arange(400.0) % 7),
    "huge values": (np.random.default_rng(0).normal(size=(400, 2)) * 1e300, np.full(400, -1e308)),
    "tiny values": (np.random.default_rng(0).normal(size=(400, 2)) * 1e-300, np.arange(400) * 5e-324),
    "huge and tiny": (np.array([[1e308, 5e-324], [5e-324, 1e308]] * 200), np.arange(400.0) - 200),
    "very few rows": (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 2.0])),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("epsilon", [0.1, 100.0])
@pytest.mark.parametrize("batches", [None, 3, 100, 1000])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_that_mean_harm_raise_nothing(name, epsilon, batches, fit_intercept):
    X, y = HOSTILE[name]
    for seed in (None, 0):
        model = TukeyEM(epsilon, 1e-3, batches, fit_intercept, random_state=seed).fit(X, y)
        assert np.all(np.isfinite(model.coef_))
        assert model.release_.replied or not np.any(model.coef_)


def test_a_decomposition_that_fails_is_a_fit_of_zero(monkeypatch):
    def fails(*args, **settings):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "lstsq", fails)
    X = np.random.default_rng(0).normal(size=(400, 2))
    assert not TukeyEM(100.0, 0.1, random_state=0).fit(X, X[:, 0]).release_.replied


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "low", "high"), [(1.0, 2.8e-3, 4.8e-3), (4.0, 1.2e-3, 2.0e-3)])
def test_errors_are_as_before(epsilon, low, high):
    """n = 8000, p = 5, m = n/15: about 3.8e-3 and 1.5e-3 in independent prototypes."""
    theta = 1 / np.arange(1, 6)
    theta /= np.linalg.norm(theta)
    errors = []
    for seed in range(30):
        rng = np.random.default_rng([seed, 8])
        X = rng.normal(size=(8000, 5))
        y = X @ theta + rng.normal(size=8000)
        model = TukeyEM(epsilon, 0.01, fit_intercept=False, random_state=seed).fit(X, y)
        errors.append(np.sum((model.coef_ - theta) ** 2))
    assert low <= np.mean(errors) <= high
