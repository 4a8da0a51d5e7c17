"""An empirical audit of the mechanism itself on its worst neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import eptr
from eptr.privacy.ladder import DEFAULT_SLACK
from eptr.privacy.mechanism import _plan, simulate

RUNS = 2_000_000


def violation(first, second, epsilon, delta, confidence=0.999):
    """Lower confidence bound of max over events of P(B) - e^eps Q(B) - delta; above 0 convicts.

    The event is chosen on one half of the runs and judged on the other half (Clopper-Pearson, both sides).
    """
    half = RUNS // 2
    thresholds = np.linspace(-12, 12, 97)

    def counts(sample, part):
        replied, values = (a[part] for a in sample)
        inside = np.sort(values[replied].ravel())
        below = np.searchsorted(inside, thresholds)
        return np.concatenate([[np.sum(~replied)], below, len(inside) - below])

    train, test = slice(0, half), slice(half, RUNS)
    best = np.argmax(counts(first, train) - math.exp(epsilon) * counts(second, train))
    a, b = counts(first, test)[best], counts(second, test)[best]
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, a, half - a + 1) if a else 0.0
    high = stats.beta.ppf(1 - tail, b + 1, half - b) if b < half else 1.0
    return low - math.exp(epsilon) * high - delta


def pair(strategy, gamma, epsilon, delta, scale=1.0):
    """Neighbours one rung apart at distance alpha = 1; ``scale`` below 1 weakens the noise."""
    runs = []
    for i, (theta, safety) in enumerate([(0.0, gamma), (1.0 / scale, gamma + 1.0)]):
        p = eptr.Proposal([theta], 1.0, safety)
        runs.append(simulate(p, epsilon, delta, strategy, size=RUNS, random_state=100 + i))
    return runs


def worst_rungs(strategy, epsilon, delta):
    plan = _plan(strategy, epsilon, delta, DEFAULT_SLACK, None)
    top = plan.test.top if strategy == "tight" else int(2 * plan.test.midpoint)
    return sorted({0, top // 2, top - 2, top - 1, top})


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("strategy", ["paper", "tight"])
def test_no_violation_is_found(strategy, epsilon):
    for delta in (1e-2, 1e-6):
        for gamma in worst_rungs(strategy, epsilon, delta):
            first, second = pair(strategy, float(gamma), epsilon, delta)
            assert violation(first, second, epsilon, delta) <= 0
            assert violation(second, first, epsilon, delta) <= 0


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_noise_at_half_scale_is_convicted(epsilon):
    first, second = pair("tight", 1e6, epsilon, 1e-2, scale=0.5)
    assert violation(first, second, epsilon, 1e-2) > 0
