"""Rows that are not a numpy array or a pandas frame: which engine reads them, under which columns and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError, no_column
from ..rows.arrow import in_memory
from ..rows.dask import DaskRows, beside, is_dask, occurring_in_array
from ..rows.engine import Engine
from ..rows.ingest import numbers
from ..rows.labels import Labels, distinct
from ..rows.memory import MemoryRows
from ..rows.namespace import holds_doubles, is_foreign, like, namespace, to_numpy
from ..rows.sources import open_table
from ..rows.table import Columns, TableRows, occurring

__all__ = ["rows_elsewhere"]

# Makes the label set, if labels are wanted, from a function that finds those that occur.
LabelSet = Callable[[Callable[[], Any]], Any] | None


def rows_elsewhere(X: Any, y: Any, labels: LabelSet, *, drop: bool) -> tuple[Engine, list[str] | None] | None:
    """The engine behind ``X`` and the names of its features if they have some; None for arrays and frames in memory."""
    if isinstance(X, Engine):
        _fitting_engine(X, y, labels)
        if X.drop_invalid != drop:
            raise InputError(
                f"X is an engine that was made with drop_invalid={X.drop_invalid}; invalid must agree with it."
            )
        return X, None
    if is_foreign(X):
        return _foreign(X, y, labels, drop), None
    if is_dask(X) and not hasattr(X, "columns"):
        classes = None if labels is None else labels(lambda: occurring_in_array(y))
        return DaskRows(X, y, classes, drop_invalid=drop), None
    table = open_table(X) if isinstance(y, str) or not in_memory(X) else None
    if table is None:
        return None
    if is_dask(X) and is_dask(y):
        table, y = beside(X, y)
    if not isinstance(y, str):
        raise InputError("y must be the name of the target column when X is a table of columns, a file or a cluster's.")
    if y not in table.columns:
        raise InputError(no_column(f"y={y!r}", len(table.columns)))
    features = [name for name in table.columns if name != y]
    if not features or len(set(table.columns)) != len(table.columns):
        raise InputError("X must have columns of different names, and at least one besides the target.")
    classes = None if labels is None else labels(lambda: occurring(table, y))
    return TableRows(table, Columns(features, y, classes), drop_invalid=drop), features


def _fitting_engine(rows: Engine, y: Any, labels: LabelSet) -> None:
    if y is not None:
        raise InputError("y must be None when X is an engine: the engine knows its target.")
    if rows.codes != (labels is not None):
        raise InputError(
            "X is an engine for " + ("labels." if rows.codes else "numbers, and a classifier needs labels.")
        )
    if labels is not None and not np.array_equal(labels(lambda: rows.classes), np.asarray(rows.classes)):
        raise InputError("classes must be those that the engine was made with.")


def _foreign(X: Any, y: Any, labels: LabelSet, drop: bool) -> MemoryRows:
    """Arrays of torch, CuPy or another library of the array API standard, computed where they live."""
    xp = namespace(X)
    if X.ndim != 2 or 0 in X.shape or not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise InputError("X must be a table of real numbers with at least one row and one column.")
    if not holds_doubles(X):
        raise InputError(
            "X lives where there are no 64-bit floats, and shorter ones would round sums. Enable them (in JAX: "
            "jax_enable_x64), or move X to the CPU."
        )
    if (tuple(y.shape) if hasattr(y, "shape") else (len(y) if hasattr(y, "__len__") else 0,)) != (X.shape[0],):
        raise InputError(f"y must have one value per row of X, shape ({X.shape[0]},).")
    if labels is not None:
        found = to_numpy(y) if is_foreign(y) else y
        codes = Labels(labels(lambda: distinct(found))).codes(found)
        return MemoryRows(X, like(codes, X), drop_invalid=drop)
    y = xp.astype(y, xp.float64) if is_foreign(y) else like(numbers(y), X)
    return MemoryRows(X, y, drop_invalid=drop)
