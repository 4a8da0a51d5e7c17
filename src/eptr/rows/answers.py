"""Predictions where the rows are: columns are found by name, the target is ignored, an engine brings float64 matrices.

A released model is public, so sending it to the rows costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, no_column
from .table import Table, cache_blocks, number_column
from .task import Model

__all__ = ["answered", "answers", "blocks", "gathered", "later", "needed", "stays_there"]


def needed(model: Model, columns: list[str]) -> list[str]:
    """The columns that the model wants of a table that has these."""
    if model.names is None:
        raise InputError(
            "the model was fitted on an array without column names, so X must be an array with the same columns."
        )
    missing = [name for name in model.names if name not in columns]
    if missing:
        raise InputError(no_column(f"{missing[0]!r}, a column that the model was fitted with,", len(columns)))
    return model.names


def answers(model: Model, x: Any) -> Any:
    """Predictions for a matrix that nobody has looked at yet."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    if not np.all(np.isfinite(x)):
        raise InputError("X contains NaN, infinity or missing values; there is no prediction for such a row.")
    return model.function(x)


def later(model: Model) -> Any:
    """The type of predictions that are computed later."""
    if model.dtype is None:
        raise InputError(
            f"{model.name} needs rows in memory: use predict, or map {model.name} over the parts of X yourself."
        )
    return model.dtype


@dataclass(frozen=True, slots=True)
class OfBatches:
    """What ``blocks`` makes of record batches, in order, and what was wrong with them."""

    blocks: Callable[[Any], Iterable[Any]]
    travels_whole: ClassVar[bool] = False

    def __call__(self, batches: Iterable[Any]) -> tuple[list[Any], str]:
        try:
            return [found for batch in batches for found in self.blocks(batch)], ""
        except InputError as error:
            return [], str(error)


def blocks(model: Model, names: list[str], batch: Any) -> Iterator[Any]:
    """Predictions for the rows of a record batch, whose columns of the model have these names."""
    columns = [number_column(batch, name) for name in names]
    for part in cache_blocks(batch.num_rows, len(columns)):
        yield answers(model, np.array([column[part] for column in columns]).T)


def answered(table: Table, model: Model) -> NDArray[Any]:
    """Predictions for all rows of a table, in order, as one array here."""
    names = needed(model, table.columns)
    if table.count() == 0:
        raise InputError("X has no rows to predict.")
    return gathered(table, partial(blocks, model, names), names)


def gathered(table: Table, blocks: Callable[[Any], Iterable[Any]], names: list[str]) -> NDArray[Any]:
    """What ``blocks`` makes of all record batches with these columns, in order, as one array."""
    parts, fault = table.reduce(OfBatches(blocks), _in_order, names)
    if fault:
        raise InputError(fault)
    return np.concatenate(parts)


def _in_order(one: tuple[list[Any], str], two: tuple[list[Any], str]) -> tuple[list[Any], str]:
    return one[0] + two[0], one[1] or two[1]


def stays_there(X: Any, name: str) -> NoReturn:
    """A column of a cluster's table, which is not for this machine."""
    raise InputError("score needs rows on this machine: compare predict(X) with the target where the rows are.")
