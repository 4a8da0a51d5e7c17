"""The adaptive proposal: buy a private lower bound of the safety statistic, then release.  Proof: adaptive.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import positive, probability
from .claim import Cost, Draw, Record, Release, SupportsCharge
from .gaussian import gaussian_mu, tail_quantile
from .mechanism import CALLERS, paid, published, round_up
from .noise import noise_source

__all__ = ["adaptive_release"]

# Shares of the adaptive proposal: of mu^2 for the private lower bound, of delta for its failure.
BOUND_SHARE = 0.1
FAILURE_SHARE = 0.1


def adaptive_release(
    estimate: Callable[[], Any],
    safety: float,
    lipschitz: float,
    sensitivity: Callable[[float], float],
    epsilon: float,
    delta: float,
    *,
    minimum: float = 0.0,
    largest_noise: float = math.inf,
    ledger: SupportsCharge | None = None,
    random_state: Any = None,
) -> Release:
    """Release with noise for a private lower bound of the safety statistic: no threshold to choose.

    b = beta(X) - L + (L/mu_1)(Z - q), then theta(X) + (sensitivity(b)/mu_2) N(0, I).   # proof: adaptive
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    lipschitz = positive("lipschitz", lipschitz)
    failure = FAILURE_SHARE * delta
    mu = gaussian_mu(epsilon, delta - failure)
    mu_bound, mu_value = mu * math.sqrt(BOUND_SHARE), mu * math.sqrt(1.0 - BOUND_SHARE) * (1.0 - 1e-15)
    cost = Cost(epsilon, delta, "approximate-gaussian", mu, failure=failure)
    noise = noise_source(random_state)
    if ledger is not None:
        ledger.charge(cost, private=noise.private, what="adaptive")
    spread = round_up(lipschitz / mu_bound)
    centre = safety if math.isfinite(safety) else -1e300
    noisy = float(noise.gaussian(np.asarray(centre, dtype=float), spread))
    # Every rounding of this line is relative 2^-53 of its largest term; pay a thousand of them. proof: adaptive
    bound = noisy - lipschitz - spread * tail_quantile(failure) - 1e-13 * (abs(noisy) + lipschitz + 40.0 * spread)
    alpha = _bound_at(sensitivity, bound) if bound > minimum else math.inf
    scale = round_up(alpha / mu_value)
    replied = math.isfinite(scale) and scale <= largest_noise
    value = published(noise, estimate(), scale) if replied else None
    draws = (
        Draw("gaussian", "safety", (), lipschitz, mu_bound, spread),
        Draw("gaussian", "value", (), alpha, mu_value, scale),
    )
    record = Record("estimate", CALLERS, "src/eptr/privacy/adaptive.md", draws=draws if replied else draws[:1])
    found = Release(replied, value, scale, epsilon, delta, noise.private, "adaptive", cost, record=record)
    return paid(found, ledger)


def _bound_at(sensitivity: Callable[[float], float], bound: float) -> float:
    alpha = float(sensitivity(bound))
    return alpha if alpha > 0.0 else math.inf  # NaN and nonsense mean "outside the domain": no reply
