"""Noisy counts made consistent, and intervals for them.  Proof: tally.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Cell, Together
from ..privacy.spending import Portion, Spending
from ..rows.engine import Rows
from ..rows.namespace import on_host
from .estimate import Estimate
from .persons import SHARE, before
from .question import Question

__all__ = ["consistent", "score_interval", "tally"]

Array = NDArray[np.float64]


def tally(
    rows: Rows,
    counts: Array,
    cell: Callable[[Any, Any], Any],
    order: Any,
    names: list[list[str]],
    spending: Spending,
    question: Question,
) -> Estimate:
    """The budget on counts of cells, each row being in one of them or dropped. proof: cells

    ``cell``: where a row is, by its x and y; ``order``: of the cells in the answer.
    """
    n, part = rows.n, before(rows, spending)
    sd, noisy = part.scale(Cell(), 1.0), part.noisy(np.ravel(counts)[order], Cell())
    if not question.drop:  # the cells add up to n, which is public: what noise added to their sum is known
        noisy, sd = noisy - (noisy.sum() - n) / len(noisy), sd * np.sqrt(1.0 - 1.0 / len(noisy))
    value = consistent(noisy, n, exactly=not question.drop)
    alone = value * (1.0 - value / n)
    alike = _alike(rows, cell, order, value / n, alone, spending)
    low, high = score_interval(np.maximum(noisy, 0.0), sd, n, question.normal_quantile, alike)
    low, high = np.minimum(low, value), np.maximum(high, value)
    numbers = (value, np.sqrt(alike * alone), np.full(len(value), sd), low, high)
    value, sampling, privacy, low, high = (v.reshape(tuple(map(len, names))) for v in numbers)
    return question.answer(spending, value, sampling, privacy, names, noise_scale=float(sd), low=low, high=high)


def _alike(rows: Rows, cell: Any, order: Any, shares: Array, alone: Array, spending: Portion) -> Any:
    """By cell, how many rows of a person say the same: the variance of a count relative to that of independent rows.

    With c rows in a cell out of k, a person adds (c - k p)^2 = c^2 - 2 p k c + p^2 k^2. proof: persons
    """
    each, most, cells = rows.each, spending.unit.rows, len(shares)
    if each == 1:
        return float(most)

    @on_host
    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        place = np.where(keep, cell(x, y), -1).reshape(-1, each)
        known, size = place >= 0, np.sum(place >= 0, axis=1)
        # The rows in a cell add up to c^2 if each adds c.
        same = np.sum(place[:, :, None] == place[:, None, :], axis=2)[known]
        sizes, where = np.broadcast_to(size[:, None], place.shape)[known], place[known]
        return (*(np.bincount(where, w, cells) for w in (same, sizes)), np.sum(size**2.0))

    fine = 2.0 ** min(20, (50 - math.ceil(math.log2(rows.n * each**2))) // 2)
    squares, crossed, total = rows.sum(block)
    p = np.floor(shares * fine) / fine
    found = squares[order] - 2.0 * p * crossed[order] + p**2 * total
    together = Together(math.nextafter(math.sqrt(2.0) * each, math.inf), cells)
    noisy = np.maximum(spending.noisy(found, together, SHARE), 0.0) + spending.scale(together, SHARE)
    return np.minimum(noisy / np.maximum(alone, 1.0), most)


def consistent(noisy: Array, n: int, *, exactly: bool) -> Array:
    """Whole numbers by the nearest counts that are not negative and add up to ``n``, or to no more. proof: nearest"""
    kept = np.maximum(noisy, 0.0)
    if exactly or kept.sum() > n:
        falling = np.sort(noisy)[::-1]
        excess = (np.cumsum(falling) - n) / np.arange(1, len(noisy) + 1)
        kept = np.maximum(noisy - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    whole = np.floor(kept)
    missing = round(float(kept.sum() - whole.sum()))
    whole[np.argsort(whole - kept, kind="stable")[:missing]] += 1.0
    return np.asarray(whole)


def score_interval(noisy: Array, sd: Any, n: int, z: float, alike: Any = 1.0) -> tuple[Array, Array]:
    """All x in [0, n] with (noisy - x)^2 <= z^2 (alike x (1 - x/n) + sd^2): Wilson's interval, with noise."""
    a, b, c = 1.0 + z * z * alike / n, noisy + 0.5 * z * z * alike, noisy**2 - z * z * sd**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    return np.clip((b - root) / a, 0.0, n), np.clip((b + root) / a, 0.0, n)
