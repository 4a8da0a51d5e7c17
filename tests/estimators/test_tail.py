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


# The noise of a cell and the rows beyond the last level at epsilon 4 and at epsilon 1 (delta 1e-6, four numbers).
FITS = [(7.5, 16.0), (30.0, 68.0)]


@pytest.mark.parametrize(("noise", "outside"), FITS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_level_is_near_the_size_that_so_many_rows_exceed(shape, noise, outside):
    ratios = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        size = SHAPES[shape](rng)
        ratios.append(tail(size, noise, rng).level(outside) / np.sort(size)[-int(outside)])
    low, high = np.quantile(ratios, [0.05, 0.9])
    assert 0.7 < low < high < 2.1
    assert min(ratios) > 0.5
    assert np.mean(np.array(ratios) > 2.5) < 0.02  # an empty cell that noise has filled


@pytest.mark.parametrize("shape", SHAPES)
def test_without_noise_a_level_is_not_above_the_size_it_looks_for(shape):
    rng = np.random.default_rng(0)
    size = SHAPES[shape](rng)
    assert 0.4 < tail(size, 0.01, rng).level(20.0) / np.sort(size)[-20] < 1.25


def test_levels_fall_with_the_number_of_rows_beyond_them():
    rng = np.random.default_rng(0)
    found = tail(SHAPES["lognormal"](rng), 10.0, rng)
    levels = [found.level(outside) for outside in (1.0, 10.0, 100.0, 1000.0, 10_000.0, 1e9)]
    assert levels == sorted(levels, reverse=True)


@pytest.mark.parametrize("shape", ["lognormal", "power law"])
def test_sums_over_rows_follow_from_the_cells(shape):
    rng = np.random.default_rng(0)
    size = SHAPES[shape](rng)
    found, level = tail(size, 10.0, rng), float(np.quantile(size, 0.7))
    assert found.square(level) == pytest.approx(np.sum(np.minimum(size, level) ** 2), rel=0.15)
    assert found.excess(level, 4.0 * level) == pytest.approx(np.sum(np.clip(size - level, 0, 3.0 * level)), rel=0.25)
    assert found.excess(level) >= found.excess(level, 4.0 * level)


@pytest.mark.parametrize("counts", [np.zeros(28), -np.ones(28), np.eye(28)[0] * 100.0, np.eye(28)[27] * 100.0])
def test_nothing_to_see_is_no_reason_to_fail(counts):
    found = Tail(EDGES, counts, 10.0)
    assert EDGES[0] / RATIO <= found.level(5.0) <= EDGES[-1]
    assert all(math.isfinite(v) and v >= 0.0 for v in (found.square(), found.excess(1.0), found.square(2.0)))


def test_as_many_rows_are_beyond_a_level_as_were_asked_for():
    rng = np.random.default_rng(0)
    found = tail(SHAPES["lognormal"](rng), 7.5, rng)
    for outside in (5.0, 16.0, 68.0, 300.0):
        assert found.beyond(found.level(outside)) == pytest.approx(outside, rel=1e-9)


def test_a_count_finds_a_hump_that_a_spike_hides():
    """92 of 100 rows are alike, the others some thirty times as long, spread over many cells."""
    ratios = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        size = np.where(
            rng.random(2000) < 0.08, 30.0 * np.exp(0.8 * rng.normal(size=2000)), np.exp(0.3 * rng.normal(size=2000))
        )
        found, last = tail(size, 8.4, rng), 3.0
        told = found.counted(last, np.sum(size > last) + 8.4 * rng.normal(), 8.4)
        assert told.beyond(last) > 80
        assert np.array_equal(told.counts[EDGES < 2.0], found.counts[EDGES < 2.0])
        ratios.append(told.level(19.0) / np.sort(size)[-19])
    low, middle, high = np.quantile(ratios, [0.05, 0.5, 0.9])
    assert 0.6 < low < middle < 1.8  # too high a level costs noise, one that is too low a bias
    assert high < 3.0
