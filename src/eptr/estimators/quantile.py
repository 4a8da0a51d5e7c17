"""A private quantile of a row statistic, from a noisy histogram on geometric bins.  Proof: quantile.md."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..privacy.noise import NoiseSource
from ..rows.engine import Rows

__all__ = ["private_quantile"]

Array = NDArray[np.float64]


def private_quantile(
    rows: Rows,
    statistic: Callable[[Array, Array], Array],
    level: float,
    *,
    low: float,
    high: float,
    mu: float,
    noise: NoiseSource,
    group: int = 1,
    ratio: float = math.sqrt(2.0),
    forgiving: float = 0.0,
) -> float:
    """Upper end of the geometric bin in which the ``level`` quantile of ``statistic(x, y) >= 0`` falls; mu-GDP.

    Bins are [0, low], then (low ratio^j, low ratio^(j+1)] up to ``high``, which also holds everything above.
    ``forgiving``: standard deviations of the noise of a partial sum by which the level may be missed (at most a
    quarter of the rows), so that noise in many empty cells cannot push the answer to the end of the range.
    """
    count = max(1, math.ceil(math.log(high / low) / math.log(ratio)))
    edges = low * ratio ** np.arange(count + 1)

    def histogram(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
        values = statistic(x, y)
        cells = np.minimum(np.searchsorted(edges, values if keep is None else values[keep]), count)
        return (np.bincount(cells, minlength=count + 1).astype(float),)

    (counts,) = rows.sum(histogram)
    scale = math.sqrt(2.0) * group / mu  # proof: histogram
    noisy = noise.gaussian(counts, scale)
    slack = np.minimum(forgiving * scale * np.sqrt(np.arange(1, count + 2)), 0.25 * rows.n)
    reached = np.flatnonzero(np.cumsum(noisy) >= level * rows.n - slack)
    return float(edges[reached[0] if reached.size else count])
