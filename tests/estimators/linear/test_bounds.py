"""Bounds of least squares: neighbouring designs are one rung apart, and sharp ones are below the published."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eptr.estimators.linear.bounds import (
    LENGTHS,
    moments,
    paper_rule,
    sharp_numerator,
    smallest_eigenvalue,
    solve,
    tight_rule,
)
from eptr.privacy.rung import ladder_rung
from eptr.rows.exact import product_grid, toward_zero
from eptr.rows.memory import MemoryRows

ROW = st.tuples(*[st.floats(-5, 5)] * 2)


@given(rows=st.lists(st.tuples(ROW, st.floats(-4, 4)), min_size=3, max_size=12), new=st.tuples(ROW, st.floats(-4, 4)))
def test_neighbouring_designs_are_one_rung_apart_and_close(rows, new):
    """The whole chain on real rows: projection, exact sums, eigenvalue, rung, solution."""
    R, Y, R_t = 1.5, 2.0, 1.0
    x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    rule = tight_rule(len(x), 2, R, Y, R_t, 0.05, 1)
    results = []
    for _ in range(2):
        sums = moments(MemoryRows(x.copy(), y.copy()), R, Y, None)
        beta = smallest_eigenvalue(sums.gram)
        rung = ladder_rung(beta, rule.threshold, rule.lipschitz, rule.safety_error)
        results.append((rung, solve(sums, R_t) if rung >= 0 else None))
        x[0], y[0] = new
    (a, first), (b, second) = results
    assert abs(a - b) <= 1
    if a >= 0 and b >= 0:
        assert np.linalg.norm(first - second) <= rule.sensitivity


def test_sharp_numerator_is_below_the_simple_bound_and_the_published_one():
    for R, Y, R_t in [(1.0, 1.0, 1.0), (2.0, 1.0, 3.0), (4.0, 4.0, 1.0)]:
        assert sharp_numerator(R, Y, R_t, 3) <= 2 * R * Y + R * R * R_t
    assert sharp_numerator(1.0, 1.0, 1.0, 5) == pytest.approx(2.598, abs=1e-3)


def test_k_rows_of_one_person_move_k_times_as_much():
    one, five = (tight_rule(100, 3, 1.0, 1.0, 1.0, 0.5, k) for k in (1, 5))
    assert five.lipschitz == pytest.approx(5 * one.lipschitz)
    assert five.sensitivity == pytest.approx(5 * one.sensitivity, rel=1e-6)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(("R", "Y", "R_t"), [(1.0, 1.0, 1.0), (2.0, 1.0, 3.0), (4.0, 4.0, 0.1)])
def test_sharp_numerator_is_the_largest_distance_of_two_scores(R, Y, R_t, dimension):
    """Of x(y - x't) over |x| <= R, |y| <= Y at |t| = R_t: on a line, and between mirror images in the plane."""
    if dimension == 1:
        x = R * np.linspace(-1.0, 1.0, 60_001)
        scores = [x * (y - x * R_t) for y in (-Y, Y)]
        largest = np.max(scores) - np.min(scores)
    else:
        angle = np.linspace(0.0, np.pi, 60_001)
        largest = np.max(2.0 * R * (Y + R * R_t * np.cos(angle)) * np.sin(angle))
    assert sharp_numerator(R, Y, R_t, dimension) == pytest.approx(largest, rel=1e-8)


def test_published_constants():
    rule = paper_rule(1000, 3, 2.0, 1.0, 5.0, 0.25, 2)
    assert (rule.threshold, rule.lipschitz) == (250.0, 2 * 2.0 * 2.0**2)
    assert rule.sensitivity == pytest.approx(2 * 4.0 * 2.0**2 * 5.0 / 250.0, rel=1e-6)


def test_a_row_beyond_the_bound_is_shortened_with_its_y_and_its_constant_or_alone():
    rows = lambda: MemoryRows(np.array([[8.0], [0.5], [1.01]]), np.array([1.0, -4.0, 0.0]))  # noqa: E731
    found = [moments(rows(), 1.0, 2.0, 1.0, weighted=weighted, count=True) for weighted in (True, False)]
    for sums, weight in zip(found, (np.array([1 / 8, 1.0, 1 / 1.01]), np.ones(3)), strict=True):
        wide = np.column_stack([[1.0, 0.5, 1.0], weight])
        y = np.clip(weight * [1.0, -4.0, 0.0], -2.0, 2.0)
        np.testing.assert_allclose(sums.gram, wide.T @ wide, rtol=1e-6)
        np.testing.assert_allclose(sums.cross, wide.T @ y, atol=1e-6)
        assert sums.square == pytest.approx(y @ y, rel=1e-6)
        assert sums.outside == 3.0  # too long, y too small, a little too long


def test_rows_that_are_too_long_are_counted_where_their_length_is():
    """One row just beyond the start of each cell, and one just before it."""
    lengths = np.concatenate([0.99 * LENGTHS, 1.01 * LENGTHS])
    sums = moments(MemoryRows(2.0 * lengths[:, None], np.zeros(lengths.size)), 2.0, 1.0, None, count=True)
    assert sums.outside == lengths.size
    np.testing.assert_array_equal(sums.long, [2.0] * (LENGTHS.size - 1) + [1.0])


def test_products_with_a_constant_beyond_the_bound_are_exact():
    sums = moments(MemoryRows(np.zeros((3, 1)), np.zeros(3)), 1.0, 1.0, 1000.1)
    constant = Fraction(float(toward_zero(np.array([1000.1]), product_grid(3, 1000.1))[0]))
    assert Fraction(sums.gram[-1, -1]) == 3 * constant**2
