"""Which ranks hold a quantile of the population: sampling and the rank errors of the mechanism, together.

Public numbers alone; no statistic of the rows is computed in this file.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

__all__ = ["RankError", "interval_ranks"]

Array = NDArray[np.float64]
# Cells of the lattice on which errors are counted, in units of their scale, if it is wider than one rank.
_FINENESS = 32.0
# Gaps between rows are as uneven as those of any sample, which makes errors about a tenth larger.
_UNEVEN = 1.1


@dataclass(frozen=True, slots=True)
class RankError:
    """By how many ranks the ``step``-th of ``steps - 1`` joint quantiles misses its rank, if rows lie evenly.

    The density exp(-sum |D_j - D_{j-1}| / scale) with D = 0 at both ends: a walk of Laplace steps that comes home.
    """

    off: Array
    chance: Array

    @classmethod
    def of(cls, step: int, steps: int, scale: float) -> RankError:
        scale *= _UNEVEN
        unit = max(1.0, scale / _FINENESS)
        ratio = math.exp(-unit / scale)
        half = 2 ** math.ceil(math.log2(12.0 * scale / unit * math.sqrt(steps) + 16.0))
        off = np.arange(-half, half)
        # One step has the characteristic function of a discrete Laplace variable; sums of steps have its powers.
        one = (1.0 - ratio) ** 2 / (1.0 - 2.0 * ratio * np.cos(np.pi * off / half) + ratio**2)
        there, back = (np.fft.fftshift(np.fft.ifft(np.fft.ifftshift(one**k)).real) for k in (step, steps - step))
        chance = np.maximum(there * back, 0.0)
        likely = chance > 1e-9 * chance.max()
        return cls(off[likely] * unit, chance[likely] / chance[likely].sum())

    @property
    def sd(self) -> float:
        return math.sqrt(float(self.chance @ self.off**2))

    def below(self, rank: int, n: int, q: float, alike: float = 1.0) -> float:
        """P(the quantile of the population is below a place with ``rank`` and this error), its own rank being binomial.

        Where ``alike`` rows say the same the sample is as good as one that is so much smaller.
        """
        smaller = max(1, round(n / alike))
        ranks, n = (rank + self.off) * (smaller / n), smaller
        if n * q * (1.0 - q) > 1000.0:  # nobody can tell it from a normal one, which is faster
            return float(self.chance @ ndtr((ranks - n * q) / math.sqrt(n * q * (1.0 - q))))
        return float(self.chance @ (binom.cdf(ranks - 1.0, n, q) + binom.cdf(ranks, n, q))) / 2.0


@lru_cache(maxsize=4096)  # of public numbers, and the same for every sample
def interval_ranks(
    step: int, steps: int, scale: float, n: int, q: float, level: float, alike: float = 1.0
) -> tuple[int, int]:
    """The ranks to ask for, before and after ``step``, so that their places hold the q-quantile of the population."""
    tail = 0.5 * (1.0 - level)
    low, high = (RankError.of(k, steps, scale) for k in (step - 1, step + 1))
    first = bisect_left(range(n + 1), tail, key=lambda rank: low.below(rank, n, q, alike))
    last = bisect_left(range(n + 1), 1.0 - tail, key=lambda rank: high.below(rank, n, q, alike))
    return max(0, first - 1), min(n, last)
