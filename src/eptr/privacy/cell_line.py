"""A histogram as rows on a line: each row of a cell has a fixed public place in it.  Proof: cell_line.md."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError

__all__ = ["CellLine", "Occupied"]


class Occupied(NamedTuple):
    """Cells with rows in them, from the first on: where they begin, how long they are, and how many rows each holds."""

    starts: Any
    lengths: Any
    counts: Any

    def chosen(self, index: Any) -> Occupied:
        return Occupied(self.starts[index], self.lengths[index], self.counts[index])


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
    finer : function, optional
        Cells that have cells of their own, which are public, too: of some cells, those inside of them that hold rows. It is
        asked about the ranks that are wanted alone. proof: finer
    """

    def __init__(
        self,
        counts: Any,
        lengths: Any = None,
        together: int = 1,
        finer: Callable[[Any], Occupied] | None = None,
    ) -> None:
        self._counts = np.asarray(counts, dtype=np.int64)
        self._lengths = np.ones_like(self._counts) if lengths is None else np.asarray(lengths, dtype=np.int64)
        self._starts, self._until = np.cumsum(self._lengths) - self._lengths, np.cumsum(self._counts)
        self._together, self.count = together, int(self._until[-1])
        self.digits = self.count.bit_length()  # of the places in a unit of length
        self.length = int(self._lengths.sum()) << self.digits
        self._finer, self._known = finer, np.zeros(len(self._counts), dtype=bool)
        self._parts = Occupied(*np.zeros((3, 0), dtype=np.int64))

    def within(self, first: int, last: int) -> Any:
        """The cells with rows among the ranks from ``first`` to ``last``, and one more on either side: it has the borders."""
        cells = np.flatnonzero(self._counts)
        return cells[_around(self._until[cells], first, last)]

    def learn(self, parts: Occupied, cells: Any) -> None:
        """What ``finer`` would say of these cells."""
        if int(parts.counts.sum()) != int(self._counts[cells].sum()):
            raise InputError("X changes while it is read; store the rows first, or pass them as one table.")
        both = [np.concatenate(pair) for pair in zip(self._parts, parts, strict=True)]
        self._parts = Occupied(*both).chosen(np.argsort(both[0]))
        self._known[cells] = True

    def unknown(self, cells: Any) -> Any:
        """Which of these cells ``finer`` was not asked about."""
        return cells[~self._known[cells]]

    def regions(self, first: int, last: int) -> tuple[Any, list[int]]:
        """Those with places in them of the ranks from ``first`` to ``last``, and the borders between and around them."""
        below, held = self._held(first, last)
        sizes = -(-held.counts // self._together)
        cell = np.repeat(np.arange(len(sizes)), sizes)
        order = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
        counts, sizes = held.counts[cell], np.repeat(sizes, sizes)
        place, index = self._place(order, sizes)
        rows = np.where(index < sizes, self._together, counts - (sizes - 1) * self._together)
        ranks = below + np.concatenate([[0], np.cumsum(rows)])
        starts, lengths, inside = (v.astype(object) for v in (held.starts[cell], held.lengths[cell], place))
        borders = [0, *((starts << self.digits) + inside * lengths).tolist(), self.length]
        chosen = slice(*np.searchsorted(ranks, [first, last + 1]))
        return ranks[chosen], borders[chosen.start : chosen.stop + 1]

    def cells(self, places: Any) -> Any:
        """The numbers of the cells that places lie in, and how far into them."""
        at = [int(place) for place in places]
        starts = [int(start) << self.digits for start in self._starts]
        cell = np.array([max(0, bisect_right(starts, place) - 1) for place in at], dtype=int)
        sizes = self._lengths[cell].astype(object) << self.digits
        far = [(place - starts[k]) / size for place, k, size in zip(at, cell, sizes, strict=True)]
        return cell, np.clip(np.array(far, dtype=float), 0.0, 1.0)

    def _held(self, first: int, last: int) -> tuple[int, Occupied]:
        """The finest cells with rows among these ranks, and how many rows lie below them."""
        cells = self.within(first, last)
        if not len(cells) or first > last:
            return self.count, self._parts.chosen(slice(0, 0))
        below = int(self._until[cells[0]] - self._counts[cells[0]])
        if self._finer is None:
            return below, Occupied(self._starts[cells], self._lengths[cells], self._counts[cells])
        if len(asked := self.unknown(cells)):
            self.learn(self._finer(asked), asked)
        ends = [self._starts[cells[0]], self._starts[cells[-1]] + self._lengths[cells[-1]]]
        held = self._parts.chosen(slice(*np.searchsorted(self._parts.starts, ends)))
        until = below + np.cumsum(held.counts)
        chosen = _around(until, first, last)
        return int(until[chosen][0] - held.counts[chosen][0]), held.chosen(chosen)

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


def _around(until: Any, first: int, last: int) -> slice:
    return slice(*np.searchsorted(until, [first, last + 1]) + [0, 1])
