"""What several releases cost together: exactly for Gaussians, by privacy-loss distributions otherwise.  Proof: compose.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..errors import InputError, positive, probability
from ..privacy.claim import GAUSSIAN, TESTED, Cost, Release
from ..privacy.gaussian import delta_on_grid, gaussian_delta, gaussian_epsilon
from ..privacy.ladder import build_ladder
from ..privacy.profile import LogisticTest

__all__ = ["Composition", "compose"]

Array = NDArray[np.float64]
# Beyond this many standard deviations a Gaussian tail is 1e-19 and enters as a constant. proof: pairs
_FAR = 9.0
_TAIL = 2e-19
# Losses are counted on a grid this fine, or a fiftieth of the smallest epsilon. proof: dots
_GRID = 1e-3
# FFT arithmetic is trusted to this; it is added to every delta. proof: dots
_ARITHMETIC = 1e-13
# Cells per unit of safety when a published test is bounded cell by cell. proof: pairs
_CELLS = 8
_KNOWN = (*GAUSSIAN, *TESTED)  # anything else counts by its bare claim


@dataclass(frozen=True, slots=True)
class Composition:
    """Several releases taken together; their parameters were fixed before any of them was seen.

    ``method`` tells how the total is found: "gaussian" (exact), "privacy-loss distribution", or "basic" (sums).
    """

    costs: tuple[Cost, ...]

    @property
    def method(self) -> str:
        kinds = {cost.kind for cost in self.costs}
        if kinds <= set(GAUSSIAN):
            return "gaussian"
        return "privacy-loss distribution" if kinds & set(TESTED) and _has_accounting() else "basic"

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon, rounded up, such that all releases together are (epsilon, delta)-DP."""
        delta = probability("delta", delta)
        candidates = [self._basic_epsilon(delta)]
        if self.method != "basic":
            rest, extra = delta - self._lost, self._claimed
            if rest > 0.0 and self.method == "gaussian":
                candidates.append(extra + gaussian_epsilon(delta=rest, mu=self._mu))
            elif rest > 2.0 * _ARITHMETIC:
                found = _distribution(*self._shape()).get_epsilon_for_delta(rest - _ARITHMETIC)
                candidates.append(extra + float(found) * (1.0 + 1e-12))
        return min(candidates)

    def delta(self, epsilon: float) -> float:
        """Smallest delta, rounded up, at ``epsilon``; 1 if nothing is guaranteed."""
        epsilon = positive("epsilon", epsilon)
        candidates = [1.0]
        if math.fsum(c.epsilon for c in self.costs) <= epsilon:
            candidates.append(math.fsum(c.delta for c in self.costs))
        rest = epsilon - self._claimed
        if self.method != "basic" and rest > 0.0:
            if self.method == "gaussian":
                found = float(gaussian_delta(rest, self._mu)) * (1.0 + 1e-10)
            else:
                found = float(_distribution(*self._shape()).get_delta_for_epsilon(rest)) + _ARITHMETIC
            candidates.append(self._lost + found)
        return min(candidates)

    @property
    def _mu(self) -> float:
        parts = [c.mu * c.mu * c.parts for c in self.costs if c.kind in GAUSSIAN]
        return math.sqrt(math.fsum(parts)) * (1.0 + 4e-16 * (len(parts) + 2))

    @property
    def _lost(self) -> float:
        """Deltas that add up whatever the method: failures of approximate parts, bare claims."""
        return math.fsum(c.failure * c.parts if c.kind in _KNOWN else c.delta for c in self.costs)

    @property
    def _claimed(self) -> float:
        return math.fsum(c.epsilon for c in self.costs if c.kind not in _KNOWN)

    def _basic_epsilon(self, delta: float) -> float:
        enough = math.fsum(c.delta for c in self.costs) <= delta * (1.0 + 1e-12)
        return math.fsum(c.epsilon for c in self.costs) if enough else math.inf

    def _shape(self) -> tuple[Any, ...]:
        """The tested releases as (one release, how many), and the Gaussian rest: what a distribution depends on."""
        counts: Counter[Cost] = Counter()
        for cost in self.costs:
            if cost.kind in TESTED:
                counts[_one(cost)] += cost.parts
        return tuple(sorted(counts.items(), key=repr)), self._mu


def compose(releases: Iterable[Any]) -> Composition:
    """The joint cost of releases from the same rows: ``compose([r1, r2]).epsilon(delta)``.

    Valid when the *parameters* of the releases were fixed in advance; what is computed may depend on earlier outputs. If
    the next budget itself depends on what was seen, use a :class:`eptr.Ledger`, which is a privacy filter.

    Parameters
    ----------
    releases : iterable of Release, Cost or fitted estimators
        From the same rows, with the same neighbours.

    Examples
    --------
    >>> from eptr import Proposal, release
    >>> r = release(Proposal([0.0], sensitivity=1.0, safety=1e6), epsilon=1.0, delta=1e-6)
    >>> round(compose([r] * 16).epsilon(1.6e-5), 1)     # basic composition: 16
    7.2
    """
    costs = tuple(_cost_of(item) for item in releases)
    if not costs:
        raise InputError("releases must hold at least one release.")
    if len({cost.relation for cost in costs}) > 1:
        raise InputError(
            "releases must all protect the same neighbours: a total of 'replace-one' and 'zero-out' would mean neither."
        )
    if len({cost.rows for cost in costs}) > 1:
        raise InputError("releases must all have one rows_per_person: a total of several would mean none of them.")
    return Composition(costs)


