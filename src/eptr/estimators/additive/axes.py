"""Columns as axes: where their rows lie, released as one histogram a column, and the functions made of that.  Proof: axes.md.

A range must hold every value, so most rows may lie in a small part of it. The axis of a column is stretched where rows are and
pressed together where none are: then functions of equal length resolve as much as the rows can tell.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct
from scipy.ndimage import binary_opening, uniform_filter

from ...privacy.contribution import Interval, Shape
from ...privacy.spending import Portion
from ...rows.engine import Rows
from ...rows.exact import sum_grid, toward_zero
from ...rows.namespace import is_foreign, like, namespace, to_numpy
from .basis import smooth_functions
from .shrinkage import factors

__all__ = ["RARE", "Axis", "Levels", "Stretched", "axes_of", "cell_noise", "cells_of", "nearby", "release_axes"]

Array = NDArray[np.float64]
CELLS, FINE = 256, 2048  # of a histogram; and of a range, which functions are tabulated on
EVEN = 0.2  # of an axis is stretched evenly, whatever the rows say
OUTSIDE_SHARE = 0.05  # of this budget, to the number of rows outside a range
PRICE = 3.0  # of noise in a histogram: an axis that is stretched by noise bends every function
WINDOWS = (9, 27, 81)  # cells that are looked at together
SIDES = (2, 3, 5)  # and to one side, where rows may end
# Relative to an even column: windows that cannot have so many rows (+3 sd) are empty, and the axis is pressed together there;
EMPTY = 0.25
CLEAR = 0.5  # where so many would stand out (4 sd), a window that shows less than 2 sd has no rows to be seen.
FAR = 3.0  # y is moved if its mean lies so many times its noise from the middle of the range
RARE = 0.2  # least standard deviation that the indicator of a level is divided by


@dataclass(frozen=True, slots=True)
class Stretched:
    """A column of numbers between ``low`` and ``high``."""

    low: float
    high: float
    density: Array  # rows in each of equal cells, relative to an even column
    seen: NDArray[np.bool_]  # whether rows stand out from the noise there

    def place(self, x: Any) -> Any:
        """Which of FINE equal parts of the range a value lies in; values beyond are at its ends. proof: map"""
        xp = namespace(x)
        return xp.clip(xp.floor((x - self.low) * (FINE / (self.high - self.low))), 0.0, FINE - 1.0)

    def table(self, count: int) -> Array:
        """Smooth functions of the stretched column in the middle of each part."""
        middles = self.low + (self.high - self.low) * (np.arange(FINE) + 0.5) / FINE
        return smooth_functions(self.along(middles), count)

    def functions(self, x: Array, count: int) -> Array:
        """For reading a fit: what a row with such values has."""
        return np.asarray(self.table(count)[self.place(x).astype(int)])

    def along(self, x: Array | float) -> Array:
        """Where on the stretched axis, from 0 to 1."""
        return np.asarray(np.interp(x, *self._ends))

    def back(self, u: Array | float) -> Array:
        """Which values lie there."""
        return np.asarray(np.interp(u, *self._ends[::-1]))

    @property
    def _ends(self) -> tuple[Array, Array]:
        """Of the cells, before and after stretching."""
        heights = np.cumsum(np.append(0.0, EVEN + (1.0 - EVEN) * self.density))
        return np.linspace(self.low, self.high, len(heights)), heights / heights[-1]

    def cell(self, x: Array) -> NDArray[np.int64]:
        """Which cell of the histogram a value lies in."""
        cells = len(self.density)
        return np.clip((x - self.low) * (cells / (self.high - self.low)), 0, cells - 1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Levels:
    """A column of declared levels; a value between two of them counts as the nearer one."""

    levels: Array  # ascending
    shares: Array  # of rows
    seen: NDArray[np.bool_]  # whether rows enough to say anything stand out from the noise

    def place(self, x: Any) -> Any:
        """Which level a value is. proof: map"""
        xp, middles = namespace(x), (self.levels[1:] + self.levels[:-1]) / 2.0
        return xp.sum(xp.where(x[:, None] >= like(middles, x)[None, :], xp.ones_like(x)[:, None], 0.0), axis=1)

    def table(self, count: int) -> Array:
        """Indicators of all levels but the first, centred and scaled by what is known about their shares."""
        scale = np.maximum(np.sqrt(self.shares * (1.0 - self.shares)), RARE)
        return np.asarray(((np.eye(len(self.levels)) - self.shares) / scale)[:, 1 : count + 1])

    def functions(self, x: Array, count: int) -> Array:
        return np.asarray(self.table(count)[self.place(x).astype(int)])


Axis = Stretched | Levels


def release_axes(
    rows: Rows,
    ranges: tuple[Array, Array],
    categories: dict[int, Array],
    y_range: tuple[float, float],
    spending: Portion,
    mean: Portion,
) -> tuple[Array, NDArray[np.bool_], float, float]:
    """Densities of all columns (shares of levels), where rows are seen, the share outside a range, and about where y is.

    All from one pass. ``mean``: what the last of them may cost. proof: cells
    """
    p, (low, high), share = len(ranges[0]), ranges, 1.0 - OUTSIDE_SHARE
    known = np.array([j not in categories for j in range(p)])
    bottom, top = np.where(known, low, -math.inf), np.where(known, high, math.inf)
    sizes = [CELLS if known[j] else len(categories[j]) for j in range(p)]
    middle, half = (y_range[0] + y_range[1]) / 2.0, (y_range[1] - y_range[0]) / 2.0
    grid = sum_grid(rows.n, half)
    even = axes_of(ranges, categories, np.ones(sum(sizes)), np.ones(sum(sizes), dtype=bool))

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp = namespace(x)
        outside = xp.any((x < like(bottom, x)) | (x > like(top, x)), axis=1) | (y < y_range[0]) | (y > y_range[1])
        cells = [axis.place(x[:, j]) for j, axis in enumerate(even)]
        cells = [xp.floor(c * (CELLS / FINE)) if known[j] else c for j, c in enumerate(cells)]
        away = toward_zero(xp.clip(y - middle, -half, half), grid)
        if keep is not None:
            outside, cells = outside & keep, [c[keep] for c in cells]
            away = xp.where(keep, away, xp.zeros_like(away))
        counts = [_counts(c, size) for c, size in zip(cells, sizes, strict=True)]
        return np.concatenate(counts), xp.sum(xp.where(outside, xp.ones_like(y), 0.0)), xp.sum(away)

    counts, count, total = rows.sum(block)
    each, noise = _cells(p), cell_noise(p, rows.n, spending)
    noisy = np.split(spending.noisy(counts, each, share) / rows.n, np.cumsum(sizes)[:-1])
    outside = float(spending.noisy(count, Interval(0.0, 1.0), OUTSIDE_SHARE)) / rows.n  # proof: outside
    found = [smoothed(s, noise, rows.n) if known[j] else _positive(s, noise) for j, s in enumerate(noisy)]
    density, seen = (np.concatenate(parts) for parts in zip(*found, strict=True))
    off = float(mean.noisy(total, Interval(-half, half))) / rows.n  # proof: middle
    far = abs(off) > FAR * mean.scale(Interval(-half, half), 1.0) / rows.n  # else the middle is as good
    centre = min(max(middle + off, y_range[0]), y_range[1]) if far else middle
    return density, seen, min(max(outside, 0.0), 1.0), centre


def _cells(columns: int) -> Shape:
    """Of a row in the histograms of so many columns. proof: cells"""
    return Shape(math.sqrt(2.0 * columns) * (1.0 + 1e-15), math.sqrt(columns) * (1.0 + 1e-15))


def cell_noise(columns: int, n: int, spending: Portion) -> float:
    """Standard deviation of a cell's share of the rows, as it is released; a public number."""
    return spending.scale(_cells(columns), 1.0 - OUTSIDE_SHARE) / n


