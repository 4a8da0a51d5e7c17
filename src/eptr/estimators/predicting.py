"""Predictions for any table: columns are found by name, the target is ignored, and rows stay where they are.

Files and Arrow tables give one array; Dask collections and Spark dataframes give lazy ones of their own kind. A released
model is public, so sending it to the rows costs nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError, no_column
from ..rows.arrow import in_memory
from ..rows.dask import is_dask, lazily
from ..rows.ingest import numbers
from ..rows.namespace import is_foreign, to_numpy
from ..rows.sources import open_table
from ..rows.spark import SparkTable, with_column
from ..rows.table import cache_blocks, number_column

__all__ = ["ReadyRows", "numbers_of", "takes_tables", "target_of"]

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ReadyRows:
    """A checked float64 matrix whose columns are the model's."""

    x: NDArray[np.float64]


def takes_tables(method: Method) -> Method:
    """A prediction method of arrays that also takes paths, Arrow, Dask, Spark, and frames with more columns than it needs."""

    @wraps(method)
    def predict(self: Any, X: Any) -> Any:
        check_is_fitted(self, "release_")
        if isinstance(X, ReadyRows):
            return method(self, X)
        if is_foreign(X):
            return method(self, to_numpy(X))
        task = _Task(self, method.__name__)
        if is_dask(X) and not hasattr(X, "columns"):
            return lazily(X, task, self._output_type(method.__name__))
        table = open_table(X) if not in_memory(X) else None
        if table is None:
            return method(self, _features_only(self, X))
        names = _needed(self, table.columns)
        of_batches = _OfBatches(task, names)
        if is_dask(X):
            return lazily(X[names], task, self._output_type(method.__name__))
        if isinstance(table, SparkTable):
            return with_column(X, of_batches, "prediction", self._output_type(method.__name__))
        if table.count() == 0:
            raise InputError("X has no rows to predict.")
        parts, fault = table.reduce(of_batches, _in_order, names)
        if fault:
            raise InputError(fault)
        return np.concatenate(parts)

    return predict  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class _Task:
    """The model's method on a matrix, or on the matrix of a pandas frame."""

    model: Any
    name: str

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x, dtype=np.float64)
        if not np.all(np.isfinite(x)):
            raise InputError("X contains NaN, infinity or missing values; there is no prediction for such a row.")
        return getattr(self.model, self.name)(ReadyRows(x))


@dataclass(frozen=True, slots=True)
class _OfBatches:
    """Predictions for the rows of record batches, and what was wrong."""

    task: _Task
    names: list[str]
    travels_whole: ClassVar[bool] = False

    def __call__(self, batches: Iterable[Any]) -> tuple[list[Any], str]:
        try:
            return [found for batch in batches for found in self.blocks(batch)], ""
        except InputError as error:
            return [], str(error)

    def blocks(self, batch: Any) -> Iterable[Any]:
        columns = [number_column(batch, name) for name in self.names]
        for part in cache_blocks(batch.num_rows, len(columns)):
            yield self.task(np.array([column[part] for column in columns]).T)


def _in_order(one: tuple[list[Any], str], two: tuple[list[Any], str]) -> tuple[list[Any], str]:
    return operator.add(one[0], two[0]), one[1] or two[1]


def numbers_of(X: Any, y: Any) -> NDArray[np.float64]:
    """The same as numbers, each read by itself: an error about one would quote it."""
    return numbers(target_of(X, y))


def target_of(X: Any, y: Any) -> Any:
    """The column of ``X`` that ``y`` names, to compare predictions with; ``y`` itself if it is no name."""
    if not isinstance(y, str):
        return y
    table = None if in_memory(X) else open_table(X)
    if table is None:
        if y not in list(getattr(X, "columns", [])):
            raise InputError(no_column(f"y={y!r}", len(getattr(X, "columns", []))))
        return np.asarray(X[y])
    if is_dask(X) or isinstance(table, SparkTable):
        raise InputError("score needs rows on this machine: compare predict(X) with the target where the rows are.")
    if y not in table.columns:
        raise InputError(no_column(f"y={y!r}", len(table.columns)))
    return np.concatenate(table.reduce(_Values(y), operator.add, [y]))


@dataclass(frozen=True, slots=True)
class _Values:
    name: str

    def __call__(self, batches: Iterable[Any]) -> list[NDArray[Any]]:
        return [np.asarray(batch.column(0).to_numpy(zero_copy_only=False)) for batch in batches]


def _needed(model: Any, columns: list[str]) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise InputError(
            "the model was fitted on an array without column names, so X must be an array with the same columns."
        )
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(no_column(f"{missing[0]!r}, a column that the model was fitted with,", len(columns)))
    return list(names)


def _features_only(model: Any, X: Any) -> Any:
    """A frame in memory with columns to spare (the target, an id) without them; everything else as it is."""
    names, columns = getattr(model, "feature_names_in_", None), getattr(X, "columns", None)
    if names is None or columns is None or len(columns) <= len(names) or not set(names) <= set(columns):
        return X
    return X[list(names)]
