"""One entry of a ledger and the chain that makes a change visible: each entry carries the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from ..privacy.claim import Cost
from .compose import compose
from .filter import Spent, check_cost
from .terms import Terms

__all__ = ["Entry", "content_of", "cost_in", "first_break"]

# The content of a failed domain check: an answer that costs nothing and says nothing else.
FAILED_CHECK = {"answer": "failed"}
_WRONG_TOTALS = "carries totals that do not follow from the charges"


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened (``kind``: create, charge, reserve, check or result), when, by whom, its cost, and the totals after it."""

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

    @property
    def basis(self) -> str:
        """What the guarantee that was charged rests on; empty where it is not known, as in entries of version 0.1."""
        return str(self.content.get("basis", ""))

    @property
    def terms(self) -> Terms:
        """Of an opening entry: what the dataset was opened for."""
        return Terms.of(self.dataset, self.content)

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
        except (KeyError, TypeError, ValueError, ArithmeticError):
            fault = "has a content that makes no sense"
        if fault is not None:
            return f"{name} {fault}"
    return None


def _fault(before: list[Entry], entry: Entry) -> str | None:
    """Whether the totals follow from the charges, and draws and prices from the reservations."""
    if not before:
        fine = entry.kind == "create" and entry.totals == Spent().to_dict()
        return None if fine and entry.terms.checks >= 0 else "does not open the chain"
    terms, previous, content = before[0].terms, before[-1], entry.content
    if entry.kind in ("check", "result"):
        if entry.kind == "check" and content != FAILED_CHECK:
            return "has a content that makes no sense"
        if entry.kind == "result" and not _paid(before, content):
            return "delivers what nobody has paid for"
        return None if entry.totals == previous.totals else _WRONG_TOTALS
    if entry.kind not in ("charge", "reserve"):
        return "is neither a charge nor a reservation nor a check nor a result"
    cost = cost_in(content)
    check_cost(cost)
    refusal = terms.refusal(cost, private=entry.kind == "reserve" or content["private"], by_study=True)
    if refusal is not None:
        return f"is no release that counts here: {refusal.rstrip('.')}"
    if "reservation" in content:
        return _draw_fault(before, entry)
    if entry.kind == "reserve":
        each = cost_in(content["each"])
        check_cost(each)
        if compose([each] * content["count"]).epsilon(cost.delta) > cost.epsilon * (1.0 + 1e-9):
            return "reserves releases below their price"
    after = terms.after(previous.totals, cost)
    return None if after is not None and after.to_dict() == entry.totals else _WRONG_TOTALS


def _paid(before: list[Entry], content: dict[str, Any]) -> bool:
    """Whether a result names a call that was charged."""
    return set(content) == {"call", "result"} and any(e.content.get("call") == content["call"] for e in before)


def _draw_fault(before: list[Entry], entry: Entry) -> str | None:
    number, content = entry.content["reservation"], entry.content
    terms = before[number] if 0 < number < len(before) else None
    if terms is None or terms.kind != "reserve":
        return "draws on a reservation that does not exist"
    if cost_in(content) != cost_in(terms.content["each"]):
        return "draws something else than was reserved"
    used = sum(e.content.get("reservation") == number for e in before)
    if used >= terms.content["count"]:
        return "draws more than was reserved"
    return None if entry.totals == before[-1].totals else _WRONG_TOTALS


# Version 0.1 wrote neither of these fields; its entries are read as below and never rewritten, so their hashes stay.
_SINCE_0_2 = ("basis", "theorem", "relation", "rows")


def cost_in(content: dict[str, Any]) -> Cost:
    """The cost that an entry holds; one of version 0.1 says nothing about its basis and is not held to any."""
    return Cost(**{k: content[k] for k in Cost.__slots__ if k in content or k not in _SINCE_0_2})


def content_of(cost: Cost) -> dict[str, Any]:
    """The inverse of :func:`cost_in`."""
    return {name: getattr(cost, name) for name in cost.__slots__}
