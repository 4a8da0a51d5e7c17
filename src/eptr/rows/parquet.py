"""Parquet files and folders, read row group by row group: memory does not grow with the file.

Large ones are read by processes of their own: threads would wait for each other's interpreter lock.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

from ..errors import EngineError, InputError
from .pool import WORKERS, each
from .progress import ticking
from .ship import packed

__all__ = ["BATCH", "Addition", "FileTable", "Work", "dataset_at", "without_index"]

Work = Callable[[Iterable[Any]], Any]
Addition = Callable[[Any, Any], Any]
# Starting processes takes about a second: worth it from so many numbers on.
_PROCESSES_FROM = 50_000_000
# Rows of a record batch.
BATCH = 1 << 15


def dataset_at(path: Any) -> Any:
    """The files behind a path, with columns for what the names of folders say."""
    import pyarrow as pa
    import pyarrow.dataset as datasets

    where = os.fspath(path)
    if "://" not in where:
        if not Path(where).exists():
            raise InputError(f"{where} does not exist; X must be a table or the path of a Parquet file or folder.")
        if Path(where).is_file() and Path(where).stat().st_size == 0:
            raise InputError(f"{where} is empty.")
    kind = "feather" if where.endswith((".arrow", ".feather", ".ipc")) else "parquet"
    try:
        # The names of the folders above a single file say nothing about its columns.
        if Path(where).is_file():
            return datasets.dataset(where, format=kind, partitioning=None)
        found = datasets.dataset(where, format=kind, partitioning="hive")
        # What a folder's name says has no declared type: guessed from all of them, one odd folder would change it for all.
        guessed = {k for f in found.get_fragments() for k in datasets.get_partition_keys(f.partition_expression)}
        if not guessed:
            return found
        text = datasets.partitioning(pa.schema([(name, pa.string()) for name in sorted(guessed)]), flavor="hive")
        return datasets.dataset(where, format=kind, partitioning=text)
    except (OSError, pa.ArrowException, ValueError):
        pass
    raise InputError(
        f"{where} is not a Parquet file, or a folder of them; read others first, say with pandas.read_csv."
    )


class FileTable:
    """Files on disk or in a store; a piece is a row group."""

    def __init__(self, dataset: Any) -> None:
        import pyarrow as pa

        self.dataset = dataset
        try:
            fragments = list(dataset.get_fragments())
            _one_schema(fragments)
            self.pieces = [
                piece for f in fragments for piece in (f.split_by_row_group() if hasattr(f, "row_groups") else [f])
            ]
            self._rows = sum(int(f.count_rows()) for f in fragments)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"the files of X cannot be read: {type(error).__name__} in one of them.") from None
        self.columns = without_index(dataset.schema)

    def count(self) -> int:
        return self._rows

    def reduce(self, task: Work, add: Addition, columns: list[str]) -> Any:
        reader = _Reader(self.dataset.schema, columns)
        large = self._rows * len(columns) >= _PROCESSES_FROM and WORKERS > 1 and len(self.pieces) > 1
        if not large or multiprocessing.current_process().daemon:
            found = each(lambda piece: task(reader(piece)), self.pieces)
            return reduce(add, ticking(found, len(self.pieces)))
        from joblib import Parallel, delayed

        # A few row groups a task: enough tasks to share the work evenly, few enough to hand over.
        size = max(1, len(self.pieces) // (16 * WORKERS))
        chunks = [self.pieces[i : i + size] for i in range(0, len(self.pieces), size)]
        run = partial(_in_process, packed((task, reader), whole=getattr(task, "travels_whole", True)))
        try:
            processes = Parallel(n_jobs=WORKERS, backend="loky", batch_size=1, max_nbytes=None, return_as="generator")
            found = processes(delayed(run)(chunk) for chunk in chunks)
            return reduce(add, ticking(found, len(chunks)))
        except BrokenExecutor:
            raise EngineError("a process that read X was killed, perhaps for want of memory.") from None


def _one_schema(fragments: list[Any]) -> None:
    """Files that disagree about a column would be filled with nulls or cast in silence."""
    import pyarrow.dataset as datasets

    if not fragments:
        raise InputError("X is a folder without Parquet files.")
    first = None
    for fragment in fragments:
        schema = fragment.physical_schema
        types = dict(zip(schema.names, schema.types, strict=True))
        if len(types) != len(schema.names):
            raise InputError(f"{_name(fragment)} has two columns of the same name.")
        types |= dict.fromkeys(datasets.get_partition_keys(fragment.partition_expression))
        first = first or (types, _name(fragment))
        if set(types) != set(first[0]):
            raise InputError(
                f"the files of X do not agree: {first[1]} has {len(first[0])} columns, {_name(fragment)} {len(types)}, and not "
                "all have the same names. Write them with one schema."
            )
        for place, name in enumerate(first[0], start=1):
            if types[name] != first[0][name]:
                raise InputError(
                    f"the files of X do not agree: column {place} holds {first[0][name]} in {first[1]}, but {types[name]} in "
                    f"{_name(fragment)}. Write them with one schema."
                )


def without_index(schema: Any) -> list[str]:
    """Column names, without what pandas stored as the index of a frame: row numbers are no feature."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _name(fragment: Any) -> str:
    return Path(getattr(fragment, "path", "a part")).name


@dataclass(frozen=True, slots=True)
class _Reader:
    """Record batches of a row group, some columns only."""

    schema: Any
    columns: list[str]

    def __call__(self, piece: Any) -> Iterator[Any]:
        import pyarrow as pa

        try:
            yield from (
                self._row_groups(piece)
                if hasattr(piece, "row_groups")
                else piece.to_batches(
                    schema=self.schema, columns=self.columns, batch_size=BATCH, batch_readahead=1, use_threads=False
                )
            )
        except (OSError, pa.ArrowException) as error:
            fault = (
                f"{_name(piece)} cannot be read any more ({type(error).__name__}): damaged, or changed during the fit."
            )
        else:
            return
        raise InputError(fault)

    def _row_groups(self, piece: Any) -> Iterator[Any]:
        """Decoded batch by batch: a scan by way of the dataset would hold several row groups at a time."""
        import pyarrow as pa
        import pyarrow.dataset as datasets
        import pyarrow.parquet as parquet

        named = datasets.get_partition_keys(piece.partition_expression)  # columns that are in the names of folders only
        stored = [name for name in self.columns if name not in named]
        groups = [group.id for group in piece.row_groups]
        with piece.filesystem.open_input_file(piece.path) as source:
            file = parquet.ParquetFile(source, metadata=piece.metadata)
            for batch in file.iter_batches(BATCH, row_groups=groups, columns=stored, use_threads=False):
                if named:
                    rest = [name for name in self.columns if name in named]
                    types = [self.schema.field(name).type for name in rest]
                    more = [pa.array([named[n]] * batch.num_rows, t) for n, t in zip(rest, types, strict=True)]
                    batch = pa.RecordBatch.from_arrays([*batch.columns, *more], [*batch.schema.names, *rest])
                yield batch.select(self.columns)


def _in_process(payload: bytes, pieces: list[Any]) -> Any:
    """What a process does with its row groups: partial results, added up there."""
    from threadpoolctl import threadpool_limits

    task, reader = pickle.loads(payload)
    with threadpool_limits(1):
        return task(batch for piece in pieces for batch in reader(piece))
