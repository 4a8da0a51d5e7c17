from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import eptr
from eptr.privacy import ladder
from eptr.privacy.ladder import DEFAULT_SLACK, build_ladder
from eptr.privacy.profile import hockey_stick

from . import independent


def build(epsilon, delta, slack=DEFAULT_SLACK, share=1.0):
    return build_ladder(epsilon, delta, eptr.gaussian_mu(epsilon, delta) / slack, share * delta)


# steps to p = 1 with p_0 = delta, slack 1.05
@pytest.mark.parametrize(
    ("epsilon", "delta", "steps"), [(1.0, 1e-2, 16), (1.0, 1e-6, 61), (0.1, 1e-6, 471), (4.0, 1e-6, 19)]
)
def test_number_of_rungs(epsilon, delta, steps):
    assert build(epsilon, delta).top == steps


@pytest.mark.parametrize(("slack", "steps"), [(1.01, 88), (1.02, 75), (1.1, 51), (1.2, 43), (1.5, 35), (2.0, 31)])
def test_slack_trades_noise_for_rungs(slack, steps):
    assert build(1.0, 1e-6, slack).top == steps


def random_settings(size):
    rng = np.random.default_rng(20)
    for _ in range(size):
        yield (
            rng.uniform(0.05, 8.0),
            10 ** rng.uniform(-9, np.log10(0.03)),
            rng.uniform(1.02, 2.0),
            rng.choice([1.0, 0.1]),
        )


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_ladder_never_exceeds_delta_by_an_independent_route(block):
    """2,000 random settings; densities integrated numerically, no formula shared with the library."""
    for epsilon, delta, slack, share in list(random_settings(2000))[block::8]:
        steps = build(epsilon, delta, slack, share)
        assert independent.ladder_delta(steps.numerators, steps.bits, steps.mu, epsilon) <= delta
        assert all(a < b for a, b in pairwise(steps.numerators))
        assert steps.numerators[-1] == 1 << steps.bits
        assert steps.probabilities[-1] == 1.0


def test_ladder_is_within_delta_on_a_sample():
    for epsilon, delta, slack, share in random_settings(40):
        steps = build(epsilon, delta, slack, share)
        assert independent.ladder_delta(steps.numerators, steps.bits, steps.mu, epsilon) <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-2), (1.0, 1e-6), (4.0, 1e-6), (8.0, 1e-9), (0.5, 1e-30)]
)
@pytest.mark.parametrize("slack", [1.05, 1.3])
def test_no_rung_can_be_raised(epsilon, delta, slack):
    """Raising p_k by 1e-6 min(p, 1-p), with those before it kept, breaks the pair (k-1, k): the test is the largest."""
    steps = build(epsilon, delta, slack)
    p = [Fraction(m, 1 << steps.bits) for m in steps.numerators]
    assert p[0] * (1 + Fraction(1, 10**6)) > delta
    for before, here in pairwise(p[:-1]):
        raised = here + Fraction(1, 10**6) * min(here, 1 - here)
        broken = max(hockey_stick(before, raised, steps.mu, epsilon), hockey_stick(raised, before, steps.mu, epsilon))
        assert broken > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-2), (1.0, 1e-6), (8.0, 1e-9)])
def test_the_check_of_a_step_is_sharp_by_itself(epsilon, delta):
    """It has the last word: roots that came out too large are brought back to where it holds, not far below."""
    steps = build(epsilon, delta)
    step, one = ladder._Step(epsilon, delta, steps.mu, steps.bits), 1 << steps.bits
    for p, q in pairwise(steps.numerators):
        raised = q + max(1, min(q - p, one - q) // 10**6)
        assert step.feasible(p, q)
        assert q == one or not step.feasible(p, raised)
        step._upward_root = lambda p, guess, high=raised: high
        step._downward_root = lambda p, q, high=raised: high
        found = step(p, q)
        assert step.feasible(p, found)
        assert q == one or q - 2 * (raised - q) <= found <= raised


def test_a_ladder_that_never_ends_is_refused(monkeypatch):
    monkeypatch.setattr(ladder, "_MOST_RUNGS", 30)
    with pytest.raises(eptr.PrivacyError, match="does not reach 1"):
        ladder.build_ladder.__wrapped__(1.0, 1e-6, eptr.gaussian_mu(1.0, 1e-6) / 1.05, 1e-7)


def test_lowering_a_finished_rung_breaks_privacy():
    """Why rounding belongs inside the recursion."""
    steps = build(1.0, 1e-6)
    p = steps.probabilities.copy()
    p[steps.top - 1] *= 0.999
    assert eptr.privacy_profile(p, steps.mu, 1.0) > 100e-6


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-30), (0.05, 1e-12), (100.0, 1e-6), (50.0, 1e-100)])
def test_extreme_settings(epsilon, delta):
    steps = build(epsilon, delta, share=0.1)
    assert eptr.privacy_profile(steps, steps.mu, epsilon) <= delta


def test_public_function_defaults():
    p = eptr.ladder(1.0, 1e-6)
    assert p[0] == pytest.approx(1e-7)
    assert p[-1] == 1.0
    assert np.all(np.diff(p) > 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(epsilon=0.005, delta=1e-6), "below 0.01"),
        (dict(epsilon=1.0, delta=1e-200), "not verified"),
        (dict(epsilon=1.0, delta=1e-6, mu=5.0), "gaussian_mu"),
        (dict(epsilon=1.0, delta=1e-6, p0=1e-5), "p0"),
        (dict(epsilon=-1.0, delta=1e-6), "epsilon must"),
        (dict(epsilon=1.0, delta=0.0, mu=0.1, p0=1e-7), "delta must"),
        (dict(epsilon="1", delta=1e-6, mu=0.1), "epsilon must"),
        (dict(epsilon=1.0, delta=1.5), "delta"),
    ],
)
def test_refusals_say_why(arguments, words):
    with pytest.raises(eptr.EptrError, match=words):
        eptr.ladder(**arguments)


def test_ladders_are_cached():
    assert build(1.0, 1e-6) is build(1.0, 1e-6)
