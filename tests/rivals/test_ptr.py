"""Propose-test-release: distances are numbers of rows, one step at a time, and clear data get a reply."""

from __future__ import annotations

import numpy as np
import pytest

import eptr
from eptr import rivals
from eptr.estimators.linear.bounds import sharp_numerator
from eptr.rivals.ptr import slope_distance


def test_slope_distance_is_the_number_of_rows_to_replace():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.normal(size=8)
        threshold = rng.uniform(0, 8)
        # Brute force: the cheapest way to fall below is to replace the largest.
        best = next(k for k in range(9) if np.sum(np.sort(x**2)[: 8 - k]) < threshold)
        assert slope_distance(x, threshold) == best


def test_ptr_for_a_slope_replies_when_the_data_are_clear():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=4000)
    y = np.clip(0.5 * x + 0.1 * rng.normal(size=4000), -1, 1)
    b = 500.0
    alpha = sharp_numerator(1.0, 1.0, 1.0, 1) / (b - 1.0)
    r = eptr.release(
        eptr.Proposal(x @ y / (x @ x), alpha, slope_distance(x, b)), 1.0, 1e-6, strategy="ptr", random_state=0
    )
    assert r.replied
    assert abs(r.value - 0.5) < 0.2


@pytest.mark.parametrize(("n", "c0"), [(100, 0.07), (200, 0.07), (100, 0.29), (300, 0.11)])
def test_the_distance_of_ptr_moves_by_one_step_at_a_time(n, c0, monkeypatch):
    """c0 n is rarely whole in floats; one row more or less must still be one step."""
    from eptr.rivals import ptr

    seen = []
    monkeypatch.setattr(
        ptr, "Proposal", lambda value, alpha, distance: seen.append(distance) or eptr.Proposal(value, alpha, distance)
    )
    for small in range(2, n // 2):
        y = np.zeros(n, dtype=int)
        y[:small] = 1
        rivals.PTR(1.0, 1e-3, x_bound=1.0, classes=[0, 1], c0=c0, random_state=0).fit(np.zeros((n, 1)), y)
    assert set(np.diff(seen)) <= {0.0, 1.0}


def test_slope_distances_of_neighbours_differ_by_one_at_most():
    x = np.append(np.full(12, np.sqrt(0.2)), np.zeros(3))
    for k in range(12):
        other = x.copy()
        other[k] = 0.0
        assert abs(slope_distance(x, 2.0) - slope_distance(other, 2.0)) <= 1


@pytest.mark.parametrize("x", [[], [1.0, np.nan], [np.inf]])
def test_a_slope_without_finite_numbers_is_refused(x):
    with pytest.raises(eptr.InputError, match="finite"):
        slope_distance(x, 2.0)
