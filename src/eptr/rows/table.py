"""Tables with named columns, in pieces: what their columns mean, and passes over them wherever the pieces are.

An engine of tables (``arrow``, ``dask``, ``spark``) says which columns there are, how many rows, and runs a task on every piece,
as Arrow record batches. Everything else is here.  Proof: table.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, no_column
from .engine import Engine, Partial, Pass, merge
from .ingest import numbers
from .labels import Labels, cell_codes, distinct
from .memory import CACHE_NUMBERS, block_rows
from .task import Task, target_kind

__all__ = [
    "Columns",
    "Crossed",
    "Layout",
    "Table",
    "TableRows",
    "cache_blocks",
    "label_codes",
    "number_column",
    "open_columns",
]

Array = NDArray[np.float64]
# More different labels than this are a measurement, not a label.
MOST_LABELS = 10_000


class Table(Protocol):
    """An engine: columns by name, rows in pieces."""

    @property
    def columns(self) -> list[str]: ...

    def count(self) -> int:
        """Rows, all pieces together."""

    def reduce(self, task: Callable[[Iterable[Any]], Any], add: Callable[[Any, Any], Any], columns: list[str]) -> Any:
        """``task`` of the record batches of every piece, with these columns only; added up. Lost pieces are done again."""


class Layout(Protocol):
    """What columns mean: goes to the rows with every pass."""

    @property
    def columns(self) -> list[str]: ...

    @property
    def n_features(self) -> int: ...

    @property
    def target(self) -> str | None: ...

    @property
    def classes(self) -> NDArray[Any] | None: ...

    def blocks(self, batch: Any) -> Iterator[tuple[Array, NDArray[Any]]]:
        """x and y of a record batch, in blocks; raises an InputError that quotes no value."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Features as they are, and a numeric target, or labels if ``classes`` are given, or none."""

    features: list[str]
    target: str | None = None
    classes: NDArray[Any] | None = None

    @property
    def columns(self) -> list[str]:
        return self.features if self.target is None else [*self.features, self.target]

    @property
    def n_features(self) -> int:
        return len(self.features)

    def blocks(self, batch: Any) -> Iterator[tuple[Array, NDArray[Any]]]:
        columns = [number_column(batch, name) for name in self.features]
        y: NDArray[Any]
        if self.target is None:
            y = np.zeros(batch.num_rows)
        elif self.classes is None:
            y = number_column(batch, self.target)
        else:
            y = label_codes(batch, self.target, Labels(self.classes))
        for part in cache_blocks(batch.num_rows, len(columns)):
            yield np.array([column[part] for column in columns]).T, y[part]


@dataclass(frozen=True, slots=True)
class Crossed:
    """Columns of labels, and the cells of their table as the classes of a target; x is zero."""

    columns: list[str]
    labels: list[Labels]
    classes: NDArray[Any]
    target: str = "cell"
    n_features: int = 1

    def blocks(self, batch: Any) -> Iterator[tuple[Array, NDArray[Any]]]:
        codes = [label_codes(batch, name, axis) for name, axis in zip(self.columns, self.labels, strict=True)]
        yield np.zeros((batch.num_rows, 1)), cell_codes(codes, self.labels)


class TableRows(Engine):
    """The rows of a table under a layout."""

    def __init__(self, table: Table, layout: Layout, *, drop_invalid: bool = False) -> None:
        self.table, self.layout, self.drop_invalid = table, layout, drop_invalid
        self.n, self.n_features = table.count(), layout.n_features
        self.classes, self.target = layout.classes, target_kind(layout.target, layout.classes)
        if self.n == 0:
            raise InputError("X has no rows; a fit needs at least one.")

    def _partials(self, task: Pass) -> Iterable[Partial]:
        return [self.table.reduce(partial(_piece, task, self.layout), merge, self.layout.columns)]


def open_columns(table: Table, y: str | None, task: Task) -> TableRows:
    """All columns of a table as features, but the target ``y``."""
    if task.levels is not None:
        return _open_crossed(table, task)
    if not isinstance(y, (str, type(None))):
        raise InputError("y must be the name of the target column when X is a file, a stream or a cluster's table.")
    if y is not None and y not in table.columns:
        raise InputError(no_column(f"y={y!r}", len(table.columns)))
    features = task.chosen(table.columns, y)
    if not features or len(set(table.columns)) != len(table.columns):
        raise InputError("X must have columns of different names, and at least one besides the target.")
    classes = task.label_set(lambda: _occurring(table, str(y)))
    rows = TableRows(table, Columns(features, y, classes), drop_invalid=task.drop_invalid)
    rows.names = features
    return rows


