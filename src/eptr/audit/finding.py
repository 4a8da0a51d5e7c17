"""One line of the audit's table: a claim, the attack on it, and one of three verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["Check", "Finding", "Tally"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What an attack found.

    A claim of ours must stand and a known-bad one must be convicted. An attack that could not have told them apart says
    "not enough runs", which is neither right nor wrong.
    """

    claim: str
    attack: str
    measured: str
    convicted: bool
    guilty: bool  # known to be bad: it must be convicted
    enough: bool = True  # whether the attack was strong enough for an acquittal to mean something

    @property
    def wrong(self) -> bool:
        """A claim of ours that falls is always wrong; a bad one that stands is, if the attack was strong enough."""
        return self.convicted != self.guilty and (self.convicted or self.enough)

    @property
    def undecided(self) -> bool:
        """Nobody was convicted, and that says nothing."""
        return not self.convicted and not self.enough

    @property
    def verdict(self) -> str:
        if self.undecided:
            return "not enough runs"
        word = "convicted" if self.convicted else "stands"
        return f"{word} (WRONG)" if self.wrong else word


@dataclass(frozen=True, slots=True)
class Check:
    """A claim to attack; ``effort`` scales the number of runs, 1 is all of them."""

    name: str
    run: Callable[[float], Finding]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many verdicts of each kind.

    Examples
    --------
    >>> stands = Finding("claim", "attack", "nothing", convicted=False, guilty=False)
    >>> escaped = Finding("bad", "attack", "nothing", convicted=False, guilty=True, enough=False)
    >>> print(Tally.of([stands, escaped]))
    1 right, 1 not enough runs, 0 wrong
    """

    right: int
    undecided: int
    wrong: int

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Tally:
        """Count them."""
        found = list(findings)
        wrong, undecided = sum(f.wrong for f in found), sum(f.undecided for f in found)
        return cls(len(found) - wrong - undecided, undecided, wrong)

    def __str__(self) -> str:
        return f"{self.right} right, {self.undecided} not enough runs, {self.wrong} wrong"
