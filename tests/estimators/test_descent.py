"""The engine of refined fits: its passes over the rows, and where it ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr
from eptr.estimators.descent import Descent
from eptr.estimators.ends import levels
from eptr.estimators.learning import Learnt
from eptr.estimators.tail import Tail
from eptr.rows.memory import MemoryRows


@pytest.fixture
def passes(monkeypatch):
    """How often a fit reads the rows."""
    count, one = [], MemoryRows.sum

    def counted(self, fn):
        count.append(fn)
        return one(self, fn)

    monkeypatch.setattr(MemoryRows, "sum", counted)
    return count


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"x_bound": 3.0, "y_bound": 8.0}, 3),
        ({"x_range": (-5, 5), "y_range": (-8, 8)}, 4),
        ({"x_bound": 3.0, "y_bound": 8.0, "symmetric_errors": True}, 2),
    ],
)
def test_clear_data_are_read_three_times(settings, most, passes):
    """Moments, sizes of gradients, gradients. Ranges cost one more, symmetric errors one less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=20_000)
    assert math.sqrt(20_000) * eptr.gaussian_mu(20.0, 1e-6) > 300
    model = eptr.LinearRegression(20.0, 1e-6, random_state=0, **settings).fit(X, y)
    assert len(passes) == most
    np.testing.assert_allclose(
        model.coef_, np.linalg.lstsq(np.c_[X, np.ones(20_000)], y, rcond=None)[0][:2], atol=0.004
    )


def test_levels_go_down_by_halves_from_one_that_few_rows_exceed():
    edges = 2.0 ** (np.arange(28) / 2.0)
    size = np.exp(np.random.default_rng(0).normal(size=100_000)) * 20.0
    counts = np.bincount(np.minimum(np.searchsorted(edges, size), 27), minlength=28).astype(float)
    found = levels(Tail(edges, counts, 5.0), 100.0, len(size))
    assert len(found) >= 2
    np.testing.assert_allclose(np.diff(np.log2(found)), 1.0)
    assert 30 < np.sum(size > found[-1]) < 300
    assert found[0] >= 0.5 * np.quantile(size, 0.85)


@pytest.mark.parametrize(
    ("bands", "variance", "kept"),
    [
        ([[1.0, 0.0], [0.5, 0.0], [0.3, 0.0]], [1e-4] * 3, 3),
        ([[1.0, 0.0], [0.5, 0.0], [0.01, 0.0]], [1e-4, 1e-4, 1e-2], 2),
        ([[1.0, 0.0], [0.01, 0.0], [0.01, 0.0]], [1e-4, 1e-2, 1e-2], 1),
        ([[1.0, 0.0], [0.01, 0.0], [0.9, 0.0]], [1e-4, 1e-2, 1e-2], 3),  # what lies beyond a dull band may count
    ],
)
def test_bands_are_kept_as_long_as_they_tell_more_than_noise(bands, variance, kept):
    descent = object.__new__(Descent)
    descent.p, descent.longest = 2, 0.0
    assert descent.worth_keeping(np.array(bands), np.array(variance)) == kept


def learnt(first, second, noises=(1e-6, 1e-6), *, known=False, move=None):
    """What is learnt from gradients before and after a whole move, or another."""
    found = Learnt(len(first), known=known)
    found.from_move(first if move is None else move, first, second, noises, noises[0])
    return found.inverse, found.overshot


def test_a_move_that_went_too_far_is_learnt_from():
    """A curvature of 3 along a move: the gradient turns round, twice as long."""
    first = np.array([3.0, 0.0, 0.0])
    inverse, overshot = learnt(first, -2.0 * first)
    assert overshot
    np.testing.assert_allclose(inverse, np.diag([1.0 / 3.0, 1.0, 1.0]))


def test_a_gradient_that_became_longer_shows_a_direction_that_is_too_steep():
    """Curvatures of 1 and 5; the move is mostly in the first direction, and nothing is wrong along it."""
    curvature, first = np.diag([0.8, 5.0, 1.0]), np.array([3.0, 1.0, 0.0])
    second = first - curvature @ first
    inverse, overshot = learnt(first, second)
    assert overshot
    assert np.max(np.linalg.eigvals(curvature @ inverse).real) < 2.5
    assert np.min(np.linalg.eigvalsh((inverse + inverse.T) / 2.0)) > 0.0


@pytest.mark.parametrize("p", [3, 30, 200])
def test_a_move_that_was_noise_teaches_nothing(p):
    """At the solution both gradients are noise, the second that of the move, too: longer, as it should be."""
    rng, wrong = np.random.default_rng(p), 0
    for _ in range(300):
        one, two = rng.normal(size=(2, p))
        wrong += learnt(one, -one + 0.5 * two, (1.0, 0.25))[1]
    assert wrong <= 6


