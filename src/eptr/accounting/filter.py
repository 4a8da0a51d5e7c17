"""The privacy filter of a ledger: may this release still be made, whatever was seen so far?  Proof: filter.md.

Before the first Gaussian release claims add up. At the first one the rest of the budget is divided, once and for all, into a
part for Gaussian releases (whose mu^2 add up) and a part for anything else (basic composition of everything).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import InputError, PrivacyError
from ..privacy.bounded_range import bounded_range_mu
from ..privacy.claim import BASES, GAUSSIAN, KINDS, Cost
from ..privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from ..privacy.ladder import build_ladder
from ..privacy.mechanism import excessive_delta
from ..privacy.profile import LaplaceTest, LogisticTest
from ..privacy.unit import RELATIONS
from .budget import Budget

__all__ = ["Remaining", "Spent"]

# Of the delta left at the first Gaussian release, kept for basic composition of everything that follows.
MIXING = 0.2
# Of the rest, for the failures of approximate releases, if the first is one.
_FAILING = Fraction(1, 8)
# What mechanisms keep back pays for this (`budget.md`, tolerance).
_EPSILON_SLACK = 1 + Fraction(1, 10**14)
_DELTA_SLACK = 1 + Fraction(1, 10**12)
# Beyond this exp(epsilon) is no float.
_LARGEST_EPSILON = 700.0


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a dataset still has: for one release of any kind, and for Gaussian ("refined") ones."""

    epsilon: float
    delta: float
    mu: float

    def __str__(self) -> str:
        if self.epsilon <= 0.0 and self.mu <= 0.0:
            return "nothing is left"
        level = max(self.delta, 1e-6)
        refined = 0.0 if self.mu <= 0.0 else gaussian_epsilon(delta=level, mu=self.mu)
        if self.epsilon <= 0.0:
            return (
                f"left: epsilon {refined:.4g} at delta {level:.4g} for refined (Gaussian) releases, the default; nothing for "
                "strategy 'paper' or 'tight'"
            )
        any_kind = f"({self.epsilon:.4g}, {self.delta:.4g}) for a release of any kind"
        if self.mu <= 0.0:
            return f"left: {any_kind}"
        return f"left: {any_kind}, or a refined (Gaussian) one of epsilon {refined:.4g} at delta {level:.4g}"


@dataclass(frozen=True, slots=True)
class Spent:
    """Exact running totals of one dataset; every number is a rational, so that no order of charges matters.

    ``before`` counts what came before the first Gaussian release; ``all`` everything since, ``squares`` and ``failures`` its
    Gaussian part; ``mixed`` tells whether anything else came since. ``gaussian`` and ``failing`` are the shares frozen then.
    """

    epsilon_before: Fraction = Fraction(0)
    delta_before: Fraction = Fraction(0)
    frozen: bool = False
    gaussian: Fraction = Fraction(0)
    failing: Fraction = Fraction(0)
    mixed: bool = False
    squares: Fraction = Fraction(0)
    failures: Fraction = Fraction(0)
    epsilon_all: Fraction = Fraction(0)
    delta_all: Fraction = Fraction(0)

    @property
    def all_gaussian(self) -> bool:
        """Whether nothing but mu-GDP releases was admitted, nor ever can be, so that the total has a mu. proof: filter"""
        return not self.epsilon_before and self.gaussian == 1 and self.delta_all > 0

    def charged(self, cost: Cost, total: Budget, mixing: float = MIXING) -> Spent | None:
        """The totals after ``cost``, or None if it does not fit. proof: filter"""
        if not self.frozen:
            if cost.kind not in GAUSSIAN:
                after = replace(
                    self,
                    epsilon_before=self.epsilon_before + Fraction(cost.epsilon),
                    delta_before=self.delta_before + Fraction(cost.delta),
                )
                return after if _covers(total, after.epsilon_before, after.delta_before) else None
            # The division may depend on everything known before the first Gaussian release, its cost included.
            for basic in (Fraction(mixing), Fraction(1)):
                failing = (1 - basic) * _FAILING if cost.kind == "approximate-gaussian" else Fraction(0)
                divided = replace(self, frozen=True, gaussian=1 - basic - failing, failing=failing)
                after = divided._add(cost)
                if after._fits(total):
                    return after
            return None
        after = self._add(cost)
        return after if after._fits(total) else None

    def _add(self, cost: Cost) -> Spent:
        mu = Fraction(cost.mu) if cost.kind in GAUSSIAN else Fraction(0)
        return replace(
            self,
            mixed=self.mixed or cost.kind not in GAUSSIAN,
            squares=self.squares + mu * mu * cost.parts,
            failures=self.failures + Fraction(cost.failure) * cost.parts,
            epsilon_all=self.epsilon_all + Fraction(cost.epsilon),
            delta_all=self.delta_all + Fraction(cost.delta),
        )

    def _fits(self, total: Budget) -> bool:
        epsilon, delta = self._rest(total)
        if epsilon <= 0 or delta <= 0:
            return False
        basic = 1 - self.gaussian - self.failing
        if self.epsilon_all <= epsilon * _EPSILON_SLACK and self.delta_all <= basic * delta * _DELTA_SLACK:
            return True
        if self.mixed or not self.gaussian:
            return False
        return self.squares <= self._mu_cap(total) ** 2 and self.failures <= self.failing * delta * _DELTA_SLACK

    def _rest(self, total: Budget) -> tuple[Fraction, Fraction]:
        """The budget that was left at the first Gaussian release."""
        return Fraction(total.epsilon) - self.epsilon_before, Fraction(total.delta) - self.delta_before

    def _mu_cap(self, total: Budget, mixing: float = MIXING) -> Fraction:
        epsilon, delta = self._rest(total)
        share = self.gaussian if self.frozen else 1 - Fraction(mixing)
        if epsilon <= 0 or float(share * delta) <= 1e-300:
            return Fraction(0)
        return Fraction(gaussian_mu(float(epsilon) * (1.0 - 1e-15), float(share * delta) * (1.0 - 1e-15)))

    def remaining(self, total: Budget, mixing: float = MIXING) -> Remaining:
        """What is left, rounded down."""
        epsilon, delta = self._rest(total)
        square = Fraction(0) if self.mixed else max(Fraction(0), self._mu_cap(total, mixing) ** 2 - self.squares)
        if self.frozen:
            epsilon, delta = epsilon - self.epsilon_all, (1 - self.gaussian - self.failing) * delta - self.delta_all
        if epsilon <= 0 or delta <= 0:
            epsilon = delta = Fraction(0)
        return Remaining(float(epsilon), float(delta), math.sqrt(float(square)))

    def to_dict(self) -> dict[str, str | bool]:
        """Exact, for storage."""
        return {k: v if isinstance(v, bool) else f"{v.numerator}/{v.denominator}" for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, content: dict[str, str | bool]) -> Spent:
        """The inverse of :meth:`to_dict`."""
        if set(content) != {f.name for f in fields(cls)}:
            raise InputError("the running totals do not have the fields of this version.")
        values: dict[str, Any] = {k: v if isinstance(v, bool) else Fraction(v) for k, v in content.items()}
        return cls(**values)


