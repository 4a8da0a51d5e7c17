"""What a dataset was opened for: its total, and which releases count against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..privacy.claim import BASES, Cost
from .budget import Budget
from .filter import Remaining, Spent

__all__ = ["Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """By the opening entry of a dataset, for good. Version 0.1 knew one relation, one row of a person, and what is proven."""

    dataset: str
    total: Budget
    mixing: float
    simulation: bool
    accepted: tuple[str, ...]  # bases of guarantees
    checks: int  # failed domain checks that are admitted
    relation: str
    rows: int  # of one person, protected together
    study: Mapping[str, Any]

    @classmethod
    def of(cls, dataset: str, content: Mapping[str, Any]) -> Terms:
        """As they were written."""
        total, weakest = Budget(content["epsilon"], content["delta"]), content.get("accept", BASES[0])
        relation, rows = content.get("neighbours", "replace-one"), int(content.get("rows", 1))
        return cls(
            dataset, total, content["mixing"], content["simulation"], BASES[: BASES.index(weakest) + 1],
            int(content.get("checks", 1)), relation, rows, content.get("study", {}),
        )  # fmt: skip

    def refusal(self, cost: Cost, *, private: bool, by_study: bool) -> str | None:
        """Why a release does not count here: one relation, all rows of a person, and claims that rest on enough."""
        if not private and not self.simulation:
            return (
                f"the ledger refuses a release that is not private (a seed was given, or the method is not "
                f"private). Use random_state=None, or a dataset created with simulation=True; {self.dataset!r} was not."
            )
        if not by_study and self.study.get("person") is not None:
            return (
                f"{self.dataset!r} counts releases that protect all rows of one {self.study['protects']}, which only its study "
                "makes; ask eptr.Study.open(ledger, data)."
            )
        if cost.relation != self.relation:
            return (
                f"this release protects {cost.relation!r} neighbours and {self.dataset!r} counts {self.relation!r} ones; fit "
                f"with neighbours={self.relation!r}, or charge a dataset that was created for {cost.relation!r}."
            )
        if cost.rows != self.rows:
            return (
                f"this release protects {cost.rows} of a person's rows together and {self.dataset!r} counts {self.rows}; fit "
                f"with rows_per_person={self.rows}, or charge a dataset that was created for {cost.rows}."
            )
        if cost.basis not in self.accepted:
            return (
                f"the guarantee of this release is {cost.basis!r} and {self.dataset!r} accepts only what is "
                f"{self.accepted[-1]!r}; charge a dataset that was created with accept={cost.basis!r} (eptr ledger create "
                f"--accept {cost.basis!r})."
            )
        return None

    def after(self, totals: dict[str, str | bool], cost: Cost) -> Spent | None:
        """The totals after a release, or None if it does not fit."""
        return Spent.from_dict(totals).charged(cost, self.total, self.mixing)

    def left(self, totals: dict[str, str | bool]) -> Remaining:
        """What these totals leave."""
        return Spent.from_dict(totals).remaining(self.total, self.mixing)
