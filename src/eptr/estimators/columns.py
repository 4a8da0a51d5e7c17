"""Raw columns with public ranges, privately centred and scaled.  Proof: columns.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Interval, Shape
from ..privacy.spending import Portion
from ..rows.engine import RowFunction, Rows
from ..rows.exact import sum_grid, toward_zero
from ..rows.namespace import like, namespace

__all__ = ["Columns", "Standardised", "standardise"]

Array = NDArray[np.float64]
BEND = 1.66  # (u, 1.66 u^2) over [-1, 1] is no wider than u alone, so second moments come with the means
LEAST = 0.2  # scale of a column with two values, in half ranges: rare levels would dominate every sum otherwise
LONGEST = 1.2  # ... and so that a row of a rare level is at most so many sqrt(p) long
FINEST = 0.1  # of any other column, or twice the noise of its variance, whichever is larger
OUTSIDE_SHARE = 0.1  # of this budget, to the number of rows outside
FEW = 25.0  # a level that fewer than FEW/mu rows have cannot be told from none
FAR = 4.0  # y is moved if its mean lies so many times its noise from the middle of the range
NARROW = 2.5  # a column whose variance is less than so many times its noise, or half of FINEST, is looked at closer ...
CLOSER_SHARE = 0.02  # ... for this share of the whole budget, in cells that end at such shares of the half range
EDGES = 2.0 ** np.arange(-14.0, 2.0)
FINER = 32  # cells of a second look
TAIL = 0.08  # share of rows in no clear cell, noise counted, from which a column may have a tail ...
FARTHER = 3.0  # ... which lies at so many times the end of those that are clear, at most
SPIKE = 0.5  # a column with more rows in one cell may be one value and a few others
SEEN = 4.0  # standard deviations at which a cell is more than noise
USELESS = 0.25  # noise on a mean, in half ranges, from which it is not worth using


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known about columns: where they are centred, how they are scaled, and which have too few rows to say."""

    low: Array
    high: Array
    centre: Array
    scale: Array
    too_few: NDArray[np.bool_]
    variance: Array  # after scaling; not a number where it is less than could be seen
    outside: float  # share of rows with a value beyond a range
    two: NDArray[np.bool_]  # whether a column seems to have two values, the ends of its range
    y_mean: float | None = None  # where y is a number that may be moved
    unsure: Array | float = 0.0  # noise on the centre, if it is to be the mean of a column

    @property
    def far(self) -> NDArray[np.bool_]:
        """Of which 0 is far: without their slopes the intercept is not known. Rows of rare levels hardly move it."""
        away = abs(self.centre) > 0.05 * self.scale
        return np.asarray(np.isnan(self.variance) | ((self.variance >= 0.99) & away))


