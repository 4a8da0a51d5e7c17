"""A histogram as rows on a line: each row of a cell has a fixed public place in it.  Proof: cell_line.md."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CellLine"]


class CellLine:
    """Cells one after the other; the rows of a cell lie evenly in it, the i-th at the bits of i reversed.

    A row more adds one place, a row less takes the last one away: nothing else moves. proof: neighbours

    Parameters
    ----------
    counts : array of whole numbers
        How many rows are in each cell.
    lengths : array of whole numbers, optional
        Public lengths of the cells; 1 without it.
    """

    def __init__(self, counts: Any, lengths: Any = None) -> None:
        self._counts = np.asarray(counts, dtype=np.int64)
        self._lengths = np.ones_like(self._counts) if lengths is None else np.asarray(lengths, dtype=np.int64)
        self._starts, self._until = np.cumsum(self._lengths) - self._lengths, np.cumsum(self._counts)
        self.count = int(self._until[-1])
        self.digits = self.count.bit_length()  # of the places in a unit of length
        self.length = int(self._lengths.sum()) << self.digits

    def places(self, first: int, last: int) -> list[int]:
        ranks = np.arange(max(first, 1), min(last, self.count) + 1)
        cells = np.searchsorted(self._until, ranks)
        counts = self._counts[cells]
        starts, lengths, inside = (
            v.astype(object)  # beyond the machine's numbers
            for v in (
                self._starts[cells],
                self._lengths[cells],
                self._place(ranks - self._until[cells] + counts, counts),
            )
        )
        found: list[int] = ((starts << self.digits) + inside * lengths).tolist()
        return [0] * (first == 0) + found + [self.length] * (last > self.count)

    def cells(self, places: Any) -> Any:
        """The numbers of the cells that places lie in, and how far into them."""
        at = np.asarray(places, dtype=float) / (1 << self.digits)
        cell = np.clip(np.searchsorted(self._starts, at, side="right") - 1, 0, None)
        return cell, np.clip((at - self._starts[cell]) / self._lengths[cell], 0.0, 1.0)

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
