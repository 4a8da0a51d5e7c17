"""One pass before any step: the Gram matrix, and the rows and the number of rows of every class.  Proof: look.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rows.engine import Rows
from ...rows.exact import product_grid, project, shrink_factors
from ...rows.namespace import doubles, inner, namespace, whole, zero_unless

__all__ = ["Look", "look"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Look:
    """Exact sums over rows (x, constant) shortened to |x| <= R."""

    gram: Array
    sums: Array  # of the rows of each class
    counts: Array  # of all rows of each class
    outside: Array  # rows that were shortened


def look(rows: Rows, x_bound: float, constant: float | None, classes: int) -> Look:
    """A row beyond the bound is shortened together with its constant. proof: look"""
    grid = product_grid(rows.n, max(x_bound, constant or 0.0))
    column = float(math.trunc((constant or 0.0) / grid))

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp, factors = namespace(x), shrink_factors(x, x_bound, grid)
        z, ones = project(x, factors, grid, nearest=True), xp.ones_like(y)
        mine = [y == float(k) for k in range(classes)]
        mine = mine if keep is None else [each & keep for each in mine]
        member = [doubles(each) for each in mine]
        weight = whole((ones if factors is None else factors) * column)
        weight = weight if keep is None else zero_unless(keep, weight)
        beyond = 0.0 * ones[0] if factors is None else xp.sum(doubles(factors < 1.0))
        sums = xp.stack([each @ z for each in member])  # one by one: few columns make slow products
        last = xp.stack([each @ weight for each in member])
        return inner(z.T), weight @ z, weight @ weight, sums, last, xp.stack([xp.sum(each) for each in member]), beyond

    gram, side, corner, sums, last, counts, outside = rows.sum(block)  # rows in units of the grid: whole numbers
    if constant is not None:
        gram = np.block([[gram, side[:, None]], [side[None, :], corner]])
        sums = np.column_stack([sums, last])
    return Look(gram * grid**2, sums * grid, counts, np.asarray(outside))
