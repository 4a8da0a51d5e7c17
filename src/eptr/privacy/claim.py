"""What a release claims and what it spends: the types that everybody passes on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from .facts import Facts, best_bet, share_of
from .voices import tell

__all__ = [
    "BASES",
    "GAUSSIAN",
    "KINDS",
    "TESTED",
    "Cost",
    "Draw",
    "Receipt",
    "Record",
    "Release",
    "SupportsCharge",
    "receipt_of",
]

# What a guarantee rests on, the strongest first.
BASES = ("proven", "cited", "not verified")
# Kinds of costs: mu-GDP up to a failure, private tests, and the bare claim.
GAUSSIAN = ("gaussian", "approximate-gaussian", "bounded-range")
TESTED = ("ladder", "logistic", "laplace")
KINDS = (*GAUSSIAN, *TESTED, "basic")
_COMPOSITION = {
    "gaussian": "the mu^2 of the parts add up, each chosen after the ones before it were seen",
    "approximate-gaussian": "the mu^2 of the parts and their failures add up",
    "bounded-range": "the parts are exponential mechanisms of bounded range; the mu^2 of each add up",
    "basic": "the epsilons of the parts add up",
    **dict.fromkeys(TESTED, "the epsilons and deltas of the tests add up"),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a release spends: the claim, the mechanism behind it (so that releases compose tightly) and what it rests on.

    ``basis``: "proven" in this repository; "cited", then ``theorem`` names the published theorem and its hypotheses; "not
    verified", then ``theorem`` says what is missing.
    """

    epsilon: float
    delta: float
    kind: str  # one of KINDS
    mu: float
    p0: float | None = None  # ladders only
    failure: float = 0.0  # approximate-gaussian only: the delta' that adds up
    parts: int = 1  # so many identical releases; epsilon and delta are their sums
    basis: str = "proven"
    theorem: str = ""
    relation: str = "replace-one"
    rows: int = 1  # of one person, protected together


class SupportsCharge(Protocol):
    """A ledger, as seen from a mechanism: it commits, or raises and nothing is drawn."""

    def charge(self, cost: Cost, *, private: bool, what: str = ...) -> object: ...


@dataclass(frozen=True, slots=True)
class Draw:
    """One noisy part of a release, in public numbers."""

    noise: str  # "gaussian", "laplace", "exponential" or "test"
    what: str  # the set that holds what one row can add, or what was drawn
    shape: tuple[tuple[str, float | None], ...]  # the numbers of that set
    sensitivity: float  # for all rows of one person
    spent: float  # mu of Gaussian noise, otherwise epsilon
    scale: float  # of the noise


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a ledger says of a charge: the entry that holds it, and the dataset's total and rest right after it."""

    dataset: str
    entry: str  # its hash
    epsilon: float
    delta: float
    left_epsilon: float
    left_delta: float
    left_mu: float


def receipt_of(account: object) -> Receipt | None:
    """Of the last charge to an account that keeps one."""
    found = getattr(account, "receipt", None)
    return found if isinstance(found, Receipt) else None


@dataclass(frozen=True, slots=True)
class Record:
    """How a release came about, for those who must rely on it: public and released numbers alone."""

    what: str = ""  # was estimated
    how: str = ""  # in a sentence
    proven_in: str = ""  # where, in the repository
    rows: int | None = None
    unit: str = "row"  # who is protected
    enforced: str = ""  # how the number of rows of one unit was kept to what is claimed
    settings: tuple[tuple[str, str], ...] = ()  # fixed beforehand, by name, as JSON
    bought: tuple[tuple[str, str], ...] = ()  # with a part of the budget
    draws: tuple[Draw, ...] = ()
    receipt: Receipt | None = None
    date: str = ""  # the day; a time would tell how long a fit took
    versions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, what: str, how: str, home: str, settings: Mapping[str, Any], bought: Mapping[str, Any]) -> Record:
        """What a method knows of itself; ``home`` is the module with its proof beside it."""
        proof = f"src/{home.replace('.', '/')}.md" if home.startswith("eptr.") else ""
        return cls(what, how, proof, settings=_texts(settings), bought=_texts(bought))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Record:
        """The inverse of ``asdict``, from JSON: lists are tuples again."""
        draws = tuple(Draw(**d | {"shape": _pairs(d["shape"])}) for d in content["draws"])
        receipt = None if content["receipt"] is None else Receipt(**content["receipt"])
        pairs = {name: _pairs(content[name]) for name in ("settings", "bought", "versions")}
        return cls(**dict(content) | pairs | {"draws": draws, "receipt": receipt})


