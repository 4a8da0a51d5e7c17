"""AUC and calibration of a public model, from noisy tables of rows by class and predicted probability.  Proof: curve.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ..errors import InputError
from ..privacy.contribution import Cell
from ..rows.namespace import on_host
from .estimate import Estimate
from .mean import mean_weights, pooled
from .moments import moments
from .scored import Losses, Scored
from .tally import consistent

__all__ = ["calibration", "roc_auc"]

Array = NDArray[np.float64]
# Cells of log odds for a first guess of the classes' distributions, wider far out, where few models go; its share of mu^2.
_FAR = np.array([10.0, 13.0, 17.0, 22.0, 30.0])
LOG_ODDS, GUESS = np.concatenate([-_FAR[::-1], np.arange(-8.0, 8.5, 0.5), _FAR]), 0.25
# Tenths of probability for calibration.
TENTHS, UNIT = np.arange(1, 10) / 10.0, np.array([[0.0, 1.0]])


def _curve(asked: Scored, edges: Array, share: float = 1.0) -> tuple[Array, float]:
    """Noisy counts of rows by class and by cell of the model's probability. proof: curve"""
    if len(np.asarray(asked.rows.classes)) != 2:
        raise InputError(f"scoring={asked.question.what!r} is about two classes.")
    told, cells = asked.told, len(edges) + 1

    def counts(x: Array, y: Array, keep: Any) -> tuple[Array, ...]:
        place = np.searchsorted(edges, told.probabilities(x)[:, 1], side="right") + cells * np.maximum(y, 0)
        return (np.bincount(place if keep is None else place[keep], minlength=2 * cells).astype(float),)

    (found,) = asked.rows.sum(on_host(counts))
    noisy = asked.spending.noisy(found, Cell(), share)
    return noisy.reshape(2, cells), asked.spending.scale(Cell(), share)


def roc_auc(asked: Scored) -> Estimate:
    """P(a positive row is rated higher), from placements: where a row would stand among those of the other class.

    With guesses F, G of the two distributions, the mean of F over positive rows plus that of 1 - G over negative ones minus the
    area of the guesses is off by the product of both errors alone. proof: placements
    """
    told, weights = asked.told, mean_weights(asked.spending.unit.relation, counted=True)
    counts, sd = _curve(asked, expit(LOG_ODDS[1:-1]), GUESS)
    cells = len(LOG_ODDS) - 1
    sizes = np.maximum(counts.sum(axis=1), sd * math.sqrt(cells)).round()
    guess = np.array([consistent(c, int(size), exactly=True) / size for c, size in zip(counts, sizes, strict=True)])
    negative, positive = (np.append(0.0, np.cumsum(g)) for g in guess)

    def placement(x: Array, y: Array) -> Array:
        odds = logit(np.clip(told.probabilities(x)[:, 1], *expit(LOG_ODDS[[0, -1]])))
        below, above = np.interp(odds, LOG_ODDS, negative), 1.0 - np.interp(odds, LOG_ODDS, positive)
        return np.asarray(np.where(y == 1, below, above))

    half, share = np.array([0.5]), 1.0 - GUESS
    found = moments(Losses(asked.rows, placement), 2, half, half, UNIT, weights, asked.spending, share)
    (_, below), (area, above) = _placed(guess[0], positive), _placed(guess[1], negative)
    value = min(max(1.0 + 0.5 * float(found.powers[1].sum()) - area, 0.0), 1.0)
    spread = pooled(found.powers[2] - found.powers[1] ** 2, found.noise[2])
    # What is left out: noise in both guesses, and how rows lie in cells that they share, if that is not as it was guessed.
    uneven = float(np.max(np.abs(1.0 - 0.5 * np.sqrt(spread[:, 0] / np.maximum([below, above], 1e-9)))))
    product, shared = sd**2 * cells / math.sqrt(2.0) / float(np.prod(sizes)), float(guess[0] @ guess[1])
    rows_each = asked.spending.unit.rows  # persons.md, bound
    sampling = 0.5 * math.sqrt(rows_each * float((spread / found.counts).sum()))
    noise = 0.5 * float(np.linalg.norm(found.noise[1]))
    privacy = math.hypot(noise, product, 0.5 * shared**2 * uneven)
    reach = asked.question.normal_quantile * math.hypot(sampling, privacy)
    low, high = (0.0, 1.0) if np.any(found.few) else (max(value - reach, 0.0), min(value + reach, 1.0))
    return asked.single(value, sampling, privacy, noise, low=low, high=high)


def _placed(guess: Array, among: Array) -> tuple[float, float]:
    """Mean and variance of the places of rows, even in their cells, in a distribution that is known at the ends of cells."""
    low, high = among[:-1], among[1:]
    mean = float(guess @ (low + high)) / 2.0
    return mean, float(guess @ (low * low + low * high + high * high)) / 3.0 - mean**2


def calibration(asked: Scored) -> Estimate:
    """The share of positive rows in each tenth; nothing is said where noise is a third of the rows or more."""
    counts, sd = _curve(asked, TENTHS)
    total = np.maximum(counts.sum(axis=0), 3.0 * sd)
    value = np.clip(counts[1] / total, 0.0, 1.0)
    rows_each = asked.spending.unit.rows  # persons.md, bound
    sampling = np.sqrt(rows_each * np.maximum(value * (1.0 - value), 0.25 / total) / total)
    privacy = sd * np.hypot(value, 1.0 - value) / total
    reach = asked.question.normal_quantile * np.hypot(sampling, privacy)
    few = counts.sum(axis=0) < 3.0 * sd
    low, high = np.where(few, 0.0, np.maximum(value - reach, 0.0)), np.where(few, 1.0, np.minimum(value + reach, 1.0))
    names = [f"{10 * k}-{10 * (k + 1)} %" for k in range(10)]
    value = np.where(few, np.nan, value)
    return asked.question.answer(asked.spending, value, sampling, privacy, [names], noise_scale=sd, low=low, high=high)
