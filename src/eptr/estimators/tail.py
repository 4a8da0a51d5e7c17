"""How long the longest gradients are, from a noisy histogram of their norms.

Post-processing. Few rows are in the upper cells and the noise is as large as their counts, so the tail is read off a curve
that is fitted to all cells near its beginning: counts A exp(b k + c k^2) in cell k with c <= 0, which is a power law (c = 0),
a lognormal or a normal tail. What the curve says beyond the last visible cell is an extrapolation: tails are assumed to fade.
"""

from __future__ import annotations

import math
from copy import copy

import numpy as np
from numpy.typing import NDArray

__all__ = ["RATIO", "Tail"]

Array = NDArray[np.float64]
RATIO = math.sqrt(2.0)  # of the ends of a cell
SEEN = 4.0  # standard deviations at which one, two or three cells together are more than noise
CLEAR = 10.0  # and at which a cell is taken as it is
BEFORE = 6  # cells before the last visible one that the curve must follow ...
MISFIT = 0.1  # ... up to this much of a count
SLOPES = np.linspace(-3.0, 0.3, 34)
BENDS = -np.concatenate([[0.0], np.geomspace(0.02, 1.0, 12)])
# Where a count contradicts the curve it may rise to a second hump; its slope is about that of an inverse square.
RISING, FADING = np.linspace(-3.0, 1.5, 46), (-math.log(2.0), 0.4)


class Tail:
    """``counts``: noisy (standard deviation ``noise``), of the cells that end at ``edges``, each RATIO times the one before."""

    def __init__(self, edges: Array, counts: Array, noise: float) -> None:
        seen = [
            k
            for k in range(len(counts))
            if counts[k] > 0.0
            and any(np.sum(counts[max(k - m, 0) : k + 1]) > SEEN * noise * math.sqrt(m + 1) for m in range(3))
        ]
        last = seen[-1] if seen else int(np.argmax(counts))
        start = last
        while (
            start > max(last - BEFORE, 0) and counts[start - 1] > 0.5 * np.max(counts[start : last + 1]) - 2.0 * noise
        ):
            start -= 1  # not beyond a valley: zeros and ones, say, have gradients of two sizes
        cell, here = np.arange(start, len(counts)) - float(last), counts[start:]
        weight = _weight(here, noise)
        curves = np.exp(np.minimum(SLOPES[:, None, None] * cell + BENDS[:, None] * cell**2, 50.0))
        sizes = np.maximum(np.sum(curves * (weight * here), -1) / np.sum(curves**2 * weight, -1), 0.0)
        misfit = np.sum(weight * (here - sizes[..., None] * curves) ** 2, -1)
        best = np.unravel_index(int(np.argmin(misfit)), misfit.shape)
        self.edges, self.middle, self.noisy, self.noise = edges, edges / math.sqrt(RATIO), counts, noise
        curve = np.concatenate([np.maximum(counts[:start], 0.0), sizes[best] * curves[best]])
        self.counts = np.where(counts > CLEAR * noise, counts, curve)
        self.least = 0.0  # what no level shall be below

    def counted(self, level: float, found: float, noise: float) -> Tail:
        """The same, with the curve beyond a size fitted anew, to its cells and to a count of the rows there.

        Sizes are taken to fade about as an inverse square does, unless the cells say otherwise.
        """
        here = self.middle > level
        if not here.any():
            return self
        cell, counts = np.arange(float(np.sum(here))), self.noisy[here]
        shapes = np.exp(np.minimum(RISING[:, None, None] * cell + BENDS[:, None] * cell**2, 50.0))
        shapes /= np.sum(shapes, -1, keepdims=True)
        weight, sure = _weight(counts, self.noise), noise**-2
        sizes = np.sum(shapes * (weight * counts), -1) + found * sure
        sizes /= np.sum(shapes**2 * weight, -1) + sure
        misfit = np.sum(weight * (counts - sizes[..., None] * shapes) ** 2, -1) + (found - sizes) ** 2 * sure
        misfit += ((RISING[:, None] - FADING[0]) / FADING[1]) ** 2
        best = np.unravel_index(int(np.argmin(misfit)), misfit.shape)
        told = copy(self)
        told.counts = self.counts.copy()
        told.counts[here] = sizes[best] * shapes[best]
        return told

    def holding(self, size: float, rows: float) -> Tail:
        """The same, with more rows of one size, which its last level shall not be below."""
        told = copy(self)
        told.counts, told.least = self.counts.copy(), size
        told.counts[int(np.argmin(abs(self.middle - size)))] += rows
        return told

    def beyond(self, level: float) -> float:
        """How many rows exceed a size."""
        k = min(int(np.searchsorted(self.edges, level)), len(self.edges) - 1)
        above, left = float(np.sum(self.counts[k:])), max(float(np.sum(self.counts[k + 1 :])), 1e-2)
        return (
            above * (min(left / above, 1.0) ** (math.log(level / self.edges[k]) / math.log(RATIO) + 1.0))
            if above > 0.0
            else 0.0
        )

    def level(self, outside: float) -> float:
        """The size that ``outside`` rows exceed."""
        return max(self._level(outside), self.least)

    def _level(self, outside: float) -> float:
        beyond = np.append(np.cumsum(self.counts[::-1])[::-1][1:], 0.0)
        k = int(np.argmax(beyond <= outside))
        above = float(beyond[k - 1] if k else np.sum(self.counts))
        if above <= outside:
            return float(self.edges[k])
        way = math.log(above / outside) / math.log(above / max(float(beyond[k]), 1e-2))
        return float(self.edges[k] * RATIO ** (min(way, 1.0) - 1.0))

    def excess(self, low: float, high: float = math.inf) -> float:
        """Sum over rows of what lies between two sizes."""
        return float(np.sum(self.counts * np.clip(self.middle - low, 0.0, high - low)))

    def square(self, level: float = math.inf) -> float:
        """Sum over rows of squared sizes, cut at ``level``."""
        return float(np.sum(self.counts * np.minimum(self.middle, level) ** 2))


def _weight(counts: Array, noise: float) -> Array:
    """Of cells in a fit."""
    known = np.maximum(counts, 0.0)
    return np.asarray(1.0 / (noise**2 + known + (MISFIT * known) ** 2))
