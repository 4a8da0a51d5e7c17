"""Rank errors are a walk that comes home, and intervals of ranks have their tails."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr.stats.rank_interval import RankError, interval_ranks


def test_rank_errors_are_a_walk_that_comes_home():
    """Against simulated walks, weighted by how near they come home."""
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.laplace(scale=3.3, size=(400_000, 4)), axis=1)  # a tenth for uneven gaps
    weight = np.exp(-np.abs(walks[:, 3]) / 3.3)  # the last of five steps
    for step in (1, 2, 4):
        law = RankError.of(step, 5, 3.0)
        assert law.sd == pytest.approx(math.sqrt(np.average(walks[:, step - 1] ** 2, weights=weight)), rel=0.03)
        assert law.chance.sum() == pytest.approx(1.0)
        assert law.off @ law.chance == pytest.approx(0.0, abs=0.1)
    assert RankError.of(2, 5, 3.0).sd == pytest.approx(RankError.of(3, 5, 3.0).sd, rel=1e-6)


def test_interval_ranks_have_their_tails():
    rng = np.random.default_rng(0)
    low, high = interval_ranks(2, 4, 2.0, 1000, 0.3, 0.9)
    errors = [rng.choice(law.off, 200_000, p=law.chance) for law in (RankError.of(k, 4, 2.0) for k in (1, 3))]
    own = rng.binomial(1000, 0.3, 200_000)
    for off in (low + errors[0] - own, own - high - errors[1]):
        assert (
            0.042 < np.mean(off > 0) + np.mean(off == 0) / 2 < 0.0515
        )  # in the same gap it is as likely above as below
    assert interval_ranks(2, 4, 2.0, 20, 0.01, 0.95)[0] == 0
