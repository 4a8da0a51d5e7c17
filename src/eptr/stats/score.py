"""Scores of a fitted model on rows that it has not seen, with intervals.  Proof: score.md."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..errors import BoundError, InputError
from ..privacy.contribution import Cell
from ..privacy.spending import Portion, Spending
from ..rows.engine import Engine, RowFunction, Rows
from ..rows.namespace import on_host
from ..rows.task import Task
from .estimate import Estimate
from .mean import mean_weights, means, pooled
from .moments import moments
from .question import Question, Shared, column_bounds
from .spread import variances

__all__ = ["SCORES", "score"]

Array = NDArray[np.float64]
# Probabilities are kept within this, so that one row that was thought impossible cannot cost more than log 100.
SURE = (0.01, 0.99)
# Cells of log odds for the curve behind AUC, finer where most scores are; tenths of probability for calibration.
LOG_ODDS = np.concatenate([np.arange(-8.0, -4.0, 0.5), np.arange(-4.0, 4.0, 0.25), np.arange(4.0, 8.5, 0.5)])
TENTHS = np.arange(1, 10) / 10.0
# R^2: shares of mu^2 for the variance of y and a first error, which only say what to subtract.
FIRST = 0.15
_DRAWS = 2000


def score(
    model: Any,
    X: Any,
    y: Any,
    *,
    scoring: str,
    epsilon: float,
    delta: float = 1e-6,
    y_range: Any = None,
    level: float = 0.95,
    **shared: Unpack[Shared],
) -> Estimate:
    """A score of a fitted, released model on private rows, by its name in scikit-learn; large is good.

    Parameters
    ----------
    model : fitted estimator
        Public, whoever fitted it: one of ours, released before, or one fitted to public rows. Its columns are numbers.
    X, y : as for ``fit``
        Rows that the model was not fitted to: scores on its own rows flatter it.
    scoring : str
        "neg_mean_squared_error", "r2" (both need ``y_range``), "accuracy", "neg_log_loss" (probabilities kept within .01 and
        .99), "neg_brier_score", "roc_auc", or "calibration": the share of positive rows where the model says 0-10 %, ...
    y_range : (low, high)
        Public; y and predictions beyond it are moved to it. Wide ones do no harm.
    epsilon, delta, level, neighbours, rows_per_person, invalid, ledger, random_state
        As in :func:`eptr.stats.mean`.
    """
    if scoring not in SCORES:
        raise InputError(f"scoring must be one of {sorted(SCORES)}, got {scoring!r}.")
    question = Question(what=scoring, epsilon=epsilon, delta=delta, level=level, **shared)
    names, columns = getattr(model, "feature_names_in_", None), None
    if names is not None and (isinstance(y, str) or hasattr(X, "columns")):
        columns = tuple(map(str, names))  # in the order of the fit, whatever the table's
    classes = None if scoring in _OF_NUMBERS else getattr(model, "classes_", None)
    if classes is None and scoring not in _OF_NUMBERS:
        raise InputError(f"scoring={scoring!r} needs a fitted classifier; {type(model).__name__} has no classes_.")
    if scoring not in ("accuracy", *_OF_NUMBERS) and not hasattr(model, "predict_proba"):
        raise InputError(
            f"scoring={scoring!r} needs predict_proba, which {type(model).__name__} lacks; use 'accuracy'."
        )
    task = Task("numbers" if classes is None else "labels", classes, question.drop, columns)
    told = _Told(model, _range(y_range, scoring) if classes is None else (0.0, 1.0))
    rows, spending = question.open(X, y, task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the model: one that depends on rows would be a leak
        return SCORES[scoring](_Scored(question, rows, spending, told))


def _range(y_range: Any, scoring: str) -> tuple[float, float]:
    if y_range is None:
        raise BoundError(
            f"y_range is missing: scoring={scoring!r} needs (low, high), from what is known before seeing the data."
        )
    (pair,) = column_bounds(y_range, 1, "y_range").tolist()
    return pair[0], pair[1]


@dataclass(frozen=True, slots=True)
class _Told:
    """A public model, as it goes to the rows: what it says about a block of them."""

    model: Any
    y_range: tuple[float, float]

    def said(self, x: Array, method: str) -> Array:
        """What a method of the model answers."""
        names = getattr(self.model, "feature_names_in_", None)
        with np.errstate(all="ignore"):
            return np.asarray(getattr(self.model, method)(x if names is None else _frame(x, names)))

    def error(self, x: Array, y: Array) -> Array:
        """y - f(x), both within the public range; a prediction that is no number counts as 0."""
        found = np.nan_to_num(np.asarray(self.said(x, "predict"), dtype=float))
        return np.asarray(np.clip(y, *self.y_range) - np.clip(found, *self.y_range))

    def probabilities(self, x: Array) -> Array:
        """One column per class, in the order of the labels."""
        found = np.nan_to_num(np.asarray(self.said(x, "predict_proba"), dtype=float))
        return np.asarray(np.clip(found, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class _Scored:
    """What a score asks: rows, a public model and the budget."""

    question: Question
    rows: Engine
    spending: Spending
    told: _Told

    def single(self, value: Any, sampling: Any, privacy: Any, noise: float, **ends: Any) -> Estimate:
        value, sampling, privacy = (float(np.ravel(v)[0]) for v in (value, sampling, privacy))
        return self.question.answer(self.spending, value, sampling, privacy, (), noise_scale=noise, **ends)


def _frame(x: Array, names: Any) -> Any:
    """A block with the names that the model was fitted with, where pandas is there to carry them."""
    try:
        import pandas
    except ModuleNotFoundError:
        return x
    return pandas.DataFrame(x, columns=list(names))


class _Losses:
    """Rows of which a statistic sees the loss alone: a function of one row and a public model. proof: losses"""

    n_features = 1

    def __init__(self, rows: Engine, loss: Callable[[Array, Array], Array]) -> None:
        self.rows, self.loss, self.n = rows, loss, rows.n

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        loss = self.loss  # which goes to the rows; these do not

        def of_loss(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            return fn(np.asarray(loss(x, y), dtype=float)[:, None], y, keep)

        return self.rows.sum(on_host(of_loss))


def _mean_loss(asked: _Scored, loss: Callable[[Array, Array], Array], most: float, *, wide: bool) -> Estimate:
    """Minus the mean of losses in [0, most]; ``wide``: where most of them lie is found first."""
    ask = means if wide else _direct
    value, sampling, privacy, noise = ask(
        _Losses(asked.rows, loss), np.array([[0.0, most]]), asked.spending, counted=asked.question.drop
    )
    return asked.single(-value, sampling, privacy, noise)


def _direct(rows: Rows, bounds: Array, spending: Portion, *, counted: bool) -> tuple[Array, Array, Array, float]:
    """Where the whole range is as good as any part of it: no look, no clip."""
    middle, half = bounds.mean(axis=1), 0.5 * (bounds[:, 1] - bounds[:, 0])
    weights = mean_weights(spending.unit.relation, counted=counted)
    found = moments(rows, 1, middle, half, bounds, weights, spending, 1.0)
    spread = pooled(found.powers[2] - found.powers[1] ** 2, found.noise[2])
    noise = half * found.noise[1]
    return middle + half * found.powers[1], half * np.sqrt(spread / found.counts), noise, float(noise[0, 0])


def _squared_error(asked: _Scored) -> Estimate:
    told, (low, high) = asked.told, asked.told.y_range
    return _mean_loss(asked, lambda x, y: told.error(x, y) ** 2, (high - low) ** 2, wide=True)


def _accuracy(asked: _Scored) -> Estimate:
    told, classes = asked.told, np.asarray(asked.rows.classes)

    def wrong(x: Array, y: Array) -> Array:
        return np.asarray(told.said(x, "predict") != classes[np.maximum(y, 0)], dtype=float)

    answer = _direct(_Losses(asked.rows, wrong), np.array([[0.0, 1.0]]), asked.spending, counted=asked.question.drop)
    return asked.single(1.0 - answer[0], *answer[1:])


def _log_loss(asked: _Scored) -> Estimate:
    told = asked.told

    def loss(x: Array, y: Array) -> Array:
        found = told.probabilities(x)[np.arange(len(x)), np.maximum(y, 0)]
        return np.asarray(-np.log(np.clip(found, *SURE)))

    return _mean_loss(asked, loss, -math.log(SURE[0]), wide=True)


def _brier(asked: _Scored) -> Estimate:
    """The squared distance to what happened; of two classes, of one of them."""
    told, most = asked.told, 1.0 if len(np.asarray(asked.rows.classes)) == 2 else 2.0

    def loss(x: Array, y: Array) -> Array:
        found = told.probabilities(x)
        found[np.arange(len(x)), np.maximum(y, 0)] -= 1.0
        return np.asarray((found**2).sum(axis=1) * (0.5 * most))

    return _mean_loss(asked, loss, most, wide=False)


def _r_squared(asked: _Scored) -> Estimate:
    """1 - A/B: first A and B roughly, then the mean of (y - f)^2 - (A/B)(y - m)^2, which says how wrong that was. proof: ratio"""
    told, (low, high), drop = asked.told, asked.told.y_range, asked.question.drop
    most, outcomes = (high - low) ** 2, np.array([[low, high]])
    first, last = asked.spending.within(FIRST), asked.spending.within(1.0 - 3.0 * FIRST)
    outcome = _Losses(asked.rows, lambda x, y: np.clip(y, low, high))
    error = _Losses(asked.rows, lambda x, y: told.error(x, y) ** 2)
    middle, *_ = _numbers(means(outcome, outcomes, first, counted=drop))
    total, *blur = _numbers(variances(outcome, outcomes, first, counted=drop))
    rough, *_ = _numbers(means(error, np.array([[0.0, most]]), first, counted=drop))
    total = max(total, 1e-6 * most)
    ratio = min(max(rough / total, 0.0), 4.0)

    def rest(x: Array, y: Array) -> Array:
        return np.asarray(told.error(x, y) ** 2 - ratio * (np.clip(y, low, high) - middle) ** 2)

    bounds = np.array([[-ratio * most, most]])
    value, sampling, privacy, noise = _numbers(means(_Losses(asked.rows, rest), bounds, last, counted=drop))
    draws = np.random.default_rng(0).standard_normal((2, _DRAWS))
    below = np.maximum(total + math.hypot(*blur[:2]) * draws[1], 0.1 * total)  # a variance is positive
    found = 1.0 - ratio - (value + math.hypot(sampling, privacy) * draws[0]) / below
    tail = 0.5 - 0.5 * asked.question.level
    low_end, high_end = (min(float(q), 1.0) for q in np.quantile(found, [tail, 1.0 - tail]))
    answer = min(1.0 - ratio - value / total, 1.0)
    ends = {"low": min(low_end, answer), "high": max(high_end, answer)}
    return asked.single(answer, sampling / total, privacy / total, noise / total, **ends)


def _numbers(found: tuple[Any, ...]) -> list[float]:
    """Of one column and one group."""
    return [float(np.ravel(v)[0]) for v in found]


def _curve(asked: _Scored, edges: Array) -> tuple[Array, float]:
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


def _roc_auc(asked: _Scored) -> Estimate:
    counts, sd = _curve(asked, expit(LOG_ODDS))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, *counts.shape))
    value, sampling = _area(counts)
    privacy = float(np.std([_area(np.maximum(counts, 0.0) + sd * draw)[0] for draw in draws[:400]]))
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


def _calibration(asked: _Scored) -> Estimate:
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


_OF_NUMBERS = ("neg_mean_squared_error", "r2")
SCORES: dict[str, Callable[[_Scored], Estimate]] = {
    "neg_mean_squared_error": _squared_error,
    "r2": _r_squared,
    "accuracy": _accuracy,
    "neg_log_loss": _log_loss,
    "neg_brier_score": _brier,
    "roc_auc": _roc_auc,
    "calibration": _calibration,
}
