"""Analyses of a study: a share of its budget, the rows that may be asked, and statistics made of several."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .. import stats
from ..codebook import Category
from ..estimators.ranges import buy_ranges
from ..rows.engine import Engine
from ..stats.estimate import Estimate
from ..stats.quantiles import counted_quantiles
from ..stats.question import Question
from .expression import Expression
from .interval import Interval
from .journal import Call
from .layout import Frame, Labelled, Layout, Pieces
from .result import Description
from .terms import Column, Levels, columns_of, levels_of

__all__ = ["QUARTILES", "Paid", "describe", "private_range", "quantiles", "table"]

QUARTILES = (0.25, 0.5, 0.75)
# Of what a description spends on a number: the mean, the spread, the quartiles, and the shares missing and beyond its range.
MEAN, SPREAD, QUANTILES, MISSING = 0.25, 0.25, 0.4, 0.1
NO_LEVEL = "(no level)"  # missing, or written otherwise than the codebook says


@dataclass(frozen=True, slots=True)
class Paid:
    """A share of a study's budget for one analysis, and the rows that it may ask."""

    study: Any
    call: Call
    share: float
    where: Expression | None

    def part(self, weight: float) -> Paid:
        return replace(self, share=self.share * weight)

    def sums(self) -> dict[str, Any]:
        """Settings of statistics and estimators."""
        found = {"epsilon": self.study.journal.epsilon(self.share), "delta": self.study.delta, "invalid": "drop"}
        found |= {"neighbours": self.study.unit.relation, "rows_per_person": self.study.unit.rows}
        return found | {"ledger": self.call, "random_state": self.study._rng}

    def rows(self, x: tuple[Column, ...], y: Expression | Labelled | None = None) -> Engine:
        data: Frame | Pieces = self.study.data
        return data.rows(Layout(self.study.book, x, y, self.where))

    def numbers(self, columns: list[str], y: Labelled | None = None) -> tuple[Engine, dict[str, tuple[float, float]]]:
        """Rows of columns or expressions, and their bounds."""
        found = self.study._expressions(columns)
        return self.rows(columns_of(found), y), {e.text: (e.range.low, e.range.high) for e in found}


def quantiles(paid: Paid, columns: list[str], q: list[float], level: float | None) -> Estimate:
    """Of columns; whole numbers where the codebook says so."""
    rows, bounds = paid.numbers(columns)
    whole = all(name in paid.study.book and paid.study.book.usable(name).integer for name in columns)
    return counted_quantiles(rows, q, bounds, step=1.0 if whole else None, level=level, **paid.sums())


def table(paid: Paid, axes: dict[str, Any], level: float) -> Estimate:
    """Counts of the combinations of levels."""
    levels = {name: axis.called for name, axis in axes.items()}
    return stats.table(paid.rows((), Labelled.cells(axes)), levels=levels, level=level, **paid.sums())


def private_range(paid: Paid, name: str) -> tuple[float, float]:
    """A range that holds nearly all rows, bought."""
    question = Question(what="range", level=0.95, **paid.sums())
    rows, spending = question.open(paid.rows(columns_of(paid.study._expressions([name]))))
    (low,), (high,) = buy_ranges(rows, spending, 1.0)
    spending.close((low, high), math.nan, "range")
    return float(low), float(high)


def describe(paid: Paid, names: list[str]) -> Description:
    """Column by column, with equal parts of the share."""
    return Description({name: _described(paid.part(1.0 / len(names)), name) for name in names})


def _described(paid: Paid, name: str) -> dict[str, Estimate]:
    kind = paid.study.book.usable(name)
    if isinstance(kind, Category) or kind.kind == "flag":
        return {"count": table(paid, {name: _with_rest(levels_of(name, paid.study.book))}, 0.95)}
    rows, bounds = paid.part(MEAN).numbers([name])
    found = {"mean": stats.mean(rows, bounds, **paid.part(MEAN).sums())}
    found["sd"] = stats.std(rows, bounds, **paid.part(SPREAD).sums())
    found["quantile"] = quantiles(paid.part(QUANTILES), [name], list(QUARTILES), 0.95)
    found["share"] = _shares(paid.part(MISSING), name, *kind.range)
    return found


def _with_rest(levels: Levels) -> Levels:
    """The levels of a column, and one for rows that have none of them: cells of one table cost the same, be they more or less."""
    count = len(levels.names)

    def place(read: Any) -> Any:
        found = levels.positions(read)
        return np.where(np.isnan(found), count, found)

    where = Expression(levels.text, levels.columns, Interval(0.0, float(count)), False, place)
    return Levels(levels.text, levels.column, (*levels.names, NO_LEVEL), tuple(range(count + 1)), of=where)


def _shares(paid: Paid, name: str, low: float, high: float) -> Estimate:
    """How many rows lack a number, and how many have one beyond its range: counted, for a clip would cut small ones off."""

    def place(read: Any) -> Any:
        return np.where(np.isnan(read[name]), 1.0, 2.0 * ((read[name] < low) | (read[name] > high)))

    where = Expression(name, (name,), Interval(0.0, 2.0), False, place)
    counts = table(paid, {name: Levels(name, name, ("within", "missing", "beyond"), (0, 1, 2), of=where)}, 0.95)
    numbers = {f.name: getattr(counts, f.name) for f in fields(Estimate)} | {"names": (("missing", "beyond"),)}
    for part in ("value", "low", "high", "se_sampling", "se_privacy"):
        numbers[part] = np.clip(numbers[part][1:] / max(1.0, float(counts.value.sum())), 0.0, 1.0)
    return Estimate(**numbers)
