"""The simulations that judge least squares: what they call the truth is where ordinary least squares goes."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.life import SETTINGS, covered, ratio, robust


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_the_population_s_coefficient_is_where_least_squares_goes(setting):
    X, y = setting.sample(200_000, seed=5)
    beta, errors = robust(X, y)
    assert np.abs((beta - setting.truth()) / errors).max() < 4.5
    assert np.mean(np.abs(y) > setting.y_bound) < 1e-3  # bounds of somebody who knows the outcome


def test_robust_errors_are_those_of_the_plain_formula():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + [1000.0, 0.0]
    y = X[:, 1] * (1.0 + rng.normal(size=400))
    wide = np.column_stack([X, np.ones(400)])
    beta = np.linalg.lstsq(wide, y, rcond=None)[0]
    bread = np.linalg.inv(wide.T @ wide)
    meat = (wide * ((y - wide @ beta) ** 2)[:, None]).T @ wide
    expected = np.sqrt(np.diag(bread @ meat @ bread) * 400 / 397)
    for found, wanted in zip(robust(X, y), (beta, expected), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_ratio_is_bounded_by_paired_runs():
    rng = np.random.default_rng(0)
    theirs = rng.chisquare(4, size=300)
    middle, low, high = ratio(1.44 * theirs, theirs)
    assert low == pytest.approx(1.2)
    assert middle == pytest.approx(1.2)
    middle, low, high = ratio(rng.chisquare(4, size=300), theirs)
    assert 0.8 < low < middle < high < 1.2


def test_an_interval_that_says_nothing_holds_everything_and_is_counted():
    runs = np.array(
        [[[0.0], [-1.0], [1.0]], [[0.0], [1.0], [2.0]], [[0.0], [np.nan], [np.nan]], [[0.0], [-1.96], [1.96]]]
    )
    held, width, told = covered(runs)
    assert held == pytest.approx(0.75)
    assert told == 0.75
    assert width == pytest.approx((1.0 + 2.0 / 3.92) / 2)
