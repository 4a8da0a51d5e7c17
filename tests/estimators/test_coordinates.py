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
        return math.sqrt(2.0) * contribution.radius**2 / (self.mu * math.sqrt(share))


def test_the_price_follows_the_noise_of_the_matrix():
    public = SimpleNamespace(radius=5.0, numbers=10)
    shares = [price(public, Budget(0.25), n, 4.0) for n in (10, 3000, 7000, 10**7)]
    assert shares[0] == TRACE_SHARE
    assert shares[1:] == sorted(shares[1:], reverse=True)
    assert GRAM_SHARE[1] > shares[2] > shares[3] == GRAM_SHARE[0]
    assert price(public, Budget(0.25), 10, math.inf) == GRAM_SHARE[1]
