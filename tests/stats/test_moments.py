"""The sets that hold what a row adds: no two points are further apart than is charged, and some are nearly as far."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from eptr.rows.exact import sum_grid
from eptr.rows.memory import MemoryRows
from eptr.stats.moments import Weights, moments, within

WEIGHTS = [
    Weights(0.0, 1.0, 0.5),
    Weights(27 / 32, 1.0, 0.5),
    Weights(0.5, 1.0, 0.25),
    Weights(0.0, 1.0, 0.0),
    Weights(0.0, 1 / 8, 1.0, 1 / 8, 1 / 4),
    Weights(1 / 4, 1 / 8, 1.0, 1 / 8, 1 / 4),
]


def points(rng, count, d):
    """Vectors in the unit ball: on axes, on the sphere, two columns at a time, and inside."""
    u = rng.normal(size=(count, d)) * rng.choice([0.0, 1.0], size=(count, d), p=[0.6, 0.4])
    size = np.linalg.norm(u, axis=1, keepdims=True)
    u = u / np.where(size > 0, size, 1.0)
    return u * rng.choice([0.0, 1 / 3, 0.5, 0.9, 1.0], size=(count, 1))


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_weighted_powers_stay_within_their_set(weights, d):
    rng = np.random.default_rng(0)
    shape = weights.contribution(d, 1000)

    def added(u, group):
        cell = np.concatenate(
            [np.full((len(u), 1), weights.count), *(w * u**p for p, w in weights.powers().items())], axis=1
        )
        return np.stack([np.where(group[:, None] == g, cell, 0.0) for g in range(2)], axis=1).reshape(len(u), -1)

    groups = rng.integers(2, size=(2, 40_000)) if weights.count else np.zeros((2, 40_000), dtype=int)
    one, two = (added(points(rng, 40_000, d), g) for g in groups)
    apart, away = np.linalg.norm(one - two, axis=1).max(), np.linalg.norm(one, axis=1).max()
    assert 0.85 * shape.diameter < apart <= shape.diameter
    assert 0.999 * shape.distance < away <= shape.distance


@pytest.mark.parametrize(("d", "apart"), [(1, 1.0), (2, 2.0)])
def test_four_powers_are_charged_for_as_odd_and_even_ones(d, apart):
    """u and -u differ in the odd powers; even ones are points of a simplex, and two columns have two corners."""
    odd, even = (1 / 8) ** 2 + (1 / 8) ** 2, 1.0 + (1 / 4) ** 2
    assert WEIGHTS[4].contribution(d, 1000).diameter == pytest.approx(math.sqrt(4.0 * odd + apart * even), rel=1e-9)


def test_powers_on_the_grid_of_many_rows_have_a_margin_for_their_rounding():
    shape, coarse = Weights(0.0, 1.0, 0.5).contribution(1, 10**12), sum_grid(10**12, 1.0)
    assert shape.diameter - 2.0 == pytest.approx(12.0 * coarse, rel=1e-3)
    assert shape.distance - math.hypot(1.0, 0.5) == pytest.approx(12.0 * coarse, rel=1e-3)


def test_values_are_moved_into_their_bounds_and_sums_of_powers_are_exact():
    bounds, n = np.array([[-1.0, 2.0]]), 50
    u = within(np.array([[5.0], [-9.0], [0.5]]), None, bounds, np.zeros(1), np.full(1, 2.0))
    assert u.tolist() == [[1.0], [-0.5], [0.25]]
    dropped = within(np.zeros((2, 1)), np.array([True, False]), bounds, np.ones(1), np.ones(1))
    assert dropped.tolist() == [[-1.0], [0.0]]
    seen = []
    spending = SimpleNamespace(noisy=lambda values, *_: (seen.append(values), values)[1], scale=lambda *_: 1.0)
    rows = MemoryRows(np.random.default_rng(0).uniform(-1.0, 2.0, size=(n, 1)), np.zeros(n))
    moments(rows, 1, np.zeros(1), np.full(1, 2000.0), bounds, WEIGHTS[4], spending, 1.0)
    units = seen[0] * 32.0 / sum_grid(n, 1.0)
    np.testing.assert_array_equal(units, np.rint(units))


def test_squares_beside_means_would_cost_more_if_they_weighed_more():
    """The lemma needs c <= b/2: just above it two points are further apart than 2."""
    r = 1.0 / 3.0
    u, v = np.array([1.0, 0.0]), np.array([-r, math.sqrt(1 - r * r)])
    moved = np.sum((u - v) ** 2) + np.sum((u**2 - v**2) ** 2)
    assert moved > 4.0
