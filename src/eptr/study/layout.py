"""What columns of a codebook become for an analysis, row by row, on every engine.  Proof: layout.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codebook import Category, Codebook, Flag, Number
from ..errors import InputError
from ..rows.arrow import open_arrow
from ..rows.dask import DaskTable
from ..rows.database import database_columns, is_database, table_name
from ..rows.engine import Engine
from ..rows.ingest import column_values
from ..rows.labels import sorted_labels
from ..rows.memory import MemoryRows
from ..rows.spark import SparkTable
from ..rows.table import Table, TableRows, cache_blocks, number_column, plain_column
from ..rows.text_file import is_csv, read_csv
from .expression import Expression
from .terms import Column, Levels

__all__ = ["KEPT", "Frame", "Labelled", "Layout", "Persons", "Pieces", "open_data"]

Array = NDArray[np.float64]
PERSONS = 4000  # in a batch
KEPT = "(kept)"  # the places of a person's rows that count, from 1 on; a column that `people.py` adds


@dataclass(frozen=True, slots=True)
class Labelled:
    """A target of labels: the level of one column, or the cell of several; codes are positions in sorted label sets."""

    levels: tuple[Levels, ...]
    classes: NDArray[Any]
    places: tuple[NDArray[np.int64], ...]  # where the levels of every column stand in sorted order

    @classmethod
    def of(cls, levels: Levels, names: Any) -> Labelled:
        """``names``: what the levels are called."""
        return cls((levels,), sorted_labels(names), (_sorted_places(names),))

    @classmethod
    def cells(cls, axes: Mapping[str, Any]) -> Labelled:
        """Of a table: numbers stand for the combinations of levels."""
        count = int(np.prod([len(axis.names) for axis in axes.values()]))
        return cls(tuple(axes.values()), np.arange(count), tuple(_sorted_places(axis.called) for axis in axes.values()))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for axis in self.levels for name in axis.columns)

    def codes(self, read: Mapping[str, Any]) -> NDArray[np.int64]:
        """-1 for a row without a level."""
        found = [axis.positions(read) for axis in self.levels]
        known = ~np.isnan(np.sum(found, axis=0))
        places = [
            order[np.where(known, place, 0).astype(np.int64)] for order, place in zip(self.places, found, strict=True)
        ]
        cells = np.ravel_multi_index(places, tuple(len(axis.names) for axis in self.levels))
        return np.where(known, cells, -1)


class Persons(NamedTuple):
    """Rows in the order of persons, and their places: from 1 to ``each`` for those that count, 0 for the others."""

    order: NDArray[np.int64]
    places: NDArray[np.int64]
    each: int


class PersonRows(MemoryRows):
    """Rows that count, person by person; groups are filled up block by block."""

    padded = True

    def __init__(self, x: Array, y: NDArray[Any] | None, persons: Persons, classes: NDArray[Any] | None) -> None:
        order, places, self.each = persons
        kept, self.places = order[places > 0], places[places > 0]
        super().__init__(x[kept], None if y is None else y[kept], classes, drop_invalid=True)

    def _parts(self) -> list[Any]:
        begins, most = np.flatnonzero(self.places == 1), max(1, self._block // self.each)
        return np.split(np.arange(len(self.places)), begins[most::most])

    def _read(self, part: Any) -> tuple[Any, Any]:
        return _grouped(self.x[part], self.y[part], self.places[part], self.each)


def _grouped(x: Array, y: NDArray[Any], places: NDArray[np.int64], each: int) -> tuple[Array, NDArray[Any]]:
    """Rows of persons, filled up to ``each`` with rows that do not count; one such group if there is none. proof: groups"""
    begins = np.cumsum(places == 1)
    slots = (begins - 1) * each + places - 1
    length = each * max(1, int(begins[-1]) if len(begins) else 0)
    wide, targets = np.full((length, x.shape[1]), np.nan), np.full(length, -1, dtype=y.dtype)
    wide[slots], targets[slots] = x, y
    return wide, targets


def _sorted_places(names: Any) -> NDArray[np.int64]:
    order = sorted_labels(names).tolist()
    return np.array([order.index(name) for name in names])


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of x, the target if there is one, and the condition that rows must meet to count. proof: layout"""

    book: Codebook
    x: tuple[Column, ...]
    y: Expression | Labelled | None = None
    where: Expression | None = None
    each: int = 0  # rows of a person, where persons are known

    @property
    def columns(self) -> list[str]:
        parts = [f for column in self.x for f, _ in column.parts]
        used = [name for part in (*parts, self.y, self.where) if part is not None for name in part.columns]
        return list(dict.fromkeys(used))

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.x]

    @property
    def n_features(self) -> int:
        return max(1, len(self.x))

    @property
    def target(self) -> str | None:
        return None if self.y is None else "outcome"

    @property
    def classes(self) -> NDArray[Any] | None:
        return self.y.classes if isinstance(self.y, Labelled) else None

    def encode(self, read: Mapping[str, Any], n: int) -> tuple[Array, NDArray[Any] | None]:
        """x and y of rows that the codebook has read; NaN in x for a row that does not count. proof: layout"""
        x = np.empty((n, self.n_features))
        x[:, 0] = 0.0
        for j, column in enumerate(self.x):
            x[:, j] = column.values(read)
        if self.where is not None:
            x[self.where.values(read) != 1.0] = np.nan
        if self.y is None:
            return x, None
        return x, self.y.codes(read) if isinstance(self.y, Labelled) else self.y.values(read)

    def blocks(self, batch: Any) -> Iterator[tuple[Array, NDArray[Any]]]:
        """As a pass over a table wants them."""
        for part in cache_blocks(batch.num_rows, self.n_features) if self.each == 0 else [slice(0, batch.num_rows)]:
            piece = batch.slice(part.start, part.stop - part.start)
            x, y = self.encode({name: self._column(piece, name) for name in self.columns}, piece.num_rows)
            y = np.zeros(len(x)) if y is None else y
            yield _grouped(x, y, number_column(piece, KEPT).astype(np.int64), self.each) if self.each else (x, y)

    def _column(self, batch: Any, name: str) -> Any:
        kind = self.book[name]
        if isinstance(kind, Number):
            return self.book.read(name, number_column(batch, name))
        column = plain_column(batch, name)
        if isinstance(kind, (Category, Flag)) and str(getattr(column, "type", "")) in ("string", "large_string"):
            found = column.dictionary_encode()  # each different text is read once
            codes = self.book.read(name, [*column_values(found.dictionary), None])
            return codes[np.asarray(found.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False))]
        return self.book.read(name, column)


