"""Noisy numbers, shrunk: nearer to the truth, and nothing is lost of what is clear."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.estimators.shrinking import james_stein, posterior, posterior_mean


def test_few_large_numbers_are_kept_and_many_small_ones_are_not():
    rng = np.random.default_rng(0)
    truth = np.append(np.full(5, 8.0), np.zeros(195))
    found = posterior_mean(truth + rng.normal(size=200), 1.0)
    assert np.mean((found - truth) ** 2) < 0.15  # 1 without shrinking, .6 with one factor for all
    assert np.all(np.abs(found[:5] - truth[:5]) < 3.0)
    np.testing.assert_array_equal(posterior_mean(np.zeros(3), 1.0), np.zeros(3))


def test_what_is_left_of_numbers_of_unlike_noise_is_what_is_said():
    rng = np.random.default_rng(0)
    variance = rng.choice([0.1, 1.0, 10.0], size=3000)
    truth = rng.normal(size=3000) * rng.choice([0.0, 2.0], size=3000)
    mean, left = posterior(truth + rng.normal(size=3000) * np.sqrt(variance), variance)
    for size in (0.1, 1.0, 10.0):
        these = variance == size
        assert np.mean((mean - truth)[these] ** 2) == pytest.approx(np.mean(left[these]), rel=0.15)


def test_one_factor_for_all_is_nearer_than_none_wherever_the_truth_is():
    rng, p = np.random.default_rng(0), 8
    for size in (0.0, 1.0, 3.0, 10.0):
        truth = np.full(p, size / np.sqrt(p))
        seen = truth + rng.normal(size=(2000, p))
        shrunk = np.array([james_stein(one, np.eye(p)) * one for one in seen])
        assert np.mean((shrunk - truth) ** 2) < np.mean((seen - truth) ** 2)
    assert james_stein(np.full(p, 1e6), np.eye(p)) == pytest.approx(1.0)
    assert james_stein(np.zeros(p), np.eye(p)) == 0.0
    assert james_stein(np.zeros(2), np.eye(2)) == 1.0  # with two numbers there is nothing to be gained
