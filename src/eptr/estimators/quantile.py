"""A private quantile of a row statistic, from a noisy histogram on geometric bins.  Proof: quantile.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..privacy.contribution import Cell
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.namespace import is_foreign, like, namespace, squares, to_numpy

__all__ = ["RADIUS_SHARE", "private_quantile", "private_radius", "row_norms", "target_sizes"]

# Share of mu^2 that buys one private radius when a bound is given as "private".
RADIUS_SHARE = 0.05
RADIUS_LEVEL = 0.97
# It is searched over all sensible magnitudes, with few cells and a margin for their noise.
RADIUS_SEARCH = {"low": 2.0**-30, "high": 2.0**30, "ratio": 2.0, "forgiving": 2.0}


def private_quantile(
    rows: Rows,
    statistic: Callable[[Any, Any], Any],
    level: float,
    *,
    low: float,
    high: float,
    spending: Portion,
    share: float,
    ratio: float = math.sqrt(2.0),
    forgiving: float = 0.0,
) -> float:
    """Upper end of the geometric bin in which the ``level`` quantile of ``statistic(x, y) >= 0`` falls.

    Bins are [0, low], then (low ratio^j, low ratio^(j+1)] up to ``high``, which also holds everything above.
    ``forgiving``: standard deviations of the noise of a partial sum by which the level may be missed (at most a
    quarter of the rows), so that noise in many empty cells cannot push the answer to the end of the range.
    """
    count = max(1, math.ceil(math.log(high / low) / math.log(ratio)))
    edges = low * ratio ** np.arange(count + 1)

    def histogram(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        values = statistic(x, y)
        if keep is not None:
            values = values[keep]
        if is_foreign(values):  # how many are at most so large, from sorted values; then differences
            xp = namespace(values)
            below = to_numpy(xp.searchsorted(xp.sort(values), like(edges[:-1], values), side="right"))
            return (np.diff(below, prepend=0, append=values.shape[0]).astype(float),)
        cells = np.minimum(np.searchsorted(edges, values), count)
        return (np.bincount(cells, minlength=count + 1).astype(float),)

    (counts,) = rows.sum(histogram)
    scale, noisy = spending.scale(Cell(), share), spending.noisy(counts, Cell(), share)  # proof: histogram
    slack = np.minimum(forgiving * scale * np.sqrt(np.arange(1, count + 2)), 0.25 * rows.n)
    reached = np.flatnonzero(np.cumsum(noisy) >= level * rows.n - slack)
    return float(edges[reached[0] if reached.size else count])


def private_radius(rows: Rows, statistic: Callable[[Any, Any], Any], spending: Portion) -> float:
    """A bound bought from the budget: nearly all rows are within it."""
    return private_quantile(rows, statistic, RADIUS_LEVEL, spending=spending, share=RADIUS_SHARE, **RADIUS_SEARCH)


def row_norms(x: Any, y: Any) -> Any:
    """|x| of every row."""
    return namespace(x).sqrt(squares(x, 1))


def target_sizes(x: Any, y: Any) -> Any:
    """|y| of every row."""
    return abs(y)
