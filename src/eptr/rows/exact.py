"""Quantisation that makes float64 sums exact, whatever their order.  Proof: exact.md."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, positive

__all__ = ["product_grid", "project", "sum_grid", "toward_zero"]

Array = NDArray[np.float64]


def sum_grid(n: int, bound: float) -> float:
    """Smallest power of two g with n * bound <= 2^52 g: n multiples of g below ``bound`` add exactly. proof: sums"""
    if n < 1:
        raise InputError(f"n must be at least 1, got {n!r}.")
    needed = math.nextafter(n * positive("bound", bound) * 2.0**-52, math.inf)
    mantissa, exponent = math.frexp(needed)
    return math.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)


def product_grid(n: int, bound: float) -> float:
    """Grid for a factor below ``bound``: sums of n products of two such factors are exact. proof: products"""
    return sum_grid(1, math.nextafter(math.sqrt(n), math.inf) * positive("bound", bound) * 2.0**26)


def toward_zero(values: Array, grid: float, out: Array | None = None) -> Array:
    """Round to a multiple of ``grid`` toward zero, so that no bound on a size or a norm is broken. proof: zero"""
    units = np.trunc(np.multiply(values, 1.0 / grid, out=out), out=out)
    return np.asarray(np.multiply(units, grid, out=out))


def project(rows: Array, radius: float, grid: float) -> Array:
    """Rows scaled into the ball of ``radius``, then quantised: every norm is at most ``radius``, exactly.

    A row whose squared norm overflows becomes zero. The result is a new array. proof: ball
    """
    p = rows.shape[1]
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    safe = radius * (1.0 - (p + 8) * 2.0**-52)
    with np.errstate(divide="ignore"):
        factors = np.minimum(safe / norms, 1.0)
    # In units of the grid (a power of two, so the division is exact), truncated, and back.
    scaled = rows * (factors / grid)[:, None]
    return np.multiply(np.trunc(scaled, out=scaled), grid, out=scaled)
