"""Rows seen as functions of themselves: all functions of all terms, made anew in every pass.  Proof: expansion.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rows.engine import RowFunction, Rows
from ...rows.memory import CACHE_NUMBERS, block_rows
from ...rows.namespace import is_foreign, namespace
from .axes import Axis

__all__ = ["Expanded", "Expansion"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expansion:
    """Terms of columns; a function of a term is a product of functions of its columns, named by their degrees."""

    axes: tuple[Axis, ...]
    terms: tuple[tuple[int, ...], ...]
    degrees: tuple[Sequence[tuple[int, ...]], ...]

    @property
    def count(self) -> int:
        """Of all functions."""
        return sum(map(len, self.degrees))

    def __call__(self, x: Any) -> Any:
        """One row of functions for every row of ``x``. proof: row"""
        wanted = [0] * len(self.axes)
        for term, degrees in zip(self.terms, self.degrees, strict=True):
            for place, j in enumerate(term):
                wanted[j] = max(wanted[j], *(degree[place] for degree in degrees))
        known = [axis.functions(x[:, j], wanted[j]) if wanted[j] else [] for j, axis in enumerate(self.axes)]
        return namespace(x).stack(
            [
                reduce(lambda a, b: a * b, (known[j][k - 1] for j, k in zip(term, degree, strict=True) if k))
                for term, degrees in zip(self.terms, self.degrees, strict=True)
                for degree in degrees
            ],
            axis=1,
        )

    def of_term(self, term: int, points: Array) -> Array:
        """The functions of one term where its columns are ``points``, one row each."""
        columns = self.terms[term]
        axes = tuple(self.axes[j] for j in columns)
        alone = Expansion(axes, (tuple(range(len(columns))),), (self.degrees[term],))
        return np.asarray(alone(np.ascontiguousarray(points, dtype=float)))


class Expanded:
    """Rows seen through an expansion, with y moved by ``y_centre``."""

    def __init__(self, rows: Rows, expansion: Expansion, y_centre: float) -> None:
        self.rows, self.expansion, self.y_centre = rows, expansion, y_centre
        self.n, self.n_features = rows.n, expansion.count

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        expansion, y_centre, most = self.expansion, self.y_centre, block_rows(self.n_features, CACHE_NUMBERS)

        def piece(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp, functions, y = namespace(x), expansion(x), y - y_centre
            if keep is not None:  # a row that is dropped is zero, whatever its functions
                functions = xp.where(keep[:, None], functions, xp.zeros_like(functions))
                y = xp.where(keep, y, xp.zeros_like(y))
            return fn(functions, y, keep)

        def seen(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            """There are many more functions than columns, so a block is cut into pieces that fit into a cache. proof: row"""
            if is_foreign(x) or x.shape[0] <= most:
                return piece(x, y, keep)
            parts = (slice(start, start + most) for start in range(0, x.shape[0], most))
            sums = [piece(x[part], y[part], None if keep is None else keep[part]) for part in parts]
            return tuple(sum(found[1:], found[0]) for found in zip(*sums, strict=True))

        return self.rows.sum(seen)
