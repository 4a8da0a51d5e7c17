"""Smooth functions on [0, 1]: a line and cosines, in the order of their roughness.

Cosines alone have no slope at the ends; with a line among them a curve may leave as it likes (Eubank and Speckman 1990). Turned
so that they are orthonormal and ordered by the integral of f''^2 (Demmler and Reinsch 1975) the line comes first, and what comes
later can be shrunk as "too rough".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

__all__ = ["degrees_of", "smooth_functions"]

Array = NDArray[np.float64]


def smooth_functions(u: Array, count: int) -> Array:
    """psi_1(u), ..., psi_count(u) for u in [0, 1]: mean 0, mean square 1 and uncorrelated if u is even."""
    cosines = np.cos(math.pi * np.arange(1, count) * u[:, None])
    return np.asarray(np.column_stack([2.0 * u - 1.0, cosines]) @ _turn(count))


def _turn(count: int) -> Array:
    """From (2u - 1, cos(pi u), cos(2 pi u), ...) to the functions: eigenvectors of int f''^2 relative to int f^2.

    <2u - 1, 2u - 1> = 1/3, <2u - 1, cos(pi k u)> = 2((-1)^k - 1)/(pi k)^2, and cosines are orthogonal with 1/2; f'' is 0 for the
    line and has mean square (pi k)^4/2 for a cosine.
    """
    k = np.arange(1.0, count)
    size = np.diag(np.append(1.0 / 3.0, np.full(count - 1, 0.5)))
    size[0, 1:] = size[1:, 0] = 2.0 * ((-1.0) ** k - 1.0) / (k * math.pi) ** 2
    roughness = np.diag(np.append(0.0, 0.5 * (k * math.pi) ** 4))
    vectors = eigh(roughness, size)[1]
    ends = vectors[0] + np.sum(vectors[1:] * ((-1.0) ** k)[:, None], axis=0)
    return np.asarray(vectors * np.where(ends < 0.0, -1.0, 1.0))  # upward at the upper end


def degrees_of(terms: Sequence[tuple[int, ...]], counts: Sequence[int]) -> list[list[tuple[int, ...]]]:
    """The smoothest products of functions of each term's columns, 0 standing for none of a column's.

    A function of fewer columns that have a term of their own belongs there.
    """
    found: list[list[tuple[int, ...]]] = [[] for _ in terms]
    smaller: set[frozenset[int]] = set()
    for k in sorted(range(len(terms)), key=lambda k: len(terms[k])):
        term, count = terms[k], counts[k]
        top = range(count + 1 if len(term) == 1 else math.isqrt(2 * count) + 4)
        every = sorted(itertools.product(top, repeat=len(term)), key=lambda d: (sum(j * j for j in d), d))
        new = (d for d in every if any(d) and frozenset(j for j, m in zip(term, d, strict=True) if m) not in smaller)
        found[k] = list(itertools.islice(new, count))
        smaller.add(frozenset(term))
    return found
