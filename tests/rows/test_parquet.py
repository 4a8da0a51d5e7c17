"""Files: the same bits from processes and threads, and what happens when a file or a process goes away."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import eptr
import eptr.rows.parquet as file_engine
from eptr.rows.arrow import open_arrow
from eptr.rows.table import Columns, TableRows

from .clusters import seeded
from .test_arrow import N, folder, model, table, with_column


def test_rows_that_change_between_passes_are_noticed(tmp_path):
    path = folder(tmp_path / "1", table())
    rows = TableRows(open_arrow(path), Columns(["a", "b"], "t"))
    rows.check()
    parquet.write_table(table(1, N // 2), path / "part-0.parquet")
    with pytest.raises(eptr.InputError, match=r"changes while it is read|cannot be read any more"):
        rows.sum(lambda x, y, keep: (x.sum(axis=0),))
    (path / "part-0.parquet").unlink()
    with pytest.raises(eptr.InputError, match="cannot be read any more"):
        rows.sum(lambda x, y, keep: (x.sum(axis=0),))


def test_processes_and_threads_agree(tmp_path, monkeypatch):
    path = folder(tmp_path / "1", *(table(k) for k in range(6)))
    found = []
    for limit in (0, 10**12):
        monkeypatch.setattr(file_engine, "_PROCESSES_FROM", limit)
        with seeded():
            found.append(model(random_state=0).fit(path, "t"))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    np.testing.assert_array_equal(found[0].predict(path), found[1].predict(path))
    monkeypatch.setattr(file_engine, "_PROCESSES_FROM", 0)
    with pytest.raises(eptr.InputError, match="NaN"):
        model().fit(folder(tmp_path / "2", table(), with_column(table(), "b", pa.array([np.nan] * N))), "t")


def test_a_killed_process_is_a_typed_error(tmp_path, monkeypatch):
    monkeypatch.setattr(file_engine, "_PROCESSES_FROM", 0)
    rows = TableRows(open_arrow(folder(tmp_path / "1", *(table(k) for k in range(6)))), Columns(["a", "b"], "t"))

    def die(x, y, keep):
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(eptr.EngineError, match="killed"):
        rows.sum(die)


def test_an_index_that_pandas_stored_and_folders_above_a_file_are_no_features(tmp_path):
    frame = table().to_pandas()
    (tmp_path / "run=3").mkdir()
    frame[frame.a > 0].to_parquet(tmp_path / "run=3" / "rows.parquet")
    assert open_arrow(tmp_path / "run=3" / "rows.parquet").columns == ["a", "b", "t"]
    assert open_arrow(pa.Table.from_pandas(frame[frame.a > 0])).columns == ["a", "b", "t"]
    assert sorted(open_arrow(tmp_path).columns) == ["a", "b", "run", "t"]
