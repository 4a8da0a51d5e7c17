"""Dask arrays and dataframes: partial sums are computed where the chunks are, added up in a tree, and only they travel.

Chunks that a dying worker takes with it are computed again by the scheduler and, being part of one graph, counted once.
"""

from __future__ import annotations

import math
import operator
import pickle
import warnings
from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .answers import answers, later, needed, stays_there
from .engine import Engine, Partial, Pass, merge
from .ingest import as_text, column_values, matrix, numbers
from .labels import Labels, distinct
from .ship import engine_errors, packed
from .table import cache_blocks, open_columns
from .task import Model, Task, target_kind

__all__ = ["DaskRows", "DaskTable", "claims", "column", "open", "predict"]

# Partial results added up by one task.
_FAN_IN = 16


column = stays_there


def claims(X: Any) -> bool:
    """Whether ``X`` is a Dask collection."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def open(X: Any, y: Any, task: Task) -> Engine:
    """The rows of an array with an array of targets, or of a dataframe with one of its columns or a series beside it."""
    if not hasattr(X, "columns"):
        if getattr(X, "ndim", 0) != 2 or not (y is None or (claims(y) and getattr(y, "ndim", 0) == 1)):
            raise InputError("X must be a Dask array of shape (n, p) and y a Dask array of shape (n,).")
        return DaskRows(X, y, task.label_set(lambda: _occurring(y)), drop_invalid=task.drop_invalid)
    table, y = _beside(X, y) if claims(y) else (DaskTable(X), y)
    return open_columns(table, y, task)


def predict(X: Any, model: Model) -> Any:
    """A Dask array (of an array) or series (of a dataframe) with one prediction per row; nothing is computed yet."""
    if hasattr(X, "columns"):
        X = X[needed(model, DaskTable(X).columns)]
    return _lazily(X, partial(answers, model), later(model))


class DaskTable:
    """A Dask dataframe; a piece is a partition."""

    def __init__(self, frame: Any) -> None:
        if not hasattr(frame, "columns") or not hasattr(frame, "map_partitions"):
            raise InputError(f"X must be a Dask dataframe or array with rows and columns, got {type(frame).__name__}.")
        if not all(isinstance(name, str) for name in frame.columns):
            raise InputError("X must have column names that are strings.")
        self.frame, self.columns = frame, list(frame.columns)

    @engine_errors("Dask")
    def count(self) -> int:
        return len(self.frame)

    @engine_errors("Dask")
    def reduce(self, task: Callable[[Iterable[Any]], Any], add: Callable[[Any, Any], Any], columns: list[str]) -> Any:
        pieces = [(part,) for part in self.frame[columns].to_delayed()]
        return _total(partial(_of_frame, task), add, pieces)


class DaskRows(Engine):
    """A Dask array of rows and perhaps one of targets, or labels if ``classes`` are given; a piece is a chunk of rows."""

    def __init__(
        self, x: Any, y: Any = None, classes: NDArray[Any] | None = None, *, drop_invalid: bool = False
    ) -> None:
        import dask.array as arrays

        self.drop_invalid, self.classes, self.target = drop_invalid, classes, target_kind(y, classes)
        x = _of_known_length(x)
        y = arrays.zeros(x.shape[0]) if y is None else _of_known_length(y)
        if x.shape[0] != y.shape[0]:
            raise InputError(f"X and y must have one row each: X has {x.shape[0]}, y has {y.shape[0]}.")
        self.n, self.n_features = x.shape
        if self.n == 0:
            raise InputError("X has no rows; a fit needs at least one.")
        x = x.rechunk({1: self.n_features})
        self.x, self.y = x, y.rechunk((x.chunks[0],))

    @engine_errors("Dask")
    def _partials(self, task: Pass) -> Iterable[Partial]:
        pieces = list(zip(self.x.to_delayed()[:, 0], self.y.to_delayed(), strict=True))
        return [_total(partial(_of_chunk, task, self.classes), merge, pieces)]


@engine_errors("Dask")
def _of_known_length(array: Any) -> Any:
    return array.copy().compute_chunk_sizes() if math.isnan(array.shape[0]) else array


@engine_errors("Dask")
def _occurring(y: Any) -> Any:
    """The different labels of a Dask array."""
    return list(_total(_different, operator.or_, [(part,) for part in y.to_delayed()]))


def _different(y: Any) -> set[Any]:
    return set(distinct(np.asarray(y)))


@engine_errors("Dask")
def _beside(X: Any, y: Any) -> tuple[DaskTable, str]:
    """A dataframe and a series with the same partitions, as one table, and the name of its target."""

    def together(frame: Any, target: Any) -> Any:
        if len(frame) != len(target):
            raise ValueError("X and y have partitions of different lengths")
        return frame.assign(**{name: target.to_numpy()})

    name = str(getattr(y, "name", None) or "y")
    while name in X.columns:
        name += "_"
    if not hasattr(y, "to_frame") or X.npartitions != y.npartitions:
        raise InputError("y must be a Dask series with the partitions of X, or the name of a column of X.")
    meta = together(X._meta, y._meta)
    return DaskTable(X.map_partitions(together, y, align_dataframes=False, meta=meta)), name


def _lazily(X: Any, task: Callable[[Any], Any], dtype: Any) -> Any:
    """A Dask array (of an array) or series (of a dataframe) with one value of ``task`` per row; nothing is computed yet."""
    import cloudpickle

    payload, run = packed(task, cloudpickle, whole=False), _runner(cloudpickle)
    if hasattr(X, "columns"):

        def of_frame(frame: Any) -> Any:
            import pickle

            import pandas

            values = pickle.loads(payload)(frame.to_numpy(dtype=float)) if len(frame) else []
            return pandas.Series(values, index=frame.index, name="prediction", dtype=dtype)

        return X.map_partitions(of_frame, meta=("prediction", dtype))
    return X.rechunk({1: X.shape[1]}).map_blocks(lambda x: run(payload, x), dtype=dtype, drop_axis=1)


def _of_frame(task: Callable[[Iterable[Any]], Any], frame: Any) -> Any:
    """A task on a pandas partition, which it sees as Arrow."""
    import pyarrow as pa

    if len(frame) == 0:  # an empty partition has no types either
        return task([])
    columns = [_arrow_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return task([pa.RecordBatch.from_arrays(columns, list(frame.columns))])


def _arrow_column(series: Any) -> Any:
    """Numbers as they are; what has no numeric type as text, each value by itself: a partition's types come from its values."""
    import pyarrow as pa

    if getattr(series.dtype, "kind", "") == "M":  # declared by the whole dataframe
        return pa.array(series.to_numpy())
    values = column_values(series)
    if isinstance(values, np.ndarray):
        return pa.array(values)
    return pa.array([as_text(v) for v in values], pa.large_string())


