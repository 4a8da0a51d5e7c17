"""Identical releases, paid for in advance: what they cost together, and what each of them may draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import BudgetError, InputError, LedgerError, whole_number
from ..privacy.claim import Cost
from ..privacy.mechanism import forecast_test
from .chain import Entry, content_of, cost_in, first_break
from .compose import compose

__all__ = ["Reservation", "drawn_on", "price"]


@dataclass(frozen=True, slots=True)
class Reservation:
    """So many identical releases, paid in advance; ``url`` is what to pass as ``ledger=``."""

    url: str
    dataset: str
    number: int
    count: int
    epsilon: float
    delta: float


def price(count: int, epsilon: float, delta: float, strategy: str, total_delta: float | None) -> tuple[Cost, Cost]:
    """The cost of one, and of all together at ``total_delta``: their parameters are fixed, so that they compose tightly."""
    count = whole_number("count", count)
    one = forecast_test(strategy, epsilon, delta).cost
    level = count * one.delta if total_delta is None else total_delta
    total = compose([one] * count).epsilon(level)
    if not math.isfinite(total):
        raise InputError(
            f"total_delta={level:g} is too small for {count} releases; allow at least {count * one.delta:g}."
        )
    return one, Cost(total, level, "basic", 0.0, basis=one.basis, theorem=one.theorem)


def drawn_on(chain: list[Entry], number: int, cost: Cost) -> dict[str, Any]:
    """The content of another draw on reservation ``number``, or the reason why there is none."""
    dataset = chain[0].dataset
    broken = first_break(chain)
    if broken is not None:
        raise LedgerError(f"the ledger of {dataset!r} was changed: {broken}.")
    drawn = [e for e in chain if e.kind == "charge" and e.content.get("reservation") == number]
    entries = [*(e for e in chain if e.number == number), *drawn]
    if not entries or entries[0].kind != "reserve":
        raise LedgerError(f"{dataset!r} has no reservation number {number}.")
    terms = entries[0].content
    if cost != cost_in(terms["each"]):
        raise BudgetError(
            f"the reservation is for {entries[0].what!r} at ({terms['each']['epsilon']:g}, {terms['each']['delta']:g}) each; "
            "this release has another strategy or budget and differs. Nothing was drawn."
        )
    used = len(entries) - 1
    if used >= terms["count"]:
        raise BudgetError(f"all {terms['count']} releases of the reservation are used. Nothing was drawn.")
    return content_of(cost) | {"reservation": number}
