"""Columns as axes: where their rows lie, released as one histogram a column, and the functions made of that.  Proof: axes.md.

A range must hold every value, so most rows may lie in a small part of it. The axis of a column is stretched where rows are and
pressed together where none are: then functions of equal length resolve as much as the rows can tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from ...privacy.contribution import Interval, Shape
from ...privacy.spending import Portion
from ...rows.engine import Rows
from ...rows.namespace import like, namespace, on_host
from .basis import smooth_functions
from .shrinkage import factors

__all__ = ["Axis", "Levels", "Stretched", "axes_of", "release_axes"]

Array = NDArray[np.float64]
CELLS = 256
EVEN = 0.2  # of an axis is stretched evenly, whatever the rows say
OUTSIDE_SHARE = 0.05  # of this budget, to the number of rows outside a range
PRICE = 3.0  # of noise in a histogram: an axis that is stretched by noise bends every function
RARE = 0.2  # least standard deviation that the indicator of a level is divided by


@dataclass(frozen=True, slots=True)
class Stretched:
    """A column of numbers between ``low`` and ``high``."""

    low: float
    high: float
    density: Array  # rows in each of equal cells, relative to an even column

    @property
    def heights(self) -> Array:
        """Where the ends of the cells are on the stretched axis, which is [0, 1]."""
        ends = np.cumsum(np.append(0.0, EVEN + (1.0 - EVEN) * self.density))
        return np.asarray(ends / ends[-1])

    def functions(self, x: Any, count: int) -> list[Any]:
        """Smooth functions of the stretched column; values beyond the range are at its ends. proof: map"""
        xp, cells, heights = namespace(x), len(self.density), self.heights
        place = xp.clip((x - self.low) * (cells / (self.high - self.low)), 0.0, float(cells))
        cell = xp.clip(xp.floor(place), None, cells - 1.0)
        index = cell.astype(np.int64) if xp is np else xp.astype(cell, xp.int64)
        start, step = (xp.take(like(t, x), index, axis=0) for t in (heights[:-1], np.diff(heights)))
        return smooth_functions(start + (place - cell) * step, count)


@dataclass(frozen=True, slots=True)
class Levels:
    """A column of declared levels; a value between two of them counts as the nearer one."""

    levels: Array  # ascending
    shares: Array  # of rows

    def functions(self, x: Any, count: int) -> list[Any]:
        """Indicators of all levels but the first, centred and scaled by what is known about their shares. proof: map"""
        xp = namespace(x)
        ends = [-math.inf, *((self.levels[1:] + self.levels[:-1]) / 2.0), math.inf]
        found = []
        for k in range(1, count + 1):
            inside = (x >= float(ends[k])) & (x < float(ends[k + 1]))
            share = float(self.shares[k])
            scale = max(math.sqrt(share * (1.0 - share)), RARE)
            found.append(xp.where(inside, xp.full_like(x, (1.0 - share) / scale), -share / scale))
        return found


Axis = Stretched | Levels


def release_axes(
    rows: Rows,
    ranges: tuple[Array, Array],
    categories: dict[int, Array],
    y_range: tuple[float, float],
    spending: Portion,
) -> tuple[Array, float]:
    """What is to be known of all columns, and the share of rows outside a range, from one pass. proof: cells"""
    p, (low, high), share = len(ranges[0]), ranges, 1.0 - OUTSIDE_SHARE
    known = np.array([j not in categories for j in range(p)])
    bottom, top = np.where(known, low, -math.inf), np.where(known, high, math.inf)
    sizes = [CELLS if known[j] else len(categories[j]) for j in range(p)]
    starts, scale = np.cumsum([0, *sizes[:-1]]), CELLS / (high - low)

    def cells(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
        if keep is not None:
            x, y = x[keep], y[keep]
        outside = np.any((x < bottom) | (x > top), axis=1) | (y < y_range[0]) | (y > y_range[1])
        place = np.clip((x - low) * scale, 0.0, CELLS - 1.0).astype(np.int64)
        for j, levels in categories.items():
            place[:, j] = np.searchsorted((levels[1:] + levels[:-1]) / 2.0, x[:, j], side="right")
        counts = np.bincount((place + starts).ravel(), minlength=sum(sizes)).astype(float)
        return counts, np.asarray(float(np.count_nonzero(outside)))

    counts, count = rows.sum(on_host(cells))
    each = Shape(math.sqrt(2.0 * p) * (1.0 + 1e-15), math.sqrt(p) * (1.0 + 1e-15))
    noise = spending.scale(each, share) / rows.n
    noisy = np.split(spending.noisy(counts, each, share) / rows.n, starts[1:])
    outside = float(spending.noisy(count, Interval(0.0, 1.0), OUTSIDE_SHARE)) / rows.n  # proof: outside
    found = [smoothed(s, noise, rows.n) if known[j] else _positive(s) for j, s in enumerate(noisy)]
    return np.concatenate(found), min(max(outside, 0.0), 1.0)


def axes_of(
    ranges: tuple[Array, Array], categories: Mapping[int, Sequence[float] | Array], marginals: Array
) -> tuple[Axis, ...]:
    """Columns with the densities of their cells, or the shares of their levels, one after the other in ``marginals``."""
    axes: list[Axis] = []
    start = 0
    for j, (low, high) in enumerate(zip(*ranges, strict=True)):
        stop = start + (len(categories[j]) if j in categories else CELLS)
        part, start = marginals[start:stop], stop
        axes.append(
            Levels(np.asarray(categories[j]), part) if j in categories else Stretched(float(low), float(high), part)
        )
    return tuple(axes)


def _positive(shares: Array) -> Array:
    positive = np.maximum(shares, 0.0)
    return np.asarray(positive / max(float(np.sum(positive)), 1e-300))


def smoothed(shares: Array, noise: float, n: int) -> Array:
    """The density of a noisy histogram, relative to an even one: its cosines shrunk in blocks by their noise."""
    waves = dct(shares, norm="ortho")
    sampling = 1.0 / (n * len(shares))
    waves[1:] *= factors(waves[1:], np.full(len(waves) - 1, noise**2 + sampling), 0, PRICE)
    waves[0] = 1.0 / math.sqrt(len(shares))  # shares add up to 1
    density = np.maximum(idct(waves, norm="ortho"), 0.0) * len(shares)
    return np.asarray(density / np.mean(density))
