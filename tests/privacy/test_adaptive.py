"""The adaptive proposal: its noise follows the data, its draws cost what was charged."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtri

import eptr
from eptr.audit.replay import Replay
from eptr.privacy.adaptive import adaptive_release


def test_adaptive_noise_follows_the_data_and_may_refuse():
    def run(beta, **options):
        return adaptive_release(lambda: 2.0, beta, 1.0, lambda b: 4.0 / b, 1.0, 1e-6, random_state=1, **options)

    near, far, silent = run(500.0), run(5000.0), run(3.0)
    assert near.replied
    assert far.replied
    assert far.noise_scale < near.noise_scale / 8
    assert not silent.replied
    assert silent.value is None
    assert not run(500.0, largest_noise=1e-6).replied
    assert near.cost.failure == pytest.approx(1e-7)
    assert len(silent.record.draws) == 1
    for safety in (math.nan, math.inf, -math.inf):
        assert not adaptive_release(lambda: 2.0, safety, 1.0, lambda b: 4.0 / b, 1.0, 1e-6).replied


def test_adaptive_draws_cost_what_was_charged():
    """(L/s1)^2 + (alpha(b)/s2)^2 = mu^2 of delta less the failure, b being L and a quantile of the noise below what was drawn."""
    noise, costs = Replay(0), []
    book = SimpleNamespace(charge=lambda cost, **told: costs.append((cost, len(noise.calls))))
    r = adaptive_release(lambda: 2.0, 500.0, 3.0, lambda b: 4.0 / b, 1.0, 1e-6, ledger=book, random_state=noise)
    assert costs == [(r.cost, 0)]
    mu = eptr.gaussian_mu(1.0, 0.9e-6)
    assert (r.cost.mu, r.cost.failure) == (pytest.approx(mu, rel=1e-12), pytest.approx(1e-7, rel=1e-12))
    first, second = noise.calls
    assert (first.values, second.values) == (500.0, 2.0)
    assert first.scale == pytest.approx(3.0 / (mu * math.sqrt(0.1)), rel=1e-12)
    bound = first.output - 3.0 - first.scale * ndtri(1.0 - 1e-7)
    assert (3.0 / first.scale) ** 2 + (4.0 / bound / second.scale) ** 2 == pytest.approx(mu**2, rel=1e-9)
    assert r.noise_scale == second.scale


@pytest.mark.parametrize(("name", "value"), [("epsilon", 0.0), ("delta", 1.0), ("lipschitz", -1.0)])
def test_adaptive_settings_are_checked_before_anything_is_charged(name, value):
    book = SimpleNamespace(charge=lambda *cost, **told: pytest.fail("charged"))
    settings = {"epsilon": 1.0, "delta": 1e-6, "lipschitz": 1.0} | {name: value}
    with pytest.raises(eptr.InputError, match=name):
        adaptive_release(lambda: 2.0, 500.0, sensitivity=lambda b: 4.0 / b, ledger=book, **settings)


def test_adaptive_bound_is_below_the_truth_as_often_as_promised():
    """P(b > beta - L) is delta' = delta/10; here delta is large enough to see it."""
    bounds = [
        4.0 / (adaptive_release(lambda: 0.0, 100.0, 1.0, lambda b: 4.0 / b, 1.0, 0.2, random_state=i).noise_scale * mu2)
        for mu2 in [eptr.gaussian_mu(1.0, 0.18) * math.sqrt(0.9)]
        for i in range(4000)
    ]
    share = np.mean(np.array(bounds) > 99.0)
    assert 0.012 < share < 0.029  # 0.02 +- 4 standard errors
