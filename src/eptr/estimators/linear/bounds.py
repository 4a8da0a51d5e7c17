"""How far one row can move a least squares fit: the published bounds and the sharp ones.  Proof: bounds.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ...rows.engine import Rows
from ...rows.exact import product_grid, project, shrink_factors
from ...rows.namespace import doubles, inner, namespace, whole

__all__ = ["LENGTHS", "Moments", "SafetyRule", "moments", "paper_rule", "sharp_numerator", "solve", "tight_rule"]

Array = NDArray[np.float64]
_UNIT = 2.0**-53
LENGTHS = 2.0 ** np.arange(0.25, 4.0, 0.5)  # cells of rows that are too long begin at so many times the bound
ROUNDING = 1.0 - 2.0**-20  # rows shortened by less are not too long


@dataclass(frozen=True, slots=True)
class SafetyRule:
    """beta = lambda_min(X'X): its threshold, Lipschitz constant, the sensitivity above it, and rounding errors."""

    threshold: float
    lipschitz: float
    sensitivity: float
    safety_error: float


@dataclass(frozen=True, slots=True)
class Moments:
    """Exact X'X, X'y and y'y of rows projected to |x| <= R (the constant column included) and |y| <= Y."""

    gram: Array
    cross: Array
    square: Array
    outside: float = 0.0  # rows beyond a bound, if they were counted
    long: Array | None = None  # of these, rows in each cell of lengths


def moments(
    rows: Rows,
    x_bound: float,
    y_bound: float,
    constant: float | None,
    *,
    weighted: bool = True,
    count: bool = False,
    y_range: tuple[float, float] | None = None,
) -> Moments:
    """One pass. The constant column ``constant`` comes last; None means no intercept. proof: moments

    A y beyond ``y_range``, which lies within the bound, is moved to the nearer edge before anything else.

    ``weighted``: a row beyond the bound is shortened together with its constant and its y. That is a weight which depends
    on x alone: no bias if E(y|x) is linear in x, another target if it is not. Otherwise, as published, x is projected alone.
    """
    x_grid, y_grid = product_grid(rows.n, max(x_bound, constant or 0.0)), product_grid(rows.n, y_bound)
    # To the nearest multiple: the grid grows with sqrt(n), and rounding toward zero would bias the sums of many rows.
    y_most = float(math.trunc(y_bound / y_grid))
    column = None if constant is None else math.trunc(constant / x_grid)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp, factors = namespace(x), shrink_factors(x, x_bound, x_grid)
        z = project(x, factors, x_grid, nearest=True)
        weight, given, edges = factors if weighted else None, y, y_range or (-y_bound, y_bound)
        if y_range is not None:
            y = xp.clip(y, *y_range)
            y = y if keep is None else xp.where(keep, y, 0.0)  # a dropped row is zero, and zero may be beyond
        t = whole(xp.clip((y if weight is None else y * weight) * (1.0 / y_grid), -y_most, y_most), nearest=True)
        ones = xp.ones_like(t) if weight is None else weight  # the constant, before it is scaled
        if keep is not None:
            ones = xp.where(keep, ones, 0.0)
        side = t, whole(ones * float(column or 0))
        rest = xp.stack([xp.stack([one @ two for two in side]) for one in side])
        sums = inner(z.T), xp.stack([each @ z for each in side]), rest  # one by one: few columns make slow products
        if not count:
            return sums
        beyond, cells = (given < edges[0]) | (given > edges[1]), [t[:0] for _ in LENGTHS]
        beyond = beyond if keep is None else beyond & keep
        if factors is not None:
            beyond, cells = beyond | (factors < ROUNDING), [doubles(factors < float(1.0 / r)) for r in LENGTHS]
        return *sums, xp.sum(doubles(beyond)), xp.stack([xp.sum(cell) for cell in cells])

    gram, side, rest, *counts = rows.sum(block)  # in units of the grids: whole numbers
    cross = side[0]
    if column is not None:
        gram = np.block([[gram, side[1:].T], [side[1:], rest[1:, 1:]]])
        cross = np.append(cross, rest[0, 1])
    found = gram * x_grid**2, cross * (x_grid * y_grid), np.asarray(rest[0, 0] * y_grid**2)
    return Moments(*found, *((float(counts[0]), -np.diff(counts[1], append=0.0)) if count else ()))


def sharp_numerator(x_bound: float, y_bound: float, coef_bound: float, dimension: int) -> float:
    """Largest |x(y - x't) - x'(y' - x''t)| over |x| <= R, |y| <= Y, |t| <= R_t: the diameter of the score set.

    For p >= 2: max over phi of 2R (Y + R R_t cos phi) sin phi.    # proof: numerator
    """
    if dimension == 1:
        rho = min(x_bound, y_bound / (2.0 * coef_bound))
        return x_bound * (y_bound + x_bound * coef_bound) + rho * (y_bound - rho * coef_bound)
    a, d = x_bound * y_bound, x_bound * x_bound * coef_bound
    cosine = 2.0 * d / (a + math.sqrt(a * a + 8.0 * d * d))
    return 2.0 * (a + d * cosine) * math.sqrt(1.0 - cosine * cosine)


def tight_rule(
    n: int, dimension: int, x_bound: float, y_bound: float, coef_bound: float, c0: float, group: int
) -> SafetyRule:
    """L = k R^2 and alpha = k D(R_t)/b0, widened by rounding. ``x_bound`` includes the constant column. proof: sharp"""
    numerator = group * sharp_numerator(x_bound, y_bound, coef_bound, dimension)
    return _rule(n, dimension, x_bound, y_bound, coef_bound, c0, group * x_bound**2, numerator)


def paper_rule(
    n: int, dimension: int, x_bound: float, y_bound: float, coef_bound: float, c0: float, group: int
) -> SafetyRule:
    """The published constants: L = 2 R^2 and alpha = 4 R^2 R_t/(c0 n). proof: published"""
    numerator = group * 4.0 * x_bound**2 * coef_bound
    return _rule(n, dimension, x_bound, y_bound, coef_bound, c0, group * 2.0 * x_bound**2, numerator)


def _rule(
    n: int,
    dimension: int,
    x_bound: float,
    y_bound: float,
    coef_bound: float,
    c0: float,
    lipschitz: float,
    numerator: float,
) -> SafetyRule:
    threshold = c0 * n
    norm = n * x_bound**2
    # Backward stability of the symmetric eigenvalue and linear solvers, with a generous constant. proof: rounding
    safety_error = 64.0 * dimension**2 * _UNIT * norm
    estimate_error = 64.0 * dimension**2 * _UNIT * (norm / threshold) * (coef_bound + n * x_bound * y_bound / threshold)
    sensitivity = (numerator / threshold) * (1.0 + 1e-12) + 2.0 * estimate_error
    return SafetyRule(threshold, lipschitz, sensitivity, safety_error)


def smallest_eigenvalue(gram: Array) -> float:
    """beta: how well the data determine every direction."""
    return float(np.linalg.eigvalsh(gram)[0])


def solve(sums: Moments, coef_bound: float) -> Array:
    """proj_{R_t}((X'X)^-1 X'y); called only where lambda_min is above the threshold."""
    theta = cho_solve(cho_factor(sums.gram), sums.cross)
    return np.asarray(theta * min(1.0, coef_bound / max(float(np.linalg.norm(theta)), 1e-300)))