def _counts(cells: Any, size: int) -> Array:
    """How many rows are in each cell, without moving them."""
    if not is_foreign(cells):
        return np.bincount(cells.astype(np.int64), minlength=size).astype(float)
    xp = namespace(cells)
    below = to_numpy(xp.searchsorted(xp.sort(cells), like(np.arange(1.0, size), cells), side="left"))
    return np.diff(below, prepend=0, append=cells.shape[0]).astype(float)


def axes_of(
    ranges: tuple[Array, Array],
    categories: Mapping[int, Sequence[float] | Array],
    marginals: Array,
    seen: NDArray[np.bool_],
) -> tuple[Axis, ...]:
    """Columns with the densities of their cells, or the shares of their levels, one after the other in ``marginals``."""
    axes: list[Axis] = []
    for j, part in enumerate(cells_of(len(ranges[0]), categories)):
        axes.append(
            Levels(np.asarray(categories[j]), marginals[part], seen[part])
            if j in categories
            else Stretched(float(ranges[0][j]), float(ranges[1][j]), marginals[part], seen[part])
        )
    return tuple(axes)


def cells_of(columns: int, categories: Mapping[int, Sequence[float] | Array]) -> list[slice]:
    """Where the cells or levels of each column are."""
    ends = np.cumsum([0, *(len(categories[j]) if j in categories else CELLS for j in range(columns))])
    return [slice(int(start), int(stop)) for start, stop in itertools.pairwise(ends)]


