"""Citizens of scikit-learn: its own checks, on every estimator and strategy, with no expected failure."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import eptr
from eptr.estimators.catalogue import OURS

WIDER = {"KernelRegressor": {"domain": (-5, 5), "bandwidth": 1.0}}  # the checks have few rows on many columns
ESTIMATORS = [entrant.example(20.0, 20.0, **WIDER.get(entrant.estimator.__name__, {})) for entrant in OURS]


RANGED = eptr.BayesClassifier(x_range=(-20, 20), covariance="shared")


@parametrize_with_checks([*ESTIMATORS, RANGED, eptr.PublicScaler()])
def test_common_checks(estimator, check):
    check(estimator)


def identity(estimator):
    return f"{type(estimator).__name__}-{estimator.strategy}"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    return X, X[:, 0] + 0.1 * rng.normal(size=600)


def target(estimator, y):
    return (y > 0).astype(int) if is_classifier(estimator) else y


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=identity)
def test_clone_and_pipeline(estimator, rows):
    X, y = rows
    model = clone(estimator).set_params(random_state=1)
    pipe = make_pipeline(eptr.PublicScaler(scale=2.0), model).fit(X, target(estimator, y))
    assert pipe.predict(X).shape == (600,)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=identity)
@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_named_columns(estimator, table, rows):
    X, y = rows
    y = target(estimator, y)
    frame = table({"a": X[:, 0], "b": X[:, 1], "target": y})
    by_name = clone(estimator).set_params(random_state=1).fit(frame, y="target")
    by_array = clone(estimator).set_params(random_state=1).fit(X, y)
    assert list(by_name.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(by_name.predict(frame[["a", "b"]]), by_array.predict(X))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=identity)
def test_sample_weight_and_multi_output_are_refused_by_name(estimator, rows):
    X, y = rows
    y = target(estimator, y)
    with pytest.raises(eptr.InputError, match="sample_weight"):
        clone(estimator).fit(X, y, sample_weight=np.ones(600))
    with pytest.raises(ValueError, match="y"):
        clone(estimator).fit(X, np.column_stack([y, y]))


def test_set_output_gives_frames(rows):
    X, _ = rows
    out = eptr.PublicScaler(scale=2.0).set_output(transform="pandas").fit_transform(pd.DataFrame(X, columns=["a", "b"]))
    assert list(out.columns) == ["a", "b"]


def test_encoder_names_its_columns():
    encoder = eptr.PublicEncoder([["a", "b", "c"]], drop_first=True, missing="level").set_output(transform="pandas")
    out = encoder.fit_transform(pd.DataFrame({"kind": ["a", "b", "z", None]}))
    assert out.to_numpy().tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert list(encoder.get_feature_names_out(["kind"])) == ["kind=b", "kind=c", "kind=(other)"]


@pytest.mark.parametrize("odd", ["?", None, np.nan, "", 10**400, [1]])
def test_encoder_never_makes_an_odd_value_the_reference(odd):
    frame = pd.DataFrame({"kind": pd.Series(["a", "b", odd], dtype=object)})
    with pytest.raises(eptr.DomainError, match="column 1 of X holds a level that is not declared"):
        eptr.PublicEncoder([["a", "b"]], drop_first=True).fit_transform(frame)
    dropped = eptr.PublicEncoder([["a", "b"]], drop_first=True, missing="drop").fit_transform(frame)
    np.testing.assert_array_equal(dropped, [[0], [1], [np.nan]])


@pytest.mark.parametrize(
    "column",
    [[1, 2], ["1", "2"], [1.0, 2.0], np.array([1, 2]), pd.Series(["1", 2], dtype=object), pd.array([1, 2], "Int64")],
)
@pytest.mark.parametrize("levels", [[1, 2], ["1", "2"]])
def test_encoder_reads_numbers_and_text_alike(column, levels):
    encoded = eptr.PublicEncoder([levels]).fit_transform(pd.DataFrame({"kind": column}))
    np.testing.assert_array_equal(encoded, np.eye(2))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: eptr.PublicScaler.from_ranges([(1, 1)]), "ranges"),
        (lambda: eptr.PublicScaler.from_ranges([("a", 1)]), "ranges"),
        (lambda: eptr.PublicScaler(scale=0.0).fit([[1.0]]), "scale"),
        (lambda: eptr.PublicScaler(center=[1.0, 2.0, 3.0]).fit([[1.0, 2.0]]), "center"),
        (lambda: eptr.PublicEncoder([["a"]]).fit([["a", "b"]]), "levels"),
        (lambda: eptr.PublicEncoder([["a", "a"]]).fit([["a"]]), "levels"),
        (lambda: eptr.PublicEncoder([["1", 2]]).fit([["1"]]), "levels"),
        (lambda: eptr.PublicEncoder([["1", "1.0"]]).fit([["1"]]), "levels"),
        (lambda: eptr.PublicEncoder([["a", None]]).fit([["a"]]), "levels"),
        (lambda: eptr.PublicEncoder([["a", "b"]], missing="zero").fit([["a"]]), "missing"),
        (lambda: eptr.PublicEncoder([["a"], ["b"]]).fit([["a", "b"], ["a"]]), "X must have"),
    ],
)
def test_bad_preprocessing_is_a_typed_error(make, name):
    with pytest.raises(eptr.InputError, match=name):
        make()
