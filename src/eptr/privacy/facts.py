"""What a reader of a private result may rely on: one frozen record, the source of every statement.  Proof: facts.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

from .gaussian import gaussian_mu

__all__ = ["Facts", "best_bet", "share_of"]


def best_bet(epsilon: float, delta: float, mu: float | None = None, failure: float = 0.0) -> float:
    """How often, at most, a bet on one of two neighbours, tossed by a fair coin, is won with the result in hand.

    (e^epsilon + delta)/(1 + e^epsilon), or Phi(mu/2) + failure/2 if that is less; rounded up. proof: odds

    Examples
    --------
    >>> round(best_bet(1.0, 0.0), 4), round(best_bet(1.0, 1e-6, mu=0.2368), 4)
    (0.7311, 0.5471)
    """
    fair = math.exp(-min(epsilon, 700.0))
    best = (1.0 + delta * fair) / (1.0 + fair)
    if mu is not None:
        best = min(best, float(ndtr(0.5 * mu)) + 0.5 * failure)
    return min(best * (1.0 + 1e-12), 1.0)


def share_of(mu: float | None, epsilon: float, total: tuple[float, float]) -> float:
    """Of a total budget: of its mu^2 where a release has a mu, else of its epsilon."""
    return epsilon / total[0] if mu is None else (mu / gaussian_mu(*total)) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Public and released numbers alone. None, "" or () says that a fact is not known, and nothing is claimed then."""

    what: str  # was estimated
    how: str = ""
    replied: bool = True
    private: bool = True
    fault: str = ""  # why a method is not private at all
    epsilon: float
    delta: float
    mu: float | None = None  # of all parts together, where the release is mu-GDP
    failure: float = 0.0  # up to so much of delta
    bet: float
    unit: str = "row"  # who is protected: "row", "person", "household"
    relation: str = "replace-one"
    rows_each: int = 1
    enforced: str = ""  # how the number of rows of one unit was kept to that; declared and not checked otherwise
    rows: int | None = None
    total: tuple[float, float] | None = None  # of the dataset, for good
    total_bet: float | None = None  # against everything that may ever be released from it
    share: float | None = None  # of the total
    remaining: tuple[float, float, float] | None = (
        None  # (epsilon, delta) for a release of any kind, mu for Gaussian ones
    )
    composition: str = ""
    ledger: str = ""  # hash of the entry that holds the charge
    settings: tuple[tuple[str, str], ...] = ()  # fixed beforehand: bounds, levels, missing values and all others
    bought: tuple[tuple[str, str], ...] = ()  # with a part of this budget
    outside: float | None = None  # released share of rows beyond the bounds
    parts: tuple[
        tuple[str, str, float, float, float], ...
    ] = ()  # noise, contribution, sensitivity, mu or epsilon, scale
    basis: str = "proven"
    theorem: str = ""
    proven_in: str = ""  # where in the repository
    level: float | None = None  # of intervals
    widths: tuple[float, float] | None = None  # the narrowest and the widest
    biases: tuple[str, ...] = ()
    date: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def variant(self) -> str:
        """The kind of differential privacy."""
        if not self.delta:
            return "pure differential privacy"
        gaussian = self.mu is not None and not self.failure
        return "Gaussian differential privacy" if gaussian else "approximate differential privacy"

    @property
    def share_noise(self) -> float:
        """Standard deviation of the noise on a share of rows, at most: that of the loudest number drawn; 0 if none is known."""
        ratios = [scale / moves for _, what, moves, _, scale in self.parts if what == "Interval" and moves > 0.0]
        return self.rows_each * max(ratios) / self.rows if ratios and self.rows else 0.0
