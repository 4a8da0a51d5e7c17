"""At most so many rows of one person count, chosen inside the guarantee.  Proof: people.md."""

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
from .layout import KEPT, Frame, Pieces

__all__ = ["bounded", "enforced"]


def bounded(data: Frame | Pieces, person: str, rows_each: int) -> Frame | Pieces:
    """The same table with a column that says which rows count. proof: kept"""
    if person not in data.columns:
        raise InputError(no_column(f"person={person!r}", len(data.columns), data.where))
    if isinstance(data, Frame):
        kept = _first(data.source[person], rows_each)
        return Frame({**{name: data.source[name] for name in data.columns}, KEPT: kept}, data.where)
    if isinstance(data.table, DaskTable):
        return Pieces(DaskTable(_on_dask(data.table.frame, person, rows_each)), data.where)
    if isinstance(data.table, SparkTable):
        return Pieces(SparkTable(_on_spark(data.table.frame, person, rows_each)), data.where)
    return bounded(_in_memory(data), person, rows_each)


def enforced(person: str, rows_each: int, unit: str) -> str:
    """The same in words."""
    rows = "row" if rows_each == 1 else f"{rows_each} rows"
    return f"the first {rows} of each {unit} count, by the column {person!r}"


def _first(identifiers: Any, rows_each: int) -> NDArray[np.float64]:
    """1 for the first rows of every person, 0 for others and for those without an identifier."""
    keys = [label(value) for value in column_values(identifiers)]
    seen: dict[Any, int] = {}
    kept = np.zeros(len(keys))
    for place, key in enumerate(keys):
        if key is not None:
            seen[key] = seen.get(key, 0) + 1
            kept[place] = seen[key] <= rows_each
    return kept


def _key(value: Any) -> str | None:
    """An identifier as text: the same for all that read the same, whatever a cluster takes them for. proof: kept"""
    found = label(value)
    if isinstance(found, float) and not found.is_integer():
        return repr(found)
    return found if found is None or isinstance(found, str) else f"{int(found):x}"


def _on_dask(frame: Any, person: str, rows_each: int) -> Any:
    def placed(part: Any) -> Any:
        keys = [crc32((_key(value) or "").encode()) for value in column_values(part[person])]
        return part.assign(**{KEPT: np.array(keys, dtype=np.int64)})

    def marked(part: Any) -> Any:
        return part.assign(**{KEPT: _first(part[person], rows_each)})

    # All rows of a person in one partition, perhaps with those of others.
    together = frame.map_partitions(placed, meta=placed(frame._meta)).shuffle(on=KEPT)
    return together.map_partitions(marked, meta=marked(frame._meta))


def _on_spark(frame: Any, person: str, rows_each: int) -> Any:
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
    return keyed.withColumn(KEPT, F.when(column.isNull(), 0.0).otherwise((place <= rows_each).cast("double")))


def _in_memory(data: Pieces) -> Frame:
    """Files and queries: one person's rows may be anywhere in them."""
    import pyarrow as pa

    batches = data.table.reduce(list, lambda a, b: a + b, data.columns)
    table = pa.Table.from_batches(batches)
    return Frame({name: table[name] for name in data.columns}, data.where)
