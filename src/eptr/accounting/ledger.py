"""A ledger of releases that is never forgotten: SQLite in a file, or PostgreSQL for a team.

Each dataset is a chain of entries. An entry holds what was released, the exact totals after it and the hash of the entry
before it, so that a changed, missing or reordered entry is found. A charge is on disk before noise is drawn.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import BudgetError, InputError, LedgerError, PrivacyError, listed, whole_number
from ..privacy.claim import BASES, Cost, Receipt
from ..privacy.unit import Unit
from .budget import Budget
from .chain import FAILED_CHECK, Entry, content_of, first_break
from .filter import MIXING, Remaining, Spent, check_cost
from .reservation import Reservation, drawn_on, price
from .store import Session, Store, open_store
from .terms import Terms

__all__ = ["Ledger", "Reservation"]

Totals = dict[str, str | bool]

# Clocks of one team differ by a little; beyond this an entry would come before its predecessor.
_CLOCK_TOLERANCE = timedelta(seconds=60)


class Ledger:
    """Budgets of named datasets, and everything that was released from them.

    A ledger copies and pickles by its URL: it survives ``clone``, threads and processes.

    Parameters
    ----------
    url : str
        ``"sqlite:///budget.db"``, ``"postgresql:///?service=study"``; ``"...#study"`` also names the dataset to charge. A
        password in it is refused: use a service file, a password file or the environment.

    Examples
    --------
    >>> import tempfile, eptr
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = eptr.Ledger(f"sqlite:///{folder.name}/budget.db")
    >>> ledger.create("study", epsilon=3.0, delta=1e-5)
    >>> r = eptr.release(eptr.Proposal([0.0], 1.0, safety=1e6), 1.0, 1e-6, ledger=ledger.account("study"))
    >>> print(ledger.remaining("study"))  # doctest: +ELLIPSIS
    left: (2, 9e-06) for a release of any kind, or a refined (Gaussian) one of epsilon ...
    >>> folder.cleanup()
    """

    def __init__(self, url: str) -> None:
        if not isinstance(url, str):
            raise InputError(f"url must be a string such as 'sqlite:///budget.db#study', got {type(url).__name__}.")
        self.url = url
        place, _, account = url.partition("#")
        self.dataset, _, number = account.partition("@")
        if number and not number.isdigit():
            raise InputError(f"the part after '@' in a ledger string is the number of a reservation, got {number!r}.")
        self.reservation = int(number) if number else None
        self._store: Store = open_store(place)

    def __reduce__(self) -> tuple[Any, ...]:
        return Ledger, (self.url,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __repr__(self) -> str:
        return f"Ledger({self.url!r})"

    def account(self, dataset: str) -> Ledger:
        """The same ledger, ready to charge one dataset: what to pass as ``ledger=``."""
        return Ledger(f"{self.url.partition('#')[0]}#{dataset}")

    def create(
        self,
        dataset: str,
        epsilon: float,
        delta: float,
        *,
        simulation: bool = False,
        mixing: float = MIXING,
        accept: str = "proven",
        checks: int = 1,
        neighbours: str = "replace-one",
        rows_per_person: int = 1,
        study: dict[str, Any] | None = None,
    ) -> None:
        """Open a dataset with a total budget.

        Parameters
        ----------
        dataset : str
        epsilon, delta : float
            The total, for good.
        simulation : bool
            Admit seeded releases, which protect nobody.
        mixing : float
            Share of delta kept, from the first refined (Gaussian) release on, for mixing it with other kinds; the rest is for
            refined ones alone.
        accept : {"proven", "cited", "not verified"}
            The weakest basis of a guarantee that is charged here; each admits the ones before it.
        checks : int
            How many fits may end with the answer that a row is outside the declared domain (not finite, not declared). The
            answer depends on single rows and no epsilon covers it.
        neighbours : {"replace-one", "zero-out"}
            The one relation that all releases from this dataset must protect, so that its total means one thing.
        rows_per_person : int
            Likewise: so many rows of one person are protected together by every release.
        study : dict, optional
            What a study must know to go on: its codebook and settings, all public.
        """
        if not isinstance(dataset, str) or not dataset or set(dataset) & set("#@\n"):
            raise InputError("dataset must be a name without '#', '@' or line breaks.")
        if not 0.0 <= mixing <= 1.0:
            raise InputError(f"mixing must be between 0 and 1, got {mixing!r}.")
        if accept not in BASES:
            raise InputError(f"accept must be one of {BASES}, got {accept!r}.")
        unit, budget = Unit(neighbours, rows_per_person), Budget(epsilon, delta)
        content: dict[str, Any] = {"epsilon": budget.epsilon, "delta": budget.delta, "simulation": bool(simulation)}
        content |= {
            "mixing": mixing,
            "accept": accept,
            "checks": whole_number("checks", checks, 0),
            "neighbours": unit.relation,
            "rows": unit.rows,
        }
        content |= {} if study is None else {"study": study}
        self._store.prepare()
        with self._store.transaction() as session:
            if not session.add_dataset(dataset):
                raise InputError(f"dataset {dataset!r} exists already; its budget is fixed for good.")
            session.append(Entry.first(dataset, _now(), _user(), content, Spent().to_dict()))

    def datasets(self) -> list[str]:
        """Names of all datasets."""
        with self._store.transaction(write=False) as session:
            return session.datasets()

    def charge(self, cost: Cost, *, private: bool, what: str = "", call: str = "") -> Entry:
        """Commit a charge, or raise and leave everything as it was. Mechanisms call this before they draw noise.

        ``call`` names the analysis of a study, whose result is recorded under the same name; one that ends with a colon begins
        a run, and is completed by the number of its entry.
        """
        check_cost(cost)
        dataset = self._named(None)
        with self._locked(dataset) as (session, terms, last):
            totals, content = self._decide(session, terms, last, cost, private, call)
            call += str(last.number + 1) if call.endswith(":") else ""
            content |= {"private": private} | ({"call": call} if call else {})
            return _appended(session, last, what, "charge", content, totals)

    def receipt(self, entry: Entry) -> Receipt:
        """What a release carries of its charge: the entry's hash, the total, and what was left after it."""
        terms = self._ends(entry.dataset)[0].terms
        total, left = terms.total, terms.left(entry.totals)
        return Receipt(entry.dataset, entry.hash, total.epsilon, total.delta, left.epsilon, left.delta, left.mu)

    def check(self, cost: Cost, *, private: bool, call: str = "") -> None:
        """Raise what :meth:`charge` would raise now, and charge nothing: long work need not begin in vain."""
        check_cost(cost)
        dataset = self._named(None)
        with self._store.transaction(write=False) as session:
            found = self._known(session, session.ends(dataset), dataset)
            self._decide(session, found[0].terms, found[-1], cost, private, call)

    def admit_check(self) -> None:
        """Raise if the failed domain checks of the dataset are used, before another one looks at any row.

        Fits that run at the same time may all be admitted; each of their answers is recorded.
        """
        dataset = self._named(None)
        with self._store.transaction(write=False) as session:
            opening = self._known(session, session.ends(dataset), dataset)[0]
            used = session.count(dataset, "check")
        if not opening.intact:
            raise LedgerError(f"entry 0 of {dataset!r} was changed after it was written.")
        admitted = opening.terms.checks
        if used >= admitted:
            raise BudgetError(
                f"{dataset!r} admits {admitted} failed domain check(s), and {used} were answered already; "
                "pass invalid='drop', which gives rows outside the domain no weight and answers nothing."
            )

    def failed_check(self, what: str = "") -> Entry:
        """Record that a domain check failed: an answer about single rows, which costs no epsilon and is counted instead."""
        with self._locked(self._named(None)) as (session, _, last):
            return _appended(session, last, what, "check", dict(FAILED_CHECK), last.totals)

    def deliver(self, call: str, result: Any, what: str = "") -> Entry:
        """Record the finished result of an analysis, which is public, beside what was charged for it."""
        with self._locked(self._named(None)) as (session, _, last):
            return _appended(session, last, what, "result", {"call": call, "result": result}, last.totals)

    def _decide(
        self, session: Session, terms: Terms, last: Entry, cost: Cost, private: bool, call: str
    ) -> tuple[Totals, dict[str, Any]]:
        """The totals and the content of the entry a charge would write, or the reason why there is none."""
        _check_terms(terms, cost, private, call)
        if self.reservation is not None:
            return last.totals, drawn_on(session.entries(terms.dataset), self.reservation, cost)
        after = terms.after(last.totals, cost)
        if after is None:
            raise BudgetError(
                f"the release costs ({cost.epsilon:g}, {cost.delta:g}) and does not fit in what {terms.dataset!r} has left of "
                f"({terms.total.epsilon:g}, {terms.total.delta:g}); {terms.left(last.totals)}. Nothing was drawn."
            )
        return after.to_dict(), content_of(cost)

    def reserve(
        self,
        dataset: str,
        count: int,
        epsilon: float,
        delta: float,
        *,
        strategy: str = "tight",
        total_delta: float | None = None,
    ) -> Reservation:
        """Pay in advance for ``count`` identical tested releases, composed tightly; returns the string to charge.

        Cheaper than one by one because their parameters are fixed now: the privacy-loss distribution may be used.
        ``total_delta`` (default ``count * delta``) is the delta at which the total epsilon is found.
        """
        one, cost = price(count, epsilon, delta, strategy, total_delta)
        with self._locked(dataset) as (session, terms, last):
            _check_terms(terms, one, True, "")
            after = terms.after(last.totals, cost)
            if after is None:
                raise BudgetError(
                    f"reserving costs ({cost.epsilon:.6g}, {cost.delta:g}) together and does not fit; {terms.left(last.totals)}."
                )
            content = content_of(cost) | {"count": count, "each": content_of(one)}
            entry = _appended(session, last, f"{count} x {strategy}", "reserve", content, after.to_dict())
        url = f"{self.url.partition('#')[0]}#{dataset}@{entry.number}"
        return Reservation(url, dataset, entry.number, count, cost.epsilon, cost.delta)

    def remaining(self, dataset: str | None = None) -> Remaining:
        """What is left of a dataset's budget."""
        opening, last = self._ends(dataset)
        return opening.terms.left(last.totals)

    def total(self, dataset: str | None = None) -> Budget:
        """The total budget of a dataset."""
        return self._ends(dataset)[0].terms.total

    def history(self, dataset: str | None = None) -> list[Entry]:
        """All entries of a dataset, oldest first."""
        name = self._named(dataset)
        with self._store.transaction(write=False) as session:
            return self._known(session, session.entries(name), name)

    def head(self, dataset: str | None = None) -> str:
        """The hash of the last entry: keep it elsewhere, and nobody can shorten the history unnoticed."""
        return self._ends(dataset)[1].hash

    def verify(self, dataset: str | None = None, head: str | None = None) -> None:
        """Recompute every hash and every total; raise :class:`LedgerError` naming the first entry that is wrong."""
        name = self._named(dataset)
        if head is not None and not (len(head) == 64 and set(head) <= set("0123456789abcdef")):
            raise InputError("head must be the 64 hexadecimal digits that head() printed.")
        entries = self.history(name)
        broken = first_break(entries)
        if broken is not None:
            raise LedgerError(f"the ledger of {name!r} was changed: {broken}.")
        if head is not None and head not in {e.hash for e in entries}:
            raise LedgerError(
                f"the ledger of {name!r} was shortened or rewritten: the head you kept is not among its {len(entries)} entries."
            )

    def export(self, dataset: str | None = None) -> str:
        """The whole chain as JSON, one object per entry; of a study also its results, which are public."""
        return json.dumps([e.to_dict() for e in self.history(dataset)], indent=1)

    def _named(self, dataset: str | None) -> str:
        name = dataset or self.dataset
        if not name:
            raise InputError("name the dataset: Ledger('sqlite:///budget.db#study'), or pass dataset='study'.")
        return name

    def _ends(self, dataset: str | None) -> tuple[Entry, Entry]:
        name = self._named(dataset)
        with self._store.transaction(write=False) as session:
            found = self._known(session, session.ends(name), name)
        return found[0], found[-1]

    def _known(self, session: Session, entries: list[Entry], dataset: str) -> list[Entry]:
        if not entries:
            raise LedgerError(
                f"the ledger has no dataset {dataset!r}: it has {listed(session.datasets())}; create it with its total budget "
                "first."
            )
        return entries

    @contextmanager
    def _locked(self, dataset: str) -> Iterator[tuple[Session, Terms, Entry]]:
        """One writer at a time: what the first entry says, and the last, both intact, inside a transaction."""
        with self._store.transaction() as session:
            session.lock(dataset)
            found = self._known(session, session.ends(dataset), dataset)
            for entry in found:
                if not entry.intact:
                    raise LedgerError(f"entry {entry.number} of {dataset!r} was changed after it was written.")
            yield session, found[0].terms, found[-1]


def _check_terms(terms: Terms, cost: Cost, private: bool, call: str) -> None:
    refusal = terms.refusal(cost, private=private, by_study=bool(call))
    if refusal is not None:
        raise PrivacyError(f"{refusal} Nothing was drawn.")


def _appended(session: Session, last: Entry, what: str, kind: str, content: dict[str, Any], totals: Totals) -> Entry:
    entry = last.next(_after(last.time), _user(), what, kind, content, totals)
    session.append(entry)
    return entry


def _now() -> datetime:
    return datetime.now(UTC)


def _after(last: datetime) -> datetime:
    now = _now()
    if now < last - _CLOCK_TOLERANCE:
        raise LedgerError(
            f"the clock says {now:%Y-%m-%d %H:%M:%S}, before the last entry ({last:%Y-%m-%d %H:%M:%S} UTC); set the clock. "
            "Nothing was charged or released."
        )
    return max(now, last)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
