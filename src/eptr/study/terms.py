"""What a formula is made of: levels of categories, polynomials, columns of a design with their ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codebook import Category, Codebook, Flag
from ..errors import InputError
from .expression import Expression
from .interval import Interval

__all__ = ["Column", "Design", "Factor", "Levels", "columns_of", "legendre", "levels_of"]

Array = NDArray[np.float64]
_MOST_WHOLE = 100  # levels of whole numbers


@dataclass(frozen=True, slots=True)
class Levels:
    """A factor of categories: a level for every position, in the order that contrasts take them."""

    text: str
    column: str
    names: tuple[str, ...]
    codes: tuple[int, ...]  # what the reader of the column calls them
    whole: bool = False  # whole numbers stand as levels; what lies beyond is moved to the edge
    of: Expression | None = None  # instead of a column: a truth value

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,) if self.of is None else self.of.columns

    @property
    def called(self) -> tuple[Any, ...]:
        """What a statistic calls the levels."""
        return self.codes if self.whole else self.names

    def positions(self, read: Mapping[str, Any]) -> Array:
        """Of the level that each row has; NaN where it has none."""
        values = self._values(read)
        known, place = ~np.isnan(values), np.argsort(self.codes).astype(float)  # codes are consecutive
        return np.where(known, place[np.where(known, values - min(self.codes), 0.0).astype(np.int64)], np.nan)

    def indicator(self, position: int, read: Mapping[str, Any]) -> Array:
        """1 where a row has the level, 0 where it has another."""
        values = self._values(read)
        return np.where(np.isnan(values), np.nan, values == self.codes[position])

    def _values(self, read: Mapping[str, Any]) -> Array:
        values = read[self.column] if self.of is None else self.of.values(read)
        if self.whole:
            return np.asarray(np.rint(np.clip(values, min(self.codes), max(self.codes))))
        return np.where(values < 0, np.nan, values)


Factor = Expression | Levels


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the design: a product of factors, of which those of categories stand for one level each."""

    name: str
    parts: tuple[tuple[Factor, int], ...]  # a position among the levels; -1 for a number

    @property
    def range(self) -> Interval:
        """By interval arithmetic, rounded outwards."""
        ends = [Interval(0.0, 1.0) if isinstance(f, Levels) else f.range for f, _ in self.parts]
        return reduce(mul, ends)

    def values(self, read: Mapping[str, Any]) -> Array:
        found = [f.indicator(k, read) if isinstance(f, Levels) else f.values(read) for f, k in self.parts]
        if len(found) == 1:
            return found[0]
        with np.errstate(all="ignore"):  # a warning would depend on private values
            return np.clip(reduce(mul, found), self.range.low, self.range.high)


@dataclass(frozen=True, slots=True)
class Design:
    """The columns of a model: names, ranges and how a row gives them; nothing was learned."""

    columns: tuple[Column, ...]
    intercept: bool

    @property
    def ranges(self) -> list[tuple[float, float]]:
        return [(column.range.low, column.range.high) for column in self.columns]


def columns_of(numbers: Iterable[Expression]) -> tuple[Column, ...]:
    """Numbers as the columns of x."""
    return tuple(Column(e.text, ((e, -1),)) for e in numbers)


def levels_of(name: str, book: Codebook, text: str = "") -> Levels:
    """A column as levels: of a Category, of a Flag, or whole numbers of a short range."""
    kind = book.usable(name)
    if isinstance(kind, Category):
        return Levels(text or name, name, kind.shown, tuple(range(len(kind.shown))))
    if isinstance(kind, Flag) and isinstance(kind.yes, str):  # its own words
        return Levels(text or name, name, (str(kind.no), str(kind.yes)), (0, 1))
    low, high = kind.range
    if not kind.integer or kind.kind == "date" or high - low > _MOST_WHOLE:
        raise InputError(
            f"{name!r} has no levels: it must be a Category, a Flag, or Number(low, high, integer=True) with at most "
            f"{_MOST_WHOLE} values."
        )
    whole = range(math.ceil(low), math.floor(high) + 1)
    return Levels(text or name, name, tuple(map(str, whole)), tuple(whole), whole=True)


def legendre(text: str, inner: Expression, degree: int) -> Expression:
    """P_degree of the column, with its range moved to [-1, 1]."""
    low, high = inner.range.low, inner.range.high

    def evaluate(read: Mapping[str, Any]) -> Any:
        x = np.clip((np.clip(inner.evaluate(read), low, high) - 0.5 * (low + high)) / (0.5 * (high - low)), -1.0, 1.0)
        before, found = np.ones_like(x), x
        for k in range(1, degree):
            before, found = found, ((2 * k + 1) * x * found - k * before) / (k + 1)
        return found

    return Expression(text, inner.columns, Interval(-1.0, 1.0), False, evaluate)
