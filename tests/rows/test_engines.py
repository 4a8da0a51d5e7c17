"""The two doors: who reads what, rows without a target from everywhere, and predictions that an engine brings back."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import eptr
from eptr.rows import arrow, dask, foreign, memory, spark
from eptr.rows.engines import ENGINES, open_rows, predict_rows, read_column
from eptr.rows.memory import MemoryRows
from eptr.rows.task import Model, Task

from .test_everywhere import ENGINES as PLACES
from .test_everywhere import N, at, elsewhere, people

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Spark's own sockets
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

X = np.random.default_rng(0).integers(-8, 8, size=(300, 2)).astype(float)
FRAME = pd.DataFrame(X, columns=["a", "b"])
ALONE = Task("none")


def sums(x, y, keep):
    """Whole numbers, so that sums are exact in any order."""
    assert not y.any()
    return np.rint(8 * x).sum(axis=0), np.array(len(x) if keep is None else keep.sum(), dtype=float)


def totals(rows):
    assert (rows.target, rows.classes) == ("none", None)
    return rows.sum(sums)


@pytest.mark.parametrize(
    ("rows", "engine"),
    [
        (X, memory),
        (X.tolist(), memory),
        (FRAME, memory),
        (None, memory),
        (xp.asarray(X), foreign),
        ("rows.parquet", arrow),
        (pa.table({"a": [1.0]}), arrow),
        (polars.from_pandas(FRAME), arrow),
    ],
)
def test_the_first_engine_that_claims_rows_reads_them(rows, engine):
    assert next(e for e in ENGINES if e.claims(rows)) is engine


def test_clusters_are_asked_first():
    frames = pytest.importorskip("dask.dataframe")
    assert [spark, dask, arrow, foreign, memory] == ENGINES
    assert dask.claims(frames.from_pandas(FRAME, npartitions=2))
    assert not any(e.claims(FRAME) for e in ENGINES[:-1])


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("place", [*map(at, PLACES)])
def test_rows_without_a_target_come_from_everywhere(place, drop, request, tmp_path):
    frame = people("LinearRegression-drop" if drop else "LinearRegression-refined").drop(columns="t")
    good = frame[np.isfinite(frame).all(axis=1)]
    frame = frame.assign(t=0.0) if place == "dask array" else frame
    rows = open_rows(elsewhere(place, frame, request, tmp_path)[0], None, Task("none", drop_invalid=drop))
    assert (rows.n, rows.n_features) == (N, 3)
    assert rows.names == (None if place == "dask array" else ["a", "b", "c"])
    found = totals(rows)
    np.testing.assert_array_equal(found[0], np.rint(8 * good).sum(axis=0))
    assert found[1] == len(good)


@pytest.mark.parametrize("rows", [X, X.tolist(), X.astype(np.float32), FRAME, polars.from_pandas(FRAME)])
def test_rows_without_a_target_in_memory(rows):
    opened = open_rows(rows, None, ALONE)
    np.testing.assert_array_equal(totals(opened)[0], 8 * X.sum(axis=0))
    assert opened.names == (["a", "b"] if hasattr(rows, "columns") else None)


def test_rows_without_a_target_of_another_library():
    found = open_rows(xp.asarray(X), None, ALONE).sum(lambda x, y, keep: (xp.sum(x, axis=0), xp.sum(xp.abs(y))))
    np.testing.assert_array_equal(found[0], X.sum(axis=0))
    assert found[1] == 0.0


def test_a_row_is_judged_by_itself_without_a_target():
    odd = X.astype(object)
    odd[3, 1], odd[7, 0] = "?", None
    told = []
    with pytest.raises(eptr.DomainError, match="X contains NaN"):
        open_rows(odd, None, ALONE, lambda: told.append(True)).check()
    assert told == [True]
    found = totals(open_rows(odd, None, Task("none", drop_invalid=True)))
    np.testing.assert_array_equal(found[0], 8 * np.delete(X, [3, 7], axis=0).sum(axis=0))
    assert found[1] == 298


def test_a_fault_that_shows_at_the_door_is_told_first():
    told = []
    with pytest.raises(eptr.DomainError, match="Complex data not supported"):
        open_rows(X + 1j, None, ALONE, lambda: told.append(True))
    assert told == [True]


@pytest.mark.parametrize("rows", [X, FRAME, pa.table({"a": [1.0]}), xp.asarray(X)])
def test_a_target_is_there_exactly_if_the_task_has_one(rows):
    with pytest.raises(eptr.InputError, match="target y is None"):
        open_rows(rows, None, Task("numbers"))
    with pytest.raises(eptr.InputError, match="y must be None"):
        open_rows(rows, "a", ALONE)


def test_rows_that_are_open_must_be_what_was_asked_for():
    codes, classes = (X[:, 0] > 0).astype(int), np.array(["no", "yes"])
    labelled, numbers, alone = MemoryRows(X, codes, classes), MemoryRows(X, X[:, 0]), MemoryRows(X)
    assert open_rows(labelled, None, Task("labels", "public")) is labelled
    assert open_rows(labelled, None, Task("labels", ["yes", "no"])) is labelled
    assert open_rows(alone, None, ALONE) is alone
    for rows, task, message in [
        (labelled, Task("numbers"), "for labels, and this fit needs numbers"),
        (numbers, Task("labels", [0, 1]), "for numbers, and this fit needs labels"),
        (alone, Task("numbers"), "for no target"),
        (labelled, Task("labels", ["a", "b"]), "that the engine was made with"),
        (MemoryRows(X, codes), Task("labels", [0, 1]), "that the engine was made with"),
        (numbers, Task("numbers", drop_invalid=True), "drop_invalid=False"),
    ]:
        with pytest.raises(eptr.InputError, match=message):
            open_rows(rows, None, task)
    with pytest.raises(eptr.InputError, match="knows its target"):
        open_rows(numbers, X[:, 0], Task("numbers"))


@pytest.mark.parametrize("place", [memory, foreign, arrow])
def test_the_public_label_set_comes_back_with_the_rows(place):
    y = np.where(X[:, 0] > 0, 7, 3)
    rows = {
        memory: open_rows(X, y, Task("labels", "public")),
        foreign: open_rows(xp.asarray(X), xp.asarray(y), Task("labels", "public")),
        arrow: open_rows(pa.Table.from_pandas(FRAME.assign(y=y)), "y", Task("labels", "public")),
    }[place]
    assert rows.target == "labels"
    assert rows.classes.tolist() == [3, 7]


def test_an_engine_is_one_entry(monkeypatch):
    class Counting:
        """Rows that are the first whole numbers."""

        def claims(self, X):
            return isinstance(X, range)

        def open(self, X, y, task):
            return MemoryRows(np.array(X, dtype=float)[:, None], y)

        def predict(self, X, model):
            return [float(model.function(np.array([[float(k)]]))[0]) for k in X]

        def column(self, X, name):
            return list(X)

    monkeypatch.setattr("eptr.rows.engines.ENGINES", [Counting(), *ENGINES])
    assert open_rows(range(5), None, ALONE).sum(lambda x, y, keep: (x.sum(),))[0] == 10.0
    assert predict_rows(range(3), Model("predict", lambda x: 2.0 * x[:, 0], None)) == [0.0, 2.0, 4.0]
    assert read_column(range(2), "k") == [0, 1]
