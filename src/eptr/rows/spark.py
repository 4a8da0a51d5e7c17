"""PySpark dataframes: executors see their partitions as Arrow, and only partial sums come back.

A task that fails is run again by Spark; the result of one attempt alone is collected, so every row counts once.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any

import numpy as np

from ..errors import InputError
from .answers import blocks, later, needed, stays_there
from .ship import engine_errors, packed
from .table import TableRows, open_columns
from .task import Model, Task

__all__ = ["SparkTable", "claims", "column", "open", "predict"]

# More partial results than this are added up on the executors before they come back.
_FAN_IN = 64


column = stays_there


def claims(X: Any) -> bool:
    """Whether ``X`` is a PySpark dataframe."""
    return type(X).__module__.partition(".")[0] == "pyspark" and hasattr(X, "mapInArrow")


def open(X: Any, y: Any, task: Task) -> TableRows:
    """The rows of a dataframe, whose target is one of its columns."""
    return open_columns(SparkTable(X), y, task)


def predict(X: Any, model: Model) -> Any:
    """The dataframe with one more column, "prediction"; nothing is computed yet."""
    return _with_column(X, partial(blocks, model, needed(model, SparkTable(X).columns)), "prediction", later(model))


class SparkTable:
    """A PySpark dataframe; a piece is a partition."""

    @engine_errors("Spark")
    def __init__(self, frame: Any) -> None:
        self.frame, self.columns = frame, list(frame.columns)
        _same_interpreter(frame.sparkSession)

    @engine_errors("Spark")
    def count(self) -> int:
        return int(self.frame.count())

    @engine_errors("Spark")
    def reduce(self, task: Callable[[Iterable[Any]], Any], add: Callable[[Any, Any], Any], columns: list[str]) -> Any:
        from pyspark import cloudpickle

        def merged(batches: Iterable[Any]) -> Any:
            return reduce(add, (pickle.loads(part.as_py()) for batch in batches for part in batch.column(0)))

        with _no_pandas_warning():
            quoted = ["`" + name.replace("`", "``") + "`" for name in columns]
            # Spark trips over some names in mapInArrow, so they are put back over there.
            plain = self.frame.select(*quoted).toDF(*(f"c{j}" for j in range(len(columns))))
            work = packed(partial(_renamed, task, columns), cloudpickle)
            parts = plain.mapInArrow(_on_executor(work), "part binary")
            count = _partitions(parts)
            if count > _FAN_IN:
                parts = parts.repartition(-(-count // _FAN_IN))
                parts = parts.mapInArrow(_on_executor(packed(merged, cloudpickle)), "part binary")
            return reduce(add, (pickle.loads(bytes(row[0])) for row in parts.collect()))


@engine_errors("Spark")
def _with_column(frame: Any, task: Any, name: str, dtype: Any) -> Any:
    """The dataframe with one more column, ``task`` of its batches, block by block; nothing is computed yet."""
    from pyspark import cloudpickle
    from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructType

    if name in frame.columns:
        raise InputError(f"X has a column {name!r} already; rename it, for the predictions go there.")
    kinds = {"f": ("double", DoubleType()), "i": ("int64", LongType()), "b": ("bool", BooleanType())}
    arrow, kind = kinds.get(np.dtype(dtype).kind, ("string", StringType()))
    payload = packed(task, cloudpickle, whole=False)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pickle

        import pyarrow

        task = pickle.loads(payload)
        for batch in batches:
            values = [value for block in task(batch) for value in block.tolist()]
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, pyarrow.array(values, arrow)], [*batch.schema.names, name]
            )

    with _no_pandas_warning():
        return frame.mapInArrow(run, StructType([*frame.schema.fields]).add(name, kind))


def _renamed(task: Callable[[Iterable[Any]], Any], names: list[str], batches: Iterable[Any]) -> Any:
    """A task on batches whose columns have these names."""
    import pyarrow as pa

    return task(pa.RecordBatch.from_arrays(batch.columns, names) for batch in batches)


def _on_executor(payload: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function without names of ours: one binary value per partition, the pickled result of the task."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import itertools
        import pickle

        import pyarrow

        first = next(batches, None)
        if first is not None:
            result = pickle.loads(payload)(itertools.chain([first], batches))
            column = pyarrow.array([pickle.dumps(result)], pyarrow.binary())
            yield pyarrow.RecordBatch.from_arrays([column], ["part"])

    return run


@contextmanager
def _no_pandas_warning() -> Iterator[None]:
    """Rows come as Arrow: what Spark thinks of the installed pandas does not matter here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        yield


def _partitions(frame: Any) -> int:
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # a remote session has no RDDs: its results come back one by one
        return 0


def _same_interpreter(session: Any) -> None:
    """On this machine, workers run the interpreter that runs this line, unless Spark was told otherwise.

    PySpark itself looks at the environment alone and else takes whatever ``python3`` is.
    """
    try:
        context = session.sparkContext
        chosen = os.environ.get("PYSPARK_PYTHON") or context.getConf().get("spark.pyspark.python")
    except Exception:  # a remote session: its workers are not ours to choose
        return
    if chosen is None and context.master.startswith("local"):
        chosen = sys.executable
    context.pythonExec = chosen or context.pythonExec
