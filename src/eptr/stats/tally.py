"""Noisy counts made consistent, and intervals for them.  Proof: tally.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Cell
from ..privacy.spending import Spending
from .estimate import Estimate
from .question import Question

__all__ = ["consistent", "score_interval", "tally"]

Array = NDArray[np.float64]


def tally(counts: Array, n: int, names: list[list[str]], spending: Spending, question: Question) -> Estimate:
    """The whole budget on counts of cells, each row being in one of them or dropped. proof: cells"""
    sd, noisy = spending.scale(Cell(), 1.0), np.ravel(spending.noisy(counts, Cell()))
    if not question.drop:  # the cells add up to n, which is public: what noise added to their sum is known
        noisy, sd = noisy - (noisy.sum() - n) / len(noisy), sd * np.sqrt(1.0 - 1.0 / len(noisy))
    value = consistent(noisy, n, exactly=not question.drop)
    low, high = score_interval(np.maximum(noisy, 0.0), sd, n, question.normal_quantile)
    low, high = np.minimum(low, value), np.maximum(high, value)
    numbers = (value, np.sqrt(value * (1.0 - value / n)), np.full(len(value), sd), low, high)
    value, sampling, privacy, low, high = (v.reshape(tuple(map(len, names))) for v in numbers)
    return question.answer(spending, value, sampling, privacy, names, noise_scale=float(sd), low=low, high=high)


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


def score_interval(noisy: Array, sd: Any, n: int, z: float) -> tuple[Array, Array]:
    """All x in [0, n] with (noisy - x)^2 <= z^2 (x (1 - x/n) + sd^2): Wilson's interval, with noise."""
    a, b, c = 1.0 + z * z / n, noisy + 0.5 * z * z, noisy**2 - z * z * sd**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    return np.clip((b - root) / a, 0.0, n), np.clip((b + root) / a, 0.0, n)
