from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eptr
from eptr.privacy.rung import ladder_rung


def clipped_mean(**options):
    """Mean of the answers in [0, 10]; NaN means no answer. One row moves it by at most 10/b."""
    return eptr.Adapter(
        estimate=lambda x: np.nanmean(np.clip(x, 0, 10)),
        safety=lambda x: np.sum(~np.isnan(x)),
        lipschitz=1,
        sensitivity=lambda b: 10 / b,
        **options,
    )


ANSWERS = np.where(np.arange(2000) % 5 == 0, np.nan, 4.0)


def test_threshold_release():
    r = clipped_mean().release(ANSWERS, epsilon=1.0, delta=1e-6, threshold=1000)
    assert r.replied
    assert r.noise_scale == pytest.approx(1.05 * 10 / 1000 / eptr.gaussian_mu(1.0, 1e-6), rel=1e-8)
    assert r.value == pytest.approx(4.0, abs=8 * r.noise_scale)


def test_adaptive_release_needs_no_threshold():
    r = clipped_mean().release(ANSWERS, epsilon=1.0, delta=1e-6)
    assert r.replied
    assert 10 / 1600 < r.noise_scale * eptr.gaussian_mu(1.0, 1e-6) < 10 / 1600 * 1.3
    assert r.strategy == "adaptive"


def test_too_few_answers_are_no_reply_and_never_computed():
    nothing = np.full(2000, np.nan)
    silent = eptr.Adapter(
        lambda x: pytest.fail("estimate was called"), lambda x: np.sum(~np.isnan(x)), 1, lambda b: 1 / b
    )
    assert not silent.release(nothing, epsilon=1.0, delta=1e-6, threshold=100).replied
    assert not silent.release(nothing, epsilon=1.0, delta=1e-6).replied


def test_a_safety_statistic_without_value_is_no_reply():
    broken = eptr.Adapter(lambda x: 1.0, lambda x: np.nan, 1, lambda b: 1 / b)
    assert not broken.release(ANSWERS, epsilon=1.0, delta=1e-6, threshold=10).replied


def test_errors_of_computation_widen_the_noise():
    exact = clipped_mean().release(ANSWERS, 1.0, 1e-6, threshold=1000).noise_scale
    rough = clipped_mean(estimate_error=0.005).release(ANSWERS, 1.0, 1e-6, threshold=1000).noise_scale
    assert rough == pytest.approx(2 * exact, rel=1e-6)


@pytest.mark.parametrize("values", [(0.8, 0.9), (0.9, 1.0), (0.3, 0.4), (0.7, 0.8)])
def test_floating_point_neighbours_land_on_adjacent_rungs(values):
    low, high = (ladder_rung(v, threshold=0.3, lipschitz=0.1) for v in values)
    assert high - low <= 1


@given(
    threshold=st.floats(-1e9, 1e9),
    lipschitz=st.floats(1e-6, 1e6),
    steps=st.floats(-3, 5000),
    share=st.floats(0, 1),
)
def test_rungs_never_jump_by_two(threshold, lipschitz, steps, share):
    beta = threshold + steps * lipschitz
    near = beta + share * lipschitz
    if abs(near - beta) > lipschitz:  # rounding made the pair no neighbours
        near = math.nextafter(near, beta)
    a, b = ladder_rung(beta, threshold, lipschitz), ladder_rung(near, threshold, lipschitz)
    assert 0 <= b - a <= 1
    if a >= 0:
        assert beta >= threshold


@pytest.mark.parametrize("error", [0.0, 1e-3, 0.2])
def test_rungs_survive_errors_in_the_safety_statistic(error):
    rng = np.random.default_rng(0)
    for beta in rng.uniform(0, 300, 5000):
        noisy = [ladder_rung(b + rng.uniform(-error, error), 10.0, 1.0, error) for b in (beta, beta + 1.0)]
        assert noisy[1] - noisy[0] <= 1
        if noisy[0] >= 0:
            assert beta >= 10.0


def test_rung_limits():
    assert ladder_rung(-5.0, 0.0, 1.0) == -1
    assert ladder_rung(math.nan, 0.0, 1.0) == -1
    assert ladder_rung(-math.inf, 0.0, 1.0) == -1
    assert ladder_rung(math.inf, 0.0, 1.0) == 10**6


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (dict(estimate=3), "estimate"),
        (dict(safety=None), "safety"),
        (dict(sensitivity=0.1), "sensitivity"),
        (dict(lipschitz=0), "lipschitz"),
        (dict(safety_error=-1), "safety_error"),
        (dict(estimate_error=float("nan")), "estimate_error"),
    ],
)
def test_bad_adapters_are_typed_errors(changes, name):
    arguments = dict(estimate=np.mean, safety=len, lipschitz=1, sensitivity=lambda b: 1 / b)
    with pytest.raises(eptr.InputError, match=name):
        eptr.Adapter(**{**arguments, **changes})


@pytest.mark.parametrize("threshold", [0, -1, float("inf"), float("nan"), "ten", True])
def test_bad_thresholds_are_typed_errors(threshold):
    with pytest.raises(eptr.InputError, match="threshold"):
        clipped_mean().release(ANSWERS, 1.0, 1e-6, threshold=threshold)


def test_a_sensitivity_without_value_at_the_threshold_is_a_typed_error():
    endless = eptr.Adapter(np.mean, len, 1, lambda b: math.inf)
    with pytest.raises(eptr.InputError, match="sensitivity"):
        endless.release(ANSWERS, 1.0, 1e-6, threshold=3)


def test_numpy_thresholds_are_numbers_too():
    assert clipped_mean().release(ANSWERS, 1.0, 1e-6, threshold=np.int64(1000)).replied


def test_an_estimate_that_does_not_exist_is_zero_not_an_error():
    broken = eptr.Adapter(lambda x: np.nan, len, 1, lambda b: 1 / b)
    assert np.isfinite(broken.release(ANSWERS, 1.0, 1e-6, threshold=100).value)
