"""Where few gradients are longer: read off a noisy histogram, within a factor of the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr.estimators.tail import RATIO, Tail

EDGES = 4096.0 * RATIO ** (np.arange(28) - 27.0)
N = 30_000


def two_lobes(rng):
    """Zeros and ones: a tenth of the rows have gradients nine times as long, with nothing between."""
    return np.where(rng.random(N) < 0.1, 9.0, 1.0) * np.abs(1.0 + 0.2 * rng.normal(size=N))


SHAPES = {
    "normal": lambda rng: np.abs(rng.normal(size=N)) * 3.0,
    "lognormal": lambda rng: 3.0 * np.exp(rng.normal(size=N)),
    "power law": lambda rng: 3.0 * rng.pareto(3.0, size=N) + 3.0,
    "two lobes": two_lobes,
}


def tail(size, noise, rng):
    counts = np.bincount(np.minimum(np.searchsorted(EDGES, size), len(EDGES) - 1), minlength=len(EDGES))
    return Tail(EDGES, counts + noise * rng.normal(size=len(EDGES)), noise)


# The noise is of the size of the counts in the last cells: 10 and 40 are those of epsilon 4 and of epsilon 1.
@pytest.mark.parametrize(("noise", "outside", "factor"), [(0.01, 20.0, 1.25), (10.0, 60.0, 1.5), (40.0, 130.0, 1.6)])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_level_is_near_the_size_that_so_many_rows_exceed(shape, noise, outside, factor):
    ratios = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        size = SHAPES[shape](rng)
        ratios.append(tail(size, noise, rng).level(outside) / np.sort(size)[-int(outside)])
    assert 1.0 / factor < np.quantile(ratios, 0.1) < np.quantile(ratios, 0.9) < factor
    assert 1.0 / 2.0 < min(ratios) < max(ratios) < 2.0


def test_levels_fall_with_the_number_of_rows_beyond_them():
    rng = np.random.default_rng(0)
    found = tail(SHAPES["lognormal"](rng), 10.0, rng)
    levels = [found.level(outside) for outside in (1.0, 10.0, 100.0, 1000.0, 10_000.0, 1e9)]
    assert levels == sorted(levels, reverse=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_over_rows_follow_from_the_cells(shape):
    rng = np.random.default_rng(0)
    size = SHAPES[shape](rng)
    found, level = tail(size, 0.01, rng), float(np.quantile(size, 0.7))
    assert found.square(level) == pytest.approx(np.sum(np.minimum(size, level) ** 2), rel=0.15)
    assert found.excess(level, 4.0 * level) == pytest.approx(np.sum(np.clip(size - level, 0, 3.0 * level)), rel=0.35)
    assert found.excess(level) >= found.excess(level, 4.0 * level)


@pytest.mark.parametrize("counts", [np.zeros(28), -np.ones(28), np.eye(28)[0] * 100.0, np.eye(28)[27] * 100.0])
def test_nothing_to_see_is_no_reason_to_fail(counts):
    found = Tail(EDGES, counts, 10.0)
    assert EDGES[0] / RATIO <= found.level(5.0) <= EDGES[-1]
    assert all(math.isfinite(v) and v >= 0.0 for v in (found.square(), found.excess(1.0), found.square(2.0)))
