"""Cells inside of the gaps of a public grid, far too many to be counted one by one.  Proof: fine_cells.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.cell_line import Occupied
from .value_grid import ValueGrid, decimal, multiples

__all__ = ["MOST", "FineCells"]

Array = NDArray[np.float64]
# So many in the range, at most, and so small a part of the larger bound, which has no more digits.
MOST, _PRECISION = 1e12, 2.0**-46
# Digits of a unit of the grid's lengths, and of the names of fine cells.
_DIGITS, _NAMES = 20, 44
# Of a gap, how much lies on round numbers; as much on each power of ten.
_ROUND = 0.25


class FineCells:
    """Of a grid with gaps: multiples of a small number and what lies between them, or those of the grid's step alone.

    Parameters
    ----------
    grid : ValueGrid
    most : float
        The range has so many of them, or fewer.

    Examples
    --------
    >>> fine = FineCells(ValueGrid(0.0, 1e6))
    >>> everywhere = np.ones(len(fine.lengths), dtype=bool)
    >>> len(np.unique(fine.names(np.array([2005.5, 2005.5, 2005.50001]), everywhere)))
    2
    """

    def __init__(self, grid: ValueGrid, most: float = MOST) -> None:
        self.points, self.step = grid.points, grid.step
        low, high = grid.low, grid.high
        least = max((high - low) / min(most, MOST), max(abs(low), abs(high)) * _PRECISION)
        # What is between the multiples of a step is no cell of its own.
        self.closed = grid.step is not None and grid.step >= least
        self._power = math.ceil(math.log10(least))
        self._size = grid.step if grid.step is not None and self.closed else float(decimal(1.0, self._power))
        left, right = self.points[:-1], self.points[1:]
        first, last = (np.rint(ends / self._size).astype(np.int64) for ends in (left, right))
        self._first = first + (self._number(first) <= left)
        self._last = last - (self._number(last) >= right)
        self._many = np.maximum(self._last - self._first + 1, 0)  # inside of each gap
        self.lengths = grid.lengths << _DIGITS
        room = self.lengths[1::2]
        if self.closed:
            self._each = room // np.maximum(self._many, 1)
            self._powers = np.empty((0, len(left)), dtype=np.int64)
            return
        powers = max(1, math.ceil(math.log10(float(np.diff(self.points).max()) / self._size)))
        round_room = (room * _ROUND).astype(np.int64)
        self._each = (room - round_room) // (self._many + 1)
        self._tens = 10 ** np.arange(powers)[:, None]
        held = self._last // self._tens - (self._first - 1) // self._tens
        self._powers = np.where(held > 0, round_room // powers // np.maximum(held, 1), 0)

    def names(self, values: Any, chosen: Any) -> NDArray[np.int64]:
        """Of the fine cells that values lie in, of chosen cells of the grid. proof: cells"""
        left, right = (np.searchsorted(self.points, values, side=side) for side in ("left", "right"))
        cell = np.clip(left + right - 1, 0, 2 * len(self.points) - 2)
        wanted = chosen[cell]
        values, cell = values[wanted], cell[wanted]
        gap, part = cell // 2, np.zeros(len(cell), dtype=np.int64)
        inside = np.flatnonzero((cell % 2 == 1) & (self._many[np.minimum(gap, len(self._many) - 1)] > 0))
        gap, at = gap[inside], values[inside]
        near = np.clip(np.rint(at / self._size).astype(np.int64), self._first[gap], self._last[gap])
        part[inside] = near - self._first[gap]
        if not self.closed:
            number = self._number(near)
            part[inside] = 2 * part[inside] + 1 + (at > number) - (at < number)
        return np.asarray((cell << _NAMES) + part, dtype=np.int64)

    def occupied(self, names: Any, counts: Any) -> Occupied:
        """Where these fine cells are on the line. proof: lengths"""
        cell, part = names >> _NAMES, names & (1 << _NAMES) - 1
        begins = np.cumsum(self.lengths) - self.lengths
        starts, ends = self._start(cell, part), self._start(cell, part + 1)
        return Occupied(begins[cell] + starts, ends - starts, counts)

    def ends(self, cell: Any, inside: Any) -> tuple[Array, Array]:
        """Of the finest cells that places in cells of the grid lie in: what rows there may be, at least and at most."""
        cell, inside = np.asarray(cell), np.asarray(inside)
        at = np.minimum((inside * self.lengths[cell]).astype(np.int64), self.lengths[cell] - 1)
        low, high = np.zeros(len(cell), dtype=np.int64), self._parts(cell) - 1
        while np.any(low < high):  # the last fine cell that begins at a place or before
            middle = (low + high + 1) // 2
            before = self._start(cell, middle) <= at
            low, high = np.where(before, middle, low), np.where(before, high, middle - 1)
        gap = np.minimum(cell // 2, len(self._many) - 1)
        left, right = self.points[cell // 2], self.points[(cell + 1) // 2]
        many, split = self._many[gap], (cell % 2 == 1) & (self._many[gap] > 0)
        if self.closed:
            only = self._number(self._first[gap] + low)
            return np.where(split, only, left), np.where(split, only, right)
        below = self._first[gap] + (low + 1) // 2 - 1
        return (
            np.where(split & (low > 0), self._number(below), left),
            np.where(split & (low < 2 * many), self._number(below + 1 - low % 2), right),
        )

    def _number(self, count: Any) -> Array:
        """Of so many multiples."""
        if self.closed:
            return multiples(count, self._size)
        return np.asarray(decimal(np.asarray(count, dtype=float), self._power), dtype=float)

    def _parts(self, cell: Any) -> NDArray[np.int64]:
        many = self._many[np.minimum(cell // 2, len(self._many) - 1)]
        parts = np.maximum(many, 1) if self.closed else 2 * many + 1
        return np.where(cell % 2 == 1, parts, 1)

    def _start(self, cell: Any, part: Any) -> NDArray[np.int64]:
        """How far into its cell a part of it begins; what is left over is the last one's."""
        gap = np.minimum(cell // 2, len(self._many) - 1)
        if self.closed:
            found = part * self._each[gap]
        else:
            found, first = (part + 1) // 2 * self._each[gap], self._first[gap]
            for ten, length in zip(self._tens.ravel().tolist(), self._powers, strict=True):
                found += length[gap] * ((first + part // 2 - 1) // ten - (first - 1) // ten)
        return np.asarray(np.where(part < self._parts(cell), found, self.lengths[cell]), dtype=np.int64)
