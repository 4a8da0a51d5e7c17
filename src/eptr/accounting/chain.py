"""One entry of a ledger and the chain that makes a change visible: each entry carries the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from ..privacy.mechanism import Cost
from .budget import Budget
from .compose import compose
from .filter import Spent, check_cost

__all__ = ["Entry", "first_break"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened (``kind``: create, charge or reserve), when, by whom, at which cost, and the exact totals after it."""

    dataset: str
    number: int
    time: datetime
    who: str
    what: str
    kind: str
    content: dict[str, Any]
    totals: dict[str, str | bool]
    previous: str
    hash: str = ""

    @classmethod
    def first(
        cls, dataset: str, time: datetime, who: str, content: dict[str, Any], totals: dict[str, str | bool]
    ) -> Entry:
        return cls(dataset, 0, time, who, "create", "create", content, totals, "")._sealed()

    def next(
        self, time: datetime, who: str, what: str, kind: str, content: dict[str, Any], totals: dict[str, str | bool]
    ) -> Entry:
        return Entry(self.dataset, self.number + 1, time, who, what, kind, content, totals, self.hash)._sealed()

    def _sealed(self) -> Entry:
        return replace(self, hash=self._digest())

    def _digest(self) -> str:
        content = self.to_dict()
        del content["hash"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def intact(self) -> bool:
        """Whether the entry still has the hash it was written with."""
        return self.hash == self._digest()

    def to_dict(self) -> dict[str, Any]:
        """Plain values; times in ISO 8601, UTC."""
        return asdict(self) | {"time": self.time.isoformat()}


def first_break(entries: list[Entry]) -> str | None:
    """What is wrong with the first entry that does not follow from the ones before it, or None."""
    for number, entry in enumerate(entries):
        name = f"entry {number} ({entry.time:%Y-%m-%d %H:%M:%S}, {entry.what})"
        if entry.number != number:
            return f"entry {number} is missing"
        if not entry.intact:
            return f"{name} does not have the content it was written with"
        if entry.previous != (entries[number - 1].hash if number else ""):
            return f"{name} does not follow the entry before it"
        try:
            fault = _fault(entries[:number], entry)
        except (KeyError, TypeError, ValueError):
            fault = "has a content that makes no sense"
        if fault is not None:
            return f"{name} {fault}"
    return None


def _fault(before: list[Entry], entry: Entry) -> str | None:
    """Whether the totals follow from the charges, and draws and prices from the reservations."""
    if not before:
        fine = entry.kind == "create" and entry.totals == Spent().to_dict()
        return None if fine else "does not open the chain"
    opening, previous, content = before[0].content, before[-1], entry.content
    if entry.kind not in ("charge", "reserve"):
        return "is neither a charge nor a reservation"
    if entry.kind == "charge" and not content["private"] and not opening["simulation"]:
        return "is not private, in a dataset that is no simulation"
    cost = Cost(**{k: content[k] for k in Cost.__slots__})
    check_cost(cost)
    if "reservation" in content:
        return _draw_fault(before, entry)
    if entry.kind == "reserve":
        each = Cost(**content["each"])
        if compose([each] * content["count"]).epsilon(cost.delta) > cost.epsilon * (1.0 + 1e-9):
            return "reserves releases below their price"
    after = Spent.from_dict(previous.totals).charged(
        cost, Budget(opening["epsilon"], opening["delta"]), opening["mixing"]
    )
    fits = after is not None and after.to_dict() == entry.totals
    return None if fits else "carries totals that do not follow from the charges"


def _draw_fault(before: list[Entry], entry: Entry) -> str | None:
    number, content = entry.content["reservation"], entry.content
    terms = before[number] if 0 < number < len(before) else None
    if terms is None or terms.kind != "reserve":
        return "draws on a reservation that does not exist"
    if {k: content[k] for k in Cost.__slots__} != terms.content["each"]:
        return "draws something else than was reserved"
    used = sum(e.content.get("reservation") == number for e in before)
    if used >= terms.content["count"]:
        return "draws more than was reserved"
    return None if entry.totals == before[-1].totals else "carries totals that do not follow from the charges"
