"""Spark on this machine and as a cluster: bad dataframes, dying executors, executors without eptr."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import eptr

from .clusters import require_java, seeded

pytestmark = [
    pytest.mark.xdist_group("clusters"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Spark's own sockets
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 2))
T = X @ [1.0, -0.5] + RNG.normal(size=1000)


def model(**settings):
    return eptr.LinearRegression(x_bound=3.0, y_bound=4.0, **settings)


@pytest.fixture
def rows(spark):
    return spark.createDataFrame(np.column_stack([X, T]).tolist(), ["a", "b", "t"])


def test_bad_frames_are_typed_errors_and_nothing_is_charged(rows, spark, tmp_path):
    from pyspark.sql import functions as F

    ledger = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("study", epsilon=2.0, delta=1e-5, checks=100)
    account = ledger.account("study")
    cases = [
        (rows.withColumn("b", F.when(F.col("a") > 0, F.col("b"))), eptr.InputError, "missing value"),
        (rows.withColumn("b", F.lit("private name")), eptr.DomainError, "text that is no number"),
        (rows.withColumn("b", F.current_timestamp()), eptr.InputError, "column 2 of X holds timestamp"),
        (rows.withColumn("t", F.lit(float("inf"))), eptr.InputError, "y contains NaN"),
        (rows.drop("t"), eptr.InputError, "not among the 2 columns"),
        (rows.filter("a > 1e9"), eptr.InputError, "no rows"),
        (rows.withColumn("b", F.raise_error(F.lit("private name")).cast("double")), eptr.EngineError, "Spark failed"),
        (rows.select(F.col("a"), F.col("a"), F.col("t")), eptr.InputError, "different names"),
    ]
    for frame, kind, message in cases:
        with pytest.raises(kind, match=message) as caught:
            model(ledger=account).fit(frame, "t")
        assert "private name" not in str(caught.value)
        assert caught.value.__context__ is None or kind is eptr.InputError
    with pytest.raises(eptr.InputError, match="name of the target"):
        model(ledger=account).fit(rows, T)
    model(ledger=account).fit(rows, "t")
    assert [e.kind for e in ledger.history("study")] == ["create", *["check"] * 3, "charge"]


def test_any_partitioning_and_odd_names(rows):
    odd = rows.withColumnRenamed("a", "a.b `c`")
    with seeded():
        once = model(random_state=0, strategy="tight", c0=0.05)  # one pass
        expected = once.fit(X, T).coef_
        assert once.released_
        for frame in (odd.repartition(1), odd.repartition(70), odd.coalesce(1)):  # more than 64: added up over there
            found = once.fit(frame, "t")
            np.testing.assert_array_equal(found.coef_, expected)
    assert list(found.feature_names_in_) == ["a.b `c`", "b"]
    assert rows.sparkSession.sparkContext.pythonExec == os.environ.get("PYSPARK_PYTHON", sys.executable)


def test_rows_that_are_drawn_anew_in_every_pass_are_noticed(rows):
    def some(batches):
        import secrets

        for batch in batches:
            yield batch.slice(secrets.randbelow(20))

    rows.sparkSession.sparkContext.pythonExec = sys.executable  # else a user's functions get whatever python3 is
    with pytest.raises(eptr.InputError, match="changes while it is read"):
        model().fit(rows.mapInArrow(some, rows.schema), "t")


def test_predictions_are_a_column_of_the_frame(rows):
    fitted = model().fit(pd.DataFrame(X, columns=["a", "b"]), T)
    found = fitted.predict(rows)
    assert found.columns == ["a", "b", "t", "prediction"]
    with pytest.raises(eptr.InputError, match="already"):
        fitted.predict(found)


def test_a_cluster_whose_executors_lack_eptr_and_die_and_a_session_that_is_gone():
    require_java()
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-m", "tests.rows.spark_cluster"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {
        "same bits": True,
        "killed": True,
        "executors lack eptr": True,
        "after the end": "Spark failed",
    }
