"""Coordinates in which a noisy Gram matrix is about n times the identity.

Post-processing of released numbers. Where the matrix is clear the steps of a descent are Newton's; where it is noise it is
shrunk towards a multiple of the identity (Ledoit and Wolf 2004), and they are plain gradient steps of the right size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .gradient import ROW_BITS, round_public

__all__ = ["TOGETHER", "Whitening", "again", "plain", "repaired", "shortened", "undetermined", "whiten"]

Array = NDArray[np.float64]
# A coefficient is not determined with more than the first of these shares of its variance in directions that steps do not reach,
# or the second in such as common columns go together in ...
UNKNOWN, TOGETHER = 0.5, 0.05
ALIKE = 0.3  # ... nor is one whose column has such a correlation with one that is not ...
LOST = (
    10.0  # ... nor one whose column has so many times the squares that are left in the Gram matrix: in few, long rows
)
ARRIVED = 0.5  # what steps may leave to go, for a coefficient of the size of the errors, in standard errors
# A second look sees a direction if floors made up less than this share of it, and a step misses by less than so much of its way.
FLOORED, TWICE = 0.5, 1.0
# Eigenvalues are at least this much of the largest one of the noise (less where all is noise), plus this much of their own mean
# or all of the noise, whichever is smaller.
FLOOR_NOISE, FLOOR_MEAN = 0.35, 0.05


@dataclass(frozen=True, slots=True)
class Whitening:
    """z = matrix' x has second moments of about 1."""

    matrix: Array
    values: Array  # eigenvalues in use, from the smallest
    vectors: Array
    weakest: float  # least eigenvalue, as a share of the floor that replaced it
    doubt: (
        Array  # by how much a step may miss in each direction, as a share of the way; infinite where a floor was used
    )
    blur: Array  # the same without regard to floors

    def arrived(self, steps: float, n: int) -> NDArray[np.bool_]:
        """In which directions so many steps arrive; see schedule.md, arrival."""
        return np.asarray((self.doubt / 2.0) ** steps <= ARRIVED / math.sqrt(n))

    def unknown(self, steps: float, n: int, weights: Array | float = 1.0) -> Array:
        """How much of each coefficient's variance is in the other directions."""
        variance = self.vectors**2 / self.values
        return np.asarray(variance @ (weights * ~self.arrived(steps, n)) / np.sum(variance, axis=1))

    @property
    def smallest(self) -> float:
        """Eigenvalue in use."""
        return float(np.min(self.values))


def whiten(gram: Array, noise: float, n: int) -> Whitening:
    """``noise``: standard deviation on the diagonal of the released ``gram``."""
    p = len(gram)
    mean = max(float(np.trace(gram)) / p, FLOOR_NOISE * noise * math.sqrt(p))
    centred = gram - mean * np.eye(p)
    # The share of the spread of eigenvalues that noise alone would show.
    rho = min(1.0, noise**2 * (p * (p + 1) / 2 - 1) / max(float(np.sum(centred**2)), 1e-300))
    values, vectors = np.linalg.eigh(mean * np.eye(p) + (1.0 - rho) * centred)
    # The largest eigenvalue of the noise is about sd sqrt(2p).
    widest = noise * math.sqrt(2.0 * p)
    floored = np.maximum(values, FLOOR_NOISE * widest * (1.0 - rho) + min(FLOOR_MEAN * mean, widest))
    matrix = (vectors * np.sqrt(n / floored)) @ vectors.T
    bits = ROW_BITS - math.ceil(math.log2(p + 1))
    doubt = np.where(values >= floored, widest / floored, math.inf)
    weakest = min(1.0, max(float(values[0]), 0.0) / float(floored[0]))
    return Whitening(round_public(matrix, bits), floored, vectors, weakest, doubt, widest / floored)


def again(first: Whitening, weak: Array, seen: Array, noise: float, n: int) -> Whitening:
    """From noisy rows of the matrix, in the first one's coordinates: those of the directions ``weak``, each a column of it.

    ``seen``: one row for each, of numbers with such ``noise``. See coordinates.md, closer.
    """
    p, k = weak.shape
    core, sd = seen @ weak / n, noise / n
    across = weak @ (seen / n - core @ weak.T)
    matrix = np.eye(p) + weak @ ((core + core.T) / 2.0 - np.eye(k)) @ weak.T + across + across.T
    least, directions = np.linalg.eigh(matrix)
    floor = FLOOR_NOISE * 2.0 * sd * math.sqrt(p)
    hidden, kept = least < floor, np.maximum(least, floor)
    back = np.linalg.inv(first.matrix)
    values, vectors = np.linalg.eigh(n * back.T @ (directions * kept) @ directions.T @ back)
    unit = vectors.T @ back.T * np.sqrt(n / values)[:, None]  # directions in which the matrix is one
    inside = unit @ weak
    length, rest = np.sum(inside**2, axis=1), unit - inside @ weak.T
    blur = 2.0 * sd * (np.sqrt(p * length) + math.sqrt(k) * length) + (rest @ first.vectors) ** 2 @ first.blur
    doubt = np.where(((unit @ directions) ** 2 @ (kept * hidden) < FLOORED) & (blur < TWICE), blur, math.inf)
    bits = ROW_BITS - math.ceil(math.log2(p + 1))
    whitened = round_public((vectors * np.sqrt(n / values)) @ vectors.T, bits)
    return Whitening(whitened, values, vectors, min(1.0, max(float(least[0]), 0.0) / float(kept[0])), doubt, blur)


def shortened(gram: Array, noise: float, variance: Array | None, n: int) -> Array:
    """How much more there is of columns of known variance than in the Gram matrix, for which long rows are shortened."""
    known = np.ones(0) if variance is None else n * variance
    return np.asarray(known / np.maximum(np.diag(gram)[: len(known)] + noise, 0.01 * noise))


def undetermined(
    whitening: Whitening, gram: Array, noise: float, more: Array, together: Array, steps: float, n: int
) -> NDArray[np.bool_]:
    """Which coefficients too few rows tell about; ``more`` from :func:`shortened`, ``together`` as in ``Coordinates``.

    Columns that go together share their fate.
    """
    unknown = (whitening.unknown(steps, n) > UNKNOWN) | (whitening.unknown(steps, n, together) > TOGETHER)
    unknown[: len(more)] |= more > LOST
    sizes = np.sqrt(np.maximum(np.diag(gram), noise))
    alike = (abs(gram) > ALIKE * np.outer(sizes, sizes)) & (abs(gram) > 3.0 * noise)
    return np.asarray(unknown | np.any(alike[:, unknown], axis=1))


def plain(values: Array, n: int) -> Whitening:
    """Where a Gram matrix would be all noise: columns as they are, of such sums of squares, none of them known."""
    p = len(values)
    matrix = np.diag(np.sqrt(n / values))
    return Whitening(round_public(matrix, ROW_BITS), values, np.eye(p), 1.0, np.full(p, math.inf), np.full(p, math.inf))


def repaired(matrix: Array, low: float, high: float) -> Array:
    """A released symmetric matrix with its eigenvalues kept between two public numbers."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.clip(values, low, high)) @ vectors.T)
