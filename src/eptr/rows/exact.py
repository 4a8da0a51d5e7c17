"""Quantisation that makes float64 sums exact, whatever their order.  Proof: exact.md."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, positive

__all__ = ["product_grid", "project", "shrink_factors", "sum_grid", "toward_zero"]

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


def shrink_factors(rows: Array, radius: float) -> Array | None:
    """Factors that bring every row into the ball of ``radius``; None if all rows are inside. proof: ball

    A row whose squared norm overflows gets the factor 0.
    """
    safe = radius * (1.0 - (rows.shape[1] + 8) * 2.0**-52)
    with np.errstate(over="ignore", divide="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return None if norms.max(initial=0.0) <= safe else np.minimum(safe / norms, 1.0)


def project(rows: Array, factors: Array | None, grid: float) -> Array:
    """Rows times their shrink factors, quantised toward zero **in units of the grid**: whole numbers.

    Sum them, then multiply by the grid, a power of two. Every norm is at most the radius, exactly. A new array.
    """
    short = None if factors is None else np.flatnonzero(factors < 1.0)
    if short is not None and factors is not None and 8 * short.size >= len(rows):
        units = rows * (factors / grid)[:, None]
    else:  # usually few rows are too long; 1/grid is a power of two, so the bits are the same either way
        with np.errstate(over="ignore"):
            units = rows * (1.0 / grid)
        if short is not None and factors is not None:
            units[short] = rows[short] * (factors[short] / grid)[:, None]
    return np.asarray(np.trunc(units, out=units))
