"""A privacy budget (epsilon, delta) as a value: checked, split by GDP shares, compared safely.  Proof: budget.md."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import BudgetError, InputError, positive, probability
from ..privacy.gaussian import gaussian_mu

__all__ = ["Budget"]

# Sums of floats wobble in the last digits; every mechanism keeps back more than this. proof: tolerance
_EPSILON_TOLERANCE = 1e-14
_DELTA_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Budget:
    """(epsilon, delta) under replace-one neighbours.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee; smaller numbers promise more.

    Examples
    --------
    >>> Budget(1.0, 1e-6)
    Budget(epsilon=1, delta=1e-06)
    >>> Budget(0.3, 1e-5).covers(Budget.total([Budget(0.1, 1e-6)] * 3))
    True
    >>> [round(mu, 4) for mu in Budget(1.0, 1e-6).split([0.1, 0.9])]
    [0.0749, 0.2246]
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", self.delta))

    @property
    def mu(self) -> float:
        """The largest mu for which mu-GDP implies this budget, rounded down."""
        return gaussian_mu(self.epsilon, self.delta)

    def split(self, shares: Iterable[float]) -> tuple[float, ...]:
        """mu_j = mu sqrt(w_j): Gaussian releases with these mu compose, adaptively, to this budget."""
        weights = [positive("shares", w) for w in shares]
        if not weights or abs(math.fsum(weights) - 1.0) > 1e-9:
            raise InputError(f"shares must be positive and add up to 1, got a sum of {math.fsum(weights):.6g}.")
        total = math.fsum(weights)
        return tuple(self.mu * math.sqrt(w / total) * (1.0 - 1e-15) for w in weights)  # proof: split

    @classmethod
    def total(cls, budgets: Iterable[Budget]) -> Budget:
        """Basic composition: epsilons and deltas add up."""
        parts = list(budgets)
        if not parts:
            raise InputError("budgets must hold at least one Budget.")
        delta = math.fsum(b.delta for b in parts)
        if delta >= 1.0:
            raise BudgetError(f"the deltas add up to {delta:.3g}, which guarantees nothing.")
        return cls(math.fsum(b.epsilon for b in parts), delta)

    def covers(self, spent: Budget) -> bool:
        """Whether a true cost ``spent`` fits, forgiving only what rounding in sums can do."""
        return spent.epsilon <= self.epsilon * (1.0 + _EPSILON_TOLERANCE) and spent.delta <= self.delta * (
            1.0 + _DELTA_TOLERANCE
        )

    def __le__(self, other: Budget) -> bool:
        return other.covers(self)

    def __ge__(self, other: Budget) -> bool:
        return self.covers(other)

    def __repr__(self) -> str:
        return f"Budget(epsilon={self.epsilon:.12g}, delta={self.delta:.12g})"