class Frame:
    """Columns in memory; each is read once."""

    def __init__(self, columns: Mapping[str, Any], where: str = "data", persons: Persons | None = None) -> None:
        self.source, self.where, self.columns, self.persons = columns, where, list(columns), persons
        lengths = {len(v) if hasattr(v, "__len__") else -1 for v in (columns[name] for name in self.columns)}
        if len(lengths) != 1 or max(lengths) < 1:
            raise InputError("data must have columns of one length, with at least one row.")
        self.n = lengths.pop()
        self._read: dict[tuple[str, Any], Any] = {}

    def read(self, book: Codebook, names: Iterable[str]) -> dict[str, Any]:
        found = {}
        for name in names:
            kind = book[name]
            if (name, kind) not in self._read:
                self._read[name, kind] = book.read(name, self.source[name])
            found[name] = self._read[name, kind]
        return found

    def rows(self, layout: Layout) -> Engine:
        """The rows as an analysis sees them; those outside the domain are dropped, inside the guarantee."""
        x, y = layout.encode(self.read(layout.book, layout.columns), self.n)
        if self.persons is None:
            rows = MemoryRows(x, y, layout.classes, drop_invalid=True)
        else:
            rows = PersonRows(x, y, self.persons, layout.classes)
        rows.n, rows.names = self.n, layout.names or None
        return rows

    def encoded(self, layout: Layout) -> Array:
        """For predictions."""
        return layout.encode(self.read(layout.book, layout.columns), self.n)[0]


