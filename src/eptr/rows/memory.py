"""Rows in memory, read in cache-sized blocks on all cores; arrays of other libraries stay where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .engine import Engine, Partial, Pass
from .namespace import namespace
from .pool import WORKERS, each

__all__ = ["CACHE_NUMBERS", "MemoryRows", "block_rows"]

# Numbers per block. One core alone works fastest where a few such arrays fit into its own cache; threads want blocks large
# enough to hide the cost of handing over the interpreter lock; a device runs its own threads and wants large pieces.
CACHE_NUMBERS = 40_000
_BLOCK_NUMBERS = 500_000
_DEVICE_NUMBERS = 20_000_000


class MemoryRows(Engine):
    """A matrix and a target vector, read block by block; nothing is copied as a whole.

    Parameters
    ----------
    x : array of shape (n, p), float64 or float32; of numpy or of any library of the array API standard
    y : array of shape (n,)
        A numeric target, or class codes with -1 for an undeclared label.
    drop_invalid : bool
        Rows with non-finite values or code -1 contribute zero instead of raising.
    """

    def __init__(self, x: Any, y: Any, *, drop_invalid: bool = False, block: int | None = None) -> None:
        self.x, self.y, self.drop_invalid = x, y, drop_invalid
        self.n, self.n_features = x.shape
        xp = namespace(x)
        self._local = xp is np
        self.codes = np.issubdtype(y.dtype, np.integer) if self._local else xp.isdtype(y.dtype, "integral")
        local = _BLOCK_NUMBERS if WORKERS > 1 else CACHE_NUMBERS
        self._block = block or _even_block(
            self.n, block_rows(self.n_features, local if self._local else _DEVICE_NUMBERS)
        )

    def _partials(self, task: Pass) -> Iterable[Partial]:
        if self.n <= self._block or WORKERS == 1 or not self._local:
            return map(task, self._blocks())
        return each(task, self._blocks())

    def part(self, index: Any) -> tuple[Any, Any, Any]:
        """Some rows, as a row function would see them: for the few statistics that are not sums."""
        found: list[tuple[Any, Any, Any]] = []
        self.check()

        def keep_them(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            found.append((x, y, keep))
            return ()

        Pass(keep_them, self.drop_invalid, self.codes, validate=False, cut=True)([(self.x[index], self.y[index])])
        return found[0]

    def _blocks(self) -> Iterator[list[tuple[Any, Any]]]:
        for start in range(0, self.n, self._block):
            part = slice(start, start + self._block)
            yield [(self.x[part, ...], self.y[part])]


def block_rows(features: int, numbers: int = _BLOCK_NUMBERS) -> int:
    """Rows of a block of about ``numbers`` numbers."""
    return max(64, numbers // max(1, features))


def _even_block(n: int, most: int) -> int:
    """Blocks of equal size, as many as there are workers or a multiple of it, none above ``most`` rows."""
    rounds = -(-n // (most * WORKERS))
    return n if n <= most else -(-n // (rounds * WORKERS))