def _texts(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """After the noise was drawn and paid for: nothing here may fail."""
    return tuple((name, json.dumps(_named(v), default=_plain)) for name, v in settings.items() if v is not None)


def _named(value: Any) -> Any:
    """A mapping by text: JSON knows neither numpy's numbers nor tuples as names."""
    return {str(key): v for key, v in value.items()} if isinstance(value, Mapping) else value


def _plain(value: Any) -> Any:
    """Arrays as lists; of anything else its type alone."""
    return value.tolist() if hasattr(value, "tolist") else type(value).__name__


def _pairs(content: Any) -> tuple[Any, ...]:
    return tuple((name, value) for name, value in content)


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What may be published: the noisy value or "no reply", and the guarantee it carries.

    Attributes
    ----------
    replied : bool
        Whether there is a value; False is "no reply".
    value : array or None
        The released numbers.
    noise_scale : float
        Standard deviation of the noise on each of them.
    epsilon, delta : float
        The guarantee.
    private : bool
        False if a seed was given, or a published form does not keep its claim.
    strategy : str
        How it was made.
    cost : Cost
        What a ledger charges: a mechanism and its parameters.
    neighbours : str
        What is hidden: one row replaced ("replace-one") or dropped ("zero-out").
    rows_per_person : int
        So many rows of one person are protected together.
    record : Record
        What was drawn, fixed, bought and charged; ``eptr verify`` recomputes it.
    """

    replied: bool
    value: Any
    noise_scale: float
    epsilon: float
    delta: float
    private: bool
    strategy: str
    cost: Cost = field(repr=False)
    neighbours: str = "replace-one"
    rows_per_person: int = 1  # so many rows of one person are protected together
    record: Record = field(default=Record(), repr=False)

    @property
    def basis(self) -> str:
        """What the guarantee rests on: "proven", "cited" or "not verified".

        Of ``eptr.release`` and ``Adapter`` it speaks of the mechanism: the two claims of a Proposal are the caller's.
        """
        return self.cost.basis

    @property
    def theorem(self) -> str:
        """The theorem and its hypotheses if the basis is "cited"; what is missing if it is "not verified"."""
        return self.cost.theorem

    def to_json(self) -> str:
        """Everything above as JSON; there is nothing else inside."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Everything above as plain values."""
        return {
            "replied": self.replied,
            "value": None if self.value is None else np.asarray(self.value).tolist(),
            "noise_scale": self.noise_scale if math.isfinite(self.noise_scale) else None,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "private": self.private,
            "basis": self.basis,
            "theorem": self.theorem,
            "strategy": self.strategy,
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
            "cost": {name: getattr(self.cost, name) for name in self.cost.__slots__},
            "record": asdict(self.record),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Release:
        """The inverse of :meth:`to_dict`."""
        scale = math.inf if content["noise_scale"] is None else content["noise_scale"]
        value = None if content["value"] is None else np.asarray(content["value"], dtype=float)
        names = ("replied", "epsilon", "delta", "private", "strategy", "neighbours", "rows_per_person")
        plain = {name: content[name] for name in names}
        record = Record.from_dict(content["record"])
        return cls(value=value, noise_scale=scale, cost=Cost(**content["cost"]), record=record, **plain)

    def facts(self) -> Facts:
        """What a reader may rely on, as one record; see :meth:`statement`."""
        cost, record, paid = self.cost, self.record, self.record.receipt
        total = None if paid is None else (paid.epsilon, paid.delta)
        # Several rows have somebody whose they are.
        unit = "person" if record.unit == "row" and self.rows_per_person > 1 else record.unit
        together = cost.mu * math.sqrt(cost.parts) if cost.kind in GAUSSIAN else None
        return Facts(
            what=record.what or self.strategy, how=record.how, replied=self.replied, private=self.private,
            epsilon=self.epsilon, delta=self.delta, mu=together, failure=cost.failure * cost.parts,
            bet=best_bet(self.epsilon, self.delta, together, cost.failure * cost.parts),
            unit=unit, enforced=record.enforced, relation=self.neighbours, rows_each=self.rows_per_person,
            rows=record.rows,
            total=total, total_bet=None if total is None else best_bet(*total),
            share=None if total is None else share_of(together, self.epsilon, total),
            composition=_COMPOSITION.get(cost.kind, "") if len(record.draws) > 1 else "",
            remaining=None if paid is None else (paid.left_epsilon, paid.left_delta, paid.left_mu),
            ledger="" if paid is None else paid.entry,
            settings=record.settings, bought=record.bought,
            parts=tuple((d.noise, d.what, d.sensitivity, d.spent, d.scale) for d in record.draws),
            basis=self.basis, theorem=self.theorem, proven_in=record.proven_in if self.basis == "proven" else "",
            date=record.date, versions=record.versions,
        )  # fmt: skip

    def statement(self, voice: str = "methods") -> str:
        """What was promised and how it was kept: for a "methods" section, an "ethics" board, or the "people" in the data."""
        return tell(self.facts(), voice)
