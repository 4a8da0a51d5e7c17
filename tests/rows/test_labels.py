"""Labels are looked up exactly, and a set of them that would be ambiguous is refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eptr
from eptr.rows.labels import Labels, distinct, sorted_labels

X = np.random.default_rng(4).normal(size=(60, 2))
CLASS = (X[:, 0] > 0).astype(int)


@given(
    st.lists(st.integers(-(2**70), 2**70)), st.lists(st.integers(-(2**70), 2**70), min_size=2, max_size=9, unique=True)
)
def test_arrays_of_numbers_are_looked_up_exactly(values, classes):
    labels = Labels(sorted_labels(classes))
    wanted = [sorted(classes).index(v) if v in classes else -1 for v in values]
    assert labels.codes(values).tolist() == wanted
    for kind in (np.int64, np.uint64):
        inside = [k for k, v in enumerate(values) if np.iinfo(kind).min <= v <= np.iinfo(kind).max]
        assert labels.codes(np.array([values[k] for k in inside], dtype=kind)).tolist() == [wanted[k] for k in inside]


def test_labels_beyond_two_to_the_53_keep_their_identity():
    big = [2**53, 2**53 + 1]
    for y in (
        big * 2,
        np.array(big * 2),
        np.array(big * 2, dtype=object),
        pd.array([*big, *big], "Int64"),
        list(map(str, big * 2)),
    ):
        assert Labels(sorted_labels(big)).codes(y).tolist() == [0, 1, 0, 1]
    # A float beyond 2^53 does not say which whole number it was; in every container it is none of them.
    for floats in (
        np.array(big, dtype=float),
        [float(v) for v in big],
        pd.Series([*big, None])[:2],
        pl.Series(big, dtype=pl.Float64),
    ):
        assert Labels(sorted_labels(big)).codes(floats).tolist() == [-1, -1]
    assert Labels(sorted_labels([-v for v in big])).codes(-np.array(big, dtype=float)).tolist() == [-1, -1]
    assert Labels(sorted_labels([0.5, *(-v for v in big)])).codes([-v for v in big]).tolist() == [1, 0]
    for hole in (pd.Series(pd.Categorical([*big, None])), pl.Series([*big, None])):
        assert Labels(sorted_labels(big)).codes(hole).tolist() == [0, 1, -1]
    assert Labels(sorted_labels([0.5, 2**63 + 1])).codes(np.array([0.5, 2.0**63])).tolist() == [0, -1]
    assert Labels(sorted_labels([0.5, 2.0**63])).codes(np.array([0.5, 2.0**63])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 1, "other"], "one kind"), (["1", "1.0"], "differ"), (["True", "1"], "differ"), ([0, None], "missing"),
        ([0, math.nan], "missing"), (["a", "nan"], "missing"), ([0, [1]], "missing"), ([3, 3], "two labels"),
    ],
)  # fmt: skip
def test_label_sets_that_would_be_ambiguous_are_refused(classes, message):
    with pytest.raises(eptr.InputError, match=message):
        eptr.BayesClassifier(x_bound=3.0, classes=classes).fit(X, CLASS)


def test_public_labels_of_mixed_kinds_are_refused():
    assert distinct([0, 1, None, math.nan, 1.0]) == [0, 1.0]
    with pytest.raises(eptr.InputError, match="one kind"):
        eptr.BayesClassifier(x_bound=3.0).fit(X, [*CLASS[:-1].tolist(), "?"])


@pytest.mark.parametrize(
    ("classes", "column", "codes"),
    [
        ([0, 1], np.array(["1", "0", "x"]), [1, 0, -1]),
        ([0, 1], np.zeros(2, "datetime64[ns]"), [-1, -1]),
        ([0, 1], np.array([-5, 1]), [-1, 1]),
        ([-1, 0], np.array([2**64 - 1, 0], dtype=np.uint64), [-1, 1]),
        ([0.1, 0.2], np.array(["0.1", "0.2"], dtype=np.longdouble), [0, 1]),
    ],
    ids=["text", "dates", "below", "beyond int64", "long double"],
)
def test_arrays_of_every_type_are_cells_one_by_one(classes, column, codes):
    assert Labels(sorted_labels(classes)).codes(column).tolist() == codes


def test_labels_that_occur_are_finite_and_no_categories_without_rows():
    assert distinct(np.array([1.0, math.nan, math.inf, 0.0])) == [0.0, 1.0]
    assert distinct(pd.Categorical(["a", "a"], categories=["a", "b"])) == ["a"]
