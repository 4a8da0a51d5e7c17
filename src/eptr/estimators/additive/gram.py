"""What is known of a Gram matrix of functions beforehand, put in the place of noise.  Post-processing; see solving.md, known.

Within a term of one column it follows from where the rows are, which the axes have; between two terms smooth functions go
together, if any do, and rough ones do not.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..coordinates import Coordinates
from ..whitening import whiten
from .expansion import Expansion
from .shrinkage import blocks

__all__ = ["denoised"]

Array = NDArray[np.float64]
PRICE = 1.5  # of noise in a block
NOISE = 1.0


def denoised(found: Coordinates, expansion: Expansion, n: int) -> Coordinates:
    """Coordinates from the same released matrix, with noise only where something was to be learnt from it."""
    matrix, kept = found.gram / n, np.ones_like(found.gram)
    variance, parts, start = (found.noise / n) ** 2 / 2.0, [], 0
    for degrees in expansion.degrees:
        parts.append(slice(start, start + len(degrees)))
        start += len(degrees)
    matrix = matrix.copy()
    groups = [[*(slice(p.start + b.start, p.start + b.stop) for b in (slice(0, 1), *blocks(p.stop - p.start)))] for p in parts]
    for k, part in enumerate(parts):
        known = expansion.within(k)
        if known is not None:
            matrix[part, part] = known * (np.trace(matrix[part, part]) / max(float(np.trace(known)), 1e-300))
            kept[part, part] = 0.0
        for other in range(k):
            for rows in groups[k]:
                for columns in groups[other]:
                    block = matrix[rows, columns]
                    rest = max(0.0, 1.0 - PRICE * block.size * variance / max(float(np.sum(block**2)), 1e-300))
                    for at in ((rows, columns), (columns, rows)):
                        matrix[at], kept[at] = matrix[at] * rest, rest
    noise = found.noise * NOISE * math.sqrt(float(np.mean(kept**2)))
    return replace(found, whitening=whiten(matrix * n, noise, n), gram=matrix * n, noise=noise)
