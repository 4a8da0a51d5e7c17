"""An additive model before a row is read, and what is known afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..fitted import Fitted
from ..strategy import Public
from .axes import axes_of
from .basis import degrees_of
from .expansion import Expansion

__all__ = ["Additive", "AdditiveFitted", "read_categories", "read_terms"]

Array = NDArray[np.float64]
MOST_COLUMNS = 3  # in one term


@dataclass(frozen=True, slots=True)
class Additive(Public):
    """Ranges of the columns and of y, the columns of every term, and the levels of columns that have some."""

    x_range: tuple[Array, Array]
    y_range: tuple[float, float]
    terms: tuple[tuple[int, ...], ...]
    categories: dict[int, Array]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AdditiveFitted(Fitted):
    """The axes and terms, their coefficients before and after shrinkage, and how uncertain those are."""

    n_rows: int
    y_range: tuple[float, float]
    x_range: Array  # one row for each column
    categories: list[tuple[int, list[float]]]  # columns with levels, and these
    marginals: Array  # released: densities of columns on their ranges, shares of levels
    seen: NDArray[np.bool_]  # beside them: where rows stand out from the noise
    terms: list[tuple[int, ...]]
    counts: list[int]  # functions of each term
    coef: Array  # shrunk, term after term
    intercept: float  # the mean over the rows
    centre: Array  # of the bands: coefficients before they were shrunk, the intercept last
    covariance: Array  # of the centre
    privacy: Array  # the part of it that is privacy noise, and what that may hide
    middles: Array  # means of functions over the rows, which effects are told against
    offsets: Array  # for each term: variance of the mean of its effect
    kept: Array  # what shrinkage left of each coefficient, as a share
    beyond: Array  # for each term: mean square of what may be rougher than its functions
    rough: NDArray[np.bool_]  # whether that stands out from the noise: a jump, say
    few: float  # rows that are too few to say
    residual_scale: float
    outside: float  # share of rows beyond a range
    corrected: bool  # whether there were rows enough to undo the clipping of skewed errors

    @property
    def expansion(self) -> Expansion:
        """Rows as functions of them, again."""
        axes = axes_of((self.x_range[:, 0], self.x_range[:, 1]), dict(self.categories), self.marginals, self.seen)
        return Expansion(axes, tuple(self.terms), tuple(degrees_of(self.terms, self.counts)))

    def part(self, term: int) -> slice:
        """Where the coefficients of a term are."""
        start = sum(self.counts[:term])
        return slice(start, start + self.counts[term])


def read_categories(value: Any, n_features: int, names: Sequence[str] | None) -> dict[int, Array]:
    """Numbers that stand for levels, ascending, by the number of their column."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"categories must be a dict of levels by column, such as {{2: [0, 1]}}, got {value!r}.")
    found = {}
    for column, levels in value.items():
        try:
            numbers = np.unique(np.asarray(list(levels), dtype=float))
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if len(numbers) < 2 or len(numbers) != len(levels) or not np.all(np.isfinite(numbers)):
            raise InputError(
                f"categories[{column!r}] must list at least two different numbers; eptr.PublicEncoder turns text into them."
            )
        found[_place(column, n_features, names, "categories")] = numbers
    return found


def read_terms(
    value: Any, n_features: int, names: Sequence[str] | None, categories: Mapping[int, Any]
) -> tuple[tuple[int, ...], ...]:
    """The columns of every smooth term, then one plain term for every column with levels."""
    smooth = [j for j in range(n_features) if j not in categories]
    if isinstance(value, str) and value == "additive":
        terms: list[tuple[int, ...]] = [(j,) for j in smooth]
    elif isinstance(value, str) and value == "full":
        terms = [tuple(smooth)] if smooth else []
    else:
        terms = _listed(value, n_features, names)
        chosen = {j for term in terms for j in term}
        if not chosen.isdisjoint(categories):
            raise InputError("terms names a column that is in categories; those enter by themselves, as plain terms.")
        if missing := len(set(smooth) - chosen):
            raise InputError(
                f"terms leaves out {missing} of the {n_features} columns of X; name them, or drop them from X."
            )
    for term in terms:
        if len(term) > MOST_COLUMNS:
            raise InputError(
                f"terms has one with {len(term)} columns; at most {MOST_COLUMNS} can be smoothed together."
            )
    return (*terms, *((j,) for j in sorted(categories)))


def _listed(value: Any, n_features: int, names: Sequence[str] | None) -> list[tuple[int, ...]]:
    advice = f"terms must be 'additive', 'full' or a list of tuples of columns, such as [(0,), (1, 2)], got {value!r}."
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not len(value):
        raise InputError(advice)
    found: list[tuple[int, ...]] = []
    for term in value:
        columns = term if isinstance(term, (tuple, list)) else (term,)
        places = tuple(_place(column, n_features, names, "terms") for column in columns)
        if not places or len(set(places)) != len(places) or set(places) in map(set, found):
            raise InputError(advice)
        found.append(places)
    return found


def _place(column: Any, n_features: int, names: Sequence[str] | None, where: str) -> int:
    if isinstance(column, str) and names is not None and column in names:
        return list(names).index(column)
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < n_features:
        return int(column)
    raise InputError(
        f"{where} names {column!r}, which is no column of X: use a number from 0 to {n_features - 1}, or a name."
    )
