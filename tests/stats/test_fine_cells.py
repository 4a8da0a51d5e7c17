"""Fine cells: every float in one, in order, read back; they fill their gaps; lines of them are the same whatever was asked."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from eptr import InputError
from eptr.privacy.cell_line import CellLine, Occupied
from eptr.rows.engine import merge
from eptr.stats.fine_cells import FineCells
from eptr.stats.value_grid import ValueGrid

RANGES = [
    (0.0, 1e6, None),
    (-90.0, 90.0, None),
    (0.0, 2e9, 1.0),
    (0.0, 1e6, 7.0),
    (1e9, 1e9 + 1, None),
    (-3e8, 0.1, 0.1),
]


def column(low, high, step):
    rng = np.random.default_rng(0)
    middle = low + 0.3 * (high - low)
    values = [
        rng.uniform(low, high, 300),
        rng.normal(middle, 1e-6 * (high - low), 300),
        ValueGrid(low, high).points[::999],
    ]
    values = np.concatenate([*values, np.round(rng.uniform(low, high, 50)), [low - 1.0, high + 1.0, low, high]])
    return values if step is None else np.rint(values / step) * step


@pytest.mark.parametrize(("low", "high", "step"), RANGES)
@pytest.mark.parametrize("most", [1e12, 1e7])
def test_values_are_read_back_from_the_fine_cells_they_lie_in(low, high, step, most):
    grid = ValueGrid(low, high, step)
    fine, values = FineCells(grid, most), np.sort(column(low, high, step))
    names = fine.names(values, np.ones(len(fine.lengths), dtype=bool))
    assert np.all(np.diff(names) >= 0)
    held = fine.occupied(names, np.ones(len(names), dtype=int))
    assert held.lengths.min() > 0
    same = np.diff(names) == 0
    assert np.array_equal(held.starts[1:][same], held.starts[:-1][same])
    assert np.all(held.starts[1:][~same] >= (held.starts + held.lengths)[:-1][~same])
    begins = np.cumsum(fine.lengths) - fine.lengths
    cell = np.searchsorted(begins, held.starts, side="right") - 1
    inside = (held.starts - begins[cell] + held.lengths / 2) / fine.lengths[cell]
    left, right = (grid.rounded(end) for end in fine.ends(cell, inside))
    near = np.clip(values, low, high) if step is None else grid.rounded(values)
    assert np.all((left <= near) & (near <= right))
    widest = max((high - low) / most, max(abs(low), abs(high)) * 2.0**-46) * 10.0
    assert np.all(right - left <= (widest if step is None else max(widest, 1e-6)))


@pytest.mark.parametrize(("low", "high", "step"), [(0.0, 1e6, None), (0.0, 1e6, 7.0)])
def test_fine_cells_fill_their_gap(low, high, step):
    fine = FineCells(ValueGrid(low, high, step), 3e6)
    for cell in 2 * np.searchsorted(fine.points, [2002.0, 500_020.0]) - 1:
        parts = int(fine._parts(np.array([cell]))[0])
        assert parts > 2
        held = fine.occupied((cell << 44) + np.arange(parts), np.ones(parts))
        begin = int((np.cumsum(fine.lengths) - fine.lengths)[cell])
        assert held.starts[0] == begin
        assert np.array_equal(held.starts[1:], (held.starts + held.lengths)[:-1])
        assert held.starts[-1] + held.lengths[-1] == begin + fine.lengths[cell]
        assert held.lengths.min() > 0


def test_round_numbers_are_points_that_are_not_short_beside_what_is_around_them():
    """Whole years within wide bounds."""
    fine = FineCells(ValueGrid(0.0, 1e6))
    everywhere = np.ones(len(fine.lengths), dtype=bool)
    years = fine.occupied(fine.names(np.array([2005.0, 2006.0]), everywhere), np.ones(2))
    assert years.lengths.min() > (years.starts[1] - years.starts[0]) / 50


@pytest.mark.parametrize("together", [1, 3])
def test_a_line_is_the_same_whatever_was_asked_of_it_before(together):
    """And that of all its finest cells, counted one by one."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts, lengths = rng.integers(0, 5, (6, 4)) * rng.integers(0, 2, (6, 1)), rng.integers(1, 9, (6, 4))
        starts = (np.cumsum(lengths) - lengths.ravel()).reshape(6, 4)

        def finer(counts, lengths, starts, asked):
            held = counts[asked].ravel() > 0
            return Occupied(*(v[asked].ravel()[held] for v in (starts, lengths, counts)))

        ask = partial(finer, counts, lengths, starts)
        plain = CellLine(counts.ravel(), lengths.ravel(), together)
        line = CellLine(counts.sum(axis=1), lengths.sum(axis=1), together, ask)
        assert (line.count, line.length) == (plain.count, plain.length)
        for first, last in np.sort(rng.integers(0, line.count + 1, (30, 2))).tolist():
            one, two = line.regions(first, last), plain.regions(first, last)
            assert one[0].tolist() == two[0].tolist()
            assert one[1] == two[1] or not len(one[0])


def test_rows_that_change_between_two_passes_are_refused():
    line = CellLine([3], [8], 1, lambda asked: Occupied(np.array([0]), np.array([8]), np.array([2])))
    with pytest.raises(InputError, match="changes while it is read"):
        line.regions(0, 3)


def test_counts_by_key_add_up_key_by_key():
    kind = [("key", np.int64), ("count", np.int64)]
    one, two = np.array([(2, 1), (5, 3)], dtype=kind), np.array([(1, 1), (5, 4)], dtype=kind)
    (total,), n, _, _ = merge(((one,), 4, 0.0, ""), ((two,), 5, 0.0, ""))
    assert (total.tolist(), n) == ([(1, 1), (2, 1), (5, 7)], 9)


@pytest.mark.parametrize(("low", "high", "step"), RANGES)
def test_a_value_beside_an_end_of_its_gap_stays_in_the_gap(low, high, step):
    """The nearest multiple may be the end itself, or lie beyond it."""
    grid = ValueGrid(low, high, step)
    fine = FineCells(grid)
    left, right = grid.points[:-1][::97], grid.points[1:][::97]
    values = np.concatenate([np.nextafter(left, right), np.nextafter(right, left)])
    names = fine.names(values, np.ones(len(fine.lengths), dtype=bool))
    at = 2 * np.tile(np.arange(len(grid.points) - 1)[::97], 2) + 1
    np.testing.assert_array_equal(names >> 44, at)
    found = fine.occupied(names, np.ones(len(names), dtype=np.int64))
    begins = np.cumsum(fine.lengths) - fine.lengths
    assert np.all((found.starts >= begins[at]) & (found.starts + found.lengths <= begins[at] + fine.lengths[at]))
