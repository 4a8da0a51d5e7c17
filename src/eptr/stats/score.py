"""Scores of a fitted model on rows that it has not seen, with intervals.  Proof: score.md."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..docstrings import described
from ..errors import BoundError, InputError
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.task import Task
from .curve import calibration, roc_auc
from .estimate import Estimate
from .mean import mean_errors, mean_weights, means
from .moments import moments
from .persons import before
from .question import Question, Shared, column_bounds
from .scored import Losses, Scored, Told

__all__ = ["SCORES", "score"]

Array = NDArray[np.float64]
# Probabilities are kept within this, so that one row that was thought impossible cannot cost more than log 100.
SURE = (0.01, 0.99)
# R^2: share of mu^2 for the middle of y, which need not be exact.
MIDDLE = 0.1
_DRAWS = 2000


@described
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
    """
    if scoring not in SCORES:
        raise InputError(f"scoring must be one of {sorted(SCORES)}, got {scoring!r}.")
    question = Question(
        what=scoring, epsilon=epsilon, delta=delta, level=level, home=__name__, declared={"y_range": y_range}, **shared
    )
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
    told = Told(model, _range(y_range, scoring) if classes is None else (0.0, 1.0))
    rows, spending = question.open(X, y, task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the model: one that depends on rows would be a leak
        # A model that cannot answer at all says so here, about a row of zeros, which tells nothing.
        told.said(
            np.zeros((1, rows.n_features)), "predict" if scoring in ("accuracy", *_OF_NUMBERS) else "predict_proba"
        )
        return SCORES[scoring](Scored(question, rows, spending, told))


def _range(y_range: Any, scoring: str) -> tuple[float, float]:
    if y_range is None:
        raise BoundError(
            f"y_range is missing: scoring={scoring!r} needs (low, high), from what is known before seeing the data."
        )
    (pair,) = column_bounds(y_range, 1, "y_range").tolist()
    return pair[0], pair[1]


def _mean_loss(asked: Scored, loss: Callable[[Array, Array], Array], most: float, *, wide: bool) -> Estimate:
    """Minus the mean of losses in [0, most]; ``wide``: where most of them lie is found first. proof: losses"""
    ask = means if wide else _direct
    value, sampling, privacy, noise = ask(
        Losses(asked.rows, loss), np.array([[0.0, most]]), asked.spending, counted=asked.question.drop
    )
    return asked.mean(-value, sampling, privacy, noise, -most, 0.0)


def _direct(rows: Rows, bounds: Array, spending: Portion, *, counted: bool) -> tuple[Array, Array, Array, float]:
    """Where the whole range is as good as any part of it: no look, no clip."""
    middle, half = bounds.mean(axis=1), 0.5 * (bounds[:, 1] - bounds[:, 0])
    weights = mean_weights(spending.unit.relation, counted=counted)
    found = moments(rows, 1, middle, half, bounds, weights, before(rows, spending), 1.0)
    sampling, noise = half * mean_errors(rows, found, bounds, middle, half, spending), half * found.noise[1]
    return middle + half * found.powers[1], sampling, noise, float(noise[0, 0])


def _squared_error(asked: Scored) -> Estimate:
    told, (low, high) = asked.told, asked.told.y_range
    return _mean_loss(asked, lambda x, y: told.error(x, y) ** 2, (high - low) ** 2, wide=True)


def _accuracy(asked: Scored) -> Estimate:
    told, classes = asked.told, np.asarray(asked.rows.classes)

    def wrong(x: Array, y: Array) -> Array:
        return np.asarray(told.said(x, "predict") != classes[np.maximum(y, 0)], dtype=float)

    answer = _direct(Losses(asked.rows, wrong), np.array([[0.0, 1.0]]), asked.spending, counted=asked.question.drop)
    return asked.mean(1.0 - answer[0], *answer[1:], 0.0, 1.0)


def _log_loss(asked: Scored) -> Estimate:
    told = asked.told

    def loss(x: Array, y: Array) -> Array:
        found = told.probabilities(x)[np.arange(len(x)), np.maximum(y, 0)]
        return np.asarray(-np.log(np.clip(found, *SURE)))

    return _mean_loss(asked, loss, -math.log(SURE[0]), wide=True)


def _brier(asked: Scored) -> Estimate:
    """The squared distance to what happened; of two classes, of one of them."""
    told, most = asked.told, 1.0 if len(np.asarray(asked.rows.classes)) == 2 else 2.0

    def loss(x: Array, y: Array) -> Array:
        found = told.probabilities(x)
        found[np.arange(len(x)), np.maximum(y, 0)] -= 1.0
        return np.asarray((found**2).sum(axis=1) * (0.5 * most))

    return _mean_loss(asked, loss, most, wide=False)


def _r_squared(asked: Scored) -> Estimate:
    """1 - A/B: a rough middle m of y, then the means A of (y - f)^2 and B of (y - m)^2. proof: ratio"""
    told, (low, high), spending = asked.told, asked.told.y_range, asked.spending

    def mean(loss: Callable[[Array, Array], Array], ends: tuple[float, float], share: float) -> list[float]:
        found = means(Losses(asked.rows, loss), np.array([ends]), spending.within(share), counted=asked.question.drop)
        return [float(np.ravel(v)[0]) for v in found]

    most, share = (high - low) ** 2, 0.5 - 0.5 * MIDDLE
    middle, _, blur, _ = mean(lambda x, y: np.clip(y, low, high), (low, high), MIDDLE)
    error = mean(lambda x, y: told.error(x, y) ** 2, (0.0, most), share)
    total = mean(lambda x, y: (np.clip(y, low, high) - middle) ** 2, (0.0, most), share)
    total[0] = max(total[0] - blur**2, 0.0)  # m is not the mean of these rows, so B is too large by that
    # A normal draw may fall below 0, which no mean of squares does; there R^2 may be anything.
    draws = np.random.default_rng(0).standard_normal((2, _DRAWS))
    above, below = (
        np.maximum(v + math.hypot(s, p) * d, 0.0) for (v, s, p, _), d in zip((error, total), draws, strict=True)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.nan_to_num(1.0 - above / below, nan=1.0, neginf=-math.inf)  # no floor, no number in its place
        answer = float(np.nan_to_num(1.0 - np.float64(error[0]) / total[0], nan=0.0, neginf=0.0))
    tail = 0.5 - 0.5 * asked.question.level
    ends = np.quantile(found, [tail, 1.0 - tail], method="nearest")
    unit = max(total[0], 1e-300)
    sampling, privacy = (math.hypot(error[k], (1.0 - answer) * total[k]) / unit for k in (1, 2))
    return asked.single(
        answer, sampling, privacy, error[3] / unit, low=min(float(ends[0]), answer), high=max(float(ends[1]), answer)
    )


_OF_NUMBERS = ("neg_mean_squared_error", "r2")
SCORES: dict[str, Callable[[Scored], Estimate]] = {
    "neg_mean_squared_error": _squared_error,
    "r2": _r_squared,
    "accuracy": _accuracy,
    "neg_log_loss": _log_loss,
    "neg_brier_score": _brier,
    "roc_auc": roc_auc,
    "calibration": calibration,
}
