"""Bounds of least squares: neighbouring designs are one rung apart, and sharp ones are below the published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eptr.estimators.linear.bounds import moments, sharp_numerator, smallest_eigenvalue, solve, tight_rule
from eptr.privacy.rung import ladder_rung
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
