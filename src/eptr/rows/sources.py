"""A path, read by an engine that is asked for by name: on this machine, or by a cluster that sees the same files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..errors import InputError
from .arrow import open_arrow
from .dask import DaskTable
from .ship import engine_errors
from .spark import SparkTable
from .table import Table

__all__ = ["open_path"]

_NAMES = ("local", "dask", "spark")


@contextmanager
def open_path(path: Any, engine: str = "local", scheduler: str | None = None) -> Iterator[Table]:
    """A Parquet file or folder, read on this machine, or by a Dask or Spark cluster that sees the same path.

    ``scheduler`` is the address of a running cluster; without it, one is started here and stopped at the end.
    """
    if engine not in _NAMES:
        raise InputError(f"engine must be one of {_NAMES}, got {engine!r}.")
    if engine == "local" and scheduler is not None:
        raise InputError("scheduler is the address of a cluster: say engine='dask' or engine='spark' with it.")
    table: Table = open_arrow(path)  # also says what is wrong with the files, before a cluster is asked
    with ExitStack() as stack:
        if engine != "local":
            table = (_on_dask if engine == "dask" else _on_spark)(os.path.abspath(os.fspath(path)), scheduler, stack)
        yield table


@engine_errors("Dask")
def _on_dask(path: str, scheduler: str | None, stack: ExitStack) -> DaskTable:
    try:
        import dask.dataframe as frames
        from distributed import Client, LocalCluster
    except ModuleNotFoundError:
        raise InputError("engine='dask' needs dask and distributed; install them: pip install 'eptr[dask]'.") from None
    if scheduler is None:
        workers = max(1, min(os.cpu_count() or 1, 8))
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        stack.enter_context(cluster)
        stack.enter_context(Client(cluster))
    else:
        stack.enter_context(Client(scheduler, timeout=10))
    return DaskTable(frames.read_parquet(path, engine="pyarrow"))


@engine_errors("Spark")
def _on_spark(path: str, scheduler: str | None, stack: ExitStack) -> SparkTable:
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise InputError("engine='spark' needs pyspark; install it with: pip install 'eptr[spark]'.") from None
    builder = SparkSession.builder.master(scheduler or "local[*]").appName("eptr").config("spark.ui.enabled", "false")
    builder = builder.config("spark.pyspark.python", os.environ.get("PYSPARK_PYTHON", sys.executable))
    session = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate()
    stack.callback(session.stop)
    return SparkTable(session.read.parquet(path))
