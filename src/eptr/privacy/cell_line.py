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
    together : int, default 1
        So many rows of a cell share a place, where a mechanism errs by many more ranks.
    """

    def __init__(self, counts: Any, lengths: Any = None, together: int = 1) -> None:
        self._counts = np.asarray(counts, dtype=np.int64)
        self._lengths = np.ones_like(self._counts) if lengths is None else np.asarray(lengths, dtype=np.int64)
        self._starts, self._until = np.cumsum(self._lengths) - self._lengths, np.cumsum(self._counts)
        self._together, self.count = together, int(self._until[-1])
        self.digits = self.count.bit_length()  # of the places in a unit of length
        self.length = int(self._lengths.sum()) << self.digits

    def regions(self, first: int, last: int) -> tuple[Any, list[int]]:
        """Those with places in them of the ranks from ``first`` to ``last``, and the borders between and around them."""
        # One cell more on either side has the borders.
        cells = np.flatnonzero(self._counts)
        cells = cells[slice(*np.searchsorted(self._until[cells], [first, last + 1]) + [0, 1])]
        sizes = -(-self._counts[cells] // self._together)
        cell, order = np.repeat(cells, sizes), np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
        counts, sizes = self._counts[cell], np.repeat(sizes, sizes)
        place, index = self._place(order, sizes)
        rows = np.where(index < sizes, self._together, counts - (sizes - 1) * self._together)
        below = self._until[cells[0]] - self._counts[cells[0]] if len(cells) else self.count
        ranks = below + np.concatenate([[0], np.cumsum(rows)])
        starts, lengths, inside = (v.astype(object) for v in (self._starts[cell], self._lengths[cell], place))
        borders = [0, *((starts << self.digits) + inside * lengths).tolist(), self.length]
        chosen = slice(*np.searchsorted(ranks, [first, last + 1]))
        return ranks[chosen], borders[chosen.start : chosen.stop + 1]

    def cells(self, places: Any) -> Any:
        """The numbers of the cells that places lie in, and how far into them."""
        at = np.asarray(places, dtype=float) / (1 << self.digits)
        cell = np.clip(np.searchsorted(self._starts, at, side="right") - 1, 0, None)
        return cell, np.clip((at - self._starts[cell]) / self._lengths[cell], 0.0, 1.0)

    def _place(self, order: Any, counts: Any) -> Any:
        """The ``order``-th smallest of the numbers 1, ..., count with their bits reversed, and the number. proof: order"""
        order, place, index = order.copy(), np.zeros_like(order), np.zeros_like(order)
        for digit in range(self.digits):
            zeros = (counts - index >> digit + 1) + (index > 0)  # so many go on with the digit 0
            one = order > zeros
            order -= np.where(one, zeros, 0)
            index += one << digit
            place = 2 * place + one
        return place, index
