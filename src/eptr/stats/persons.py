"""How much sums vary over persons, whose rows may be alike.  Proof: persons.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Together
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.exact import product_grid, project, shrink_factors
from ..rows.namespace import namespace

__all__ = ["SHARE", "before", "variances"]

Array = NDArray[np.float64]
SHARE = 0.05  # of mu^2, where persons are known


def before(rows: Rows, spending: Portion) -> Portion:
    """What is left for everything else."""
    return spending.within(1.0 - SHARE) if rows.each > 1 else spending


def variances(
    rows: Rows,
    alone: Array,
    influence: Callable[[Any, Any, Any], Any],
    radius: float,
    spending: Portion,
    share: float = SHARE,
) -> Array:
    """Of sums over all rows, number by number; ``alone`` is what they would be if rows were independent.

    ``influence``: what rows add to the sums, around its mean, one line per row of length at most ``radius``. Measured where
    persons are known, with one standard deviation of noise on top, and never above what any dependence allows. proof: bound
    """
    most, each, k = spending.unit.rows * alone, rows.each, alone.size
    if each == 1:
        return np.asarray(most)
    grid = product_grid(rows.n, float(each))

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        w = influence(x, y, keep) * (1.0 / radius)
        xp, units = namespace(w), project(w, shrink_factors(w, 1.0), grid)
        person = xp.sum(xp.reshape(units, (-1, each, k)), axis=1)
        return (xp.sum(person * person, axis=0) * grid**2,)

    squares, together = rows.sum(block)[0], Together(float(each), k)
    found = np.maximum(spending.noisy(squares, together, share), 0.0) + spending.scale(
        together, share
    )  # proof: persons
    return np.asarray(np.minimum(radius**2 * found.reshape(alone.shape), most))
