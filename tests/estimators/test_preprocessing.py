"""Scalers and encoders know public numbers alone: names, odd values, what makes no sense."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import eptr


def test_set_output_gives_frames():
    frame = pd.DataFrame(np.eye(2), columns=["a", "b"])
    out = eptr.PublicScaler(scale=2.0).set_output(transform="pandas").fit_transform(frame)
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
