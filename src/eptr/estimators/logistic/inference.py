"""A table of log odds and odds ratios; their errors count both the sample and the privacy noise.  Proof: inference.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.claim import Release
from ...privacy.voices import rows_counted, share_beyond
from ..linear.inference import Summary, wald
from .problem import LogisticFitted

__all__ = ["OddsSummary", "summarise"]

FADING = (
    "Intervals allow for a misspecified model, provided that rows with a large influence are rare: what depends on a handful\n"
    "of rows cannot be measured privately (docs/logistic.md)."
)
TOO_FEW_ROWS = (
    "Clipping could not be corrected fully: coefficients may be too close to zero, and intervals too short. A larger epsilon\n"
    "or fewer terms help."
)


@dataclass(frozen=True, slots=True, eq=False)
class OddsSummary(Summary):
    """A coefficient table of log odds; print it."""

    classes: tuple[str, ...]
    shares: NDArray[np.float64]
    outcome: str = ""  # what the classes are of, where it has a name

    @property
    def compared(self) -> str:
        """Whose log odds the coefficients are."""
        first, *others = self.classes
        of = f"{self.outcome} = " if self.outcome else ""
        return f"log odds of {' and of '.join(of + label for label in others)} (against {first})"

    @property
    def odds_ratios(self) -> NDArray[np.float64]:
        """One row per coefficient: exp of the estimate and of both ends of its interval."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(np.column_stack([self.estimates, self.intervals])))

    @property
    def title(self) -> list[str]:
        return [f"Private logistic regression, {self.compared}"]

    @property
    def heads(self) -> tuple[str, ...]:
        *first, low, high = Summary.heads.fget(self)  # type: ignore[attr-defined]
        return *first, "Odds ratio", low, high

    def shown(self, estimate: float, low: float, high: float) -> tuple[float, ...]:
        return tuple(math.exp(value) if value < 700.0 else math.inf for value in (estimate, low, high))

    @property
    def footing(self) -> str:
        each = ", ".join(f"{label} {share:.1%}" for label, share in zip(self.classes, self.shares, strict=True))
        return (
            f"{rows_counted(self._facts)}; about: {each}. Beyond the bounds: {share_beyond(self._facts)}.\n"
            "The last two columns are the ends of the interval of the odds ratio."
        )

    @property
    def caution(self) -> str:
        return FADING if self.corrected else TOO_FEW_ROWS

    __repr__ = __str__ = Summary.__str__


def summarise(names: list[str], classes: Any, fitted: LogisticFitted, level: float, release: Release) -> OddsSummary:
    """Wald table from released numbers, around the coefficients before they were shrunk."""
    table = wald(np.ravel(fitted.centre), fitted.covariance, np.ravel(fitted.undetermined), level)
    return OddsSummary(
        tuple(names), *table, math.nan, fitted.n_rows, fitted.outside, fitted.corrected, release,
        tuple(map(str, classes)), fitted.shares,
    )  # fmt: skip
