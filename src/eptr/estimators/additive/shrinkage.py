"""Block James-Stein: coefficients of neighbouring frequencies are shrunk together, by how much of them is noise.

Post-processing. Blocks grow by a constant factor, as Efromovich and Pinsker (1984) and Cai (1999) have it: too many functions
then cost little, because those that only carry noise are set to nearly zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["blocks", "factors"]

Array = NDArray[np.float64]
FIRST, GROWTH = 2.0, 1.3


def blocks(count: int, kept: int = 1) -> list[slice]:
    """The first ``kept`` are left alone; then blocks of 2, 3, 3, 4, 6, ... coefficients, the last with what is left over."""
    found, start, size = [], kept, FIRST
    while start < count:
        stop = start + round(size)
        if count - stop < size * GROWTH / 2.0:  # too few for a block of their own
            stop = count
        found.append(slice(start, stop))
        start, size = stop, size * GROWTH
    return found


def factors(estimate: Array, variance: Array, kept: int = 1, price: float = 1.0) -> Array:
    """1 - price (noise in the block)/(size of the block), not below 0; a higher price leaves less noise, and less signal."""
    found = np.ones(len(estimate))
    for block in blocks(len(estimate), kept):
        size = float(np.sum(estimate[block] ** 2))
        found[block] = max(0.0, 1.0 - price * float(np.sum(variance[block])) / max(size, 1e-300))
    return found
