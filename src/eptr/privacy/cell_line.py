"""A histogram as rows on a line: each row of a cell has a fixed public place in it.  Proof: cell_line.md."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CellLine"]


class CellLine:
    """Cells of equal length, one after the other; the rows of a cell lie evenly in it, the i-th at bits of i reversed.

    A row more adds one place, a row less takes the last one away: nothing else moves. proof: neighbours

    Parameters
    ----------
    counts : array of whole numbers
        How many rows are in each cell.
    """

    def __init__(self, counts: Any) -> None:
        self._counts = np.asarray(counts, dtype=np.int64)
        self._until = np.cumsum(self._counts)
        self.count = int(self._until[-1])
        self.digits = self.count.bit_length()  # of the places in a cell
        self.length = len(self._counts) << self.digits

    def places(self, first: int, last: int) -> list[int]:
        ranks = np.arange(max(first, 1), min(last, self.count) + 1)
        cells = np.searchsorted(self._until, ranks)
        counts = self._counts[cells]
        found = [(cells << self.digits) + self._place(ranks - self._until[cells] + counts, counts)]
        ends = [[0]] * (first == 0), [[self.length]] * (last > self.count)
        return [int(v) for v in np.concatenate([*ends[0], *found, *ends[1]])]

    def _place(self, order: Any, counts: Any) -> Any:
        """The ``order``-th smallest of the numbers 1, ..., count with their bits reversed. proof: order"""
        order, place, index = order.copy(), np.zeros_like(order), np.zeros_like(order)
        for digit in range(self.digits):
            zeros = (counts - index >> digit + 1) + (index > 0)  # so many go on with the digit 0
            one = order > zeros
            order -= np.where(one, zeros, 0)
            index += one << digit
            place = 2 * place + one
        return place

    def cell(self, place: float) -> float:
        """In units of cells: its number, and how far into it."""
        return place / (1 << self.digits)
