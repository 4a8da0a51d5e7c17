"""Paths of Parquet files, Arrow tables and datasets, and whatever streams Arrow (polars, DuckDB): never a whole copy,
unless the target lies beside a table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from operator import add as joined
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EptrError, InputError, no_column
from . import memory
from .answers import answered
from .engine import Engine
from .ingest import as_text
from .parquet import BATCH, Addition, FileTable, Work, dataset_at, without_index
from .pool import each
from .ship import engine_errors
from .table import open_columns
from .task import Model, Task

__all__ = ["claims", "column", "declared_types", "open", "open_arrow", "predict"]


def claims(X: Any) -> bool:
    """Whether ``X`` is a path, or holds Arrow columns (pandas frames have their own way)."""
    if isinstance(X, (str, os.PathLike)):
        return True
    root = type(X).__module__.partition(".")[0]
    return root == "pyarrow" or (root not in ("pandas", "pyspark") and hasattr(X, "__arrow_c_stream__"))


def open(X: Any, y: Any, task: Task) -> Engine:
    """The rows of a table, whose target is one of its columns; a table in memory may have its target beside it."""
    if _is_frame(X) and not isinstance(y, str | None):
        return memory.open(X, y, task)
    table = open_arrow(X)
    if isinstance(table, MemoryTable) and not isinstance(y, str | None):
        return _beside(table, y, task)
    return open_columns(table, y, task)


def _beside(table: MemoryTable, y: Any, task: Task) -> Engine:
    """A table in memory as the matrix that its columns make, and a column of as many targets."""
    found = open_columns(table, None, replace(task, target="none", classes=None))
    batches = table.table.select(found.layout.columns).to_batches(max_chunksize=BATCH)
    x = np.concatenate([x for batch in batches for x, _ in found.layout.blocks(batch)])
    rows = memory.open(x, y, replace(task, columns=None))
    rows.names = found.names
    return rows


def predict(X: Any, model: Model) -> Any:
    """Predictions in one array."""
    return memory.predict(X, model) if _is_frame(X) else answered(open_arrow(X), model)


def column(X: Any, name: str) -> Any:
    """A column in one array."""
    if _is_frame(X):
        return memory.column(X, name)
    table = open_arrow(X)
    if name not in table.columns:
        raise InputError(no_column(f"y={name!r}", len(table.columns)))
    return np.concatenate(table.reduce(_values, joined, [name]))


def _values(batches: Iterable[Any]) -> list[NDArray[Any]]:
    return [np.asarray(batch.column(0).to_numpy(zero_copy_only=False)) for batch in batches]


def _is_frame(X: Any) -> bool:
    """Whether scikit-learn can make an array of ``X``: a frame of polars, not a table of Arrow's own."""
    return hasattr(X, "__array__") and type(X).__module__.partition(".")[0] != "pyarrow"


def open_arrow(X: Any) -> FileTable | MemoryTable | StreamTable:
    """The table behind a path, a dataset, a table or a stream."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as datasets
    except ModuleNotFoundError:
        raise InputError("Parquet and Arrow need pyarrow; install it with: pip install 'eptr[arrow]'.") from None
    if isinstance(X, (str, os.PathLike)):
        X = dataset_at(X)
    if isinstance(X, datasets.FileSystemDataset) and not getattr(X, "_scan_options", None):
        return FileTable(X)
    if isinstance(X, pa.RecordBatchReader):
        X = X.read_all()  # it can be read only once, and a fit may need several passes
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    return MemoryTable(X) if isinstance(X, pa.Table) else StreamTable(_without_objects(X))


def declared_types(X: Any) -> dict[str, str]:
    """The names of columns and their types as the schema declares them."""
    import pyarrow as pa

    X = dataset_at(X) if isinstance(X, (str, os.PathLike)) else X
    of_arrow = type(X).__module__.partition(".")[0] == "pyarrow"
    schema = X.schema if of_arrow else pa.RecordBatchReader.from_stream(_without_objects(X)).schema
    return {name: str(schema.field(name).type) for name in without_index(schema)}


def _without_objects(X: Any) -> Any:
    """A polars frame whose columns of Python objects, which Arrow cannot hold, are text that reads as they do."""
    if type(X).__module__.partition(".")[0] != "polars" or not hasattr(X, "with_columns") or not hasattr(X, "height"):
        return X
    import polars

    odd = [name for name, kind in X.schema.items() if kind == polars.Object]
    return X.with_columns(polars.Series(n, [as_text(v) for v in X[n].to_list()], dtype=polars.String) for n in odd)


class MemoryTable:
    """An Arrow table in memory; a piece is a slice of it."""

    def __init__(self, table: Any) -> None:
        self.table, self.columns = table, without_index(table.schema)

    def count(self) -> int:
        return int(self.table.num_rows)

    def reduce(self, task: Work, add: Addition, columns: list[str]) -> Any:
        batches = self.table.select(columns).to_batches(max_chunksize=BATCH)
        return reduce(add, each(lambda batch: task([batch]), batches), task([]))


class StreamTable:
    """Anything with the Arrow C stream interface, streamed anew for every pass; a piece is a batch."""

    def __init__(self, source: Any) -> None:
        self.source, self._columns = source, getattr(source, "columns", None)

    @property
    def columns(self) -> list[str]:
        if not isinstance(self._columns, list):
            self._columns = list(self._stream(None).schema.names)
        return self._columns

    @engine_errors("The engine behind X")
    def count(self) -> int:
        if hasattr(self.source, "count_rows"):
            return int(self.source.count_rows())
        if hasattr(self.source, "__len__"):
            return len(self.source)
        return sum(batch.num_rows for batch in self._batches(self.columns[:1]))

    def reduce(self, task: Work, add: Addition, columns: list[str]) -> Any:
        parts = each(lambda batch: task([batch]), self._batches(columns))
        return reduce(add, parts, task([]))

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        try:
            for batch in self._stream(columns):
                batch = batch.select(columns)
                for start in range(0, batch.num_rows, BATCH):
                    yield batch.slice(start, BATCH)
        except EptrError:
            raise
        except Exception as error:  # also whatever a database raises, whose text may quote a row
            fault = f"X stopped in the middle of a pass ({type(error).__name__}); if it can be read only once, make it a table."
        else:
            return
        raise InputError(fault)

    def _stream(self, columns: list[str] | None) -> Any:
        import pyarrow as pa

        source, root = self.source, type(self.source).__module__.partition(".")[0]
        if hasattr(source, "to_batches"):  # a dataset with a filter, or of another kind
            return source.scanner(
                columns=columns, batch_size=BATCH, batch_readahead=2, fragment_readahead=1
            ).to_reader()
        if columns is not None and root == "polars":
            source = source.select(columns)
        elif columns is not None and root in ("duckdb", "_duckdb"):
            source = source.project(", ".join('"' + c.replace('"', '""') + '"' for c in columns))
        return pa.RecordBatchReader.from_stream(source)
