"""Who is protected: which change of the dataset must stay hidden, and how many rows it touches."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError, whole_number

__all__ = ["RELATIONS", "Unit"]

RELATIONS = ("replace-one", "zero-out")


@dataclass(frozen=True, slots=True)
class Unit:
    """Up to ``rows`` rows of one person change at once; n is public either way.

    "replace-one": they become any other rows. "zero-out": they are dropped, or were dropped before: a weaker promise at equal
    epsilon (replacing costs two zero-outs), which most published tables that say "add or remove" mean.
    """

    relation: str = "replace-one"
    rows: int = 1

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise InputError(f"neighbours must be one of {RELATIONS}, got {self.relation!r}.")
        object.__setattr__(self, "rows", whole_number("rows_per_person", self.rows))
