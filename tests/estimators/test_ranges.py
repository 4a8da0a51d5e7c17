"""Ranges that are bought: a row is in one cell of each column, wherever it lies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from eptr import AdditiveRegressor, BayesClassifier, LinearRegression, LogisticRegression
from eptr.errors import BoundError
from eptr.estimators.ranges import POWERS, buy_ranges, column_ranges, column_shares
from eptr.privacy.unit import Unit
from eptr.rows.memory import MemoryRows

from ..silent import Silent


def bought(x):
    seen = Silent(size=0.1)
    return *buy_ranges(MemoryRows(np.array(x), drop_invalid=True), seen, 1.0), seen


def test_a_row_is_in_one_cell_of_each_column_and_moves_them_all():
    """From one end to the other, or away: that is paid for, and no less."""
    moved = [bought(x)[2] for x in ([[-1e300, 1e-300]], [[1e300, 3.0]], [[np.nan, 0.0]])]
    assert [one.values.sum() for one in moved] == [2.0, 2.0, 0.0]
    one, two, gone = (seen.values for seen in moved)
    contribution = moved[0].contribution
    assert np.linalg.norm(one - two) == pytest.approx(contribution.sensitivity(Unit("replace-one")), rel=1e-12)
    assert np.linalg.norm(one - gone) == pytest.approx(contribution.sensitivity(Unit("zero-out")), rel=1e-12)
    assert np.linalg.norm(one - two) <= contribution.sensitivity(Unit("replace-one"))


def test_ranges_end_where_the_last_cells_that_are_seen_end():
    low, high, _ = bought([[-3.0, 0.0, 1e300]] * 5 + [[5.0, 0.0, 1.0]] * 5)
    assert low.tolist() == [-4.0, -1.0, 0.0]
    assert high.tolist() == [8.0, 1.0, 2.0 * POWERS[-1]]


def test_numbers_in_a_dict_of_ranges_are_those_of_columns_whatever_their_order():
    low, high = column_ranges({1: (0, 30), 0: (-1, 110)}, 2, None)
    assert (low.tolist(), high.tolist()) == ([-1.0, 0.0], [110.0, 30.0])
    assert column_shares({1: (0, 1), 0: (0, 5)}, 2, {1: 0.1}) == {1: 0.1}
    with pytest.raises(BoundError, match="lacks 1 of the 2 columns of X and has 1 that X does not have: 5;"):
        column_ranges({0: (0, 1), 5: (0, 1)}, 2, None)


def test_every_estimator_reads_such_a_dict_alike():
    rng = np.random.default_rng(0)
    x = rng.uniform([0, 0], [100, 1], size=(400, 2))
    y, label = x @ [0.01, 1.0], x[:, 1] > 0.5
    listed, numbered = [(0, 100), (0, 1)], {1: (0, 1), 0: (0, 100)}
    makes = [
        (LinearRegression(y_range=(0, 3)), y),
        (AdditiveRegressor(y_range=(0, 3)), y),
        (LogisticRegression(classes=[0, 1]), label),
        (BayesClassifier(classes=[0, 1], covariance="shared"), label),
    ]
    for model, target in makes:
        found = [
            clone(model).set_params(x_range=ranges, random_state=0).fit(x, target).release_.value
            for ranges in (listed, numbered)
        ]
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ({"age": (0, 1), 1: (0, 1)}, "must name columns by text, or by their numbers"),
        ("private", "x_bound='private' buys ranges"),
        ([(0, 1), (5, 2)], r"x_range\[1\] must be a pair of finite numbers with low < high, got \(5, 2\)"),
        ({"age": (0, 1), "wage": (5, 2)}, r"x_range\['wage'\] must be a pair of finite numbers"),
        ((5, 2), "x_range must be a pair of finite numbers"),
        ({"age": (0, 1)}, "has 1 entries, but X has 2 columns"),
        (pd.DataFrame({"age": (0, 110), "sex": (0, 1)}), "a list of pairs, or a dict of pairs, got DataFrame"),
    ],
)
def test_ranges_that_would_be_misread_are_refused(ranges, told):
    with pytest.raises(BoundError, match=told):
        column_ranges(ranges, 2, None)
