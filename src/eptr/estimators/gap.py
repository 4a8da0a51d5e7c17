"""Rows that y'y shows and a histogram of lengths does not: few, far beyond a spike of all others.  Proof: descent.md, gap."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .gradient import Beyond
from .tail import Tail

__all__ = ["Gap"]

Array = NDArray[np.float64]

# Chosen on simulated data only: rare events, and outcomes of benchmarks/life.py in ranges much wider than they are.
# The estimate leaves more of y'y than the curve has, by so many standard deviations: bands go as far as that says. If they would
# end APART times as far, it is believed from SURE on; above MAYBE rows on the way there are counted.
CLEAR, SURE, MAYBE, APART = 2.0, 3.0, -1.0, 4.0
PROBE = 0.15  # of the last pass, on that count
# Both together are as clear as this, or an interval has to fear that rows are hidden: beside a spike, which has such a share of
# the rows in so many neighbouring cells, and beside a bulk.
SPIKE, CELLS, BESIDE_SPIKE, BESIDE_BULK = 0.85, 4, (2.0, 1.0), (4.0, 2.0)
LEAST = 0.25  # in units of its noise, what y'y has beyond the curve at least, if rows that were counted say that it has something
LEAVES = 0.5  # of y'y; where the estimate explains more than this, what it leaves is not known so well


class Gap:
    """``square``: y'y with noise of standard deviation ``doubt``; ``tail``: the lengths of gradients at ``phi``."""

    def __init__(self, tail: Tail, phi: Array, square: float, doubt: float, n: int, outside: float) -> None:
        rest = square - n * float(phi @ phi)
        here, known = tail.square(), square - rest <= LEAVES * max(square, doubt) < math.inf
        self.n, self.p, self.tail, self.last = n, len(phi), tail, tail.level(outside)
        self.clear = (rest - max(here, 0.0)) / doubt if known else -math.inf
        self.square = max(self.p * max(rest - doubt, LEAST * doubt) - here, 0.0) if known else 0.0
        self.feared = self.p * (max(rest, 0.0) + doubt) if known else 0.0
        self.level = math.sqrt(self.square / outside)
        together = float(np.max(np.convolve(tail.noisy, np.ones(CELLS))))
        self.limits = BESIDE_SPIKE if together > SPIKE * n else BESIDE_BULK
        self.holding = tail.holding(self.level, outside)

    def asks(self) -> list[Beyond]:
        """What else to count, if y'y alone cannot say."""
        unsure = MAYBE < self.clear < SURE and self.level > APART * self.last
        return [Beyond(math.sqrt(self.level * self.last))] if unsure else []

    def counted(self, level: float, found: float, noise: float) -> tuple[bool, float]:
        """Whether rows are hidden there, and the variance of each number that intervals must count if they may be."""
        together = (self.clear + (found - self.tail.beyond(level)) / noise) / math.sqrt(2.0)
        lost = self.feared * (max(found, 0.0) + noise) / (self.n**2 * self.p)
        clear, doubted = self.limits
        return together > clear, lost if doubted < together <= clear else 0.0
