"""Class sums, and how far one row can move class means: published and sharp bounds.  Proof: bounds.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rows.engine import Rows
from ...rows.exact import project, shrink_factors, sum_grid
from ...rows.namespace import is_foreign, like, namespace

__all__ = ["ClassRule", "ClassSums", "class_sums", "from_centres", "members", "paper_rule", "tight_rule"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClassSums:
    """Exact counts n_k and sums S_k of rows within a ball around given public centres."""

    counts: Array
    sums: Array


@dataclass(frozen=True, slots=True)
class ClassRule:
    """beta = min_k n_k: threshold, Lipschitz constant, sensitivity of (means, weight * prior), and that weight."""

    threshold: float
    lipschitz: float
    sensitivity: float
    prior_weight: float


def class_sums(rows: Rows, classes: int, radius: float, centres: Array | None = None) -> ClassSums:
    """One pass: counts, and sums of x (or x - c_y) projected to the ball of ``radius``. proof: sums"""
    grid = sum_grid(rows.n, radius)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        member = members(y, classes)
        if keep is not None:
            member = namespace(x).where(keep, member, 0.0)
        away = x if centres is None else from_centres(x, y, centres)
        units = project(away, shrink_factors(away, radius), grid)
        return namespace(x).sum(member, axis=1), (member @ units) * grid

    return ClassSums(*rows.sum(block))


def members(y: Any, classes: int) -> Any:
    """One row of 0 and 1 per class."""
    if is_foreign(y):
        xp = namespace(y)
        return xp.stack([xp.astype(y == k, xp.float64) for k in range(classes)])
    member = np.empty((classes, len(y)))
    for k in range(classes):
        np.equal(y, k, out=member[k], casting="unsafe")
    return member


def from_centres(x: Any, y: Any, centres: Array) -> Any:
    """x - c_y, a new array."""
    if is_foreign(x):
        return x - namespace(x).take(like(centres, x), y, axis=0)
    away = centres.take(np.asarray(y, dtype=np.intp), axis=0)
    return np.subtract(x, away, out=away)


def paper_rule(n: int, radius: float, c0: float, group: int) -> ClassRule:
    """Published: alpha = (2/n) sqrt(2 R^2/c0^2 + 2), gamma = (min n_k - c0 n - 1)_+. proof: published"""
    return ClassRule(c0 * n, float(group), group * 2.0 / n * math.sqrt(2.0 * radius**2 / c0**2 + 2.0), 1.0)


def tight_rule(n: int, classes: int, radius: float, c0: float, group: int) -> ClassRule:
    """alpha = max(2R/b, sqrt(2 (2R/(b+1))^2 + 2 (w/n)^2)) at b = max(c0 n, 1), for one row. proof: sharp"""
    b = max(c0 * n, 1.0)
    # w/n = a tenth of the move of a mean: the prior's noise is then far below what matters, at half a per cent of alpha.
    weight = 0.1 * n * 2.0 * radius / (b + 1.0)
    if group == 1:
        move = max(2.0 * radius / b, math.hypot(math.sqrt(2.0) * 2.0 * radius / (b + 1.0), math.sqrt(2.0) * weight / n))
    else:
        move = group * math.hypot(math.sqrt(2.0) * 2.0 * radius / b, math.sqrt(2.0) * weight / n)
    # Quotients round once, relative 2^-53 of at most R per number. proof: rounding
    return ClassRule(b, float(group), move * (1.0 + 1e-12) + 1e-14 * (radius * math.sqrt(classes) + weight), weight)
