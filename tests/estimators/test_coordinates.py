"""Coordinates: a Gram matrix, or its trace where the matrix would be all noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import eptr
from eptr.estimators.coordinates import GRAM_SHARE, TRACE_SHARE, price
from eptr.privacy.contribution import Interval, Outer
from eptr.privacy.spending import Portion
from eptr.privacy.unit import Unit


@pytest.fixture
def drawn(monkeypatch):
    """Contribution and share of whatever noise is drawn."""
    drawn, plain = [], Portion.noisy

    def noisy(self, total, contribution, share):
        drawn.append((contribution, share))
        return plain(self, total, contribution, share)

    monkeypatch.setattr(Portion, "noisy", noisy)
    return drawn


@pytest.mark.parametrize(("epsilon", "matrix"), [(1.0, False), (8.0, True)])
def test_where_a_matrix_would_be_all_noise_its_trace_is_bought(epsilon, matrix, drawn):
    X = np.random.default_rng(0).normal(size=(1000, 20))
    eptr.LinearRegression(epsilon, 1e-6, 6.7, 5.0, fit_intercept=False, random_state=0).fit(X, X[:, 0])
    first = drawn[0][0]
    assert isinstance(first, Outer if matrix else Interval)
    if not matrix:
        assert first.high == pytest.approx(6.7**2)


@dataclass
class Budget:
    mu: float

    def scale(self, contribution, share):
        return contribution.sensitivity(Unit()) / (self.mu * math.sqrt(share))


def test_the_price_follows_the_noise_of_the_matrix():
    public = SimpleNamespace(radius=5.0, numbers=10, n_features=9, x_bound=4.0)
    prices = [price(public, Budget(0.25), n, 4.0) for n in (10, 3000, 7000, 10**7)]
    assert [each.matrix for each in prices] == [False, True, True, True]
    shares = [each.share for each in prices[1:]]
    assert GRAM_SHARE[1] == shares[0] > shares[1] > shares[2] == GRAM_SHARE[0]
    assert price(public, Budget(0.25), 10, math.inf) == (GRAM_SHARE[1], True)
    assert price(public, Budget(0.25), 10, 4.0).share == TRACE_SHARE[1]
    assert price(public, Budget(0.25), 200, 0.0).share == pytest.approx((16.0 / 0.25 / (0.2 * 1800)) ** 2)


def test_a_bound_that_is_too_wide_costs_little_more_than_noise():
    """The constant is as long as the bound says: one scale for both sends steps to and fro along it."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 3))
        y = X @ np.full(3, 0.5) + rng.normal(size=2000)
        model = eptr.LinearRegression(0.5, 1e-6, 8.0, 5.0, random_state=seed).fit(X, y)
        errors.append(np.sum((model.coef_ - 0.5) ** 2))
    assert np.mean(errors) < 0.02  # .04 with one scale
