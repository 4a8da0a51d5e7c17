"""Bounded range as a mu: the lemma against trade-off curves, and its two functions against high precision."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri

from eptr import InputError
from eptr.privacy.bounded_range import bounded_range_epsilon, bounded_range_mu

SIZES = [1e-9, 1e-4, 0.1, 0.999, 1.0, 3.999, 4.0, 4.001, 20.0, 100.0, 600.0]


@pytest.mark.parametrize("epsilon", SIZES)
def test_mu_is_rounded_up_and_hardly(epsilon):
    with mpmath.workdps(700):
        tail = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon) / 2))
        mu = mpmath.mpf(bounded_range_mu(epsilon))
        assert mpmath.ncdf(-mu / 2) <= tail <= mpmath.ncdf(-mu / 2 * (1 - mpmath.mpf(2e-12)))


@pytest.mark.parametrize("mu", [1e-9, 0.01, 0.6, 1.999, 2.0, 2.001, 5.0, 30.0])
def test_the_inverse_never_costs_more_than_it_is_given(mu):
    epsilon = bounded_range_epsilon(mu)
    assert mu * (1 - 2e-11) <= bounded_range_mu(epsilon) <= mu


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 12.0])
def test_every_pair_of_the_range_is_harder_to_tell_apart_than_two_gaussians(epsilon):
    """Discrete laws with losses in an interval of length epsilon: no test does better than between N(0, 1) and N(mu, 1)."""
    mu, rng = bounded_range_mu(epsilon), np.random.default_rng(0)
    for _ in range(300):
        points = rng.integers(2, 6)
        loss = epsilon * rng.choice([rng.uniform(size=points), rng.integers(0, 2, points).astype(float)])
        q = rng.dirichlet(np.ones(points) * 10.0 ** rng.uniform(-1, 1))
        p = q * np.exp(loss - loss.max())
        p /= p.sum()
        order = np.argsort(loss)  # most like q first: the best tests of p reject there
        power, size = np.cumsum(q[order]), np.cumsum(p[order])
        inside = (size > 1e-12) & (size < 1 - 1e-12)
        assert np.all(power[inside] <= ndtr(ndtri(size[inside]) + mu) + 1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 12.0])
def test_the_centred_vertex_is_the_worst_and_attains_it(epsilon):
    def cost(z):
        return ndtri(expit(z + epsilon / 2)) - ndtri(expit(z - epsilon / 2))

    assert cost(0.0) == pytest.approx(bounded_range_mu(epsilon), rel=1e-9)
    assert np.all(cost(np.linspace(-10, 10, 2001)) <= cost(0.0) * (1 + 1e-12))


def test_it_is_cheaper_than_what_pure_privacy_alone_gives():
    assert bounded_range_mu(1.0) == pytest.approx(0.6239, abs=1e-4)
    assert 2 * ndtri(expit(1.0)) == pytest.approx(1.2323, abs=1e-3)


@pytest.mark.parametrize("function", [bounded_range_mu, bounded_range_epsilon])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_only_positive_numbers_are_taken(function, value):
    with pytest.raises(InputError, match=r"epsilon|mu"):
        function(value)