def _covers(total: Budget, epsilon: Fraction, delta: Fraction) -> bool:
    return epsilon <= Fraction(total.epsilon) * _EPSILON_SLACK and delta <= Fraction(total.delta) * _DELTA_SLACK


def check_cost(cost: Cost) -> None:
    """A cost that makes no sense, or claims less than its mechanism, is refused before it reaches the totals."""
    numbers = (cost.epsilon, cost.delta, cost.mu, cost.failure)
    if not all(math.isfinite(x) and x >= 0.0 for x in numbers) or cost.epsilon <= 0.0 or cost.parts < 1:
        raise PrivacyError("the cost must have finite numbers, epsilon above 0 and at least one part.")
    if cost.kind not in KINDS:
        raise PrivacyError(f"the cost must be of a known kind ({', '.join(KINDS)}), got {cost.kind!r}.")
    if cost.relation not in RELATIONS:
        raise PrivacyError(f"the relation of the cost must be one of {', '.join(RELATIONS)}, got {cost.relation!r}.")
    if not isinstance(cost.rows, int) or cost.rows < 1:
        raise PrivacyError("a cost must say how many rows of one person are protected together, at least 1.")
    if cost.basis not in BASES:
        raise PrivacyError(f"the basis of the cost must be one of {', '.join(BASES)}, got {cost.basis!r}.")
    if not isinstance(cost.theorem, str) or (cost.basis == "cited" and not cost.theorem.strip()):
        raise PrivacyError(
            "a cost whose basis is 'cited' must name the theorem and its hypotheses: Cost(theorem='...')."
        )
    if cost.kind == "bounded-range":
        least = bounded_range_mu(_part(cost.epsilon, cost.parts))
        if cost.mu < least * (1.0 - 1e-13) or cost.failure:
            raise PrivacyError(
                f"a cost of bounded range {cost.epsilon:g} must name its mu, {least:g} or more, and no failure."
            )
    elif cost.kind in GAUSSIAN:
        if cost.mu <= 0.0:
            raise PrivacyError("a Gaussian cost must name its mu.")
        true = gaussian_delta(cost.epsilon, cost.mu * math.sqrt(cost.parts)) + cost.parts * cost.failure
        if true > cost.delta * (1.0 + 1e-9):
            raise PrivacyError(f"a Gaussian cost of mu={cost.mu:g} is not ({cost.epsilon:g}, {cost.delta:g})-DP.")
    elif cost.kind != "basic":
        fault = _test_fault(cost.kind, _part(cost.epsilon, cost.parts), _part(cost.delta, cost.parts), cost.mu, cost.p0)
        if fault is not None:
            raise PrivacyError(f"a {cost.kind} cost does not keep its claim: {fault}")


def _part(total: float, parts: int) -> float:
    """One of so many equal parts, rounded up: below what the comparisons of budgets forgive."""
    each = total / parts
    return each if Fraction(each) * parts >= Fraction(total) else math.nextafter(each, math.inf)


@lru_cache(maxsize=1024)
def _test_fault(kind: str, epsilon: float, delta: float, mu: float, p0: float | None) -> str | None:
    """Why a tested release with this noise is not (epsilon, delta)-DP, or None. proof: claims"""
    if not (0.0 < delta < 1.0 and mu > 0.0):
        return "delta must be between 0 and 1, and mu above 0."
    if epsilon > _LARGEST_EPSILON:
        return f"an epsilon above {_LARGEST_EPSILON:g} cannot be verified, and guarantees nothing."
    if kind == "ladder":
        if p0 is None or not 0.0 < p0 < 1.0:
            return "p0 must be the reply probability on an unsafe dataset."
        try:
            build_ladder(epsilon, delta, mu, p0)
        except PrivacyError as error:
            return str(error)
        return None
    spent = excessive_delta((LogisticTest if kind == "logistic" else LaplaceTest)(epsilon, delta), mu)
    return None if spent is None else f"its exact delta at epsilon={epsilon:g} is {spent:.3g}, not {delta:g}."