class Standardised:
    """Rows seen through Columns, with y moved by ``y_centre``."""

    def __init__(self, rows: Rows, columns: Columns | None, y_centre: float) -> None:
        self.rows, self.columns, self.n, self.n_features = rows, columns, rows.n, rows.n_features
        self.each = rows.each
        self.y_centre = y_centre

    @property
    def largest(self) -> float:
        """What no |x| exceeds."""
        if self.columns is None:
            return getattr(self.rows, "largest", math.inf)
        centre, scale = self.columns.centre, self.columns.scale
        reach = np.maximum(self.columns.high - centre, centre - self.columns.low) / scale
        return float(np.max(reach)) * (1.0 + 1e-9)

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        columns, y_centre = self.columns, self.y_centre
        inverse = None if columns is None else 1.0 / columns.scale

        def seen(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp = namespace(x)
            if columns is not None and inverse is not None:
                x = xp.clip(x, like(columns.low, x), like(columns.high, x))
                x -= like(columns.centre, x)
                x *= like(inverse, x)
            y = y - y_centre if y_centre else y  # labels stay whole numbers
            if keep is not None:  # a row that is dropped is zero, whatever the centre
                x, y = xp.where(keep[:, None], x, xp.zeros_like(x)), xp.where(keep, y, xp.zeros_like(y))
            return fn(x, y, keep)

        return self.rows.sum(seen)


def standardise(
    rows: Rows,
    low: Array,
    high: Array,
    y_low: float | None,
    y_high: float | None,
    whole: Portion,
    share: float,
    *,
    centred: bool,
    mu: float,
    least: float = LEAST,
) -> tuple[Columns, Portion]:
    """Means and second moments of all columns, y among them, and the number of rows outside, from one pass. proof: moments

    Narrow columns in wide ranges take a second pass. Returned with what is left of ``whole``. ``share``: of it, to the first
    pass. ``y_low``, ``y_high``: None where y holds labels. ``centred``: False for a model without an intercept, which may be
    scaled but not moved. ``mu``: of the whole fit. ``least``: scale of a column with two values, in half ranges.
    """
    features, with_y, spending = len(low), False, whole.within(share)
    if y_low is not None and y_high is not None and centred:  # one more column
        low, high, with_y = np.append(low, y_low), np.append(high, y_high), True
    p = len(low)
    middle = (low + high) / 2.0 if centred else np.zeros(p)
    half = np.maximum(high - middle, middle - low)
    grid, inverse = sum_grid(rows.n, BEND), 1.0 / half

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp = namespace(x)
        if with_y:
            x = (np.concatenate if xp is np else xp.concat)([x, y[:, None]], axis=1)
        u = xp.clip((x - like(middle, x)) * like(inverse, x), -1.0, 1.0)
        beyond = xp.any((x < like(low, x)) | (x > like(high, x)), axis=1)
        if y_low is not None and y_high is not None and not with_y:
            beyond = beyond | (y < y_low) | (y > y_high)
        if keep is not None:
            u, beyond = xp.where(keep[:, None], u, xp.zeros_like(u)), beyond & keep
        square = toward_zero(BEND * u * u, grid)
        return (
            xp.sum(toward_zero(u, grid), axis=0),
            xp.sum(square, axis=0),
            xp.sum(xp.where(beyond, xp.ones_like(x[:, 0]), 0.0)),
        )

    first, second, count = rows.sum(block)
    root = math.sqrt(p) * (1.0 + 1e-12)
    curve = Shape((2.0 + 3.0 * grid) * root, math.hypot(1.0, BEND) * root)
    most = 1.0 - OUTSIDE_SHARE
    noise = spending.scale(curve, most) / rows.n
    moments = spending.noisy(np.append(first, second), curve, most) / rows.n  # proof: moments
    outside = float(spending.noisy(count, Interval(0.0, 1.0), OUTSIDE_SHARE)) / rows.n  # proof: outside
    mean = np.clip(moments[:p], -1.0, 1.0) if centred and noise < USELESS else np.zeros(p)
    square = np.clip(moments[p:] / BEND, 0.0, 1.0)
    spread = np.clip(square - mean**2, 0.0, 1.0) if noise < USELESS else np.full(p, 0.25)
    # All at the two ends, and nearly all at one of them: a level that few rows have.
    ends = 1.0 - square < 0.5 * spread + 2.0 * noise
    too_few = ends & (rows.n * spread / 4.0 < FEW / mu)
    # Of a variance: far from the middle mostly that of a squared mean.
    blur = noise * np.sqrt(BEND**-2.0 + 4.0 * mean**2)
    finest = np.maximum(FINEST, np.sqrt(2.0 * blur))
    narrow = ~ends & (spread < np.maximum(FINEST**2 / 4.0, NARROW * blur))
    narrow[features:] = False
    floor = np.minimum(finest, LEAST)
    if centred and noise < USELESS and np.any(narrow):
        where = np.flatnonzero(narrow)
        moved, wide, hidden, end, again = _closer(rows, where, (middle + half * mean)[where], half[where], whole)
        mean[where] = np.clip(mean[where] + moved, -1.0, 1.0)
        # Rows that cells do not show may be a tail: three times as far out, or as the variance allows. proof: closer
        tail = wide**2 + hidden * (FARTHER * end) ** 2
        tail = np.where(hidden > TAIL, np.minimum(tail, (spread + blur)[where]), 0.0)
        spread[where] = np.where(wide > 0.0, np.maximum(wide**2, tail), spread[where])
        floor[where], share = (
            np.where(wide > 0.0, EDGES[0], floor[where]),
            share + (1 + bool(np.any(again))) * CLOSER_SHARE,
        )
        # What only a second look shows is of use, but may be what a few rows elsewhere do. proof: closer
        too_few[where] |= again & (wide > 0.0)
    farther = np.maximum(least, (1.0 + abs(mean)) / (LONGEST * math.sqrt(features)))  # the end that fewer rows are at
    blind = ~ends & ((np.sqrt(spread) < floor) | narrow)
    scale = half * np.maximum(np.sqrt(spread), np.where(ends, farther, floor))
    centre, outside = middle + half * mean, min(max(outside, 0.0), 1.0)
    y_mean = float(centre[-1]) if with_y and abs(mean[-1]) > FAR * noise else None
    low, high, centre, scale = (v[:features] for v in (low, high, centre, scale))
    variance = np.where(blind[:features], math.nan, spread[:features] * (half[:features] / scale) ** 2)
    unsure = np.minimum(noise * half[:features], scale)
    columns = Columns(low, high, centre, scale, too_few[:features], variance, outside, ends[:features], y_mean, unsure)
    return columns, whole.within(1.0 - share)


def _closer(
    rows: Rows, where: NDArray[np.int64], centre: Array, half: Array, whole: Portion
) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
    """How far the means of columns lie from ``centre``, and their standard deviations (0: not seen), in half ranges.

    Then the share of the rows that may be in no cell that is clear at first, where these end, and which were looked at twice.

    From signed cells of doubling width around a mean that is known up to noise: whatever their size, they are seen as well. A
    column that is narrower than that noise lies in one of them, or on an end: what is clear is cut evenly for a second look.
    """
    ends = np.tile(
        np.concatenate([-EDGES[:0:-1], [0.0], EDGES[1:]]), (len(where), 1)
    )  # the innermost hold all that is smaller
    clear, sd = _clear(rows, where, centre, half, ends, whole)
    (moved, wide), held = _moments(ends, clear), np.sum(clear, axis=1) / rows.n
    hidden = np.maximum(1.0 - held + sd / rows.n * np.sqrt(np.sum(clear > 0.0, axis=1)), 0.0)
    end = np.max(np.maximum(abs(ends[:, 1:]), abs(ends[:, :-1])) * (clear > 0.0), axis=1)
    twice = (wide == 0.0) & (held > 1.0 - TAIL)
    again = np.flatnonzero(twice)
    if not again.size:
        return moved, wide, hidden, end, twice
    low, high = np.transpose(
        [(np.min(ends[j, :-1][clear[j] > 0.0]), np.max(ends[j, 1:][clear[j] > 0.0])) for j in again]
    )
    even = np.column_stack([low - 1.0, np.linspace(low, high, FINER + 1, axis=1), high + 1.0])
    seen, _ = _clear(rows, where[again], centre[again], half[again], even, whole)
    moved[again], wide[again] = _moments(even[:, 1:-1], seen[:, 1:-1])
    return moved, wide, hidden, end, twice


def _clear(
    rows: Rows, where: NDArray[np.int64], centre: Array, half: Array, ends: Array, whole: Portion
) -> tuple[Array, float]:
    """Rows in cells with such ends, in half ranges around ``centre``, as far as they exceed noise; outer cells are open."""
    count, size = len(where), ends.shape[1] - 1

    def below(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        """Rows up to the end of each cell, column by column: where the rows are, and without a copy of them."""
        xp, found = namespace(x), []
        for j, middle, reach, each in zip(where.tolist(), centre.tolist(), half.tolist(), ends.tolist(), strict=True):
            t = (x[:, j] if keep is None else x[:, j][keep]) - middle
            found += [xp.sum(xp.where(t <= reach * end, xp.ones_like(t), 0.0)) for end in (*each[1:-1], math.inf)]
        return (xp.reshape(xp.stack(found), (count, size)),)

    (sums,) = rows.sum(below)
    counts = np.diff(sums, axis=1, prepend=0.0)
    one = Shape(math.sqrt(2.0 * count) * (1.0 + 1e-15), math.sqrt(count) * (1.0 + 1e-15))
    noisy, sd = whole.noisy(counts, one, CLOSER_SHARE), whole.scale(one, CLOSER_SHARE)  # proof: closer
    return np.where(noisy > SEEN * sd, noisy, 0.0), sd


def _moments(ends: Array, clear: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of columns by their clear cells; zeros where more than SPIKE of them is one cell."""
    middles, total = (ends[:, 1:] + ends[:, :-1]) / 2.0, np.maximum(np.sum(clear, axis=1), 1.0)
    spike = np.max(clear, axis=1) > SPIKE * total  # what is not in one cell may be anywhere, and rare
    moved = np.sum(clear * middles, axis=1) / total
    square = np.sum(clear * (middles**2 + np.diff(ends, axis=1) ** 2 / 12.0), axis=1) / total
    return np.where(spike, 0.0, moved), np.where(spike, 0.0, np.sqrt(np.maximum(square - moved**2, 0.0)))
