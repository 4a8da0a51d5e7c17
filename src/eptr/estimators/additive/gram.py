"""What is known of a Gram matrix of functions beforehand, put in the place of noise.  Post-processing; see gram.md.

Within a term of one column it follows from where the rows are, which the axes have; between two terms smooth functions go
together, if any do, and rough ones do not.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..coordinates import Coordinates
from ..whitening import whiten
from .expansion import Expansion
from .shrinkage import blocks

__all__ = ["denoised", "frequencies"]

Array = NDArray[np.float64]
PRICE = 1.5  # of noise in a block


def frequencies(start: int, count: int) -> list[slice]:
    """Of a term whose coefficients begin at ``start``: the line, then blocks."""
    return [slice(start + b.start, start + b.stop) for b in (slice(0, 1), *blocks(count))]


def denoised(found: Coordinates, expansion: Expansion, n: int) -> Coordinates:
    """Coordinates from the same released matrix, with noise only where something was to be learnt from it."""
    matrix, kept, variance = found.gram / n, np.ones_like(found.gram), (found.noise / n) ** 2 / 2.0
    before: list[slice] = []

    def shrink(one: slice, other: slice, known: Array | float) -> None:
        off = matrix[one, other] - known
        rest = max(0.0, 1.0 - PRICE * off.size * variance / max(float(np.sum(off**2)), 1e-300))
        matrix[one, other] = known + rest * off
        matrix[other, one], kept[one, other], kept[other, one] = matrix[one, other].T, rest, rest

    for k, part in enumerate(expansion.parts):
        known, groups = expansion.within(k), frequencies(part.start, part.stop - part.start)
        if known is not None:  # rows were shortened for the matrix, all functions alike
            shrink(part, part, known * (np.trace(matrix[part, part]) / max(float(np.trace(known)), 1e-300)))
        for one, other in itertools.product(groups, before):
            shrink(one, other, 0.0)
        before += groups
    noise = found.noise * math.sqrt(float(np.mean(kept**2)))
    return replace(found, whitening=whiten(matrix * n, noise, n), gram=matrix * n, noise=noise)
