"""TukeyEM: an exact draw that a support attack cannot tell apart, a test of sensitivity one, and rows that mean harm."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from scipy import stats

from eptr.accounting.budget import Budget
from eptr.audit.known_bad import float_lattice_point
from eptr.privacy import draws
from eptr.privacy.noise import ExactNoise, SeededNoise
from eptr.rivals import TukeyEM, tukey_boxes
from eptr.rivals.tukey import passes, threshold
from eptr.rivals.tukey_boxes import DepthBoxes

from ..privacy.fed_bits import distribution

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


def depth(points, z):
    """From the definition: the least number of points that are not on the other side of z."""
    return min(min(np.sum(points[:, j] <= z[j]), np.sum(points[:, j] >= z[j])) for j in range(points.shape[1]))


def test_every_float_has_the_exact_probability(monkeypatch):
    """One coordinate, points a few floats apart, every sequence of bits."""
    monkeypatch.setattr(draws, "FIRST_BITS", 2)
    places, ulp, rate, t = [0, 1, 1, 3, 4, 5, 7, 8], Fraction(1, 1 << 52), 0.75, 2
    boxes = DepthBoxes(np.array([[1.0 + k * 2.0**-52] for k in places]))
    found, undecided = distribution(lambda noise: float(boxes.deep_point(t, Fraction(rate), noise)[0]), 18)
    # In quarters of a float: the density is constant there, and a cell is four quarters around its float.
    mass, points = Counter(), np.array(places, dtype=float)[:, None]
    for quarter in range(4 * 8):
        at = depth(points, np.array([quarter / 4 + 1 / 8]))
        if at >= t:
            mass[float(1 + ((quarter + 2) // 4) * ulp)] += mpmath.exp(rate * int(at))
    total = mpmath.fsum(mass.values())
    assert undecided < 0.04
    assert set(found) == set(mass)
    for value, weight in mass.items():
        assert float(found[value]) <= weight / total <= float(found[value] + undecided)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_points_fall_into_cells_as_often_as_the_density_says(p):
    rng = np.random.default_rng(p)
    points = rng.normal(size=(9 if p > 1 else 16, p))
    t, rate, noise, boxes = 2, 0.4, SeededNoise(p), DepthBoxes(points)
    drawn = [boxes.deep_point(t, Fraction(rate), noise) for _ in range(6000)]
    edges = np.sort(points, axis=0)
    counts = Counter(tuple(int(np.searchsorted(edges[:, j], z[j])) for j in range(p)) for z in drawn)
    weights = {}
    for cell in product(range(1, len(points)), repeat=p):
        sides = [(edges[c - 1, j], edges[c, j]) for j, c in enumerate(cell)]
        at = depth(points, [(a + b) / 2 for a, b in sides])
        if at >= t:
            weights[cell] = math.prod(b - a for a, b in sides) * math.exp(rate * at)
    assert set(counts) <= set(weights)
    expected = np.array(list(weights.values())) * 6000 / sum(weights.values())
    observed = np.array([counts[cell] for cell in weights])
    many = expected > 10
    observed = np.append(observed[many], observed[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-3


def hostile_fits(rng):
    """Points of very different spread, with ties, and a neighbour of them."""
    m, p = int(rng.integers(1, 60)), int(rng.integers(1, 4))
    points = rng.normal(size=(m, p)) * 10.0 ** rng.integers(-3, 3, size=(m, 1))
    if rng.random() < 0.5:
        points = np.round(points, int(rng.integers(0, 3)))
    other = points.copy()
    other[rng.integers(m)] = rng.choice([0.0, 1e100, 5e-324, points[0, 0], rng.normal()], size=p)
    return points, other


def by_definition(boxes, t, rate, level):
    def holds(k):
        return any(
            boxes.volume(t - k - 1) * mpmath.exp(-rate * g)
            <= level * mpmath.exp(-2 * rate) * boxes.volume(t + k + g + 1)
            for g in range(1, boxes.deepest)
            if boxes.volume(t + k + g + 1)
        )

    return max((k for k in range(t - 1) if holds(k)), default=-1)


def test_the_distance_is_the_definition_s_and_moves_by_one_between_neighbours():
    rng, seen = np.random.default_rng(0), set()
    with mpmath.workprec(300):
        for _ in range(150):
            pair = [DepthBoxes(fits) for fits in hostile_fits(rng)]
            rate, level = float(rng.choice([0.1, 1.0, 5.0, 1e3])), float(rng.choice([0.1, 1e-6])) / 8
            t = max(1, len(pair[0]._edges[0]) // 4)
            one, two = (boxes.distance(t, Fraction(rate), Fraction(level)) for boxes in pair)
            assert one == by_definition(pair[0], t, rate, level)
            assert abs(one - two) <= 1
            seen.add(one)
    assert len(seen) > 6  # the search is not idle


@pytest.mark.parametrize("bits", [2, 64])
def test_distances_of_boxes_that_grow_step_by_step_are_the_definition_s(bits, monkeypatch):
    """Points at plus and minus b^i: whether a distance holds depends on single volumes, and is not seen from two bits alone."""
    monkeypatch.setattr(tukey_boxes, "FIRST_BITS", bits)
    seen = Counter()
    with mpmath.workprec(300):
        for base, rate, level in product([1.25, 1.5, 2.0], [0.25, 0.5, 1.0, 2.0], [0.0125, 1e-4]):
            boxes = DepthBoxes(np.outer(base ** np.arange(40.0), [-1.0, 1.0]).reshape(-1, 1))
            for t in (10, 14, 20):
                found = boxes.distance(t, Fraction(rate), Fraction(level))
                assert found == by_definition(boxes, t, rate, level)
                seen[found] += 1
    assert len(seen) > 10


def densities(points, t, rate, borders):
    """The mechanism's probability of each piece between borders, one coordinate."""
    mass = np.array(
        [
            (b - a) * math.exp(rate * at) if (at := depth(points, [(a + b) / 2])) >= t else 0.0
            for a, b in pairwise(borders)
        ]
    )
    return mass / mass.sum()


