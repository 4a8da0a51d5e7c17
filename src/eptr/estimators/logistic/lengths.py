"""Rows that are longer than those a Gram matrix was made of, and gradients longer than a curve says.  Proof: lengths.md.

Post-processing of released numbers.
"""

from __future__ import annotations

import math
from copy import copy

import numpy as np
from numpy.typing import NDArray

from ..columns import BEND, NARROW, Columns
from ..coordinates import Coordinates
from ..tail import Tail
from ..whitening import whiten

__all__ = ["cut_short", "ending", "farthest", "knee", "lengthened"]

# By trial on simulated data alone.
# Times its squares in the matrix that a column has, by so many standard deviations: one whose variance is clear, and any.
SHORTENED, CLEARLY = (2.0, 5.0), 3.0
WIDE = 0.03  # variance of a column that uses its range, in squared half ranges
KNEE, SHOWN = 4, 4.0  # cells that show together, by so many standard deviations, that a curve has too few rows there


def cut_short(
    found: Coordinates, columns: Columns, n: int, times: float = SHORTENED[0], clearly: float = 1.0
) -> NDArray[np.bool_]:
    """Columns that have so many times the squares that are left in the matrix, by some standard deviations. proof: longer"""
    sizes = np.maximum(np.diag(found.gram)[: len(columns.scale)], found.noise)
    return np.asarray(n * np.nan_to_num(columns.variance) > times * (sizes + clearly * found.noise))


def lengthened(found: Coordinates, columns: Columns, n: int) -> Coordinates | None:
    """Coordinates for rows as long as columns vary, if the rows shortened for the matrix had most of it. proof: longer"""
    slopes, half = len(columns.scale), (columns.high - columns.low) / 2.0
    variance = np.nan_to_num(columns.variance)
    # What was seen in cells alone may be a tail that is not there: of a column that uses little of its range.
    noise, away = columns.unsure / half, (columns.centre - columns.low - half) / half
    blur = NARROW * noise * np.sqrt(BEND**-2.0 + 4.0 * away**2)
    spread, surely = variance * (columns.scale / half) ** 2, np.zeros(slopes, dtype=bool)
    for times, least in zip(SHORTENED, (2.0 * blur, blur), strict=True):
        surely |= cut_short(found, columns, n, times, CLEARLY) & (spread > np.maximum(WIDE, least))
    if not np.any(surely):
        return None
    ratios = np.ones(len(found.gram))
    ratios[:slopes][surely] = (n * variance / np.maximum(np.diag(found.gram)[:slopes], found.noise))[surely]
    root, most = np.sqrt(ratios), found.noise * float(np.max(ratios))
    gram = found.gram * np.outer(root, root)
    return Coordinates(whiten(gram, most, n), gram, most)


def farthest(columns: Columns) -> float:
    """What no number of a row exceeds, by public ranges and released centres. proof: longer"""
    return float(np.max(np.maximum(columns.high - columns.centre, columns.centre - columns.low) / columns.scale)) * (
        1.0 + 1e-9
    )


def knee(tail: Tail) -> Tail:
    """With a curve fitted anew beyond the first size from which cells show clearly more rows than it has. proof: knee"""
    more = tail.noisy - tail.counts
    for k in range(1, len(more) - KNEE):
        seen = float(np.sum(more[k : k + KNEE]))
        if seen > SHOWN * tail.noise * math.sqrt(KNEE):
            first = k + int(np.argmax(more[k : k + KNEE]))
            number = max(float(np.sum(tail.noisy[first : first + KNEE])), 0.0)
            return tail.counted(float(tail.edges[first - 1]), number, tail.noise * math.sqrt(KNEE))
    return tail


def ending(tail: Tail, level: float) -> Tail:
    """With no rows beyond a size. proof: knee"""
    told = copy(tail)
    told.counts = np.where(tail.middle > level, 0.0, tail.counts)
    return told
