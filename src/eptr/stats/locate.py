"""Where columns lie, whatever their bounds: looks, each around what the one before has seen, until cells are fine enough.

Everything here is post-processing of looks; how many are taken depends on released counts alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.spending import Portion
from ..rows.engine import Rows
from .looks import Look, column_cells, look_at_columns, look_at_norms

__all__ = ["FINEST", "Located", "locate", "locate_norms"]

Array = NDArray[np.float64]
# Shares of mu^2: of a look in search of one column, or of many, at least and at most; of the look at the tail of one, which of
# many is divided by the root of their number, down to a least; of a look at norms, at least and at most. A look at some columns
# costs their part of it.
SEARCH, MANY_SEARCH = 0.02, (0.01, 0.02)
# Looks in search: at most, unless the cell of the median and the two beside it hold so much of what stands out; at most, then;
# and of several columns, looks at the tails of those that were misplaced. A cell far out is about as wide as its distance: of
# two centuries a month of days is in one for long. A value that most share would be looked at ever more closely, for nothing.
# With all of both searches a fifth of mu^2 is left.
FEW, NARROW, MOST, AGAIN = 5, 0.8, 12, 4
TAIL, LEAST_TAIL, NORMS = 0.20, 0.05, (0.02, 0.10)
# Cells next to the centre are a third of the spread wide, or wide enough to stand out by four times their noise.
# Norms, of which there is one for all columns, are looked at more closely.
UNIT, NOISE_UNIT, NORM_UNIT = 1.0 / 3.0, 10.0, 1.0 / 12.0
# A search ends when the cell of the median is less than a spread wide; one of two that hold everything is 1.35.
RESOLVED = 0.9
FINEST = 2.0**-20


@dataclass(frozen=True, slots=True)
class Located:
    """Middles and spreads of columns, the looks they were read off, and the share of mu^2 that this took."""

    middles: Array
    spreads: Array
    looks: list[Look]
    share: float
    clear: bool  # whether noise allows cells of a third of the spread
    lumps: bool = (
        False  # whether many rows of a column have nearly one value, so that noise may hide where the others lie
    )
    lost: Any = (
        False  # by columns: whether no more stands out than one cell, so that spreads are half the bounds' width
    )


def locate(rows: Rows, bounds: Array, spending: Portion, finest: float = FINEST) -> Located:
    """The columns of a table; spreads are those of normal columns with the same quartiles, or larger.

    ``finest``: the least that is told apart, as a part of the bounds' width.
    """
    width, one = bounds[:, 1] - bounds[:, 0], rows.n_features == 1
    # Around 0, or the bound next to it, cells are orders of magnitude, which tells sizes at once.
    middles, units = np.clip(0.0, bounds[:, 0], bounds[:, 1]), width * finest
    share = SEARCH if one else _enough(rows.n, spending, rows.n_features, UNIT, *MANY_SEARCH)
    found = _search(rows, bounds, spending, middles, units, share, MOST, width * finest)
    # The look at tails is a search, too: a column that noise had misplaced is found again for its part of the cost.
    last = max(TAIL / math.sqrt(rows.n_features), LEAST_TAIL)
    units = found.spreads * _unit(rows.n, spending, rows.n_features, last)
    again = _search(rows, bounds, spending, found.middles, units, last, 1 if one else AGAIN, width * finest)
    looks = again.looks
    whole = np.array([look.spread() for look in looks])
    spreads = np.maximum(again.spreads, whole)
    lumps = bool(np.any(again.spreads < 0.5 * spreads))
    spreads = _alike(spreads / width, 4.0 * looks[0].sd / rows.n) * width
    return Located(again.middles, spreads, looks, found.share + again.share, again.clear, lumps, whole >= 0.5 * width)


def locate_norms(rows: Rows, norms: Any, most: float, spending: Portion, left: float) -> tuple[Look, float]:
    """Lengths of rows in units of their columns' spreads, up to ``most``, and what was spent of the share that is left.

    The first look is where normal columns would have them; a second one where they are, if cells are too coarse there.
    """
    share = min(_enough(rows.n, spending, 1, NORM_UNIT, *NORMS), 0.25 * left)
    start, unit = 0.97 * math.sqrt(rows.n_features), _unit(rows.n, spending, 1, share, NORM_UNIT)
    look = look_at_norms(rows, norms, start, unit, most, spending, share)
    (middle,), (spread,) = _quartiles([look])
    if look.cell(middle) <= 0.5 * spread:
        return look, share
    unit *= max(spread, most * FINEST)
    return look_at_norms(rows, norms, float(middle), unit, most, spending, share), 2.0 * share


def _search(
    rows: Rows, bounds: Array, spending: Portion, middles: Array, units: Array, share: float, most: int, least: Array
) -> Located:
    """Looks around what was seen before, at columns whose cells are still too coarse; spreads are at least ``least``."""
    middles, spreads, spent, wanted = middles.copy(), units.copy(), 0.0, _unit(rows.n, spending, rows.n_features, share)
    which, looks = np.arange(rows.n_features), [Look(np.zeros(2), 1.0, 0.0, 1.0, (0.0, 1.0), rows.n)] * rows.n_features
    for turn in range(most):
        part = share * len(which) / rows.n_features
        seen = look_at_columns(rows, which, middles[which], units[which], bounds[which], spending, part)
        spent += part
        middles[which], spreads[which] = _quartiles(seen)
        spreads = np.maximum(spreads, least)
        for j, look in zip(which, seen, strict=True):
            looks[j] = look
        cells = np.array([looks[j].cell(middles[j]) for j in which])
        units = wanted * spreads
        narrow = np.array([turn + 1 < FEW or looks[j].around(middles[j]) > NARROW for j in which])
        which = which[narrow & (cells > max(RESOLVED, 2.0 * wanted) * spreads[which])]
        if not len(which):
            break
    return Located(middles, spreads, looks, spent, wanted == UNIT)


def _quartiles(looks: list[Look]) -> tuple[Array, Array]:
    """Medians, and standard deviations as those of a normal column with the same quartiles."""
    quartiles = np.array([look.quantiles([0.25, 0.5, 0.75]) for look in looks])
    return quartiles[:, 1], (quartiles[:, 2] - quartiles[:, 0]) / 1.35


def _unit(n: int, spending: Portion, columns: int, share: float, unit: float = UNIT) -> float:
    """How wide the cells next to the centre should be, in spreads; from public numbers."""
    noise = spending.scale(column_cells(columns), share) / n
    return min(max(NOISE_UNIT * noise, unit), 2.0)


def _enough(n: int, spending: Portion, columns: int, unit: float, least: float, most: float) -> float:
    """The share with which cells can be as fine as they should, within limits; from public numbers."""
    noise = spending.scale(column_cells(columns), 1.0) / n
    return min(max((NOISE_UNIT * noise / unit) ** 2, least), most)


def _alike(spreads: Array, noise: float) -> Array:
    """Logarithms drawn together as far as their noise may explain that they differ."""
    logs = np.log(spreads)
    if len(logs) < 4:
        return spreads
    kept = max(0.0, 1.0 - noise**2 / max(float(np.var(logs, ddof=1)), 1e-300))
    return np.asarray(np.exp(logs.mean() + kept * (logs - logs.mean())))
