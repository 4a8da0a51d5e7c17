"""Quantisation that makes float64 sums exact, whatever their order.  Proof: exact.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError, positive
from .namespace import at_most, is_foreign, namespace, squares, times, whole

__all__ = ["product_grid", "project", "shrink_factors", "sum_grid", "toward_zero"]


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


def toward_zero(values: Any, grid: float) -> Any:
    """Round to a multiple of ``grid`` toward zero, so that no bound on a size or a norm is broken. proof: zero"""
    units = whole(values * (1.0 / grid))
    units *= grid
    return units


def shrink_factors(rows: Any, radius: float, grid: float = 0.0) -> Any | None:
    """Factors that bring every row into the ball of ``radius``; None if all rows are inside. proof: ball

    ``grid``: what coordinates are rounded to afterwards, to the *nearest* multiple, which must not leave the ball either.
    A row whose squared norm overflows gets the factor 0.
    """
    xp, p = namespace(rows), rows.shape[1]
    safe = (radius - math.nextafter(0.5 * grid * math.sqrt(p), math.inf)) * (1.0 - (p + 8) * 2.0**-52)
    with np.errstate(over="ignore", divide="ignore"):
        norms = xp.sqrt(squares(rows, 1))
        return None if rows.shape[0] == 0 or xp.max(norms) <= safe else at_most(safe / norms, 1.0)


def project(rows: Any, factors: Any | None, grid: float, *, nearest: bool = False) -> Any:
    """Rows times their shrink factors, quantised **in units of the grid**: whole numbers, toward zero or the nearest.

    Sum them, then multiply by the grid, a power of two. Every norm is at most the radius, exactly (``nearest``: if the factors
    knew the grid). A new array.
    """
    if factors is None:
        return whole(times(rows, 1.0 / grid), nearest=nearest)
    short = None if is_foreign(rows) else np.flatnonzero(factors < 1.0)
    if short is None or 8 * short.size >= len(rows):
        return whole(rows * (factors / grid)[:, None], nearest=nearest)
    # Usually few rows are too long; 1/grid is a power of two, so the bits are the same either way.
    with np.errstate(over="ignore"):
        units = times(rows, 1.0 / grid)
    units[short] = rows[short] * (factors[short] / grid)[:, None]
    return whole(units, nearest=nearest)
