"""One entry of a ledger and the chain that makes a change visible: each entry carries the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from ..privacy.mechanism import Cost
from .budget import Budget
from .filter import Spent

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
    previous: Entry | None = None
    for number, entry in enumerate(entries):
        name = f"entry {number} ({entry.time:%Y-%m-%d %H:%M:%S}, {entry.what})"
        if entry.number != number:
            return f"entry {number} is missing"
        if not entry.intact:
            return f"{name} does not have the content it was written with"
        if entry.previous != (previous.hash if previous else ""):
            return f"{name} does not follow the entry before it"
        if entry.totals != _recomputed(entries[0], previous, entry):
            return f"{name} carries totals that do not follow from the charges"
        previous = entry
    return None


def _recomputed(opening: Entry, previous: Entry | None, entry: Entry) -> dict[str, str | bool] | None:
    if previous is None:
        return Spent().to_dict()
    if "reservation" in entry.content:
        return previous.totals
    cost = Cost(**{k: entry.content[k] for k in Cost.__slots__})
    budget = Budget(opening.content["epsilon"], opening.content["delta"])
    after = Spent.from_dict(previous.totals).charged(cost, budget, opening.content["mixing"])
    return None if after is None else after.to_dict()
