"""Round numbers of a public range, and the cells that they and the gaps between them are.  Proof: value_grid.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rows.namespace import like, namespace, to_numpy

__all__ = ["ValueGrid", "decimal", "multiples"]

Array = NDArray[np.float64]
# Steps of equal length, so many or a little more than half.
_STEPS = 20_000
# Numbers of three digits, half a per cent to one apart; over so many decades below the larger bound.
_DIGITS = np.concatenate([np.arange(100, 200), np.arange(200, 500, 2), np.arange(500, 1000, 5)])
_DECADES = 9
# So many multiples of a step have cells of their own.
_MOST_MULTIPLES = 20_000
# Of the length of a line, how much goes by orders of magnitude, and its unit. Sizes end at a part of the larger bound, which is
# larger where zero is inside: numbers around it are no more likely than others.
_MAGNITUDES, _UNIT = 0.3, 2.0**-40
_LEAST_OF_ONE_SIGN, _LEAST_OF_BOTH = 1e-7, 1e-3
# The ends of a range hold what lies beyond them, and 0 is often one: many rows may lie there. About so much of the line each, at
# least, or ranks among such rows are drawn away to long cells that hold none. Zero inside a range less: it draws to itself what
# lies around it, as columns with long tails do.
_END, _ZERO = 0.01, 2.5e-4
# Whole numbers of a narrow range are often all that a column holds: a tie on one would else be left for the empty stretch beside
# it. Together they get so much of the line, twice as much where there are few: tenths and fifths held ties of five answers and
# of heaped hours in nine of ten samples and more, and the deciles of continuous columns were no more than .1 ranks worse.
_WHOLE, _LEAST_WHOLE, _FEW_WHOLE, _MOST_WHOLE = 0.1, 3, 20, 500


class ValueGrid:
    """Cells of a public range: single round numbers, and the open gaps between neighbours.

    Round numbers are those of equal steps, and those of few digits over some decades: a range that is much too wide costs
    little, and rounded values have cells of their own. Cells are as long as the numbers in them are apart, but partly by
    orders of magnitude: else, of a range that is much too wide, nearly all would lie beyond the rows, and attract.

    Parameters
    ----------
    low, high : float
        The range; values outside of it count at its ends.
    step : float, optional
        Values are multiples of it. If these are not too many, they are the cells, and there are no gaps.

    Examples
    --------
    >>> grid = ValueGrid(0.0, 120.0)
    >>> 37.0 in grid.points, 37.5 in grid.points
    (True, True)
    """

    def __init__(self, low: float, high: float, step: float | None = None) -> None:
        self.low, self.high, self.step = low, high, step
        self.gaps = step is None or (high - low) / step > _MOST_MULTIPLES
        points = (
            self._round_numbers() if step is None or self.gaps else multiples(_whole_numbers(low, high, step), step)
        )
        points = np.unique(np.concatenate([points, [low, high]]) + 0.0)
        self.points: Array = points[(low <= points) & (points <= high)]
        # A cell ends at each of these: below a point, and above it; or half way between two.
        self._ends = self.points if self.gaps else 0.5 * (self.points[1:] + self.points[:-1])

    def _round_numbers(self) -> Array:
        step, digit, power = _round_step((self.high - self.low) / _STEPS)
        numbers = [decimal(_whole_numbers(self.low, self.high, step) * digit, power)]
        power = math.ceil(math.log10(max(abs(self.low), abs(self.high)))) - 3
        for decade in range(power, power - _DECADES, -1):
            sizes = decimal(_DIGITS, decade)
            numbers += [sizes, -sizes]
        return np.concatenate(numbers)

    @property
    def cells(self) -> int:
        return 2 * len(self.points) - 1 if self.gaps else len(self.points)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Of the cells, in units of 2**-40 of the line; points have half of their gaps, and some have more. proof: lengths"""
        if not self.gaps:
            return np.ones(self.cells, dtype=np.int64)
        both = self.low < 0.0 < self.high
        least = max(abs(self.low), abs(self.high)) * (_LEAST_OF_BOTH if both else _LEAST_OF_ONE_SIGN)
        apart = np.diff(self.points)
        sizes = np.diff(np.sign(self.points) * np.log1p(np.abs(self.points) / least))
        apart = (1.0 - _MAGNITUDES) * apart / apart.sum() + _MAGNITUDES * sizes / sizes.sum()
        padded = np.concatenate([[0.0], apart, [0.0]])
        found = np.empty(self.cells)
        found[1::2], found[::2] = apart, 0.5 * (padded[1:] + padded[:-1])
        for heaps, length in ((2 * np.flatnonzero(self.points == 0.0), _ZERO), ([0, -1], _END)):
            found[heaps] = np.maximum(found[heaps], 2.0 * length)
        whole = 2 * np.flatnonzero(self.points == np.rint(self.points))
        if _LEAST_WHOLE <= len(whole) <= _MOST_WHOLE:
            share = _WHOLE * (1.0 + min(1.0, _FEW_WHOLE / len(whole)))
            found *= (1.0 - share) / found.sum()
            found[whole] += share / len(whole)
        found *= 2.0 / found.sum()
        return np.ceil(found / (2.0 * _UNIT)).astype(np.int64)

    def counts(self, values: Any) -> Array:
        """How many values lie in each cell: point, gap, point, ..., point. proof: cells"""
        xp = namespace(values)
        ordered, ends = xp.sort(values), like(self._ends, values)
        until = to_numpy(xp.searchsorted(ordered, ends, side="right"))
        if self.gaps:
            below = to_numpy(xp.searchsorted(ordered, ends, side="left"))
            until = np.column_stack([below, until]).ravel()[1:-1]
        return np.diff(until, prepend=0, append=values.shape[0]).astype(float)

    def rounded(self, values: Any) -> Array:
        """To the step, if there is one."""
        if self.step is None:
            return np.asarray(values)
        return np.clip(multiples(np.rint(values / self.step), self.step), self.low, self.high)


def _whole_numbers(low: float, high: float, step: float) -> Any:
    """How many steps from zero a range reaches."""
    return np.arange(math.ceil(low / step), math.floor(high / step) + 1)


def multiples(count: Any, step: float) -> Array:
    """As they would be read from text where the step is one over a whole number."""
    inverse = round(1.0 / step)
    exact = step < 1.0 and abs(inverse * step - 1.0) < 1e-12
    return np.asarray(count / inverse if exact else count * step)


def _round_step(least: float) -> tuple[float, int, int]:
    """The smallest of 1, 2, 5 times a power of ten that is not below ``least``: its size, digit and power."""
    power = math.floor(math.log10(least))
    for digit, more in ((1, 0), (2, 0), (5, 0), (1, 1), (2, 1)):
        if float(decimal(digit, power + more)) >= least:
            break
    return float(decimal(digit, power + more)), digit, power + more


def decimal(digits: Any, power: int) -> Any:
    """digits * 10**power, rounded as it would be read from text where powers of ten are exact."""
    return digits * 10.0**power if power >= 0 else digits / 10.0**-power
