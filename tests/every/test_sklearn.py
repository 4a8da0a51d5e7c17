"""Citizens of scikit-learn: its own checks, on every strategy of ours and one form of every rival, with no expected failure."""

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
from eptr.rivals.catalogue import RIVALS

from ..rivals.test_catalogue import instance

WIDER = {"KernelRegressor": {"domain": (-5, 5), "bandwidth": 4.0}}  # the checks have few rows on many columns
ESTIMATORS = [entrant.example(20.0, 20.0, **WIDER.get(entrant.estimator.__name__, {})) for entrant in OURS]
TESTED = [estimator for estimator, entrant in zip(ESTIMATORS, OURS, strict=True) if entrant.noise == "scaled"]
RANGED = eptr.BayesClassifier(x_range=(-20, 20), covariance="shared")

FORMS = [instance(entrant) for entrant in {e.estimator: e for e in reversed(RIVALS)}.values()]  # one of each


@parametrize_with_checks([*ESTIMATORS, RANGED, eptr.PublicScaler(), *FORMS])
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
