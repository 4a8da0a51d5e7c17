"""At most so many rows of one person count, chosen inside the guarantee, and stay together.  Proof: people.md."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, no_column
from ..rows.dask import DaskTable
from ..rows.ingest import column_values, label
from ..rows.ship import packed
from ..rows.spark import SparkTable
from .layout import KEPT, Frame, Persons, Pieces

__all__ = ["bounded", "enforced"]

MOST = 16  # rows of a person that are added up; groups have that many places, be they filled or not


def bounded(data: Frame | Pieces, person: str, rows_each: int) -> Frame | Pieces:
    """The same rows, person by person, with their places: 1, 2, ..., or 0 for those that do not count. proof: kept"""
    if person not in data.columns:
        raise InputError(no_column(f"person={person!r}", len(data.columns), data.where))
    each = rows_each if rows_each <= MOST else 1
    if isinstance(data, Frame):
        return Frame(data.source, data.where, Persons(*_places(data.source[person], rows_each, each), each))
    if isinstance(data.table, DaskTable):
        return Pieces(DaskTable(_on_dask(data.table.frame, person, rows_each, each)), data.where, each)
    if isinstance(data.table, SparkTable):
        return Pieces(SparkTable(_on_spark(data.table.frame, person, rows_each, each)), data.where, each)
    return bounded(_in_memory(data), person, rows_each)


def enforced(person: str | None, rows_each: int, unit: str) -> str:
    """How the rows of one person are kept to what was said, in words; empty if they are not."""
    if person is None:
        return ""
    rows = "row" if rows_each == 1 else f"{rows_each} rows"
    return f"the first {rows} of each {unit} count, by the column {person!r}"


def _places(identifiers: Any, rows_each: int, each: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order in which persons' rows follow each other, and their places; the first of every person count, others are last.

    Places go up to ``each``: if that is 1, every row that counts is by itself.
    """
    seen: dict[Any, list[int]] = {}
    others: list[int] = []
    for row, value in enumerate(column_values(identifiers)):
        key = label(value)
        rows = others if key is None else seen.setdefault(key, [])
        (rows if len(rows) < rows_each else others).append(row)
    order = [row for rows in seen.values() for row in rows]
    places = [min(place, each) for rows in seen.values() for place in range(1, len(rows) + 1)]
    return np.array([*order, *others], dtype=np.int64), np.array([*places, *(0 for _ in others)], dtype=np.int64)


def _key(value: Any) -> str | None:
    """An identifier as text: the same for all that read the same, whatever a cluster takes them for. proof: kept"""
    found = label(value)
    if isinstance(found, float) and not found.is_integer():
        return repr(found)
    return found if found is None or isinstance(found, str) else f"{int(found):x}"


def _on_dask(frame: Any, person: str, rows_each: int, each: int) -> Any:
    def placed(part: Any) -> Any:
        keys = [crc32((_key(value) or "").encode()) for value in column_values(part[person])]
        return part.assign(**{KEPT: np.array(keys, dtype=np.int64)})

    def marked(part: Any) -> Any:
        order, places = _places(part[person], rows_each, each)
        return part.iloc[order].assign(**{KEPT: places})

    # All rows of a person in one partition, perhaps with those of others.
    together = frame.map_partitions(placed, meta=placed(frame._meta)).shuffle(on=KEPT)
    return together.map_partitions(marked, meta=marked(frame._meta))


def _on_spark(frame: Any, person: str, rows_each: int, each: int) -> Any:
    from pyspark import cloudpickle
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    payload = packed(_key, cloudpickle)
    known: list[Any] = []

    def key(value: Any) -> Any:  # a function without names of ours, for executors that may lack them
        import pickle

        if not known:
            known.append(pickle.loads(payload))
        return known[0](value)

    keyed = frame.withColumn(KEPT, F.udf(key, "string", useArrow=False)(F.col("`" + person.replace("`", "``") + "`")))
    column = F.col(f"`{KEPT}`")
    place = F.row_number().over(Window.partitionBy(column).orderBy(F.monotonically_increasing_id()))
    counts = column.isNotNull() & (place <= rows_each)
    # The window leaves a person's rows in order.
    return keyed.withColumn(KEPT, F.when(counts, F.least(place, F.lit(each))).otherwise(0))


def _in_memory(data: Pieces) -> Frame:
    """Files and queries: one person's rows may be anywhere in them."""
    import pyarrow as pa

    batches = data.table.reduce(list, lambda a, b: a + b, data.columns)
    table = pa.Table.from_batches(batches)
    return Frame({name: table[name] for name in data.columns}, data.where)
