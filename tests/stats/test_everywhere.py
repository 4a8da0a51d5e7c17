"""The same seed gives the same bits wherever the rows are: numpy, Arrow, polars, DuckDB, Dask, Spark, another array library."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import stats
from eptr.rivals.catalogue import RIVAL_STATISTICS
from eptr.stats.catalogue import COLUMNS, LEVELS, STATISTICS

from ..rows.clusters import seeded
from ..rows.test_everywhere import CLUSTERS, at, elsewhere, people

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Spark's own sockets
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TABLES = ["arrow files", "arrow table", "arrow stream", "polars", "duckdb", "dask frame", "spark"]
EVERY = [*STATISTICS, *RIVAL_STATISTICS]
# A pass on a cluster takes a second: there, one statistic of each kind of pass, and where rows can be dropped, some are.
ON_CLUSTERS = {"mean": "drop", "mean by group": "drop", "variance of one column": "drop", "covariance": "drop"}
ON_CLUSTERS |= {"score accuracy": "drop", "score r2": "raise"}
CASES = [
    at(engine, statistic, invalid)
    for engine in TABLES
    for statistic in EVERY
    for invalid in ("raise", "drop")
    if engine not in CLUSTERS or invalid == ON_CLUSTERS.get(statistic.name)
]


def asked(statistic, x, t, invalid):
    with seeded():
        return statistic.example(x, t, invalid=invalid, random_state=11)


@pytest.fixture(scope="module")
def expected():
    found = {}

    def of(statistic, invalid):
        if (statistic.name, invalid) not in found:
            frame = people("BayesClassifier-drop" if invalid == "drop" else "BayesClassifier")
            x, t = frame[list(COLUMNS)].to_numpy(), frame["t"].to_numpy()
            found[statistic.name, invalid] = asked(statistic, x, t, invalid)
        return found[statistic.name, invalid]

    return of


@pytest.mark.parametrize(("engine", "statistic", "invalid"), CASES, ids=lambda v: getattr(v, "name", v))
def test_the_same_bits_everywhere(engine, statistic, invalid, expected, request, tmp_path):
    frame = people("BayesClassifier-drop" if invalid == "drop" else "BayesClassifier")
    outcome = statistic.name in ("score r2", "score neg_mean_squared_error")
    if outcome:  # the table's target is its third column, and labels beside it count nowhere
        frame = frame.drop(columns="t") if invalid == "raise" else frame[list(COLUMNS)]
    x, _ = elsewhere(engine, frame, request, tmp_path)
    answer = asked(statistic, x, "t", invalid)
    if outcome and invalid == "drop":  # rows whose label alone is wrong are counted here
        assert np.isfinite(answer.value)
        return
    wanted = expected(statistic, invalid)
    for name in ("value", "low", "high"):
        np.testing.assert_array_equal(getattr(answer, name), getattr(wanted, name), err_msg=name)


def test_another_array_library_gives_the_same_bits(expected):
    import array_api_strict as strict

    frame = people("BayesClassifier")
    x, t = strict.asarray(frame[list(COLUMNS)].to_numpy()), frame["t"].to_numpy()
    for statistic in EVERY:
        if not statistic.name.startswith("score"):  # a model is numpy's
            np.testing.assert_array_equal(
                asked(statistic, x, t, "raise").value, expected(statistic, "raise").value, err_msg=statistic.name
            )


@pytest.mark.xdist_group("clusters")
def test_dask_arrays_give_the_same_bits(expected, dask_client):
    import dask.array as arrays

    frame = people("BayesClassifier")
    x, t = (
        arrays.from_array(frame[list(COLUMNS)].to_numpy(), chunks=(611, 2)),
        arrays.from_array(frame["t"].to_numpy(), chunks=900),
    )
    for statistic in EVERY:
        if statistic.name in ON_CLUSTERS and not statistic.name.startswith("score"):
            np.testing.assert_array_equal(
                asked(statistic, x, t, "raise").value, expected(statistic, "raise").value, err_msg=statistic.name
            )


def test_a_column_is_a_column_in_every_container():
    import pandas as pd
    import polars
    import pyarrow as pa

    values = np.random.default_rng(0).exponential(size=300)
    frame = pd.DataFrame({"w": values})
    containers = [values, values.tolist(), values.astype(object), frame["w"], polars.Series(values), pa.array(values)]
    with seeded():
        wanted = stats.mean(values, (0, 100), epsilon=1.0, random_state=0)
        for column in containers:
            answer = stats.mean(column, (0, 100), epsilon=1.0, random_state=0)
            assert isinstance(answer.value, float)
            assert answer.value == wanted.value
        by_name = stats.mean(frame, {"w": (0, 100)}, epsilon=1.0, random_state=0)
    assert by_name.names == (("w",),)
    assert by_name.value[0] == wanted.value


def test_the_order_of_declared_levels_is_the_order_of_the_answer():
    rng = np.random.default_rng(0)
    t = rng.choice(LEVELS, size=4000)
    x = np.where(t == "yes", 5.0, 1.0) + rng.normal(size=4000)
    with seeded():
        answer = stats.mean(x, (-50, 50), by=t, levels=["yes", "no"], epsilon=4.0, random_state=0)
    assert answer.names == (("yes", "no"),)
    assert abs(answer.value[0] - 5.0) < 0.5
    assert abs(answer.value[1] - 1.0) < 0.5
