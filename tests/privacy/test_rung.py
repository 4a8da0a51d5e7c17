"""From a safety statistic to a rung: neighbours are one rung apart at most, whatever the errors of computation do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr.privacy.rung import TOP, ladder_rung


@pytest.mark.parametrize("error", [0.0, 0.3, 40.0], ids=lambda e: f"error {e}")
@pytest.mark.parametrize("threshold", [-3.0, 0.0, 7.0, 1e9])
def test_neighbours_are_one_rung_apart_and_rungs_are_no_coarser_than_that(threshold, error):
    """Two true values L apart, one computed too high and one too low by all of the error: L + 2 err is one rung."""
    lipschitz, rng = 2.0, np.random.default_rng(0)
    step = lipschitz + 2.0 * error
    found = set()
    for low in threshold + error + step * rng.uniform(-1.5, 40.0, size=4000):
        rungs = [ladder_rung(low + share * step, threshold, lipschitz, error) for share in (0.0, 0.999, 1.0)]
        found.add(rungs[2] - rungs[0])
        assert rungs == sorted(rungs)
        expected = math.floor((low - threshold - error) / step)
        assert rungs[0] in ({expected, expected - 1} if expected > 0 else {max(expected, -1)})
    assert found == {0, 1}


def test_what_is_below_the_threshold_or_no_number_is_on_no_rung_and_the_top_is_the_top():
    for safety in (-math.inf, math.nan, 4.9, 5.05):
        assert ladder_rung(safety, 5.0, 1.0, 0.1) == -1  # the threshold itself is raised by the error
    assert ladder_rung(5.2, 5.0, 1.0, 0.1) == 0
    for safety in (math.inf, 1e300, 1e9):
        assert ladder_rung(safety, 5.0, 1.0) == TOP
