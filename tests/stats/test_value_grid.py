"""Cells of a grid hold every value once, in order; decimals are points."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.stats.value_grid import ValueGrid


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1e7), (-5.0, 5.0), (1000.0, 1020.0), (-1e-3, -1e-9), (-3e8, 0.1), (0.0, 1.0)]
)
def test_cells_hold_every_value_once_and_in_order(low, high):
    grid, rng = ValueGrid(low, high), np.random.default_rng(0)
    assert grid.points[0] == low
    assert grid.points[-1] == high
    assert np.all(np.diff(grid.points) > 0)
    assert 9_000 < len(grid.points) < 30_000
    assert len(grid.lengths) == grid.cells
    assert grid.lengths.min() > 0
    assert grid.lengths[[0, -1]].min() > 0.009 * grid.lengths.sum()
    values = np.concatenate(
        [rng.uniform(low, high, 500), rng.choice(grid.points, 100), [low - 1.0, high + 1.0, low, high]]
    )
    counts = grid.counts(values)
    assert counts.sum() == len(values)
    near = np.sort(np.clip(values, low, high))
    cells = np.repeat(np.arange(grid.cells), counts.astype(int))
    assert np.all(grid.points[cells // 2] <= near)
    assert np.all(near <= grid.points[(cells + 1) // 2])


def test_counts_add_up_over_blocks():
    grid, values = ValueGrid(0.0, 1e4), np.random.default_rng(0).lognormal(3, 2, 999)
    assert np.array_equal(grid.counts(values), sum(grid.counts(values[k::4]) for k in range(4)))


def test_decimals_are_points():
    points = set(ValueGrid(0.0, 120.0).points.tolist())
    assert {0.1, 0.3, 0.7, 37.5, 64.0, 99.99, 0.0123} <= points
    assert {30_000.0, 32_500.0, 1_250_000.0, 45.4} <= set(ValueGrid(0.0, 1e7).points.tolist())


def test_a_point_has_the_halves_of_its_gaps_and_all_cells_make_one_line():
    grid = ValueGrid(-0.9, 0.7)
    assert abs(grid.lengths.sum() * 2.0**-40 - 1.0) < 1e-6
    points, gaps = grid.lengths[::2], grid.lengths[1::2]
    halves = (gaps[:-1] + gaps[1:]) / 2.0
    plain = grid.points[1:-1] != 0.0
    assert np.all(abs(points[1:-1] - halves)[plain] <= 2.0)


@pytest.mark.parametrize("bound", [1e3, 1e4, 1e7])
def test_zero_inside_a_range_is_long_but_short_beside_what_lies_around_it(bound):
    """Columns around zero would be drawn to it, and many zeros away from it."""
    grid = ValueGrid(-bound, bound)
    zero = int(np.flatnonzero(grid.points == 0.0)[0])
    near = abs(grid.points) < bound / 3000.0
    around = grid.lengths[::2][near].sum() + grid.lengths[1::2][near[1:] & near[:-1]].sum()
    assert 1e-4 < grid.lengths[2 * zero] * 2.0**-40 < 0.05 * around * 2.0**-40


@pytest.mark.parametrize(
    ("low", "high", "share"),
    [(1, 5, 0.2), (0.5, 19.5, 0.2), (0, 168, 0.1 + 2 / 169), (0, 500, 0), (0, 1, 0)],
)
def test_whole_numbers_of_a_narrow_range_share_a_part_of_the_line(low, high, share):
    """Or all rows on one of them would have no more room than a twenty-thousandth, beside an empty stretch."""
    grid = ValueGrid(low, high)
    lengths = grid.lengths * 2.0**-40
    inside = lengths[::2][(grid.points == np.rint(grid.points)) & (low < grid.points) & (grid.points < high)]
    each = share / (np.floor(high) - np.ceil(low) + 1)
    assert abs(lengths.sum() - 1.0) < 1e-6
    assert np.all(inside >= each)
    assert np.all(inside < each + 0.001)
