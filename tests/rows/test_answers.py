"""A model is told which columns it needs and gets contiguous matrices without gaps, block by block."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import eptr
from eptr.rows.answers import OfBatches, answered, answers, blocks, later, needed, stays_there
from eptr.rows.arrow import open_arrow
from eptr.rows.task import Model

N = 70_000  # more than a block, and more than a batch
TABLE = pa.table({"t": ["odd"] * N, "b": np.arange(N), "a": np.arange(N) % 7.0})


def seen(x):
    assert x.flags.c_contiguous
    assert x.dtype == np.float64
    return x @ [1.0, 0.5]


MODEL = Model("predict", seen, None, ["a", "b"], np.dtype(float))


def test_columns_are_found_by_name_and_rows_stay_in_order():
    found = answered(open_arrow(TABLE), MODEL)
    np.testing.assert_array_equal(found, np.arange(N) % 7.0 + 0.5 * np.arange(N))


def test_columns_that_a_model_needs_are_named():
    assert needed(MODEL, ["t", "b", "a"]) == ["a", "b"]
    with pytest.raises(
        eptr.InputError, match="'b', a column that the model was fitted with, is not among the 2 columns"
    ):
        needed(MODEL, ["a", "private"])
    with pytest.raises(eptr.InputError, match="without column names"):
        needed(Model("predict", seen, None), ["a", "b"])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_there_is_no_prediction_for_a_gap(bad):
    with pytest.raises(eptr.InputError, match="no prediction for such a row"):
        answers(MODEL, np.array([[1.0, bad]]))


def test_a_fault_travels_as_a_sentence():
    batch = pa.record_batch({"a": [1.0, None], "b": [1.0, 2.0]})
    parts, fault = OfBatches(partial(blocks, MODEL, ["a", "b"]))([batch])
    assert parts == []
    assert "no prediction for such a row" in fault


def test_no_rows_are_refused():
    with pytest.raises(eptr.InputError, match="no rows to predict"):
        answered(open_arrow(TABLE.slice(0, 0)), MODEL)


def test_only_one_value_per_row_can_be_computed_later():
    assert later(MODEL) == np.float64
    with pytest.raises(eptr.InputError, match="predict_proba needs rows in memory"):
        later(Model("predict_proba", seen, None))


def test_scores_need_rows_here():
    with pytest.raises(eptr.InputError, match="rows on this machine"):
        stays_there(None, "t")
