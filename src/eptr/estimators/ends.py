"""Where bands end, and what lies beyond: as the curve of lengths has it, and as bands that do not fade.  Proof: descent.md.

Post-processing of released counts and bands.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .gradient import Bands
from .tail import Tail

__all__ = ["lasting", "levels", "longer", "ratio_beyond"]

Array = NDArray[np.float64]
LOW = 0.85  # the first level: this quantile of the gradients' norms, or half the last one
HIGHER = 1.2  # more bands follow if they reach so much higher
FADING = 0.7  # bands that fade more slowly than this are taken to go on as the last two do, times this


def levels(tail: Tail, outside: float, n: int) -> tuple[float, ...]:
    """From the last level, which about ``outside`` rows exceed, down by halves; two at least."""
    last = tail.level(outside)
    lowest = min(tail.level(n * (1.0 - LOW)), last / 2.0)
    count = 2 + max(0, math.floor(math.log2(last / 2.0 / lowest) + 1e-9))
    return tuple(last * 2.0**-k for k in reversed(range(count)))


def longer(tail: Tail, bands: Bands, outside: float, largest: float) -> Bands:
    """More bands above the last one, if more rows lie beyond it than were meant to."""
    last = bands.levels[-1]
    factor = min(tail.level(outside), largest) / last
    if factor < HIGHER:
        return bands
    doubled = (last * 2.0**k for k in range(1, math.ceil(math.log2(factor))))
    return Bands((*bands.levels, *doubled, last * factor))


def ratio_beyond(tail: Tail, levels: tuple[float, ...]) -> float:
    """What lies beyond the last level, in units of what is in the last band."""
    return tail.excess(levels[-1]) / max(tail.excess(levels[-2], levels[-1]), 1e-9)


def lasting(bands: Array, variance: Array, levels: tuple[float, ...], largest: float) -> float:
    """What lies beyond the last level, in units of the last band, if bands do not fade: of top-coded y."""
    p = bands.shape[1]
    before, last = (max(0.0, float(v @ v) - p * float(s)) for v, s in zip(bands[-2:], variance[-2:], strict=True))
    stands_out = math.sqrt(2.0 * p)  # standard deviations of |noise|^2
    if min(before / variance[-2], last / variance[-1]) < stands_out or 2.0 * levels[-2] > levels[-1] * (1.0 + 1e-9):
        return 0.0
    ratio = FADING * float(bands[-1] @ bands[-2]) / before
    further = range(1, 1 + math.floor(math.log2(max(largest / levels[-1], 1.0))))
    return math.fsum(ratio**k for k in further) if ratio > FADING**2 else 0.0
