"""Rows in memory: one verb, ``sum(fn)``, over cache-sized blocks on all cores.

A row function maps a block of rows to sums over them: ``fn(x, y, keep) -> tuple of arrays``. It is called with float64
blocks; ``keep`` is None, or marks the rows that count (the others are zeroed and must contribute zero).
Because every sum is exact (see ``exact``), neither the blocks nor the threads nor the order can change a bit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["MemoryRows", "RowFunction", "Rows"]

Array = NDArray[np.float64]
RowFunction = Callable[[Array, Array, NDArray[np.bool_] | None], tuple[Array, ...]]
# Numbers per block: four megabytes, small enough for a cache and large enough to hide the cost of handing over a thread.
_BLOCK_NUMBERS = 500_000
# Larger values are cut to this, far outside any bound, so that squares and differences stay finite.
_LARGEST = 1e150
_WORKERS = min(os.cpu_count() or 1, 8)


class Rows(Protocol):
    """What an estimator sees of its data, wherever they live."""

    n: int
    n_features: int

    def check(self) -> None:
        """Raise if a row lies outside the domain; called before anything is charged."""
        ...

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        """One pass: the exact sums of ``fn`` over all rows."""
        ...


class MemoryRows:
    """A matrix and a target vector, read block by block; nothing is copied as a whole.

    Parameters
    ----------
    x : array of shape (n, p), float64 or float32
    y : array of shape (n,)
        A numeric target, or class codes with -1 for an undeclared label.
    drop_invalid : bool
        Rows with non-finite values or code -1 contribute zero instead of raising.
    """

    def __init__(self, x: Any, y: Any, *, drop_invalid: bool = False, block: int | None = None) -> None:
        self.x, self.y, self.drop_invalid = x, y, drop_invalid
        self.n, self.n_features = x.shape
        self.codes = np.issubdtype(y.dtype, np.integer)
        self._huge = drop_invalid
        self._block = block or _even_block(self.n, max(64, _BLOCK_NUMBERS // max(1, self.n_features)))

    def check(self) -> None:
        if self.drop_invalid:
            return

        def one(block: tuple[Any, Any]) -> tuple[float, bool]:
            x, y = block
            largest = max(float(x.max()), -float(x.min()))  # NaN if there is one
            return largest, self.codes or bool(np.all(np.isfinite(y)))

        for largest, finite in self._each(one):
            if not math.isfinite(largest):
                raise InputError(
                    "X contains NaN or infinity; clean it, or pass invalid='drop' to give such rows no weight."
                )
            if not finite:
                raise InputError(
                    "y contains NaN or infinity; clean it, or pass invalid='drop' to give such rows no weight."
                )
            self._huge |= largest > _LARGEST

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        def one(block: tuple[Any, Any]) -> tuple[Array, ...]:
            with np.errstate(all="ignore"):  # a warning that depends on private values would be a leak
                return fn(*self._prepared(*block))

        with _libraries().limit(limits=1) if self.n > self._block else nullcontext():
            return _add(self._each(one))

    def _each(self, one: Callable[[tuple[Any, Any]], Any]) -> Iterator[Any]:
        """A function of every block, in order, on all cores if there are several blocks."""
        if self.n <= self._block or _WORKERS == 1:
            return map(one, self._blocks())
        return _pool(os.getpid()).map(one, self._blocks())

    def part(self, index: NDArray[np.intp]) -> tuple[Array, Array, NDArray[np.bool_] | None]:
        """Some rows, as a row function would see them: for the few statistics that are not sums."""
        return self._prepared(self.x[index], self.y[index])

    def _blocks(self) -> Iterator[tuple[Any, Any]]:
        for start in range(0, self.n, self._block):
            part = slice(start, start + self._block)
            yield self.x[part], self.y[part]

    def _prepared(self, x: Any, y: Any) -> tuple[Array, Array, NDArray[np.bool_] | None]:
        x = np.ascontiguousarray(x, dtype=np.float64)
        finite = np.isfinite(x).all(axis=1) if self.drop_invalid else None
        if self._huge:
            x = np.clip(x, -_LARGEST, _LARGEST)
        if not self.codes:
            y = np.asarray(y, dtype=np.float64)
        if finite is None:
            return x, y, None
        keep = finite & (y >= 0 if self.codes else np.isfinite(y))
        return np.where(keep[:, None], x, 0.0), np.where(keep, y, 0), keep


def _even_block(n: int, most: int) -> int:
    """Blocks of equal size, as many as there are workers or a multiple of it, none above ``most`` rows."""
    rounds = -(-n // (most * _WORKERS))
    return n if n <= most else -(-n // (rounds * _WORKERS))


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool a process (a forked child must not use its parent's threads)."""
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix=f"eptr-{process}")


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """The loaded linear algebra libraries; finding them takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _add(parts: Iterator[tuple[Array, ...]]) -> tuple[Array, ...]:
    total: list[Array] | None = None
    for part in parts:
        if total is None:
            total = [np.array(a, dtype=np.float64) for a in part]
        else:
            for whole, piece in zip(total, part, strict=True):
                whole += piece
    assert total is not None
    return tuple(total)
