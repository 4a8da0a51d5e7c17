"""What rivals share: ranges that rows are mapped to and back from, and intercepts in their own units."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from eptr import rivals
from eptr.audit.replay import Replay
from eptr.rivals.base import Frame
from eptr.rivals.catalogue import RIVALS

FUNCTIONS = pytest.mark.parametrize("entrant", [e for e in RIVALS if e.task == "function"], ids=lambda e: e.name)


def test_ranges_are_mapped_onto_minus_one_to_one_and_no_further():
    frame = Frame([(-2.0, 2.0)], 2.0, 1.0)
    np.testing.assert_array_equal(frame.target(np.array([-9.0, 1.0, 1.01, 2.5, 3.0, 9.0])), [-1, -1, -0.99, 0.5, 1, 1])
    np.testing.assert_array_equal(
        frame.unit(np.array([[-9.0], [-2.0], [1.0], [2.0], [9.0]])).ravel(), [0, 0, 0.75, 1, 1]
    )


def test_predictions_reach_both_ends_of_the_range_and_stay_inside():
    """Far more noise than rows: somewhere the function is beyond either end."""
    X = np.linspace(0, 1, 200)[:, None]
    model = rivals.WaveletEstimator(0.01, y_bound=(1.0, 3.0))
    ends = [model.set_params(random_state=seed).fit(X, np.full(200, 2.0)).predict(X) for seed in range(9)]
    assert (np.min(ends), np.max(ends)) == (1.0, 3.0)


@FUNCTIONS
def test_dropped_rows_add_nothing_where_zero_is_not_the_middle_of_the_range(entrant):
    """A dropped row is zeroed, and zero is a response like any other there."""
    noise = Replay(0)
    model = entrant.make(domain=(-1, 1), y_bound=(-1.0, 3.0), invalid="drop", random_state=noise)
    model.fit(np.full((12, 1), np.nan), np.full(12, 2.0))
    assert all(np.all(call.values == 0.0) for call in noise.calls)


def test_intercepts_are_told_in_the_units_of_the_response():
    X = np.random.default_rng(0).uniform(-5, 5, size=(2000, 2))
    model = rivals.AdaSSP(1e4, 1e-6, x_bound=8.0, y_bound=20.0).fit(X, 7.0 + X[:, 0])
    assert [*model.coef_, model.intercept_] == pytest.approx([1.0, 0.0, 7.0], abs=0.02)


def test_every_rival_promises_the_same_unless_it_is_told():
    assert {(e.estimator().epsilon, e.estimator().delta) for e in RIVALS} == {(1.0, 1e-6)}


@pytest.mark.parametrize(("form", "longest"), [("repaired", 2.0), ("literature", 3.0)])
def test_noisy_counts_become_shares_and_means_stay_in_the_ball_unless_published_without_one(form, longest):
    counts, means = np.array([3.0, 1.0]), np.array([[3.0, 0.0], [0.0, 0.5]])
    found = rivals.DPNB(form=form)._answer(counts, means, SimpleNamespace(x_bound=2.0), 0.1)
    assert found.priors.tolist() == [0.75, 0.25]
    assert found.means.tolist() == [[longest, 0.0], [0.0, 0.5]]
