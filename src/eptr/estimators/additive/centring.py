"""The mean of what each column adds, over the rows: an effect is told against it.  Proof: centring.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Shape
from ...privacy.spending import Portion
from ...rows.engine import Rows
from ...rows.exact import sum_grid, toward_zero
from ...rows.namespace import like, namespace
from .axes import Stretched
from .expansion import Expansion

__all__ = ["means"]

Array = NDArray[np.float64]
LEAST = 1e-9  # length that effects are taken to have, in half ranges of y


def means(
    rows: Rows,
    expansion: Expansion,
    curves: tuple[Array, Array],
    known: tuple[float, tuple[Array, float] | None],
    half: float,
    spending: Portion,
) -> tuple[Array, Array]:
    """Of all functions of columns alone, and the variance of each term's mean.

    ``curves``: coefficients before they are shrunk, whose means are released, and what is left of each, as a share.
    ``known``: the noise of a cell, and the means of all functions as a released matrix has them, with their noise. ``half``: of
    the range of y.
    """
    (coef, kept), (cell, seen) = curves, known
    found, doubt = np.zeros(expansion.count), np.zeros(expansion.count)
    parts, tables, columns = [], [], []
    for k, (term, part) in enumerate(zip(expansion.terms, expansion.parts, strict=True)):
        axis = expansion.axes[term[0]]
        if len(term) > 1 or not isinstance(axis, Stretched):
            continue
        table, middle = expansion.at_places(k), expansion.middle(k)
        cells = table.reshape(len(axis.density), -1, table.shape[1])
        share = axis.density / max(float(np.sum(axis.density)), 1e-300)
        variance = _doubt(cells, share, cell)
        most = float(_doubt(cells @ coef[part], share, cell))
        before = max(float(variance @ coef[part] ** 2), 1e-300)
        if seen is not None:
            gain = variance / (variance + seen[1] ** 2)
            middle, variance = middle + gain * (seen[0][part] - middle), variance * (1.0 - gain)
        found[part], doubt[part] = middle, variance
        left = float(variance @ coef[part] ** 2)
        parts.append((k, part, max(left, most * left / before)))
        columns.append(term[0])
        tables.append((table - middle) @ coef[part])
    offsets = np.zeros(len(expansion.terms))
    if not parts:
        return found, offsets
    grid = sum_grid(rows.n, max(*(float(np.max(np.abs(t))) for t in tables), LEAST * half))
    rounded = [toward_zero(t, grid) for t in tables]
    apart = math.sqrt(math.fsum(float(np.ptp(t)) ** 2 for t in rounded))
    away = math.sqrt(math.fsum(float(np.max(np.abs(t))) ** 2 for t in rounded))
    each = Shape(*(max(length, LEAST * half) * (1.0 + 1e-12) for length in (apart, away)))

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp = namespace(x)
        sums = []
        for j, table in zip(columns, rounded, strict=True):
            place = expansion.axes[j].place(x[:, j])
            place = place.astype(np.int64) if xp is np else xp.astype(place, xp.int64)
            value = xp.take(like(table, x), place)
            sums.append(xp.sum(value if keep is None else xp.where(keep, value, xp.zeros_like(value))))
        return (xp.stack(sums),)

    (total,) = rows.sum(block)
    off = spending.noisy(np.asarray(total), each) / rows.n  # proof: means
    noise = (spending.scale(each, 1.0) / rows.n) ** 2
    for (k, part, unsure), shift in zip(parts, off, strict=True):
        ways = doubt[part] * coef[part] * kept[part]  # functions whose means are least known, and count most
        found[part] += ways * (unsure / max(float(ways @ coef[part]), 1e-300) * shift / (unsure + noise))
        offsets[k] = unsure * noise / (unsure + noise)
    return found, offsets


def _doubt(cells: Array, share: Array, noise: float) -> Any:
    """Variance of the mean of functions, in places of cells: rows of all may lie at their ends, and their shares are noisy."""
    middle = np.mean(cells, axis=1)
    spread = np.sum((middle - share @ middle) ** 2, axis=0)
    return (share @ np.ptp(cells, axis=1) / 2.0) ** 2 + noise**2 * spread
