from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eptr.estimators.bayes.bounds import class_sums
from eptr.estimators.kernel.bounds import query_sums
from eptr.estimators.kernel.design import Design
from eptr.estimators.linear.bounds import moments, sharp_numerator, smallest_eigenvalue, solve, tight_rule
from eptr.privacy.rung import ladder_rung
from eptr.rows.memory import MemoryRows

from .gaps import GAPS


@pytest.mark.parametrize("claim", GAPS, ids=" ".join)
def test_no_neighbour_breaks_a_bound(claim):
    ratio = GAPS[claim](np.random.default_rng(1))
    assert ratio <= 1.0 + 1e-9
    assert ratio > 0.3, "the search is too weak to mean anything"


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


@given(labels=st.lists(st.integers(0, 2), min_size=3, max_size=10), new=st.integers(0, 2))
def test_class_counts_are_one_lipschitz(labels, new):
    y = np.array(labels)
    before = class_sums(MemoryRows(np.zeros((len(y), 1)), y.copy()), 3, 1.0).counts.min()
    y[0] = new
    assert abs(class_sums(MemoryRows(np.zeros((len(y), 1)), y), 3, 1.0).counts.min() - before) <= 1


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "wendland", "epanechnikov"])
def test_kernel_degrees_are_one_lipschitz_and_answers_close(kernel):
    rng = np.random.default_rng(3)
    design = Design(kernel, [(0.0, 1.0)], [0.3], 0.0, 1.0)
    block = query_sums(design, np.array([[0.2], [0.6]]), 8)
    for _ in range(300):
        x, y = rng.uniform(-0.2, 1.2, size=(8, 1)), rng.uniform(-2, 2, size=8)
        before = MemoryRows(x.copy(), y.copy()).sum(block)
        x[0], y[0] = rng.uniform(), rng.choice([-1.0, 1.0])
        after = MemoryRows(x, y).sum(block)
        assert np.all(np.abs(before[0] - after[0]) <= 1.0)
        for d0, n0, d1, n1 in zip(*before, *after, strict=True):
            if min(d0, d1) > 0:
                assert abs(n0 / d0 - n1 / d1) <= 2.0 / max(d0, d1) * (1 + 1e-12)


def test_sharp_numerator_is_below_the_simple_bound_and_the_published_one():
    for R, Y, R_t in [(1.0, 1.0, 1.0), (2.0, 1.0, 3.0), (4.0, 4.0, 1.0)]:
        assert sharp_numerator(R, Y, R_t, 3) <= 2 * R * Y + R * R * R_t
    assert sharp_numerator(1.0, 1.0, 1.0, 5) == pytest.approx(2.598, abs=1e-3)


def test_k_rows_of_one_person_move_k_times_as_much():
    one, five = (tight_rule(100, 3, 1.0, 1.0, 1.0, 0.5, k) for k in (1, 5))
    assert five.lipschitz == pytest.approx(5 * one.lipschitz)
    assert five.sensitivity == pytest.approx(5 * one.sensitivity, rel=1e-6)
