"""One fit, one budget: the only holder of a noise source.  Proof: spending.md.

It checks the rows, charges once, divides, draws, refuses an overspend before it draws, and closes with a Release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import LedgerError, PrivacyError
from .bounded_range import bounded_range_epsilon, bounded_range_mu
from .claim import BASES, TESTED, Cost, Draw, Record, Release, receipt_of
from .contribution import Absolute, Contribution
from .joint_exponential import Line, joint_places, rank_sensitivity, rows_wanted
from .mechanism import Proposal, forecast_test, reply, reply_at_rung
from .noise import NoiseSource, noise_source
from .unit import Unit
from .versions import made

__all__ = ["Account", "Part", "Portion", "Rows", "Spending"]

Array = NDArray[np.float64]
# Every part is lowered by this much of itself, more than the roundings that made it. proof: split
_KEPT_BACK = 1.0 - 1e-15


class Rows(Protocol):
    """What spending needs to know of rows: whether they are what they should be, and sums over them."""

    def check(self) -> None: ...

    def sum(self, fn: Any) -> tuple[Array, ...]: ...


class Account(Protocol):
    """A ledger, as seen from a fit: it says in advance whether a cost fits, and commits it, or raises."""

    def check(self, cost: Cost, *, private: bool) -> None: ...

    def charge(self, cost: Cost, *, private: bool, what: str = ...) -> object: ...


@dataclass(frozen=True, slots=True)
class Part:
    """One noisy sum, or one draw of quantiles: what a row could contribute, and the mu it cost."""

    contribution: Contribution | None
    mu: float


class Portion:
    """A part of a budget, to be divided further: all a strategy ever holds. It draws through the whole alone."""

    def __init__(self, whole: Spending, mu: float) -> None:
        self._whole, self.mu = whole, mu

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._whole.protected

    def share(self, share: float) -> float:
        """mu sqrt(share): shares are of mu^2. proof: split"""
        return self.mu * math.sqrt(share) * _KEPT_BACK

    def within(self, share: float) -> Portion:
        """A share of this portion, as a portion of its own."""
        return Portion(self._whole, self.share(share))

    def scale(self, contribution: Contribution, share: float) -> float:
        """Standard deviation of the noise that such a sum will get; a public number."""
        return contribution.scale(self.unit, self.share(share))

    def noisy(self, values: Any, contribution: Contribution, share: float = 1.0) -> Any:
        """Exact sums of a row function that stays inside ``contribution``, with noise; share^(1/2) mu-GDP."""
        return self._whole.draw(values, contribution, self.share(share))

    def sums(self, rows: Rows, fn: Any, contribution: Contribution, share: float = 1.0) -> Any:
        """One pass over the rows, and the noisy sum of ``fn``."""
        values = rows.sum(fn)
        return self.noisy(values if len(values) > 1 else values[0], contribution, share)

    def quantiles(self, line: Line, levels: Sequence[Fraction], share: float = 1.0, *, total: int | None = None) -> Any:
        """Places of quantiles, by the exponential mechanism that share^(1/2) mu pays for; see :meth:`Spending.place`."""
        return self._whole.place(line, levels, bounded_range_epsilon(self.share(share)), total=total)


class Spending(Portion):
    """The budget of one fit. A budget that cannot pay is refused here, before any pass over the rows.

    Parameters
    ----------
    cost : Cost
        What the whole fit costs: Gaussian sums (``kind="gaussian"``), ``parts`` tests, or a claim of its own.
    unit : Unit
    rows : object with ``check``
        Every row is checked before anything is charged, and charged before anything is drawn.
    account : object with ``check`` and ``charge``, or None
    random_state : None or seed
    honest : bool
        False for published methods that are known not to be private.
    """

    def __init__(
        self,
        cost: Cost,
        unit: Unit,
        rows: Rows,
        account: Account | None = None,
        random_state: Any = None,
        *,
        honest: bool = True,
        what: str = "",
    ) -> None:
        self.cost, self.protected = replace(cost, relation=unit.relation, rows=unit.rows), unit
        super().__init__(self, cost.mu)
        self._rows, self._account, self._what, self._seed = rows, account, what, random_state
        self._noise = noise_source(random_state)
        self.private = self._noise.private and honest
        self._paid = self._drawn = False
        squares, pure = cost.kind in ("gaussian", "bounded-range"), cost.kind in ("basic", "bounded-range")
        self._square = Fraction(cost.mu) ** 2 * cost.parts if squares else Fraction(0)
        self._epsilon = Fraction(cost.epsilon) if pure and cost.delta == 0.0 else Fraction(0)
        self._tests = cost.parts if cost.kind in TESTED else 0
        self.parts: list[Part] = []
        self._draws: list[Draw] = []
        if account is not None:
            account.check(self.cost, private=self.private)

    def remaining(self) -> float:
        """Of mu^2, for Gaussian sums."""
        return float(self._square)

    def draw(self, values: Any, contribution: Contribution, mu: float) -> Any:
        """mu-GDP noise on exact sums; refused, before anything is drawn, if mu^2 exceeds what is left. proof: filter"""
        square = Fraction(mu) ** 2
        if square > self._square:
            raise PrivacyError("the parts of this fit cost more than its budget; nothing more was drawn.")
        contribution.sensitivity(self.protected)  # refuses a relation that is not proven
        noise = self._source()
        self._square, self._drawn = self._square - square, True
        self.parts.append(Part(contribution, mu))
        self._draws.append(_drawn(contribution, self.protected, mu))
        return contribution.draw(values, self.protected, mu, noise.gaussian)

    def place(self, line: Line, levels: Sequence[Fraction], epsilon: float, *, total: int | None = None) -> Array:
        """Where quantiles of rows on a line lie, epsilon-DP by one exponential mechanism. proof: places

        ``total``: the public number of rows, which levels refer to; without it they refer to the rows on the line.
        """
        mu = bounded_range_mu(epsilon)
        pure = Fraction(epsilon) if self.cost.kind != "gaussian" else Fraction(0)
        square = Fraction(mu) ** 2 if self.cost.kind != "basic" else Fraction(0)
        if pure > self._epsilon or square > self._square:
            raise PrivacyError("the parts of this fit cost more than its budget; nothing more was drawn.")
        noise = self._source()
        self._epsilon, self._square, self._drawn = self._epsilon - pure, self._square - square, True
        self.parts.append(Part(None, mu))
        sensitivity = rank_sensitivity(levels, self.protected, public_total=total is not None)
        scale = 2.0 * float(sensitivity) / epsilon
        self._draws.append(Draw("exponential", "ranks", (), float(sensitivity), epsilon, scale))
        wanted = rows_wanted(levels, line.count if total is None else total)
        return np.array(joint_places(line, wanted, Fraction(epsilon) / (2 * sensitivity), noise))

    def laplace(self, values: Any, reach: Absolute, share: float = 1.0) -> Array:
        """``share`` of epsilon, as Laplace noise on sums whose absolute values stay within ``reach``. proof: laplace"""
        return self.laplace_blocks([(values, 1.0)], reach, share)[0]

    def laplace_blocks(self, blocks: list[tuple[Any, float]], reach: Absolute, share: float = 1.0) -> list[Array]:
        """The same for blocks (values, weight) that share one reach: each divided by its weight, all together."""
        scale = self.laplace_scale(reach, share)
        spent = Fraction(reach.sensitivity(self.protected)) / Fraction(scale)
        if spent > self._epsilon:
            raise PrivacyError("the parts of this fit cost more than its budget; nothing more was drawn.")
        noise = self._source()
        self._epsilon, self._drawn = self._epsilon - spent, True
        sensitivity = reach.sensitivity(self.protected)
        self._draws.append(Draw("laplace", "Absolute", _shape(reach), sensitivity, float(spent), scale))
        return [noise.laplace(values, scale * weight) for values, weight in blocks]

    def laplace_scale(self, reach: Absolute, share: float = 1.0) -> float:
        """Scale of that noise; a public number."""
        return reach.scale(self.protected, share * self.cost.epsilon)

    def test(self, proposal: Proposal, strategy: str, epsilon: float, delta: float) -> Release:
        """One of the tests that were paid for: propose, test, release. proof: tests"""
        return self._noted(reply(proposal, epsilon, delta, strategy, self._one_test(strategy, epsilon, delta)))

    def test_at_rung(
        self, estimate: Callable[[], Array], rung: int, sensitivity: float, epsilon: float, delta: float
    ) -> Release:
        """The tight test where the rung is known; the estimate is computed only if the coin says reply."""
        noise = self._one_test("tight", epsilon, delta)
        return self._noted(reply_at_rung(estimate, rung, sensitivity, epsilon, delta, noise))

    def _noted(self, found: Release) -> Release:
        self._draws += found.record.draws
        return found

    def idle(self, shape: Any, *, anew: bool = False) -> Array:
        """Standard normal numbers that no row enters, for published fallbacks; ``anew`` starts a seed from its beginning."""
        source = noise_source(self._seed) if anew else self._source()
        return source.gaussian(np.zeros(shape), 1.0)

    def by_its_own_theorem(self) -> NoiseSource:
        """The source itself, for methods that are neither sums nor tests; only where the claim says so. proof: own"""
        if self.cost.basis not in BASES[1:]:
            raise PrivacyError("only a method that is cited or not verified may draw by a theorem of its own.")
        if self._drawn:
            raise PrivacyError("this fit has drawn from its budget already; a theorem of its own takes all of it.")
        self._square, self._epsilon, self._tests = Fraction(0), Fraction(0), 0
        return self._source()

    def close(self, value: Any, noise_scale: float, strategy: str, record: Record | None = None) -> Release:
        """What may be published, None for no reply, and paid for even if nothing was drawn. proof: order

        ``record``: what the caller knows of it; what was drawn, from how many rows, when and with what is added here.
        """
        self._source()
        known: dict[str, Any] = {"draws": tuple(self._draws), "rows": getattr(self._rows, "n", None), **made()}
        known["receipt"] = receipt_of(self._account)
        return Release(
            value is not None, value, noise_scale, self.cost.epsilon, self.cost.delta, self.private, strategy,
            self.cost, self.protected.relation, self.protected.rows, replace(record or Record(), **known),
        )  # fmt: skip

    def _one_test(self, strategy: str, epsilon: float, delta: float) -> NoiseSource:
        if self._tests < 1:
            raise PrivacyError("this fit has made all the tests that it pays for; nothing more was drawn.")
        asked, paid = forecast_test(strategy, epsilon, delta).cost, self.cost
        same = (asked.kind, asked.mu, asked.p0) == (paid.kind, paid.mu, paid.p0)
        within = max(epsilon * paid.parts / paid.epsilon, delta * paid.parts / paid.delta) <= 1.0 + 1e-14
        if not same or not within:
            raise PrivacyError("this test is not one of those that the fit pays for; nothing more was drawn.")
        noise = self._source()
        self._tests, self._drawn = self._tests - 1, True
        return noise

    def _source(self) -> NoiseSource:
        """The noise, paid for: rows are checked first, then the ledger is charged, once. proof: order"""
        if not self._paid:
            self._rows.check()
            if self._account is not None:
                try:
                    self._account.charge(self.cost, private=self.private, what=self._what)
                except AttributeError as error:
                    raise LedgerError("the ledger could not be charged; nothing was drawn.") from error
            self._paid = True
        return self._noise


def _drawn(contribution: Contribution, unit: Unit, mu: float) -> Draw:
    sensitivity, scale = contribution.sensitivity(unit), contribution.scale(unit, mu)
    return Draw("gaussian", type(contribution).__name__, _shape(contribution), sensitivity, mu, scale)


def _shape(contribution: Any) -> tuple[tuple[str, float | None], ...]:
    return tuple((field.name, getattr(contribution, field.name)) for field in fields(contribution))