def test_safe_neighbours_are_as_close_as_the_lemma_says():
    rng, worst, safe = np.random.default_rng(1), 0.0, 0
    for _ in range(300):
        m, epsilon, delta = 40, float(rng.choice([0.5, 2.0, 8.0])), float(rng.choice([0.5, 0.05]))
        t, rate = 10, epsilon / 2
        fits = rng.standard_t(2, size=(m, 1)) if rng.random() < 0.5 else rng.choice([-1.0, 1.0], size=(m, 1))
        other = fits.copy()
        other[rng.integers(m)] = rng.choice([-100.0, 100.0, rng.normal()])
        if DepthBoxes(fits).distance(t, Fraction(rate), Fraction(delta) / 8) < 0:
            continue
        safe += 1
        borders = np.unique(np.concatenate([fits, other]))
        one, two = (densities(points, t, rate, borders) for points in (fits, other))
        for a, b in ((one, two), (two, one)):
            worst = max(worst, float(np.sum(np.maximum(a - math.exp(epsilon) * b, 0.0))) / delta)
    assert safe > 50
    assert worst <= 0.25


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


def test_boxes_without_volume_are_never_drawn_from():
    """A test that is passed by chance meets no box to draw from: no reply."""
    X, y = np.ones((400, 1)), np.ones(400)
    models = [TukeyEM(1.0, 0.9, 50, False, random_state=s).fit(X, y) for s in range(40)]
    assert not any(model.release_.replied for model in models)


def test_extreme_boxes_are_drawn_exactly_and_soon():
    fits = np.array([[-1e100], [-1.0], [-5e-324], [0.0], [5e-324], [1.0], [1e100], [1e100]])
    for noise in (ExactNoise(), SeededNoise(0)):
        for rate in (1e-9, 1.0, 500.0, 1e9):
            assert abs(DepthBoxes(fits).deep_point(1, Fraction(rate), noise)[0]) <= 1e100


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "low", "high"), [(1.0, 2.8e-3, 4.8e-3), (4.0, 1.2e-3, 2.0e-3)])
def test_errors_are_as_before(epsilon, low, high):
    """n = 8000, p = 5, m = n/15: about 3.8e-3 and 1.5e-3 in independent prototypes."""
    theta = 1 / np.arange(1, 6)
    theta /= np.linalg.norm(theta)
    errors = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 8])
        X = rng.normal(size=(8000, 5))
        y = X @ theta + rng.normal(size=8000)
        model = TukeyEM(epsilon, 0.01, fit_intercept=False, random_state=seed).fit(X, y)
        errors.append(np.sum((model.coef_ - theta) ** 2))
    assert low <= np.mean(errors) <= high
