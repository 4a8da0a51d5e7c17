"""Smooth functions on [0, 1]: a line and cosines, in the order of their roughness.  Proof: basis.md.

Cosines alone have no slope at the ends; with a line among them a curve may leave as it likes (Eubank and Speckman 1990). Turned
so that they are orthonormal and ordered by the integral of f''^2 (Demmler and Reinsch 1975) the line comes first, and what comes
later can be shrunk as "too rough".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ...rows.namespace import like, namespace, whole
from ..gradient import ROW_BITS, round_public

__all__ = ["degrees_of", "smooth_functions"]

Array = NDArray[np.float64]
_TERMS = 10  # of the series of the sine; what is left is below 1e-15


def smooth_functions(u: Any, count: int) -> list[Any]:
    """psi_1(u), ..., psi_count(u) for u in [0, 1]: mean 0, mean square 1 and uncorrelated if u is uniform."""
    xp, unit = namespace(u), 2.0**ROW_BITS
    raw = xp.stack([2.0 * u - 1.0, *_cosines(u, count - 1)], axis=1)
    functions = whole(raw * unit, nearest=True) @ like(_turn(count) / unit, u)  # whole numbers: exact. proof: bits
    return [functions[:, k] for k in range(count)]


def _cosines(u: Any, count: int) -> list[Any]:
    """cos(pi k u) for k = 1 ... count, by sums and products alone: the same bits in every library. proof: bits"""
    if count < 1:
        return []
    t = 0.5 - u  # cos(pi u) = sin(pi t)
    square, total, factor = t * t, namespace(u).zeros_like(t), _sine_factors()
    for k in reversed(range(_TERMS)):
        total = total * square
        total = total + factor[k]
    first = total * t
    found, twice = [first, 2.0 * first * first - 1.0], 2.0 * first
    while len(found) < count:
        found.append(twice * found[-1] - found[-2])
    return found[:count]


@lru_cache(maxsize=1)
def _sine_factors() -> list[float]:
    """pi, -pi^3/3!, pi^5/5!, ..."""
    steps = (-math.pi * math.pi / ((2 * k) * (2 * k + 1)) for k in range(1, _TERMS))
    return list(itertools.accumulate(steps, lambda a, b: a * b, initial=math.pi))


@lru_cache(maxsize=64)
def _turn(count: int) -> Array:
    """From (2u - 1, cos(pi u), cos(2 pi u), ...) to the functions: eigenvectors of int f''^2 relative to int f^2."""
    k = np.arange(1.0, count)
    size = np.diag(np.append(1.0 / 3.0, np.full(count - 1, 0.5)))
    size[0, 1:] = size[1:, 0] = 2.0 * ((-1.0) ** k - 1.0) / (k * math.pi) ** 2
    roughness = np.diag(np.append(0.0, 0.5 * (k * math.pi) ** 4))
    vectors = eigh(roughness, size)[1]
    ends = vectors[0] + np.sum(vectors[1:] * ((-1.0) ** k)[:, None], axis=0)
    turned = vectors * np.where(ends < 0.0, -1.0, 1.0)  # upward at the upper end
    return round_public(turned, ROW_BITS - math.ceil(math.log2(count + 1)))


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