def _positive(shares: Array, noise: float) -> tuple[Array, NDArray[np.bool_]]:
    positive = np.maximum(shares, 0.0)
    return np.asarray(positive / max(float(np.sum(positive)), 1e-300)), shares >= 3.0 * noise


def smoothed(shares: Array, noise: float, n: int) -> tuple[Array, NDArray[np.bool_]]:
    """The density of a noisy histogram, relative to an even one: its cosines shrunk in blocks by their noise; and where rows are
    seen: a density of two standard deviations of the noise that is left, and windows of cells that agree."""
    count, waves = len(shares), dct(shares, norm="ortho")
    kept = factors(waves[1:], np.full(count - 1, noise**2 + 1.0 / (n * count)), 0, PRICE)
    waves = np.append(1.0 / math.sqrt(count), kept * waves[1:])  # shares add up to 1
    density = np.maximum(idct(waves, norm="ortho"), 0.0) * count
    seen = nearby(density) >= 2.0 * noise * math.sqrt(count * float(np.sum(kept**2)))
    for width in WINDOWS:
        even = np.convolve(np.ones(count), np.ones(width), "same") / count
        found, doubt = np.convolve(shares, np.ones(width), "same"), noise * np.sqrt(count * even)
        density[found + 3.0 * doubt < EMPTY * even] = 0.0  # waves of others' cells, at most
        seen &= (found >= 2.0 * doubt) | (4.0 * doubt > CLEAR * even)
    width = WINDOWS[0]  # no crumbs
    seen = binary_opening(np.pad(seen, width, mode="edge"), np.ones(width))[width:-width]
    return np.asarray(density / max(float(np.mean(density)), 1e-300)), seen & _within(shares, noise)


def _within(shares: Array, noise: float) -> NDArray[np.bool_]:
    """Whether rows lie on both sides, or at most a cell away: no window that ends in the next cell is clearly empty."""
    count = len(shares)
    sums, place, found = np.append(0.0, np.cumsum(shares)), np.arange(count), np.ones(count, dtype=bool)
    for width in (*SIDES, *WINDOWS):
        for first, last in ((place - width + 2, place + 2), (place - 1, place + width - 1)):
            first, last = np.maximum(first, 0), np.minimum(last, count)
            doubt = noise * np.sqrt(last - first)
            found &= (sums[last] - sums[first] >= 2.0 * doubt) | (4.0 * doubt > CLEAR / count * (last - first))
    return found


def nearby(density: Array) -> Array:
    """The mean over neighbouring cells: a column of whole numbers has rows in some cells, and none in between."""
    return np.asarray(uniform_filter(density, WINDOWS[0], mode="nearest"))
