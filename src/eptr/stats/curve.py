"""AUC and calibration of a public model, from a noisy table of rows by class and predicted probability.  Proof: curve.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..errors import InputError
from ..privacy.contribution import Cell
from ..rows.namespace import on_host
from .estimate import Estimate
from .scored import Scored

__all__ = ["calibration", "roc_auc"]

Array = NDArray[np.float64]
# Cells of log odds for the curve behind AUC, finer where most scores are; tenths of probability for calibration.
LOG_ODDS = np.concatenate([np.arange(-8.0, -4.0, 0.5), np.arange(-4.0, 4.0, 0.25), np.arange(4.0, 8.5, 0.5)])
TENTHS = np.arange(1, 10) / 10.0
_DRAWS = 400


def _curve(asked: Scored, edges: Array) -> tuple[Array, float]:
    """Noisy counts of rows by class and by cell of the model's probability. proof: curve"""
    if len(np.asarray(asked.rows.classes)) != 2:
        raise InputError(f"scoring={asked.question.what!r} is about two classes.")
    told, cells = asked.told, len(edges) + 1

    def counts(x: Array, y: Array, keep: Any) -> tuple[Array, ...]:
        place = np.searchsorted(edges, told.probabilities(x)[:, 1], side="right") + cells * np.maximum(y, 0)
        return (np.bincount(place if keep is None else place[keep], minlength=2 * cells).astype(float),)

    (found,) = asked.rows.sum(on_host(counts))
    noisy = asked.spending.noisy(found, Cell(), 1.0)
    return noisy.reshape(2, cells), asked.spending.scale(Cell(), 1.0)


def roc_auc(asked: Scored) -> Estimate:
    """The area under the curve; how far noise moves it is simulated."""
    counts, sd = _curve(asked, expit(LOG_ODDS))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, *counts.shape))
    value, sampling = _area(counts)
    privacy = float(np.std([_area(np.maximum(counts, 0.0) + sd * draw)[0] for draw in draws]))
    reach = asked.question.normal_quantile * math.hypot(sampling, privacy)
    low, high = max(value - reach, 0.0), min(value + reach, 1.0)
    return asked.single(value, sampling, privacy, sd, low=low, high=high)


def _area(counts: Array) -> tuple[float, float]:
    """P(a positive row is rated higher) + P(both in one cell)/2, and its sampling error by the variances of placements."""
    negative, positive = (np.asarray(c) for c in counts)
    sizes = max(float(negative.sum()), 1.0), max(float(positive.sum()), 1.0)
    below = (np.cumsum(negative) - 0.5 * negative) / sizes[0]
    above = (sizes[1] - np.cumsum(positive) + 0.5 * positive) / sizes[1]
    value = min(max(float(positive @ below) / sizes[1], 0.0), 1.0)
    spreads = [
        max(float(c @ (p - value) ** 2) / s, 0.0)
        for c, p, s in ((positive, below, sizes[1]), (negative, above, sizes[0]))
    ]
    return value, math.sqrt(spreads[0] / sizes[1] + spreads[1] / sizes[0])


def calibration(asked: Scored) -> Estimate:
    """The share of positive rows in each tenth; nothing is said where noise is a third of the rows or more."""
    counts, sd = _curve(asked, TENTHS)
    total = np.maximum(counts.sum(axis=0), 3.0 * sd)
    value = np.clip(counts[1] / total, 0.0, 1.0)
    sampling = np.sqrt(np.maximum(value * (1.0 - value), 0.25 / total) / total)
    privacy = sd * np.hypot(value, 1.0 - value) / total
    reach = asked.question.normal_quantile * np.hypot(sampling, privacy)
    few = counts.sum(axis=0) < 3.0 * sd
    low, high = np.where(few, 0.0, np.maximum(value - reach, 0.0)), np.where(few, 1.0, np.minimum(value + reach, 1.0))
    names = [f"{10 * k}-{10 * (k + 1)} %" for k in range(10)]
    value = np.where(few, np.nan, value)
    return asked.question.answer(asked.spending, value, sampling, privacy, [names], noise_scale=sd, low=low, high=high)
