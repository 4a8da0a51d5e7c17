"""Propose, test, release: from a Proposal to a Release that tells nothing else.  Proof: mechanism.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, PrivacyError, positive, probability
from .claim import Cost, Draw, Record, Release, SupportsCharge, receipt_of
from .gaussian import gaussian_delta, gaussian_mu
from .ladder import DEFAULT_P0_SHARE, DEFAULT_SLACK, Ladder, build_ladder
from .noise import NoiseSource, SeededNoise, noise_source
from .profile import LaplaceTest, LogisticTest, profile_within
from .versions import made

__all__ = [
    "Forecast",
    "Proposal",
    "forecast_test",
    "release",
    "release_at_rung",
    "simulate",
]

Array = NDArray[np.float64]
# A safety value is trusted to this absolute accuracy; see `rung`. proof: rungs
_SAFETY_TOLERANCE = 1e-9
CALLERS = (
    "A private test decided whether to reply, and the reply has Gaussian noise; what is proven is this mechanism, and the "
    "safety and the sensitivity of the estimate are claims of the caller"
)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Proposal:
    """A non-private estimate, the sensitivity it has on safe datasets, and a safety lower bound.

    A Proposal holds private values; its repr shows none of them, and no value of theirs raises an error, which would
    tell. What is no number at all, or empty, is a mistake of the program and raises.

    Parameters
    ----------
    estimate : float or array
        theta(X), of public shape. Next to a safe dataset it must exist and be within ``sensitivity``: NaN or infinity
        is for datasets whose neighbours all have safety 0. It becomes zero, and the safety 0 with it.
    sensitivity : float
        alpha > 0, public: bounds |theta(X) - theta(X')| for every replace-one neighbour X' of a safe X.
    safety : float
        gamma(X) >= 0, a SaLBo: 1-Lipschitz in replaced rows, and positive only where ``sensitivity`` holds. NaN and
        negative numbers count as 0, "not known to be safe". Infinity is for a sensitivity that holds everywhere: if one
        dataset has it, all have.
    """

    estimate: Array
    sensitivity: float
    safety: float

    def __init__(self, estimate: Any, sensitivity: float, safety: float) -> None:
        try:
            value = np.array(estimate, dtype=float)
        except (TypeError, ValueError):
            raise InputError("estimate must be a number or a numeric array.") from None
        if value.size == 0:
            raise InputError("estimate must hold at least one number.")
        alpha = positive("sensitivity", sensitivity)
        try:
            gamma = float(safety)
        except (TypeError, ValueError):
            raise InputError("safety must be a number.") from None
        # An error here would be an answer about private values: what is out of range is not safe instead. proof: silent
        if not gamma >= 0.0:
            gamma = 0.0
        if not np.all(np.isfinite(value)):
            value, gamma = np.zeros_like(value), 0.0
        value.setflags(write=False)
        object.__setattr__(self, "estimate", value)
        object.__setattr__(self, "sensitivity", alpha)
        object.__setattr__(self, "safety", gamma)

    def __repr__(self) -> str:
        return f"Proposal(shape={self.estimate.shape}, sensitivity={self.sensitivity!r}, <private>)"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The public half of a release: noise per unit of alpha, and the test."""

    noise: float
    cost: Cost
    test: Ladder | LogisticTest | LaplaceTest

    def chance(self, gamma: float) -> tuple[int, int]:
        """Numerator and bits of the reply probability at a safety value."""
        if isinstance(self.test, Ladder):
            return self.test.numerator(rung(gamma)), self.test.bits
        bits = 64 + math.ceil(math.log2(1.0 / self.test.delta))
        return math.floor(self.test.exact(min(max(_guarded(gamma), 0.0), 1e300)) * (1 << bits)), bits


def rung(gamma: float) -> int:
    """ceil(gamma), guarded so that rounding never makes neighbours differ by two rungs. proof: rungs"""
    guarded = _guarded(gamma)
    return 0 if guarded <= 0.0 else math.ceil(min(guarded, 2.0**53))


def _guarded(gamma: float) -> float:
    """Shrunk so that computed safety values of neighbours differ by less than 1."""
    return gamma * (1.0 - 4.0 * _SAFETY_TOLERANCE) - _SAFETY_TOLERANCE


@lru_cache(maxsize=256)
def _plan(strategy: str, epsilon: float, delta: float, slack: float, p0: float | None) -> _Plan:
    if strategy == "tight":
        if not slack > 1.0:
            raise InputError(f"slack must be above 1 (default {DEFAULT_SLACK}), got {slack!r}.")
        mu = gaussian_mu(epsilon, delta) / slack
        steps = build_ladder(epsilon, delta, mu, DEFAULT_P0_SHARE * delta if p0 is None else p0)
        return _Plan(round_up(1.0 / mu), Cost(epsilon, delta, "ladder", mu, p0=float(steps.probabilities[0])), steps)
    if strategy == "paper":
        noise = 2.0 / epsilon * math.sqrt(2.0 * math.log(1.25 / delta))
        plan = _Plan(round_up(noise), Cost(epsilon, delta, "logistic", 1.0 / noise), LogisticTest(epsilon, delta))
    elif strategy == "ptr":
        mu = gaussian_mu(0.5 * epsilon, delta)
        plan = _Plan(round_up(1.0 / mu), Cost(epsilon, delta, "laplace", mu), LaplaceTest(epsilon, delta))
    else:
        raise InputError(f"strategy must be 'tight', 'paper' or 'ptr' here, got {strategy!r}.")
    assert not isinstance(plan.test, Ladder)
    spent = excessive_delta(plan.test, plan.cost.mu)
    if spent is not None:
        raise PrivacyError(
            f"strategy={strategy!r} is not ({epsilon:g}, {delta:g})-DP: its exact delta at epsilon={epsilon:g} is "
            f"{spent:.3g}. Use a smaller epsilon, or strategy='tight', which is exact everywhere."
        )
    return plan


@lru_cache(maxsize=256)
def excessive_delta(test: LogisticTest | LaplaceTest, mu: float) -> float | None:
    """The exact delta of a published test with noise alpha/mu, if it exceeds the one the test was made for."""
    epsilon, delta = test.epsilon, test.delta
    # The same margins as everywhere else are kept back. proof: published
    limit = delta * (1.0 - 1e-9) - (1.0 + math.exp(min(epsilon, 700.0))) * delta * 2.0**-64
    # The published theorem with the exact Gaussian curve settles small epsilon at once. proof: published
    quick = max(gaussian_delta(0.5 * epsilon * (1.0 - 1e-12), mu), float(test.exact(0.0))) * (1.0 + 1e-10)
    spent = quick if quick <= limit else profile_within(test, mu, epsilon * (1.0 - 1e-12), limit)
    return spent if spent > limit else None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Noise per unit of sensitivity, the safety (in steps) from which a reply is certain, and the cost."""

    noise: float
    certain: float
    cost: Cost


def forecast_test(strategy: str, epsilon: float, delta: float) -> Forecast:
    """The public half of a release, for planning. A logistic test is never certain; 2M stands for it."""
    plan = _request(epsilon, delta, strategy, DEFAULT_SLACK, None)
    certain = plan.test.top if isinstance(plan.test, Ladder) else 2.0 * LogisticTest(epsilon, delta).midpoint
    return Forecast(plan.noise, float(certain), plan.cost)


def round_up(x: float) -> float:
    return math.nextafter(x, math.inf)


def _request(epsilon: object, delta: object, strategy: str, slack: object, p0: object) -> _Plan:
    p0 = None if p0 is None else probability("p0", p0)
    return _plan(strategy, positive("epsilon", epsilon), probability("delta", delta), positive("slack", slack), p0)


def release(
    proposal: Proposal,
    epsilon: float,
    delta: float,
    strategy: str = "tight",
    *,
    slack: float = DEFAULT_SLACK,
    p0: float | None = None,
    ledger: SupportsCharge | None = None,
    random_state: Any = None,
) -> Release:
    """:func:`eptr.release`, with a ledger that is an object: charged before anything is drawn."""
    if not isinstance(proposal, Proposal):
        raise InputError(f"proposal must be an eptr.Proposal, got {type(proposal).__name__}.")
    noise = _charged(_request(epsilon, delta, strategy, slack, p0).cost, strategy, ledger, random_state)
    return paid(reply(proposal, epsilon, delta, strategy, noise, slack=slack, p0=p0), ledger)


def reply(
    proposal: Proposal,
    epsilon: float,
    delta: float,
    strategy: str,
    noise: NoiseSource,
    *,
    slack: float = DEFAULT_SLACK,
    p0: float | None = None,
) -> Release:
    """The test and its release, with noise that was paid for."""
    plan = _request(epsilon, delta, strategy, slack, p0)
    return _draw(plan, strategy, plan.chance(proposal.safety), lambda: proposal.estimate, proposal.sensitivity, noise)


def release_at_rung(
    estimate: Callable[[], Array],
    rung: int,
    sensitivity: float,
    epsilon: float,
    delta: float,
    *,
    slack: float = DEFAULT_SLACK,
    p0: float | None = None,
    ledger: SupportsCharge | None = None,
    random_state: Any = None,
) -> Release:
    """Tight release where the caller knows the rung; ``estimate`` is computed only if the coin says reply.

    Rung -1 never replies. From rung 0 upwards the estimate exists and ``sensitivity`` bounds it. proof: threshold
    """
    noise = _charged(_request(epsilon, delta, "tight", slack, p0).cost, "tight", ledger, random_state)
    return paid(reply_at_rung(estimate, rung, sensitivity, epsilon, delta, noise, slack=slack, p0=p0), ledger)


def reply_at_rung(
    estimate: Callable[[], Array],
    rung: int,
    sensitivity: float,
    epsilon: float,
    delta: float,
    noise: NoiseSource,
    *,
    slack: float = DEFAULT_SLACK,
    p0: float | None = None,
) -> Release:
    """The same with noise that was paid for."""
    plan = _request(epsilon, delta, "tight", slack, p0)
    assert isinstance(plan.test, Ladder)
    chance = plan.test.numerator(rung), plan.test.bits
    return _draw(plan, "tight", chance, estimate, positive("sensitivity", sensitivity), noise)


def _charged(cost: Cost, strategy: str, ledger: SupportsCharge | None, random_state: Any) -> NoiseSource:
    noise = noise_source(random_state)
    if isinstance(ledger, str):
        raise InputError("ledger must be an object here; eptr.release takes a string, or pass eptr.Ledger('...').")
    if ledger is not None:
        ledger.charge(cost, private=noise.private, what=strategy)
    return noise


def paid(found: Release, ledger: SupportsCharge | None) -> Release:
    """The release with its receipt, its day and the versions it was made with."""
    return replace(found, record=replace(found.record, receipt=receipt_of(ledger), **made()))


def _draw(
    plan: _Plan, strategy: str, chance: tuple[int, int], estimate: Callable[[], Array], alpha: float, noise: NoiseSource
) -> Release:
    scale = round_up(alpha * plan.noise)
    replied = noise.coin(*chance)
    value = published(noise, estimate(), scale) if replied else None
    cost = plan.cost
    record = Record(
        "estimate",
        CALLERS,
        "src/eptr/privacy/mechanism.md",
        draws=(Draw("test", strategy, (), alpha, cost.epsilon, scale),),
    )
    return Release(replied, value, scale, cost.epsilon, cost.delta, noise.private, strategy, cost, record=record)


def published(noise: NoiseSource, estimate: Any, scale: float) -> Any:
    value = np.asarray(estimate, dtype=float)
    # An estimate that does not exist, against the caller's claim, counts as zero rather than as an error that tells.
    value = noise.gaussian(np.where(np.isfinite(value), value, 0.0), scale)
    if value.ndim == 0:
        return float(value)
    value.setflags(write=False)
    return value


def simulate(
    proposal: Proposal,
    epsilon: float,
    delta: float,
    strategy: str = "tight",
    *,
    size: int,
    random_state: Any,
) -> tuple[NDArray[np.bool_], Array]:
    """Many seeded, **not private** runs of one release at once, for audits and experiments.

    Returns the replies (size,) and the values (size, \\*shape); values are NaN where there was no reply.
    """
    plan, noise = _request(epsilon, delta, strategy, DEFAULT_SLACK, None), SeededNoise(random_state)
    numerator, bits = plan.chance(proposal.safety)
    replied = noise.generator.random(size) < numerator / (1 << bits)
    centres = np.broadcast_to(proposal.estimate, (size, *proposal.estimate.shape))
    values = noise.gaussian(centres, plan.noise * proposal.sensitivity)
    values[~replied] = np.nan
    return replied, values