def _open_crossed(table: Table, task: Task) -> TableRows:
    """Columns of labels, crossed."""
    classes = task.label_set(list)
    assert classes is not None
    names, labels = task.crossed(table.columns)
    return TableRows(table, Crossed(names, labels, classes), drop_invalid=task.drop_invalid)


def _piece(task: Pass, layout: Layout, batches: Iterable[Any]) -> Partial:
    """The pass over one piece."""
    return task(block for batch in batches for block in layout.blocks(batch))


def cache_blocks(n: int, features: int) -> Iterator[slice]:
    """Blocks of one core."""
    size = block_rows(features, CACHE_NUMBERS)
    return (slice(start, min(n, start + size)) for start in range(0, n, size))


def number_column(batch: Any, name: str) -> Array:
    """A column as float64; NaN for a missing value, and for text that reads as no number.   # proof: types"""
    import pyarrow as pa

    column = _column(batch, name)
    kind = column.type
    if _is_text(kind):
        try:  # the same numbers as one by one, if all of them are some, but for the sign of "-0"
            return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64) + 0.0
        except pa.ArrowException:
            return numbers(column)
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    elif pa.types.is_decimal(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return numbers(column)
    elif not _is_number(kind):
        raise InputError(f"{_place(batch, name)} of X holds {kind}, not numbers; encode it, or leave it out.")
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def plain_column(batch: Any, name: str) -> Any:
    """A column whose values can be read one by one: an array of numbers, or an Arrow column of anything else."""
    import pyarrow as pa

    column = _column(batch, name)
    if pa.types.is_null(column.type) or (column.null_count == 0 and _is_number(column.type)):
        return column.to_numpy(zero_copy_only=False)
    return column


def label_codes(batch: Any, name: str, labels: Labels) -> NDArray[np.int64]:
    """A column of labels as positions among ``labels``; -1 for one that is missing or not declared."""
    import pyarrow as pa

    column = _labels(batch, name)
    if _is_text(column.type):
        found = column.dictionary_encode()  # each different text is read once
        codes = np.append(labels.codes(found.dictionary), -1)
        return codes.take(np.asarray(found.indices.fill_null(-1).to_numpy(zero_copy_only=False)))
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_integer(column.type):  # as floats, large ones beside a missing value would become the same
        codes = labels.codes_of_numbers(np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False)))
        return np.where(column.is_null().to_numpy(zero_copy_only=False), -1, codes)
    if pa.types.is_floating(column.type):
        return labels.codes_of_numbers(np.asarray(column.to_numpy(zero_copy_only=False)))
    return labels.codes(column)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _place(batch: Any, name: str) -> str:
    """Which column, without its name: where a file has no header, names are somebody's values."""
    return f"column {batch.schema.get_field_index(name) + 1}"


def _labels(batch: Any, name: str) -> Any:
    """A column of numbers, truth values or text; an error, from the type alone, for anything else."""
    import pyarrow as pa

    column = _column(batch, name)
    kinds = ["integer", "floating", "boolean", "string", "large_string", "null", "decimal", "binary", "large_binary"]
    if not any(getattr(pa.types, f"is_{kind}")(column.type) for kind in kinds):
        raise InputError(f"y={name!r} holds {column.type}, not labels; make them text or whole numbers.")
    return column


def _column(batch: Any, name: str) -> Any:
    """By name, in its plain type: neither categories nor the way polars keeps text."""
    import pyarrow as pa

    index = batch.schema.get_field_index(name)
    if index < 0:
        raise InputError("a part of the table lacks a column that the others have.")
    column = batch.column(index)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_string()) if str(column.type) == "string_view" else column


def _occurring(table: Table, column: str) -> list[Any]:
    """The different labels of a column, from one pass over it alone."""
    labels, fault = table.reduce(partial(_different, column), _union, [column])
    if not fault and len(labels) > MOST_LABELS:
        fault = f"y={column!r} has more than {MOST_LABELS} different values: not labels. Declare classes."
    if fault:
        raise InputError(fault)
    return list(labels)


def _union(one: tuple[set[Any], str], two: tuple[set[Any], str]) -> tuple[set[Any], str]:
    return (one[0] | two[0] if len(one[0]) <= MOST_LABELS else one[0]), one[1] or two[1]


def _different(column: str, batches: Iterable[Any]) -> tuple[set[Any], str]:
    found: set[Any] = set()
    try:
        for batch in batches:
            found.update(distinct(_labels(batch, column).unique().to_pylist()))
            if len(found) > MOST_LABELS:
                break
    except InputError as error:
        return set(), str(error)
    return found, ""
