"""Groups that share a clip: one that lies beyond it, or has more than its part of what does, has an interval that says so."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import stats

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")


@pytest.mark.parametrize(("share", "times"), [(0.01, 20.0), (0.5, 1.0)])
def test_a_small_group_beyond_the_clip_of_all_has_an_interval_that_says_so(share, times):
    """Groups that are alike, beside it, have intervals as short as ever."""
    held, width, truth = [], [], np.exp(0.045) * np.array([1.0, times])
    for seed in range(15):
        rng = np.random.default_rng(seed)
        t = (rng.random(20_000) < share).astype(int)
        x = np.array([1.0, times])[t] * rng.lognormal(0.0, 0.3, size=20_000)
        found = stats.mean(x, (0, 5000), by=t, levels=[0, 1], epsilon=0.25, random_state=seed)
        held.append((found.low <= truth) & (truth <= found.high))
        width.append(found.high[0] - found.low[0])
    assert np.all(np.mean(held, axis=0) >= 0.8)
    assert np.median(width) < 0.04


@pytest.mark.parametrize(
    ("statistic", "share", "far", "wide", "truth"),
    [(stats.mean, 0.05, 400.0, 10.0, 400.0), (stats.variance, 0.1, 40.0, 200.0, 40_000.0)],
)
def test_a_group_unlike_the_others_in_all_columns_has_intervals_that_say_so(statistic, share, far, wide, truth):
    """Beyond the ball of all, but in no column alone; or far more spread than all."""
    held = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        t = (rng.random(5000) < share).astype(int)
        x = np.array([40.0, far])[t, None] + np.array([10.0, wide])[t, None] * rng.normal(size=(5000, 2))
        found = statistic(x, (-5000, 5000), by=t, levels=[0, 1], epsilon=1.0, random_state=seed)
        held.append((found.low[1] <= truth) & (truth <= found.high[1]))
    assert np.mean(held) >= 0.88


def test_a_mean_that_is_hardly_known_leaves_a_variance_that_may_be_small():
    """A group far from the centre: its squares are known, the square of its mean is not."""
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        t = (rng.random(5000) < 0.2).astype(int)
        x = np.array([40.0, 400.0])[t] + np.array([10.0, 100.0])[t] * rng.normal(size=5000)
        found = stats.variance(x, (0, 5000), by=t, levels=[0, 1], epsilon=0.25, random_state=seed)
        held.append(found.low[1] <= 10_000.0)
    assert np.mean(held) >= 0.86
