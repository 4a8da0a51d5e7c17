"""What a study has spent and delivered: a ledger in which every charge names its analysis, and results stand beside them.

A charge is on disk before noise is drawn; a result is public and stored when it is finished. What was charged and not
delivered is spent.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..accounting.budget import Budget
from ..accounting.chain import Entry
from ..accounting.filter import Spent
from ..accounting.ledger import Ledger
from ..errors import BudgetError, InputError, LedgerError, rounded_down
from ..privacy.claim import Cost, Receipt
from ..privacy.gaussian import gaussian_epsilon, gaussian_mu

__all__ = ["Call", "Journal", "Line"]

# Of a share, below which it counts as nothing: what roundings keep back.
_CRUMB = 1e-9
_KEPT_BACK = 1.0 - 1e-15
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(slots=True)
class Call:
    """One run of an analysis: an account to charge, as mechanisms see it."""

    ledger: Ledger
    name: str  # the key of the analysis, a colon, and the number of the entry that began the run
    text: str
    recorded: bool = True  # whether anybody else can look the charge up

    def charge(self, cost: Cost, *, private: bool, what: str = "") -> Entry:
        entry = self.ledger.charge(cost, private=private, what=self.text, call=self.name)
        self.name = entry.content["call"]
        return entry

    def receipt(self, entry: Entry) -> Receipt | None:
        return self.ledger.receipt(entry) if self.recorded else None

    def check(self, cost: Cost, *, private: bool) -> None:
        self.ledger.check(cost, private=private, call=self.name)


@dataclass(frozen=True, slots=True)
class Line:
    """One run as a reader sees it: what was asked, its share of the budget, and whether the result came."""

    text: str
    share: float
    delivered: bool

    def __str__(self) -> str:
        return f"{self.share:>6.1%}  {self.text}{'' if self.delivered else '  (spent, not delivered)'}"


class Journal:
    """The account of one study."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger, self.total, self.recorded = ledger, ledger.total(), True
        opening = ledger.history()[0]
        if "study" not in opening.content:
            raise InputError(
                f"{ledger.dataset!r} was not opened by a study; name another dataset, and it is created: '...#people'."
            )
        self.settings: dict[str, Any] = {k: v for k, v in opening.content["study"].items() if k != "source"}
        self.source: str = opening.content["study"].get("source", "")
        # What Gaussian releases may add up to, nothing being reserved for others: accounting/filter.md.
        self.mu = Spent().remaining(self.total, opening.terms.mixing).mu * _KEPT_BACK

    @classmethod
    def known(cls, ledger: str) -> Journal | None:
        """That of an account that exists."""
        account = Ledger(ledger)
        return cls(account) if account.dataset and _exists(account) else None

    @classmethod
    def open(cls, ledger: Any, total: Budget, settings: dict[str, Any], source: str, *, seeded: bool) -> Journal:
        """A new account, or the one that this study opened before; without a ledger one that lasts as long as the process."""
        folder = None
        if ledger is None:
            folder = tempfile.mkdtemp(prefix="eptr-study-")
            ledger = f"sqlite:///{Path(folder).as_posix()}/study.db#study"
        account = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        if not account.dataset:
            raise InputError(f"ledger must name the study: {account.url + '#people'!r}, for example.")
        if not _exists(account):
            try:
                account.create(
                    account.dataset, total.epsilon, total.delta, mixing=0.0, checks=0, neighbours=settings["neighbours"],
                    rows_per_person=settings["rows_each"], study=settings | {"source": source},
                    simulation=folder is not None and seeded,
                )  # fmt: skip
            except InputError:
                if not _exists(account):  # if it does, another process was faster
                    raise
        found = cls(account)
        if folder is not None:
            found.recorded = False
            weakref.finalize(found, shutil.rmtree, folder, True)
        if found.total != total:
            raise InputError(
                f"{account.dataset!r} was opened with ({found.total.epsilon:g}, {found.total.delta:g}), and that is fixed for "
                "good; pass the same epsilon and delta."
            )
        if found.settings != settings:
            differ = [key for key in settings if settings[key] != found.settings.get(key)]
            if differ == ["rows"]:
                raise InputError(
                    f"{account.dataset!r} was opened with data of {found.settings['rows']:,} rows, and these have "
                    f"{settings['rows']:,}: a total and its results belong to the data they began with; name another dataset."
                )
            raise InputError(
                f"{account.dataset!r} was opened with another {' and '.join(differ)}; go on with eptr.Study.open(ledger, data), "
                "or name another dataset."
            )
        return found

    def elsewhere(self, source: str) -> list[str]:
        """What is to be said if the data have another name than those the study was opened with."""
        if source == self.source or "data" in (source, self.source):
            return []
        return [
            f"{self.ledger.dataset!r} was opened with {self.source} and goes on with {source}: results that were delivered are "
            "returned as they are, whatever these rows hold; if they are other people's, name another dataset."
        ]

    @property
    def left(self) -> float:
        """The share of the total mu^2 that nobody has spent."""
        return min(1.0, (self.ledger.remaining().mu / self.mu) ** 2)

    @property
    def gaussian(self) -> bool:
        """Whether the total has a mu: whoever has charged this account, and whatever is still to come."""
        return Spent.from_dict(self.ledger.history()[-1].totals).all_gaussian

    def affordable(self, share: float, *, fixed: bool = False) -> float:
        """The share itself, or all that is left if only rounding is between them; an error if it is more.

        ``fixed``: whoever asks cannot ask for less.
        """
        left = self.left
        if share > left * (1.0 + _CRUMB) or left < _CRUMB:
            rest = "nothing" if left < _CRUMB else f"{left:.1%}"
            less = (
                "" if fixed or left < _CRUMB else f": pass at most share={rounded_down(left)}{self._or_epsilon(left)}"
            )
            raise BudgetError(
                f"this analysis asks for {share:.1%} of the budget, of which {rest} is left{less}; nothing was drawn."
            )
        return min(share, left * _KEPT_BACK)

    def _or_epsilon(self, share: float) -> str:
        try:
            return f" or epsilon={rounded_down(self.epsilon(share))}"
        except BudgetError:  # it buys nothing
            return ""

    def share_of(self, epsilon: float) -> float:
        """Of the total mu^2, what an analysis of this epsilon and the study's delta costs."""
        return (gaussian_mu(epsilon, self.total.delta) / self.mu) ** 2

    def epsilon(self, share: float) -> float:
        """With the study's delta: what Gaussian sums get for a share, rounded down."""
        mu = self.mu * math.sqrt(share) * _KEPT_BACK
        epsilon = gaussian_epsilon(delta=self.total.delta, mu=mu)
        while epsilon > 0.0 and gaussian_mu(epsilon, self.total.delta) > mu:
            epsilon *= 1.0 - 1e-14
        if epsilon <= 0.0:
            raise BudgetError(f"a share of {share:.2g} is too small to buy anything; ask for more.")
        return epsilon

    def call(self, key: str, text: str) -> Call:
        """The next run of an analysis; the ledger numbers it, whoever else is at work."""
        return Call(self.ledger, f"{key}:", text, self.recorded)

    def stored(self, key: str) -> Any:
        """The last result of an analysis, if there is one; an error if it was paid for and never came."""
        runs: dict[str, Entry | None] = {}  # what was charged, and its result
        for entry in self.ledger.history():
            name = str(entry.content.get("call", ""))
            if name.startswith(f"{key}:"):
                runs[name] = entry if entry.kind == "result" else runs.get(name)
        results = [entry for entry in runs.values() if entry is not None]
        if runs and not results:
            raise BudgetError(
                "this analysis was spent, not delivered: another process is still at work on it, or its result was lost, and "
                "the same noise is never drawn again; ask later, or pass again=True to draw anew and pay again."
            )
        return results[-1].content["result"] if results else None

    def delivered(self) -> list[tuple[str, Any]]:
        """What was asked and its result, as stored, oldest first."""
        return [(e.what, e.content["result"]) for e in self.ledger.history() if e.kind == "result"]

    def lines(self) -> list[Line]:
        """Every run, oldest first."""
        spent: dict[str, tuple[str, float]] = {}
        delivered = set()
        for entry in self.ledger.history():
            name = str(entry.content.get("call", ""))
            if entry.kind == "result":
                delivered.add(name)
            elif entry.kind == "charge":
                square = entry.content["mu"] ** 2 * entry.content["parts"] / self.mu**2
                spent[name] = entry.what, spent.get(name, ("", 0.0))[1] + square
        return [Line(text, share, name in delivered) for name, (text, share) in spent.items()]

    def remaining(self, analyses: int) -> str:
        """One plain sentence."""
        left, lines = self.left, self.lines()
        if left < _CRUMB:
            return "Nothing is left of the budget; results that were delivered stay free."
        if not lines:
            return f"All of the budget: {_word(analyses)} analyses of equal shares."
        count = int(left / lines[-1].share * (1.0 + _CRUMB))
        return f"{left:.0%} of the budget: {_word(count)} more like the last."


def _exists(account: Ledger) -> bool:
    try:
        return account.dataset in account.datasets()
    except LedgerError:
        return False  # a file that is not there yet


def _word(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else str(count)
