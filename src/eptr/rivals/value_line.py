"""Values themselves as rows on a line, in exact arithmetic, for published quantiles.  Proof: value_line.md."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..privacy.claim import Cost
from ..privacy.spending import Spending
from ..rows.memory import MemoryRows
from ..rows.namespace import is_foreign
from ..stats.estimate import Estimate
from ..stats.question import Question, Shared, column_bounds

__all__ = ["AskedValues", "ValueLine", "place_values"]

Array = NDArray[np.float64]


class ValueLine:
    """Values between two ends, all floats: whole numbers in units of a power of two. proof: rows"""

    def __init__(self, values: Any, low: float, high: float) -> None:
        ratios = [float(v).as_integer_ratio() for v in (low, *np.sort(values), high)]
        self._unit = max(unit for _, unit in ratios)
        first, *rest = (value * (self._unit // unit) for value, unit in ratios)
        self._origin, self._rows = first, [0, *(value - first for value in rest)]
        self.count, self.length = len(values), self._rows[-1]

    def regions(self, first: int, last: int) -> tuple[Any, list[int]]:
        ranks = [k for k in range(first, last + 1) if self._rows[k] < self._rows[k + 1]]
        return np.array(ranks, dtype=int), [self._rows[k] for k in ranks[:1]] + [self._rows[k + 1] for k in ranks]

    def value(self, place: float) -> float:
        """The float of a place."""
        return float((Fraction(place) + self._origin) / self._unit)


class AskedValues:
    """One column in memory, its levels and the budget to ask it with; pure, in values and not in cells."""

    def __init__(self, what: str, x: Any, q: Any, bounds: Any, epsilon: float, shared: Shared, **claim: Any) -> None:
        self.question = Question(what=what, epsilon=epsilon, delta=0.0, level=math.nan, **shared)
        cost = Cost(self.question.epsilon, 0.0, "basic", 0.0, **claim)
        self.rows, self.spending = self.question.open(x, cost=lambda rows: cost)
        if not isinstance(self.rows, MemoryRows) or is_foreign(self.rows.x) or self.rows.n_features != 1:
            raise InputError(f"x must be one column in memory: {what} sorts its values, which are no sums over rows.")
        self.low, self.high = column_bounds(bounds, 1)[0].tolist()
        self.levels = [Fraction(float(v)).limit_denominator(10**9) for v in np.ravel(q)]
        if self.levels != sorted(set(self.levels)) or not 0 < self.levels[0] <= self.levels[-1] < 1:
            raise InputError("q must hold increasing levels between 0 and 1, both excluded.")

    def values(self) -> Array:
        """Kept values, moved into the bounds."""
        assert isinstance(self.rows, MemoryRows)
        x, _, keep = self.rows.part(slice(None))
        return np.asarray(np.clip(x[:, 0] if keep is None else x[keep, 0], self.low, self.high))

    def answer(self, found: Any) -> Estimate:
        """Quantiles without intervals, which none of the publications has."""
        nothing = np.full(len(found), math.nan)
        names = [[f"{float(level):g}" for level in self.levels]]
        return self.question.answer(self.spending, np.array(found), nothing, nothing, names, noise_scale=math.nan)


def place_values(spending: Spending, values: Any, low: float, high: float, levels: Any, epsilon: float) -> list[float]:
    """One joint draw: what the spending charges and draws, read as values."""
    line = ValueLine(values, low, high)
    return [line.value(place) for place in spending.place(line, levels, epsilon)]
