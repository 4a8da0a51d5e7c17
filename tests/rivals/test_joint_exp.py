"""JointExp and one level by one, beside our own quantiles."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import rivals, stats
from eptr.rivals.catalogue import OF_QUANTILES


@pytest.mark.parametrize("name", OF_QUANTILES)
def test_rivals_are_near_the_truth_and_say_what_they_rest_on(name):
    x, levels = np.random.default_rng(0).normal(size=2000), [0.1, 0.25, 0.5, 0.75, 0.9]
    found = OF_QUANTILES[name](x, levels, (-50, 50), epsilon=2.0)
    ranks = np.searchsorted(np.sort(x), found.value)
    assert np.abs(ranks - 2000 * np.array(levels)).max() < 120
    assert np.all(np.diff(found.value) >= 0)
    assert np.isnan(found.low).all()
    assert (found.release.delta, found.release.private) == (0.0, True)
    assert found.release.basis == ("cited" if name == "ApproximateQuantiles" else "proven")


def test_ours_misclassifies_no_more_points_than_jointexp_and_far_fewer_of_whole_numbers():
    """The same mechanism on even gaps; make bench-quantiles has many more runs."""
    levels, errors = np.arange(1, 10) / 10, np.zeros((2, 2))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        for k, (x, step) in enumerate([(rng.lognormal(10, 1, 1000), None), (rng.poisson(20, 1000).astype(float), 1)]):
            bounds = (0, 1e7) if k == 0 else (0, 200)
            ours = stats.quantiles(x, levels, bounds, epsilon=1.0, step=step, level=None, random_state=seed)
            theirs = rivals.JointExp(x, levels, bounds, epsilon=1.0, random_state=seed)
            for j, found in enumerate((ours.value, theirs.value)):
                below, until = (np.searchsorted(np.sort(x), found, side) for side in ("left", "right"))
                errors[k, j] += np.maximum(0, np.maximum(below - 1000 * levels, 1000 * levels - until)).mean() / 12
    assert errors[0, 0] < 1.4 * errors[0, 1]
    assert errors[1, 0] < 0.3 * errors[1, 1]


def test_ties_and_ends_are_answered():
    for method in OF_QUANTILES.values():
        found = method(np.r_[np.zeros(500), np.full(500, 7.0)], [0.25, 0.5, 0.75], (0, 7), epsilon=5.0)
        assert np.all((found.value >= 0) & (found.value <= 7))
