"""The same seed gives the same bits wherever the rows are: numpy, Arrow, Dask, Spark, in any partitioning.

Kernel and cosine features pass through exp and cos, whose last bit may depend on the position in a block: 1e-9.
"""

from __future__ import annotations

import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import eptr
from eptr.catalogue import EVERY
from eptr.estimators.catalogue import OURS
from eptr.rivals.catalogue import RIVALS

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Spark's own sockets
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N = 2500
# What makes a fit of each variant reply, or small enough.
MORE = {
    "LinearRegression-refined": {"epsilon": 4.0},  # in bands; the "drop" case has too few rows for them
    "LinearRegression-tight": {"c0": 0.05, "coef_bound": 2.0},
    "LinearRegression-paper": {"c0": 0.05, "coef_bound": 2.0, "delta": 1e-2},
    "BayesClassifier-paper": {"delta": 1e-2},
    "KernelRegressor-refined": {"bandwidth": 1.0},
    "KernelRegressor-tight": {"bandwidth": 1.0, "queries": [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]},
    "KernelRegressor-paper": {"bandwidth": 1.0, "kernel": "epanechnikov", "delta": 1e-2},
}
CASES = {entrant.name: entrant.example(3.0, 4.0, **MORE.get(entrant.name, {})) for entrant in EVERY if entrant.sums}
CASES |= {
    "LinearRegression-private": eptr.LinearRegression(64.0, x_bound="private", y_bound="private", fit_intercept=False),
    "LogisticRegression-private": eptr.LogisticRegression(x_bound="private", classes=["no", "yes"]),
    "LogisticRegression-raw": eptr.LogisticRegression(x_range=(-4, 4), classes=["maybe", "no", "yes"]),
    "BayesClassifier-private": eptr.BayesClassifier(x_bound="private"),
    "BayesClassifier-ranges": eptr.BayesClassifier(x_range=(-6, 6), covariance="shared"),
    "KernelRegressor-trend": eptr.KernelRegressor(
        64.0, domain=(-3, 3), y_bound="private", bandwidth=1.0, trend="linear"
    ),
}
for entrant in OURS:
    if entrant.variant == "refined":
        more = MORE.get(entrant.name, {}) | {"invalid": "drop", "epsilon": 1.0}
        CASES[f"{entrant.name}-drop"] = entrant.example(3.0, 4.0, ["no", "yes"], **more)
CLUSTERS = ["dask frame", "dask array", "spark"]
ENGINES = ["arrow files", "arrow table", "arrow stream", "polars", "duckdb", *CLUSTERS]
# A pass on a cluster takes a second. There, a case that drops rows stands for the same one without them, one form of a rival
# for the others, and the private bound of a trend for all private bounds. Dask frames carry every row function to other
# processes; what Dask arrays and Spark add is how rows are read: numbers, labels, gaps, one pass and many.
FEW = [name for name in CASES if f"{name}-drop" not in CASES and not name.endswith(("-literature", "-private"))]
READ = [
    "LinearRegression-refined-drop",
    "BayesClassifier-refined-drop",
    "LogisticRegression-raw",
    "KernelRegressor-trend",
]
ON_CLUSTERS = {"dask frame": FEW, "dask array": READ, "spark": [*READ, "AdditiveRegressor-refined-drop"]}
THROUGH_EXP = ("KernelRegressor", "WaveletEstimator")


def at(engine, *more):
    """A case at an engine; one worker alone has the clusters."""
    return pytest.param(engine, *more, marks=[pytest.mark.xdist_group("clusters")] if engine in CLUSTERS else [])


def people(name):
    """Features a, b, c and a target t; in a "drop" case with rows that no estimator should count."""
    rng = np.random.default_rng(5)
    X = rng.standard_t(4, size=(N, 3))
    t = X @ [1.0, -0.5, 0.25] + rng.normal(size=N)
    frame = pd.DataFrame(X, columns=list("abc"))
    if any(e.estimator.__name__ == name.partition("-")[0] and e.task == "classification" for e in EVERY):
        frame["t"] = np.where(t > 0, "yes", "no").astype(object)
        if name.endswith("drop"):
            frame.loc[7, "t"], frame.loc[1999, "t"] = "maybe", None
    else:
        frame["t"] = t
        if name.endswith("drop"):
            frame.loc[7, "t"], frame.loc[1999, "t"] = np.inf, np.nan
    if name.endswith("drop"):
        frame.loc[1000, "a"], frame.loc[2499, "c"] = np.nan, -np.inf
    return frame


def arrow(frame):
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