def _cost_of(item: Any) -> Cost:
    item = getattr(item, "release_", item)
    if isinstance(item, Release):
        return item.cost
    if isinstance(item, Cost):
        return item
    raise InputError(f"releases must hold Release objects or fitted estimators, got {type(item).__name__}.")


def _one(cost: Cost) -> Cost:
    return replace(cost, epsilon=cost.epsilon / cost.parts, delta=cost.delta / cost.parts, parts=1)


def _has_accounting() -> bool:
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None


@lru_cache(maxsize=32)
def _distribution(tested: tuple[tuple[Cost, int], ...], mu: float) -> Any:
    """The privacy-loss distribution of all parts, pessimistic at every step. proof: dots"""
    from dp_accounting.pld import privacy_loss_distribution as pld

    grid = min(_GRID, min(cost.epsilon for cost, _ in tested) / 50.0)
    total = None
    for cost, count in tested:
        part = pld.PrivacyLossDistribution(_loss_masses(cost, grid)).self_compose(count)
        total = part if total is None else total.compose(part)
    if mu > 0.0:
        gaussian = pld.from_gaussian_mechanism(math.nextafter(1.0 / mu, 0.0), value_discretization_interval=grid)
        assert total is not None
        total = total.compose(gaussian)
    return total


def _loss_masses(cost: Cost, grid: float) -> Any:
    """Connect the dots of the symmetric profile: masses at positive losses, mirrored by exp(-loss). proof: dots"""
    from dp_accounting.pld import pld_pmf

    profile = _profile_on_grid(cost, grid)
    drops, growth = np.diff(profile), math.expm1(grid)
    masses = np.append((drops[1:] - math.exp(grid) * drops[:-1]) / growth, drops[-1] / math.expm1(-grid))
    masses = np.maximum(masses, 0.0)  # losses grid, 2 grid, ...
    losses = np.arange(1, len(masses) + 1)
    mirrored = masses * np.exp(-grid * losses)
    centre = max(0.0, 1.0 - float(profile[-1]) - math.fsum(masses) - math.fsum(mirrored))
    table = {int(k): float(m) for k, m in zip(losses, masses, strict=True)}
    table |= {-int(k): float(m) for k, m in zip(losses, mirrored, strict=True)}
    table[0] = centre
    return pld_pmf.create_pmf(table, grid, float(profile[-1]), pessimistic_estimate=True)


def _profile_on_grid(cost: Cost, grid: float) -> Array:
    """h(0), h(grid), h(2 grid), ...: the largest hockey-stick over all ordered pairs of neighbours. proof: pairs"""
    pairs = list(_pairs(cost))
    cut = _FAR * cost.mu + cost.mu**2  # delta_G is below the constant from here on
    ends = [
        max(cut + math.log(p / q), math.log(p_not / q_not) if p_not and q_not else 0.0) for p, p_not, q, q_not in pairs
    ]
    epsilons: Array = grid * np.arange(math.ceil(max(ends) / grid) + 3, dtype=np.float64)
    growth = np.exp(epsilons) * (1.0 - 1e-15)
    profile = np.full(len(epsilons), pairs[0][0])
    for (p, p_not, q, q_not), end in zip(pairs, ends, strict=True):
        if q_not == 0.0:  # the other side is never silent: silence is an infinite loss
            profile = np.maximum(profile, p_not)
        near = slice(0, max(0, math.ceil(end / grid) + 1))
        silence = p_not - growth[near] * q_not
        replies = p * delta_on_grid(epsilons[near] + math.log(q / p), cost.mu)
        profile[near] = np.maximum(profile[near], np.where(silence > 0.0, silence + 2.0**-50 * p_not, 0.0) + replies)
    return np.minimum(profile * (1.0 + 1e-9) + _TAIL, 1.0)


def _pairs(cost: Cost) -> Iterator[tuple[float, float, float, float]]:
    """(p, 1-p, q, 1-q) over all ordered pairs of reply probabilities of neighbours; the first has the unsafe p."""
    steps, reach = _probabilities(cost)
    for i, (p, p_not) in enumerate(steps):
        yield p, p_not, p, p_not
        for shift in reach:
            j = min(i + shift, len(steps) - 1)
            if j > i:
                q, q_not = steps[j]
                yield p, p_not, q, q_not
                yield q, q_not, p, p_not


def _probabilities(cost: Cost) -> tuple[list[tuple[float, float]], tuple[int, ...]]:
    if cost.kind == "ladder":
        assert cost.p0 is not None
        steps = build_ladder(cost.epsilon, cost.delta, cost.mu, cost.p0)
        one = 1 << steps.bits
        return [(m / one, (one - m) / one) for m in steps.numerators], (1,)
    # A published test of a real safety value: bounded on cells, whose corners are up to one cell further apart.
    width = 1.0 / _CELLS
    if cost.kind == "logistic":
        middle = LogisticTest(cost.epsilon, cost.delta).midpoint
        gaps = 0.5 * cost.epsilon * (np.arange(0.0, 2.0 * middle + 80.0 / cost.epsilon, width) - middle)
        values = list(zip(expit(gaps).tolist(), expit(-gaps).tolist(), strict=True))
    else:
        threshold = 2.0 / cost.epsilon * math.log(1.0 / cost.delta)
        gaps = 0.5 * cost.epsilon * (np.arange(0.0, 2.0 * threshold + 80.0 / cost.epsilon, width) - threshold)
        tails = 0.5 * np.exp(-np.abs(gaps))
        values = [(t, 1.0 - t) if g < 0 else (1.0 - t, t) for g, t in zip(gaps.tolist(), tails.tolist(), strict=True)]
    return [*values, (1.0, 0.0)], (_CELLS - 1, _CELLS, _CELLS + 1)
