"""A Dask cluster that loses workers, its scheduler, or never had eptr."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.array as arrays
import dask.dataframe as frames
import numpy as np
import pandas as pd
import pytest

import eptr
from eptr.rows.sources import open_path

from .clusters import dask_cluster, seeded, without_eptr

pytestmark = pytest.mark.xdist_group("clusters")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4000, 3))
T = X @ [1.0, -0.5, 0.25] + RNG.normal(size=4000)
FRAME = pd.DataFrame(X, columns=list("abc")).assign(t=T)


def model(**settings):
    return eptr.LinearRegression(x_bound=3.0, y_bound=4.0, **settings)


def test_killing_a_worker_in_the_middle_changes_nothing(tmp_path):
    begun, over = tmp_path / "begun", tmp_path / "over"

    def interrupted(part):
        begun.touch()
        while not over.exists():
            time.sleep(0.02)
        return part

    wanted = model(random_state=3)
    with seeded():
        wanted.fit(X, T)
    with dask_cluster() as client:
        killed = []

        def kill():
            while not begun.exists():
                time.sleep(0.02)
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)
            over.touch()

        killer = threading.Thread(target=kill)
        killer.start()
        with seeded():
            rows = frames.from_pandas(FRAME, npartitions=8).map_partitions(interrupted, meta=FRAME.iloc[:0])
            found = model(random_state=3).fit(rows, "t")
        killer.join()
        assert killed[0] not in client.run(os.getpid).values()
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    assert found.intercept_ == wanted.intercept_


def test_a_dead_scheduler_is_a_typed_error_and_nothing_is_charged(tmp_path):
    from distributed import Client

    ledger = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("study", epsilon=2.0, delta=1e-5)
    FRAME.to_parquet(tmp_path / "rows.parquet")
    address = "tcp://127.0.0.1:8791"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "8791", "--no-dashboard"]
    scheduler = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        with dask.config.set({"distributed.comm.timeouts.connect": "3s"}), Client(address, timeout=30) as client:
            rows = frames.from_pandas(FRAME, npartitions=2)
            scheduler.kill()
            scheduler.wait()
            while client.status == "running":
                time.sleep(0.1)
            with pytest.raises(eptr.EngineError, match="Dask failed"):
                model(ledger=ledger.account("study")).fit(rows, "t")
    finally:
        scheduler.kill()
        scheduler.wait()
    with pytest.raises(eptr.EngineError, match="alive"), open_path(tmp_path / "rows.parquet", "dask", address):
        pass
    assert len(ledger.history("study")) == 1


def kernel():
    return eptr.KernelRegressor(domain=(-3, 3), y_bound=4.0, bandwidth=1.0, trend="linear", random_state=3)


def test_workers_without_eptr(tmp_path):
    """A worker whose interpreter cannot import eptr does the whole fit."""
    from distributed import Client

    env = without_eptr(tmp_path)
    base = [sys.executable, "-m"]
    started = [
        subprocess.Popen(
            [*base, "distributed.cli.dask_scheduler", "--port", "8792", "--no-dashboard"], stderr=subprocess.DEVNULL
        )
    ]
    worker = [*base, "distributed.cli.dask_worker", "tcp://127.0.0.1:8792", "--nthreads", "1", "--no-nanny"]
    started.append(subprocess.Popen(worker, env=env, stderr=subprocess.DEVNULL))
    try:
        with Client("tcp://127.0.0.1:8792", timeout=30) as client:
            client.wait_for_workers(1)

            def lacking():
                try:
                    import eptr  # noqa: F401
                except ModuleNotFoundError:
                    return True
                return False

            assert all(client.run(lacking).values())
            with seeded():
                found = model(random_state=3).fit(frames.from_pandas(FRAME, npartitions=5), "t")
                there = kernel().fit(arrays.from_array(X, chunks=2000), arrays.from_array(T, chunks=2000))
                bayes = eptr.BayesClassifier(x_bound=3.0, random_state=3)
                bayes.fit(arrays.from_array(X, chunks=2000), arrays.from_array(T > 0, chunks=2000))
    finally:
        for process in started:
            process.terminate()
            process.wait()
    with seeded():
        np.testing.assert_array_equal(found.coef_, model(random_state=3).fit(X, T).coef_)
        np.testing.assert_array_equal(
            bayes.means_, eptr.BayesClassifier(x_bound=3.0, random_state=3).fit(X, T > 0).means_
        )
        np.testing.assert_allclose(there.predict(X[:20]), kernel().fit(X, T).predict(X[:20]), rtol=1e-9)


@pytest.mark.usefixtures("dask_client")
class TestInput:
    def test_bad_partitions_are_typed_errors(self):
        cases = [
            (FRAME.assign(b=np.where(np.arange(4000) == 3999, np.nan, 1.0)), "missing value"),
            (FRAME.assign(b=["private name"] * 4000), "text that is no number"),
            (FRAME.assign(b=pd.array([1, None] * 2000, dtype="Int64")), "missing value"),
            (FRAME.assign(b=np.array([1.0, "private name"] * 2000, dtype=object)), "text that is no number"),
            (FRAME.drop(columns="t"), "not among the 3 columns"),
            (FRAME.iloc[:0], "no rows"),
        ]
        for frame, message in cases:
            with pytest.raises(eptr.InputError, match=message) as caught:
                model().fit(frames.from_pandas(frame, npartitions=3, sort=False), "t")
            assert "private name" not in str(caught.value)

    def test_empty_partitions_count_for_nothing(self):
        rows = frames.from_pandas(FRAME, npartitions=6)
        few = rows[rows.a > 1.5]  # leaves partitions of different sizes, some perhaps empty
        hollow = rows.map_partitions(lambda part: part.iloc[:0] if part.index[0] > 0 else part, meta=FRAME.iloc[:0])
        with seeded():
            for lazy in (few, hollow):
                frame = lazy.compute()
                found = model(random_state=0).fit(lazy, "t")
                wanted = model(random_state=0).fit(frame[list("abc")].to_numpy(), frame["t"].to_numpy())
                np.testing.assert_array_equal(found.coef_, wanted.coef_)

    def test_a_type_that_changes_between_partitions_changes_no_value(self):
        def change(part):
            return part.assign(b=part.b.map(repr).astype(object)) if part.index[0] > 0 else part

        rows = frames.from_pandas(FRAME, npartitions=3).map_partitions(change, meta=FRAME.iloc[:0])
        with seeded():
            found, wanted = model(random_state=0).fit(rows, "t"), model(random_state=0).fit(X, T)
        np.testing.assert_array_equal(found.coef_, wanted.coef_)

    def test_a_frame_beside_a_series(self):
        rows, target = frames.from_pandas(FRAME[list("abc")], npartitions=3), frames.from_pandas(FRAME.t, npartitions=3)
        with seeded():
            found, wanted = model(random_state=0).fit(rows, target), model(random_state=0).fit(X, T)
        np.testing.assert_array_equal(found.coef_, wanted.coef_)
        with pytest.raises(eptr.InputError, match="partitions of X"):
            model().fit(rows, frames.from_pandas(FRAME.t, npartitions=2))
        hollow = rows.map_partitions(lambda part: part.iloc[: len(part) // 2], meta=FRAME[list("abc")].iloc[:0])
        with pytest.raises(eptr.EngineError):
            model(invalid="drop").fit(hollow, target)

    @pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
    def test_a_scheduler_in_this_process_leaves_our_classes_alone(self):
        from eptr.rows import engine

        with dask.config.set(scheduler="synchronous"), seeded():
            found = model(random_state=0).fit(frames.from_pandas(FRAME, npartitions=3), "t")
            wanted = model(random_state=0).fit(X, T)
        np.testing.assert_array_equal(found.coef_, wanted.coef_)
        assert engine.Pass.__call__.__globals__ is vars(engine)

    def test_labels_with_gaps(self):
        labels = np.where(T > 0, "yes", "no").astype(object)
        labels[5] = None
        x, y = arrays.from_array(X, chunks=1000), arrays.from_array(labels, chunks=1000)
        found = eptr.BayesClassifier(x_bound=3.0, classes=["no", "yes"], invalid="drop").fit(x, y)
        assert found.classes_.tolist() == ["no", "yes"]
        with pytest.raises(eptr.InputError, match="or none"):
            eptr.BayesClassifier(x_bound=3.0).fit(x, y)

    def test_arrays_of_unknown_length_and_wrong_shape(self):
        x, y = arrays.from_array(X, chunks=1000), arrays.from_array(T, chunks=1000)
        with seeded():
            found = model(random_state=0).fit(x[x[:, 0] > 0], y[x[:, 0] > 0])
            wanted = model(random_state=0).fit(X[X[:, 0] > 0], T[X[:, 0] > 0])
        np.testing.assert_array_equal(found.coef_, wanted.coef_)
        for bad_x, bad_y in ((x, y[:-1]), (y, y), (x, T), (x, None)):
            with pytest.raises(eptr.InputError):
                model().fit(bad_x, bad_y)

    def test_a_task_that_always_fails_is_one_sentence_without_values(self):
        def fail(part):
            raise ValueError("private name")

        rows = frames.from_pandas(FRAME, npartitions=2).map_partitions(fail, meta=FRAME.iloc[:0])
        with pytest.raises(eptr.EngineError, match="Dask failed") as caught:
            model().fit(rows, "t")
        assert "private name" not in str(caught.value)
        assert caught.value.__context__ is None

    def test_lazy_predictions(self):
        fitted = model().fit(X, T)
        lazy = fitted.predict(arrays.from_array(X, chunks=(1000, 2)))
        np.testing.assert_array_equal(lazy.compute(), fitted.predict(X))
        with pytest.raises(eptr.InputError, match="rows in memory"):
            eptr.BayesClassifier(x_bound=3.0).fit(X, T > 0).predict_proba(arrays.from_array(X))
