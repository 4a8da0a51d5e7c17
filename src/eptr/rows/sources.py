"""Which engine reads what: a path, Arrow, Dask, Spark; everything else is an array in memory."""

from __future__ import annotations

from typing import Any

from .arrow import is_arrow, open_arrow
from .dask import DaskTable, is_dask
from .spark import SparkTable, is_spark
from .table import Table

__all__ = ["open_table"]


def open_table(X: Any) -> Table | None:
    """The table behind ``X``, or None if it is an array or a frame in memory."""
    if is_spark(X):
        return SparkTable(X)
    if is_dask(X):
        return DaskTable(X) if hasattr(X, "columns") else None
    return open_arrow(X) if is_arrow(X) else None