def _of_chunk(task: Pass, classes: NDArray[Any] | None, x: Any, y: Any) -> Partial:
    """A pass over a chunk of rows and one of targets."""
    rows = matrix(np.asarray(x))
    assert rows is not None  # a chunk has two dimensions
    y = numbers(np.asarray(y)) if classes is None else Labels(classes).codes(np.asarray(y))
    return task((rows[part], y[part]) for part in cache_blocks(len(rows), rows.shape[1]))


def _runner(pickler: Any) -> Callable[..., Any]:
    """Unpack and call, in a function that no module has, so that it travels whole."""

    def run(payload: bytes, *arguments: Any) -> Any:
        import pickle

        return pickle.loads(payload)(*arguments)

    found: Callable[..., Any] = pickle.loads(pickler.dumps(run))
    return found


def _on_a_cluster() -> bool:
    """Whether the graph runs on workers that may lack eptr. Unpacked in this process, whole classes would rewrite our own."""
    from dask.base import get_scheduler

    return type(getattr(get_scheduler(), "__self__", None)).__module__.partition(".")[0] == "distributed"


def _total(task: Callable[..., Any], add: Callable[[Any, Any], Any], pieces: list[tuple[Any, ...]]) -> Any:
    """One graph: the task on every piece, then a tree of additions. What runs there is named by no module of ours."""
    import cloudpickle
    import dask
    from dask.delayed import delayed

    run_there = delayed(_runner(cloudpickle), pure=False)
    whole, tasks = _on_a_cluster(), (task, lambda *parts: reduce(add, parts))
    work, addition = (delayed(packed(f, cloudpickle, whole=whole), pure=False) for f in tasks)
    parts = [run_there(work, *piece) for piece in pieces]
    while len(parts) > 1:
        parts = [run_there(addition, *parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")  # the kernel's features are in it
        return dask.compute(parts[0])[0]
