"""Rows seen as functions of themselves: all functions of all terms, looked up anew in every pass.  Proof: expansion.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rows.engine import RowFunction, Rows
from ...rows.memory import block_rows
from ...rows.namespace import is_foreign, like, namespace
from ..gradient import ROW_BITS, round_public
from .axes import CELLS, Axis, Stretched, nearby

__all__ = ["RIDGE", "Expanded", "Expansion", "Lookup"]

Array = NDArray[np.float64]
RIDGE = 0.01  # rows that functions are taken to have where none are seen, relative to an even column
PIECE_NUMBERS = 160_000  # in a piece of a block, which should stay in a core's own cache


@dataclass(frozen=True, slots=True)
class Lookup:
    """For each column of each term: its factors of the term's functions, at each place of the column."""

    axes: tuple[Axis, ...]
    terms: tuple[tuple[int, ...], ...]
    tables: tuple[tuple[Array, ...], ...]

    def __call__(self, x: Any) -> Any:
        """One *column* of functions for every row of ``x``: a function's table is small, and read at once. proof: row"""
        xp = namespace(x)
        places = [axis.place(x[:, j]) for j, axis in enumerate(self.axes)]
        index = [p.astype(np.int64) if xp is np else xp.astype(p, xp.int64) for p in places]
        parts = [
            reduce(mul, (xp.take(like(table, x), index[j], axis=1) for j, table in zip(term, tables, strict=True)))
            for term, tables in zip(self.terms, self.tables, strict=True)
        ]
        return parts[0] if len(parts) == 1 else (np.concatenate if xp is np else xp.concat)(parts, axis=0)


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

    @property
    def parts(self) -> list[slice]:
        """Where the functions of each term are."""
        ends = np.cumsum([0, *map(len, self.degrees)])
        return [slice(int(start), int(stop)) for start, stop in pairwise(ends)]

    def lookup(self) -> Lookup:
        """All functions as tables, which is what goes to the rows."""
        tables = tuple(
            tuple(
                round_public(_factors(self.axes[j].table(_most(degrees, k)), degrees, k).T.copy(), ROW_BITS)
                for k, j in enumerate(term)
            )
            for term, degrees in zip(self.terms, self.degrees, strict=True)
        )
        return Lookup(self.axes, self.terms, tables)

    def of_term(self, term: int, points: Array) -> Array:
        """The functions of one term where its columns are ``points``, one row each."""
        degrees = self.degrees[term]
        return reduce(
            mul,
            (
                _factors(self.axes[j].functions(points[:, k], _most(degrees, k)), degrees, k)
                for k, j in enumerate(self.terms[term])
            ),
        )

    def over_rows(self, term: int) -> tuple[Array, Array]:
        """A term's functions, centred, on a grid of its columns, and the rows seen there as if columns were independent."""
        axes = [axis for axis in (self.axes[j] for j in self.terms[term]) if isinstance(axis, Stretched)]
        count = round(CELLS ** (1.0 / len(axes)))
        x = [axis.low + (axis.high - axis.low) * (np.arange(count) + 0.5) / count for axis in axes]
        rows = [(nearby(axis.density) * axis.seen)[axis.cell(v)] + 1e-9 for axis, v in zip(axes, x, strict=True)]
        points, weights = (
            np.stack(np.meshgrid(*each, indexing="ij"), axis=-1).reshape(-1, len(axes)) for each in (x, rows)
        )
        share = np.prod(weights, axis=1) / np.prod([np.sum(w) for w in rows])
        functions = self.of_term(term, points)
        return functions - share @ functions, share

    def within(self, term: int) -> Array | None:
        """Mean products of the functions of one column, as its density has them; not known of several columns or of levels."""
        axis = self.axes[self.terms[term][0]]
        if len(self.terms[term]) > 1 or not isinstance(axis, Stretched):
            return None
        count = len(axis.density)
        functions = self.of_term(term, (axis.low + (axis.high - axis.low) * (np.arange(count) + 0.5) / count)[:, None])
        return np.asarray(
            functions.T @ (functions * (axis.density / max(float(np.sum(axis.density)), 1e-300))[:, None])
        )

    def at_places(self, term: int) -> Array:
        """The functions of a term of one column at each place of it, as rows are looked up."""
        degrees = self.degrees[term]
        return _factors(self.axes[self.terms[term][0]].table(_most(degrees, 0)), degrees, 0)

    def middle(self, term: int) -> Array:
        """The mean over rows of the functions of one column, as its density has it; zero where they are of several.

        The axis is not quite stretched until the rows are even, so functions do not quite average to zero over them.
        """
        axis = self.axes[self.terms[term][0]]
        if len(self.terms[term]) > 1 or not isinstance(axis, Stretched):
            return np.zeros(len(self.degrees[term]))
        count = len(axis.density)
        x = axis.low + (axis.high - axis.low) * (np.arange(count) + 0.5) / count
        return np.asarray(axis.density @ self.of_term(term, x[:, None]) / max(float(np.sum(axis.density)), 1e-300))

    def anywhere(self, x: Array) -> Array:
        """All functions, as :meth:`of_term` has them: for reading a fit."""
        return np.column_stack([self.of_term(k, x[:, term]) for k, term in enumerate(map(list, self.terms))])


def _most(degrees: Sequence[tuple[int, ...]], column: int) -> int:
    return max(1, *(degree[column] for degree in degrees))


def _factors(functions: Array, degrees: Sequence[tuple[int, ...]], column: int) -> Array:
    """Functions of one column in the order of a term's degrees; 1 where it has no part."""
    return np.column_stack([np.ones(len(functions)), functions])[:, [degree[column] for degree in degrees]]


class Expanded:
    """Rows seen through an expansion, with y moved by ``y_centre``."""

    def __init__(self, rows: Rows, expansion: Expansion, y_centre: float) -> None:
        self.rows, self.lookup, self.y_centre = rows, expansion.lookup(), y_centre
        self.n, self.n_features, self.each = rows.n, expansion.count, rows.each

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        lookup, y_centre, most = self.lookup, self.y_centre, block_rows(self.n_features, PIECE_NUMBERS)
        most += -most % self.each

        def piece(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp, functions, y = namespace(x), lookup(x), y - y_centre
            if keep is not None:  # a row that is dropped is zero, whatever its functions
                functions = xp.where(keep, functions, xp.zeros_like(functions))
                y = xp.where(keep, y, xp.zeros_like(y))
            return fn(functions.T, y, keep)

        def seen(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            """There are many more functions than columns, so a block is cut into pieces that fit into a cache. proof: row"""
            if is_foreign(x) or x.shape[0] <= most:
                return piece(x, y, keep)
            parts = (slice(start, start + most) for start in range(0, x.shape[0], most))
            sums = [piece(x[part], y[part], None if keep is None else keep[part]) for part in parts]
            return tuple(sum(found[1:], found[0]) for found in zip(*sums, strict=True))

        return self.rows.sum(seen)
