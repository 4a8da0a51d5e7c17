"""What a release claims and what it spends: the types that everybody passes on."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

__all__ = ["BASES", "Cost", "Release", "SupportsCharge"]

# What a guarantee rests on, the strongest first.
BASES = ("proven", "cited", "not verified")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a release spends: the claim, the mechanism behind it (so that releases compose tightly) and what it rests on.

    ``basis``: "proven" in this repository; "cited", then ``theorem`` names the published theorem and its hypotheses; "not
    verified", then ``theorem`` says what is missing.
    """

    epsilon: float
    delta: float
    # "ladder", "logistic", "laplace", "gaussian", "approximate-gaussian", "bounded-range", or "basic": the bare claim
    kind: str
    mu: float
    p0: float | None = None  # ladders only
    failure: float = 0.0  # approximate-gaussian only: the delta' that adds up
    parts: int = 1  # so many identical releases; epsilon and delta are their sums
    basis: str = "proven"
    theorem: str = ""
    relation: str = "replace-one"


class SupportsCharge(Protocol):
    """A ledger, as seen from a mechanism: it commits, or raises and nothing is drawn."""

    def charge(self, cost: Cost, *, private: bool, what: str = ...) -> object: ...


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What may be published: the noisy value or "no reply", and the guarantee it carries."""

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
        content = {
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
        }
        return json.dumps(content)