def test_coordinates_that_are_known_are_believed_longer():
    first, noises = np.array([4.0, 0.0, 0.0]), (0.12, 0.12)
    second = -first  # half of it: a curvature of 1.5, give or take .12
    assert learnt(first, 0.5 * second, noises)[1]
    assert not learnt(first, 0.5 * second, noises, known=True)[1]


def test_a_move_that_the_curvature_in_use_explains_did_not_go_too_far():
    curvature, first = np.diag([3.1, 1.0]), np.array([3.0, 0.5])
    found = Learnt(2, known=False)
    found.inverse = np.linalg.inv(curvature)
    move = found.inverse @ first
    found.from_move(move, first, first - curvature @ move, (1e-6, 1e-6), 1e-6)
    assert not found.overshot
    found.inverse = np.eye(2)
    found.from_move(first, first, first - curvature @ first, (1e-6, 1e-6), 1e-6)
    assert found.overshot


@pytest.mark.parametrize(
    ("code", "share", "n", "epsilon"), [(-99, 0.03, 30_000, 8.0), (-99, 0.01, 30_000, 4.0), (999, 0.02, 30_000, 4.0)]
)
def test_codes_for_missing_values_are_not_told_wrongly(code, share, n, epsilon):
    """They are most of a column's squares. Least squares of the column as it is was missed by 12 to 500 standard errors."""
    held = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        age = rng.normal(40, 12, n).clip(18, 90)
        X = np.column_stack([np.where(rng.random(n) < share, code, age), rng.normal(size=n)])
        y = 0.1 * age + rng.normal(size=n)
        plain = np.linalg.lstsq(np.column_stack([X, np.ones(n)]), y, rcond=None)[0][0]
        ranges = [(min(code, 0), max(code, 110)), (-5, 5)]
        fit = eptr.LinearRegression(epsilon, 1e-6, x_range=ranges, y_range=(-10, 30), random_state=seed).fit(X, y)
        low, high = fit.conf_int()[0]
        held.append(not low > plain and not high < plain)
    assert np.mean(held) > 0.8


def test_a_rare_level_has_the_standard_error_that_its_rows_allow():
    # Its rows are the longest, so cutting them takes most of what they tell about the spread; without privacy it is 1/sqrt(300).
    errors = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(30_000, 16)), rng.permutation(30_000) < 300])
        y = X @ np.linspace(1.0, -1.0, 17) + rng.normal(size=30_000)
        model = eptr.LinearRegression(4.0, 1e-6, x_range=[(-5, 5)] * 16 + [(0, 1)], y_range=(-8, 8), random_state=seed)
        low, high = model.fit(X, y).conf_int()[16]
        errors.append((high - low) / 3.92)
    assert 1.0 < np.median(errors) * math.sqrt(300) < 1.3


@pytest.mark.parametrize(
    ("share", "n", "epsilon", "found"), [(0.01, 10_000, 1.0, 0.4), (0.01, 2000, 4.0, 0.4), (0.005, 10_000, 1.0, 0.2)]
)
def test_rare_events_do_not_hide_behind_the_zeros(share, n, epsilon, found):
    # As many ones as may lie beyond the last level: the fit was zero, hundreds of its standard errors off.
    away, means = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.uniform(18, 80, n), rng.integers(0, 21, n), rng.integers(0, 2, n)])
        y = (rng.random(n) < share * (0.5 + X[:, 0] / 100)).astype(float)
        ranges = {"x_range": [(18, 80), (0, 20), (0, 1)], "y_range": (0, 1)}
        model = eptr.LinearRegression(epsilon, 1e-6, **ranges, random_state=seed).fit(X, y)
        exact = np.linalg.lstsq(np.c_[X, np.ones(n)], y, rcond=None)[0]
        low, high = model.conf_int().T
        away.append(np.max(abs(exact - (low + high) / 2) / (high - low) * 3.92))
        means.append(np.mean(model.predict(X)) / np.mean(y))
    assert np.max(away) < 4.0
    assert np.median(means) > found  # fifty ones are as few as the noise of their number: intervals say so


def test_a_wide_range_of_y_does_not_reach_for_rows_that_are_not_there():
    errors = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(10_000, 3))
        y = X @ [0.5, -0.3, 0.2] + rng.normal(size=10_000)
        model = eptr.LinearRegression(1.0, 1e-6, x_bound=3.0, y_bound=100.0, random_state=seed).fit(X, y)
        errors.append(np.linalg.norm(model.coef_ - [0.5, -0.3, 0.2]))
    assert np.median(errors) < 0.06
    assert np.max(errors) < 0.3
