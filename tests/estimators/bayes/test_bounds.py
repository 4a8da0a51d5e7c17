"""Class counts of neighbours differ by one at most."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eptr
from eptr.audit.replay import Replay
from eptr.estimators.bayes.bounds import ClassSums, class_sums, paper_rule, tight_rule
from eptr.estimators.bayes.tested import _estimate
from eptr.privacy.ladder import DEFAULT_SLACK
from eptr.privacy.mechanism import _plan
from eptr.privacy.rung import ladder_rung
from eptr.rows.memory import MemoryRows


@given(labels=st.lists(st.integers(0, 2), min_size=3, max_size=10), new=st.integers(0, 2))
def test_class_counts_are_one_lipschitz(labels, new):
    y = np.array(labels)
    before = class_sums(MemoryRows(np.zeros((len(y), 1)), y.copy()), 3, 1.0).counts.min()
    y[0] = new
    assert abs(class_sums(MemoryRows(np.zeros((len(y), 1)), y), 3, 1.0).counts.min() - before) <= 1


@pytest.mark.parametrize(("n", "c0"), [(10, 0.05), (10, 0.1), (40, 0.1), (1000, 0.3)])
def test_the_sharp_sensitivity_is_reached_and_not_exceeded(n, c0):
    """A row at the far end of its class goes to the other end of it, or of another class as small."""
    R = 3.0
    rule = tight_rule(n, 2, R, c0, 1)
    b = rule.threshold
    assert b == max(c0 * n, 1.0)

    def estimate(counts, sums):
        return _estimate(ClassSums(np.array(counts), R * np.array([[s] for s in sums])), rule, n)

    inside = estimate([b, n - b], [b, 0.0]) - estimate([b, n - b], [b - 2.0, 0.0])
    across = estimate([b + 1.0, b], [b - 1.0, b]) - estimate([b, b + 1.0], [b, b - 1.0])
    assert 1.0 - 1e-9 < max(np.linalg.norm(inside), np.linalg.norm(across)) / rule.sensitivity <= 1.0


def test_constants_of_several_rows_and_published_ones():
    n, R, c0 = 1000, 3.0, 0.3
    rule = tight_rule(n, 2, R, c0, 4)
    mean, prior = 2.0 * R / 300.0, rule.prior_weight / n
    assert rule.lipschitz == 4.0
    assert rule.prior_weight == pytest.approx(0.1 * n * 2.0 * R / 301.0, rel=1e-12)
    assert rule.sensitivity == pytest.approx(4.0 * math.sqrt(2.0 * mean**2 + 2.0 * prior**2), rel=1e-9)
    rule = paper_rule(n, R, c0, 4)
    assert (rule.threshold, rule.lipschitz, rule.prior_weight) == (300.0, 4.0, 1.0)
    assert rule.sensitivity == pytest.approx(4.0 * 2.0 / n * math.sqrt(2.0 * R**2 / c0**2 + 2.0), rel=1e-12)


def test_sums_are_taken_around_the_centre_of_a_class():
    centres, y = np.array([[10.0], [-5.0]]), np.array([0, 0, 1, 1])
    found = class_sums(MemoryRows(np.array([[10.5], [9.75], [-5.0], [0.0]]), y), 2, 1.0, centres)
    np.testing.assert_allclose(found.sums, [[0.25], [1.0]], rtol=1e-12)  # the last row is cut
    assert found.counts.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("smallest", [10, 20, 25])
def test_a_tight_fit_flips_the_coin_of_its_rung(smallest):
    y, noise = np.repeat([0, 1], [smallest, 60 - smallest]), Replay(0)
    settings = dict(epsilon=1.0, delta=1e-6, x_bound=1.0, c0=0.05, classes=[0, 1])
    eptr.BayesClassifier(**settings, strategy="tight", random_state=noise).fit(np.zeros((60, 1)), y)
    rung, steps = ladder_rung(float(smallest), 3.0, 1.0), _plan("tight", 1.0, 1e-6, DEFAULT_SLACK, None).test
    assert 0 < rung < steps.top
    assert noise.calls[0].values == steps.numerator(rung) / 2**steps.bits
