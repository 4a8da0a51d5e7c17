"""Where columns lie, whatever their bounds: looks, each around what the one before has seen, until cells are fine enough.

Everything here is post-processing of looks; how many are taken depends on released counts alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.spending import Portion
from ..rows.engine import Rows
from .looks import Look, column_cells, look_at_columns, look_at_norms

__all__ = ["NORMS", "Located", "locate", "locate_norms"]

Array = NDArray[np.float64]
# Shares of mu^2: of a look in search of one column, and then at its tail; of both for many columns, at least and at most; of the
# two looks at norms. A look at some columns costs their part of it.
SEARCH, MOST, ONE_TAIL = 0.02, 5, 0.10
MANY_SEARCH, MANY_TAILS, NORMS = (0.01, 0.02), (0.02, 0.05), (0.01, 0.02)
# Cells next to the centre are a third of the spread wide, or wide enough to stand out by four times their noise.
# Norms, of which there is one for all columns, are looked at more closely.
UNIT, NOISE_UNIT, NORM_UNIT = 1.0 / 3.0, 10.0, 1.0 / 12.0
# A search ends when the cell of the median is about a spread wide; two that hold everything are 1.35.
RESOLVED = 1.1
_FINEST = 2.0**-20


@dataclass(frozen=True, slots=True)
class Located:
    """Middles and spreads of columns, the looks they were read off, and the share of mu^2 that this took."""

    middles: Array
    spreads: Array
    looks: list[Look]
    share: float


def locate(rows: Rows, bounds: Array, spending: Portion) -> Located:
    """The columns of a table; spreads are those of normal columns with the same quartiles, or larger."""
    width, every = bounds[:, 1] - bounds[:, 0], np.arange(rows.n_features)
    middles, spreads, spent = _search(rows, bounds, spending)
    last = ONE_TAIL if len(every) == 1 else _enough(rows, spending, *MANY_TAILS)
    looks = look_at_columns(rows, every, middles, spreads * _unit(rows, spending, last), bounds, spending, last)
    middles, spreads = _quartiles(looks)
    spreads = np.maximum(spreads, [max(look.spread(rows.n), w * _FINEST) for look, w in zip(looks, width, strict=True)])
    spreads = _alike(spreads / width, 4.0 * looks[0].sd / rows.n) * width
    return Located(middles, spreads, looks, spent + last)


def locate_norms(rows: Rows, norms: Any, most: float, spending: Portion) -> Look:
    """Lengths of rows, ``norms(x)``, up to ``most``."""
    look = look_at_norms(rows, norms, 0.0, most * _FINEST, most, spending, NORMS[0])
    (middle,), (spread,) = _quartiles([look])
    return look_at_norms(rows, norms, float(middle), max(spread, most * _FINEST) * NORM_UNIT, most, spending, NORMS[1])


def _search(rows: Rows, bounds: Array, spending: Portion) -> tuple[Array, Array, float]:
    """Middles, spreads and what they cost. Looks around what was seen before, the first around 0, at what is still too coarse."""
    width, middles = bounds[:, 1] - bounds[:, 0], np.clip(0.0, bounds[:, 0], bounds[:, 1])
    # Where all numbers have one sign their size is told at once; else cells near 0 would divide what lies around it.
    units = width * np.where((bounds[:, 0] >= 0.0) | (bounds[:, 1] <= 0.0), _FINEST, 1.0 / 32.0)
    share = SEARCH if rows.n_features == 1 else _enough(rows, spending, *MANY_SEARCH)
    wanted, spreads, spent, which = _unit(rows, spending, share), units.copy(), 0.0, np.arange(rows.n_features)
    for _ in range(MOST):
        part = share * len(which) / rows.n_features
        looks = look_at_columns(rows, which, middles[which], units[which], bounds[which], spending, part)
        spent += part
        middles[which], spreads[which] = _quartiles(looks)
        spreads = np.maximum(spreads, width * _FINEST)
        units = wanted * spreads
        cells = np.array([look.cell(middles[j]) for look, j in zip(looks, which, strict=True)])
        which = which[cells > RESOLVED * wanted / UNIT * spreads[which]]
        if not len(which):
            break
    return middles, spreads, spent


def _quartiles(looks: list[Look]) -> tuple[Array, Array]:
    """Medians, and standard deviations as those of a normal column with the same quartiles."""
    quartiles = np.array([look.quantiles([0.25, 0.5, 0.75]) for look in looks])
    return quartiles[:, 1], (quartiles[:, 2] - quartiles[:, 0]) / 1.35


def _unit(rows: Rows, spending: Portion, share: float) -> float:
    """How wide the cells next to the centre should be, in spreads; from public numbers."""
    noise = spending.scale(column_cells(rows.n_features), share) / rows.n
    return min(max(NOISE_UNIT * noise, UNIT), 2.0)


def _enough(rows: Rows, spending: Portion, least: float, most: float) -> float:
    """The share with which cells can be a third of the spread wide, within limits; from public numbers."""
    noise = spending.scale(column_cells(rows.n_features), 1.0) / rows.n
    return min(max((NOISE_UNIT * noise / UNIT) ** 2, least), most)


def _alike(spreads: Array, noise: float) -> Array:
    """Logarithms drawn together as far as their noise may explain that they differ."""
    logs = np.log(spreads)
    if len(logs) < 4:
        return spreads
    kept = max(0.0, 1.0 - noise**2 / max(float(np.var(logs, ddof=1)), 1e-300))
    return np.asarray(np.exp(logs.mean() + kept * (logs - logs.mean())))
