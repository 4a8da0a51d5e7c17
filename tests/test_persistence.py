"""Stored models: those of the first schema, ranges and intervals, and what is no model."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eptr

from .estimators.test_catalogue import rows

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
STORED = json.loads((Path(__file__).parent / "stored" / "eptr-model-1.json").read_text())


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("version", ["0.1", "before 0.2"])
def test_models_of_the_first_schema_are_read(name, version):
    """Written by the releases that stored every name that ends in an underscore; 0.1 knew neither basis nor relation."""
    content = copy.deepcopy(STORED[name])
    release = content["model"]["fitted"]["release_"]
    if version == "0.1":
        for key in ("basis", "theorem", "relation"):
            del release["cost"][key]
        del release["release"]["neighbours"]
    model = eptr.from_json(json.dumps(content["model"]))
    # A kernel's sine and exponential have other last bits on other processors.
    assert model.predict([[0.1, 0.2], [-0.5, 0.5]]).tolist() == pytest.approx(content["predicts"], rel=1e-12)
    assert model.released_ is content["released"]
    assert model.release_.rows_per_person == 1
    assert eptr.from_json(model.to_json()).to_json() == model.to_json()


@pytest.mark.parametrize("x_range", [(-2, 2), [(-2, 2), (-3.0, 3)], {"a": (-2, 2), "b": (-3, 3)}], ids=type)
def test_ranges_and_intervals_are_stored_with_a_model(x_range):
    X, y = rows()
    model = eptr.LinearRegression(2.0, x_range=x_range, y_range=(-4, 4)).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    again = eptr.from_json(model.to_json())
    assert again.x_range == x_range
    assert str(again.summary()) == str(model.summary())
    np.testing.assert_array_equal(again.conf_int(0.8), model.conf_int(0.8))
    assert again.undetermined_.dtype == bool
    assert again.to_json() == model.to_json()
    later = again.set_params(random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert later.n_features_in_ == 2


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"schema": "eptr-model/9", "model": "X"}', '{"schema": "eptr-model/2", "model": "os"}']
)
def test_foreign_json_is_a_typed_error(text):
    with pytest.raises(eptr.InputError, match="model"):
        eptr.from_json(text)