def folder(frame, path):
    """Three files of different lengths, one of them empty, in small row groups."""
    import pyarrow.parquet as parquet

    table = arrow(frame)
    for k, (start, stop) in enumerate([(0, 700), (700, 700), (700, N)]):
        parquet.write_table(table.slice(start, stop - start), path / f"part-{k}.parquet", row_group_size=333)
    return path


def elsewhere(engine, frame, request, tmp_path):
    """The rows as an engine has them: what to pass as X and y."""
    if engine == "arrow files":
        return folder(frame, tmp_path), "t"
    if engine == "arrow table":
        return arrow(frame), "t"
    if engine == "arrow stream":
        return arrow(frame).to_reader(max_chunksize=400), "t"
    if engine == "polars":
        import polars

        return polars.from_arrow(arrow(frame)), "t"
    if engine == "duckdb":
        import duckdb

        return duckdb.from_arrow(arrow(frame)), "t"
    if engine == "spark":
        import pyarrow.parquet as parquet

        parquet.write_table(arrow(frame), tmp_path / "one.parquet", row_group_size=500)
        rows = request.getfixturevalue("spark").read.parquet(str(tmp_path / "one.parquet"))
        return rows.repartition(3), "t"
    request.getfixturevalue("dask_client")
    import dask.array as arrays
    import dask.dataframe as frames

    if engine == "dask frame":
        return frames.from_pandas(frame, npartitions=4), "t"
    X, y = frame[list("abc")].to_numpy(), frame["t"].to_numpy()
    return arrays.from_array(X, chunks=(611, 2)), arrays.from_array(y, chunks=900)


def fitted(estimator, X, y):
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eptr.NotPrivateWarning)
        warnings.simplefilter("ignore", eptr.NoReplyWarning)
        return clone(estimator).set_params(random_state=11).fit(X, y)


def public(model):
    """Everything that was fitted, by name, but the names of columns."""
    facts = {name: getattr(model, name) for name in ("n_features_in_", "classes_") if hasattr(model, name)}
    return facts | {field.name: getattr(model.fitted_, field.name) for field in fields(model.fitted_)}


@pytest.fixture(scope="module")
def expected():
    found = {}

    def of(name):
        if name not in found:
            frame = people(name)
            found[name] = public(fitted(CASES[name], frame[list("abc")].to_numpy(), frame["t"].to_numpy()))
        return found[name]

    return of


@pytest.mark.parametrize(("engine", "name"), [at(e, name) for e in ENGINES for name in ON_CLUSTERS.get(e, CASES)])
def test_the_same_bits_everywhere(engine, name, expected, request, tmp_path):
    model = fitted(CASES[name], *elsewhere(engine, people(name), request, tmp_path))
    wanted, got = expected(name), public(model)
    assert got.keys() == wanted.keys()
    for key, value in wanted.items():
        if name.startswith(THROUGH_EXP) and isinstance(value, (float, np.ndarray)):
            np.testing.assert_allclose(got[key], value, rtol=1e-9, atol=1e-9, err_msg=key)
        else:
            np.testing.assert_array_equal(got[key], value, err_msg=key)


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        at(engine, entrant.name)
        for engine in ("arrow files", "arrow table", "polars", "duckdb", "dask frame", "spark")
        for entrant in OURS
        if entrant.variant == "refined" and (engine not in CLUSTERS or f"{entrant.name}-drop" in READ)
    ],
)
def test_predict_selects_columns_by_name_and_ignores_the_target(engine, name, request, tmp_path):
    frame = people(name)
    model = fitted(CASES[name], frame, "t")
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    wanted = model.predict(frame[["a", "b", "c"]])
    np.testing.assert_array_equal(model.predict(frame), wanted)
    found = model.predict(elsewhere(engine, frame[["t", "c", "a", "b"]], request, tmp_path)[0])
    if engine == "spark":
        found = pd.DataFrame([r.asDict() for r in found.collect()]).sort_values(["a", "b", "c"])["prediction"]
        wanted = wanted[frame.sort_values(["a", "b", "c"]).index]
    if engine == "dask frame":
        assert found.name == "prediction"
        found = found.compute()
    found = np.asarray(found)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("engine", [*map(at, ENGINES)])
def test_what_is_not_a_sum_says_so(engine, request, tmp_path):
    tukey = next(e for e in RIVALS if not e.sums).make(random_state=0)
    with pytest.raises(eptr.InputError, match="not a sum over rows"):
        tukey.fit(*elsewhere(engine, people("LinearRegression-refined"), request, tmp_path))