class Pieces:
    """A table that an engine reads in pieces; its rows are counted once."""

    def __init__(self, table: Table, where: str = "data", each: int = 0) -> None:
        self.table, self.where, self.columns, self.n, self.each = table, where, table.columns, table.count(), each
        if self.n == 0:
            raise InputError("data has no rows.")

    def count(self) -> int:
        return self.n

    def reduce(self, task: Any, add: Any, columns: list[str]) -> Any:
        if self.each == 0:
            return self.table.reduce(task, add, columns)
        return self.table.reduce(lambda batches: task(_whole_persons(batches)), add, [*columns, KEPT])

    def rows(self, layout: Layout) -> Engine:
        rows = TableRows(self, replace(layout, each=self.each), drop_invalid=True)
        rows.each, rows.padded, rows.names = max(1, self.each), self.each > 0, layout.names or None
        return rows

    def encoded(self, layout: Layout) -> Array:
        def of(batches: Iterable[Any]) -> list[Array]:
            return [x for batch in batches for x, _ in layout.blocks(batch)]

        return np.concatenate(self.table.reduce(of, lambda a, b: a + b, layout.columns))


def _whole_persons(batches: Iterable[Any]) -> Iterator[Any]:
    """The rows that count, in batches that cut nobody in two."""
    import pyarrow as pa

    rest = None
    for batch in batches:
        kept = batch.filter(pa.array(number_column(batch, KEPT) > 0.0))
        table = pa.Table.from_batches([kept] if rest is None else [rest, kept]).combine_chunks()
        together = table.to_batches()[0] if table.num_rows else kept
        begins = np.flatnonzero(number_column(together, KEPT) == 1.0)
        for k in range(0, len(begins) - 1, PERSONS):
            last = int(begins[min(k + PERSONS, len(begins) - 1)])
            yield together.slice(int(begins[k]), last - int(begins[k]))
        rest = together.slice(int(begins[-1]) if len(begins) else 0)
    if rest is not None:
        yield rest


def open_data(data: Any) -> Frame | Pieces:
    """A data frame, a dict of columns, a CSV or Parquet path, a table of a database, or what Arrow, Dask or Spark have."""
    if isinstance(data, (Frame, Pieces)):
        return data
    if is_database(data):
        return Frame(database_columns(data), table_name(data))
    if isinstance(data, (str, os.PathLike)):
        path = Path(data)
        if is_csv(path):
            return Frame(read_csv(path), path.name)
        if not path.exists():
            raise InputError(f"{path} does not exist.")
        return Pieces(open_arrow(path), path.name)
    root = type(data).__module__.partition(".")[0]
    if root in ("dask", "dask_expr"):
        return Pieces(DaskTable(data))
    if root == "pyspark":
        return Pieces(SparkTable(data))
    if root == "eptr":  # a table that somebody has opened
        return Pieces(data)
    if isinstance(data, Mapping):
        return Frame(data)
    if root == "polars" and hasattr(data, "collect"):  # its errors quote values, which are for whoever wrote the query
        raise InputError("data must be a data frame; make one of a lazy frame: frame.collect().")
    if root in ("pandas", "polars") and not hasattr(data, "columns"):
        raise InputError("data must be a table with named columns; make one of a series: series.to_frame().")
    if root == "pandas":
        if len(set(data.columns)) != data.shape[1]:
            raise InputError("data must have columns of different names.")
        return Frame({name: data[name] for name in data.columns})
    if root == "polars":
        import polars

        data = data.cast(
            {polars.Categorical: polars.String, polars.Enum: polars.String}
        )  # Arrow has no views as levels
    if root == "pyarrow" or hasattr(data, "__arrow_c_stream__"):
        return Pieces(open_arrow(data))
    raise InputError(
        "data must have named columns: a data frame, a dict of columns, a CSV or Parquet path, or what Arrow, "
        "Dask or Spark have."
    )
