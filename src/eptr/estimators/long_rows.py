"""How long the rows of weak directions are, as a histogram of their lengths there shows.  Proof: descent.md, long.

Post-processing of released counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .gradient import Norms
from .tail import RATIO

__all__ = ["LongRows"]

Array = NDArray[np.float64]
CELLS, SEEN = 24, (3.0, 0.15)  # cells; times its noise that one is believed from, and more for each farther out


class LongRows:
    """Cells of squared lengths in some directions, from where a curvature would cut a row: about p of it is elsewhere."""

    def __init__(self, least: float, p: int, n: int) -> None:
        self.p, self.n, self.edges = p, n, (least - p) * RATIO ** np.arange(CELLS)
        self.middle = self.edges / math.sqrt(RATIO)
        self.ask = Norms(tuple(map(float, np.sqrt(self.edges))), rooted=True)

    def last(self, counts: Array, noise: float) -> int:
        """The last cell that shows more than noise, alone or with up to three before, the farther out the surer; 0: none does."""
        counts = counts[1:] / noise
        sums = np.cumsum(np.append(np.zeros(4), counts))
        windows = np.max([(sums[4:] - sums[4 - m : -m]) / math.sqrt(m) for m in range(1, 5)], axis=0)
        seen = np.flatnonzero((counts > 1.0) & (windows > SEEN[0] + SEEN[1] * np.arange(len(counts))))
        return int(seen[-1]) + 1 if seen.size else 0

    def length(self, last: int) -> float:
        """Of a whole row in that cell."""
        return math.sqrt(self.middle[last] + self.p)

    def cut(self, counts: Array, last: int, noise: float) -> tuple[float, float]:
        """Where to cut a curvature, so that what is lost is as bad as noise is, and what is lost.

        ``noise``: of a curvature that is cut at 1.
        """
        seen = np.maximum(counts * (np.arange(CELLS) <= last), 0.0)
        lost = np.array([seen @ np.maximum(self.middle - edge, 0.0) for edge in self.edges]) / self.n
        noises = (self.edges + self.p) * noise * math.sqrt(self.p) / self.n
        best = int(np.argmin(lost**2 + noises**2))
        return float(self.edges[best]) + self.p, float(lost[best])
