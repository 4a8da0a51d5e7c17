"""Where a curve jumps: whether its coefficients say so better than any smooth curve would.  Post-processing; see refined.md.

Coefficients of a jump fall like 1/k, and together they say where it is; those of a smooth curve are of one size up to some
frequency and fall like k^-2, a kink's, or faster from there. The two are compared by their likelihoods.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter

from .axes import CELLS, CLEAR, WINDOWS, Stretched, nearby
from .expansion import RIDGE

__all__ = ["jumps"]

Array = NDArray[np.float64]
SIZES = np.geomspace(1e-2, 1e6, 17)  # of a smooth curve's coefficients: variances, in those of the noise
BENDS = (1.0, 4.0, 16.0)  # frequencies from which they fall
LINE = 1e3  # variance of the line's coefficient, in that of the next one
FREE = 1e8  # variance of what may be anything: what no rows tell about, and jumps that were found
LIKELY = 9.0  # by how much a jump must raise the log likelihood
WIDE = 4.0  # standard deviations of the curve that it must exceed: twice the half width of a band
CELLS_WIDE = 3  # least number of cells within reach of it: within one, nobody knows where the rows are


def jumps(
    axis: Stretched, functions: Array, share: Array, estimate: Array, variance: Array, beyond: float
) -> list[float]:
    """Values of a term's only column; none if there is none to be seen, or the band is wide enough for it.

    ``functions``, ``share``: in the cells of the column, and of rows. ``beyond``: variance that the band has for what is rougher.
    """
    count = len(estimate)
    weighted, unit = functions * share[:, None], float(np.mean(np.diag(variance)))
    gram = functions.T @ weighted
    weight, direction = np.linalg.eigh(gram)
    free = direction[:, weight < CLEAR]
    noise = variance / unit + RIDGE * np.eye(count) + FREE * free @ free.T
    above = np.cumsum(weighted[::-1], axis=0)[-2::-1]  # what a step by 1 has in common with the functions
    steps = np.asarray(np.linalg.solve(gram + RIDGE * np.eye(count), above.T), dtype=float)
    doubt = np.sqrt(np.einsum("ij,jk,ik->i", functions, variance, functions) + beyond)

    places, reach = np.linspace(axis.low, axis.high, CELLS + 1)[1:-1], 1.5 / count
    along = axis.along(places)
    first, last = (axis.cell(axis.back(along + side)) for side in (-reach, reach))
    thin = np.append(0, np.cumsum(minimum_filter(nearby(axis.density), 2 * WINDOWS[0] + 1, mode="nearest") < CLEAR))
    known = (along > reach) & (along < 1.0 - reach) & (thin[last + 1] == thin[first]) & (last - first >= CELLS_WIDE)
    doubt = np.maximum(doubt[1:], doubt[:-1])
    found: list[float] = []
    while known.any():
        at = np.flatnonzero(known)
        gain, size = _evidence(estimate / math.sqrt(unit), steps[:, at], noise)
        gain[np.abs(size) * math.sqrt(unit) < WIDE * doubt[at]] = 0.0
        best = at[int(np.argmax(gain))]
        if np.max(gain) < LIKELY:
            break
        found.append(float(places[best]))
        noise = noise + FREE * np.outer(steps[:, best], steps[:, best])  # and besides that one?
        known &= np.abs(along - along[best]) > reach
    return sorted(found)


def _evidence(estimate: Array, steps: Array, noise: Array) -> tuple[Array, Array]:
    """By how much a step at each place raises the log likelihood of the best smooth curve, and its size."""
    k = np.arange(1.0, len(estimate) + 1.0)
    falls = [((1.0 + (2.0 / b) ** 2) / (1.0 + (k / b) ** 2)) ** 2 for b in BENDS]
    for fall in falls:
        fall[0] = LINE * fall[1]
    models = np.linalg.cholesky([noise + np.diag(size * fall) for fall in falls for size in SIZES])
    white = np.linalg.solve(models, np.column_stack([estimate, steps])[None])  # one right side for all
    level = -np.sum(np.log(np.diagonal(models, axis1=1, axis2=2)), axis=1) - np.sum(white[:, :, 0] ** 2, axis=1) / 2.0
    squares, product = np.sum(white[:, :, 1:] ** 2, axis=1), np.einsum("mk,mkp->mp", white[:, :, 0], white[:, :, 1:])
    likely = level[:, None] + product**2 / (2.0 * squares)
    best, place = np.argmax(likely, axis=0), np.arange(steps.shape[1])
    return likely[best, place] - np.max(level), product[best, place] / squares[best, place]
