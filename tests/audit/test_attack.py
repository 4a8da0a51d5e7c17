"""The attack: never above the truth, close to it, and blind to nothing it should see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr import InputError, gaussian_mu
from eptr.audit.attack import attack, measure


def noisy(value, scale):
    return lambda size, rng: value + scale * rng.standard_normal(size)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_an_honest_gaussian_is_never_convicted_and_the_bound_is_not_idle(epsilon):
    delta = 1e-3
    scale = 1.0 / gaussian_mu(epsilon, delta)
    found = [attack(noisy(0.0, scale), noisy(1.0, scale), delta, 200_000, seed=s).epsilon for s in range(10)]
    assert max(found) <= epsilon
    assert min(found) > 0.4 * epsilon


def test_randomised_response_is_measured_to_a_few_per_cent():
    p = math.exp(1.0) / (1.0 + math.exp(1.0))
    found = attack(
        lambda size, rng: (rng.random(size) < p).astype(float),
        lambda size, rng: (rng.random(size) < 1 - p).astype(float),
        1e-9, 400_000,
    )  # fmt: skip
    assert 0.97 < found.epsilon <= 1.0


def test_silence_is_an_output():
    quiet = lambda chance: lambda size, rng: np.where(rng.random(size) < chance, np.nan, rng.normal(size=size))  # noqa: E731
    found = attack(quiet(0.5), quiet(0.01), 1e-6, 50_000)
    assert "no reply" in found.event
    assert found.epsilon > 3.0


def test_vectors_are_told_apart_along_their_difference():
    scale = 1.0
    shift = np.array([0.0, 3.0, 0.0, 0.0])
    found = attack(
        lambda size, rng: scale * rng.normal(size=(size, 4)),
        lambda size, rng: shift + scale * rng.normal(size=(size, 4)),
        1e-6, 50_000,
    )  # fmt: skip
    assert found.epsilon > 3.0


def test_identical_outputs_give_no_evidence():
    constant = np.zeros(1000)
    assert measure(constant, constant, 1e-6).epsilon == 0.0
    silent = np.full(1000, np.nan)
    assert measure(silent, silent, 1e-6).epsilon == 0.0
    assert measure(silent[:, None], np.zeros((1000, 3)), 1e-6).epsilon > 3.0  # a reply against none


def test_bad_settings_are_named():
    with pytest.raises(InputError, match="runs"):
        attack(noisy(0, 1), noisy(1, 1), 1e-6, runs=5)
    with pytest.raises(InputError, match="delta"):
        measure(np.zeros(10), np.zeros(10), 0.0)
    with pytest.raises(InputError, match="shape"):
        measure(np.zeros((10, 2)), np.zeros((10, 3)), 1e-6)
