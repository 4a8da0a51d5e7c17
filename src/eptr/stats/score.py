"""Scores of a fitted model on rows that it has not seen, with intervals.  Proof: score.md."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..errors import BoundError, InputError
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.task import Task
from .curve import calibration, roc_auc
from .estimate import Estimate
from .mean import Means, mean_errors, mean_weights, means
from .moments import moments
from .persons import before
from .question import Question, Shared, column_bounds, statistic
from .scored import Losses, Scored, Told

__all__ = ["SCORES", "score"]

Array = NDArray[np.float64]
# Probabilities are kept within this, so that one row that was thought impossible cannot cost more than log 100.
SURE = (0.01, 0.99)
# R^2: shares of mu^2 for the middle of y, for B and for A, which need not be exact, and for the ratio.
R_SQUARED = (0.15, 0.2, 0.2, 0.45)
_DRAWS = 2000
# Tails of W that noise hides: each count at least such a part of the one before, as where a mean hardly exists.
SLOW = 0.5
RARE = 1.0 / 3.0  # of what larger columns have beyond the clip, as much as W may lack


@statistic
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
    if not isinstance(scoring, str) or scoring not in SCORES:
        raise InputError(f"scoring must be one of {sorted(SCORES)}, got {scoring!r}.")
    question = Question(
        what=scoring, epsilon=epsilon, delta=delta, level=level, home=__name__, declared={"y_range": y_range}, **shared
    )
    needed = "predict" if scoring in ("accuracy", *_OF_NUMBERS) else "predict_proba"
    if isinstance(model, type) or not hasattr(model, needed):
        raise InputError(
            f"model must be a fitted estimator with {needed} for scoring={scoring!r}; got {type(model).__name__}."
        )
    names, columns = getattr(model, "feature_names_in_", None), None
    if names is not None and (isinstance(y, str) or hasattr(X, "columns")):
        columns = tuple(map(str, names))  # in the order of the fit, whatever the table's
    classes = None if scoring in _OF_NUMBERS else getattr(model, "classes_", None)
    if classes is None and scoring not in _OF_NUMBERS:
        raise InputError(f"scoring={scoring!r} needs a fitted classifier; {type(model).__name__} has no classes_.")
    task = Task("numbers" if classes is None else "labels", classes, question.drop, columns)
    told = Told(model, _range(y_range, scoring) if classes is None else (0.0, 1.0))
    rows, spending = question.open(X, y, task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the model: one that depends on rows would be a leak
        told.answers(rows.n_features, needed, 0 if classes is None else len(classes))
        return SCORES[scoring](Scored(question, rows, spending, told))


def _range(y_range: Any, scoring: str) -> tuple[float, float]:
    if y_range is None:
        raise BoundError(
            f"y_range is missing: scoring={scoring!r} needs (low, high), from what is known before seeing the data."
        )
    (pair,) = column_bounds(y_range, 1, "y_range").tolist()
    return pair[0], pair[1]


def _mean_loss(asked: Scored, loss: Callable[[Array, Array], Array], most: float) -> Estimate:
    """Minus the mean of losses in [0, most]. proof: losses"""
    found = _direct(Losses(asked.rows, loss), np.array([[0.0, most]]), asked.spending, counted=asked.question.drop)
    return asked.mean(0.0, found, most)


def _direct(rows: Rows, bounds: Array, spending: Portion, *, counted: bool) -> Means:
    """Where the whole range is as good as any part of it: no look, no clip."""
    middle, half = bounds.mean(axis=1), 0.5 * (bounds[:, 1] - bounds[:, 0])
    weights = mean_weights(spending.unit.relation, counted=counted)
    found = moments(rows, 1, middle, half, bounds, weights, before(rows, spending), 1.0)
    sampling, noise = half * mean_errors(rows, found, bounds, middle, half, spending), half * found.noise[1]
    hidden = np.where(found.few, 2.0 * half, 0.0)  # all that is possible
    return Means(middle + half * found.powers[1], sampling, noise, hidden, hidden, float(noise[0, 0]))


def _squared_error(asked: Scored) -> Estimate:
    told, (low, high) = asked.told, asked.told.y_range
    losses, most = Losses(asked.rows, lambda x, y: told.error(x, y) ** 2), (high - low) ** 2
    bounds, counted = np.array([[0.0, most]]), asked.question.drop
    return asked.mean(0.0, means(losses, bounds, asked.spending, counted=counted, of_squares=True), most)


def _accuracy(asked: Scored) -> Estimate:
    told, classes = asked.told, np.asarray(asked.rows.classes)

    def wrong(x: Array, y: Array) -> Array:
        return np.asarray(told.said(x, "predict") != classes[np.maximum(y, 0)], dtype=float)

    found = _direct(Losses(asked.rows, wrong), np.array([[0.0, 1.0]]), asked.spending, counted=asked.question.drop)
    return asked.mean(1.0, found, 1.0)


def _log_loss(asked: Scored) -> Estimate:
    told = asked.told

    def loss(x: Array, y: Array) -> Array:
        found = told.probabilities(x)[np.arange(len(x)), np.maximum(y, 0)]
        return np.asarray(-np.log(np.clip(found, *SURE)))

    return _mean_loss(asked, loss, -math.log(SURE[0]))


def _brier(asked: Scored) -> Estimate:
    """The squared distance to what happened; of two classes, of one of them."""
    told, most = asked.told, 1.0 if len(np.asarray(asked.rows.classes)) == 2 else 2.0

    def loss(x: Array, y: Array) -> Array:
        found = told.probabilities(x)
        found[np.arange(len(x)), np.maximum(y, 0)] -= 1.0
        return np.asarray((found**2).sum(axis=1) * (0.5 * most))

    return _mean_loss(asked, loss, most)


def _r_squared(asked: Scored) -> Estimate:
    """1 - A/B of the means A of a = (y - f)^2 and B of b = (y - m)^2, m a rough middle of y. proof: ratio

    With a rough ratio r, A/B = r + W/B, W the mean of a - r b: near 0, so that its error is nearly that of the ratio times B.
    """
    told, (low, high), shares = asked.told, asked.told.y_range, iter(R_SQUARED)
    z, most = max(asked.question.normal_quantile, 1e-100), (high - low) ** 2

    def mean(loss: Callable[[Array, Array], Array], *ends: float, of_squares: bool = True) -> Means:
        portion, bounds = asked.spending.within(next(shares)), np.array([ends])
        return means(Losses(asked.rows, loss), bounds, portion, counted=asked.question.drop, of_squares=of_squares)

    middle = mean(lambda x, y: np.clip(y, low, high), low, high, of_squares=False)
    m, blur = middle.value.item(), middle.seen.item()

    def total(y: Array) -> Array:
        return np.asarray((np.clip(y, low, high) - m) ** 2)

    below = mean(lambda x, y: total(y), 0.0, most)
    error = mean(lambda x, y: told.error(x, y) ** 2, 0.0, most)
    least = math.hypot(below.sampling.item(), below.seen.item())
    ratio = error.value.item() / max(below.value.item(), least)
    above = mean(lambda x, y: told.error(x, y) ** 2 - ratio * total(y), -ratio * most, most)
    above = _with_rare(above, error, below, ratio, asked.rows.n)

    def drawn(found: Means, normal: Array) -> Array:
        """Where the truth may be, as far as intervals go to each side."""
        down, up = (abs(end - found.value).item() / z for end in found.interval(asked.question))
        return np.asarray(found.value.item() + np.where(normal > 0.0, up, down) * normal)

    # m is not the mean of these rows, so b is too large by the square of its error. A normal draw may fall below 0, which no mean
    # of squares does; there R^2 may be anything up to 1.
    normal = np.random.default_rng(0).standard_normal((3, _DRAWS))
    off = (blur * normal[2]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = (drawn(above, normal[0]) + ratio * off) / np.maximum(drawn(below, normal[1]) - off, 0.0)
        found = np.nan_to_num(np.minimum(1.0 - ratio - quotients, 1.0), nan=1.0, neginf=-math.inf)
    unit = max(below.value.item() - blur**2, least)
    second = (above.value.item() + ratio * blur**2) / unit
    answer = min(1.0 - ratio - second, 1.0)
    tail = 0.5 - 0.5 * asked.question.level
    ends = np.quantile(found, [tail, 1.0 - tail], method="nearest").tolist()
    sampling, privacy = (
        math.hypot(one.item(), second * two.item()) / unit
        for one, two in ((above.sampling, below.sampling), (above.privacy, below.privacy))
    )
    return asked.single(
        answer, sampling, privacy, above.noise / unit, low=min(ends[0], answer), high=max(ends[1], answer)
    )


def _with_rare(above: Means, error: Means, below: Means, ratio: float, n: int) -> Means:
    """With a part of what a has above the clip of W, or r b below it: of rare rows that go badly W shows nothing. see score.md"""
    if above.look is None or error.look is None or below.look is None:
        return above
    low, high = (float(end[0]) for end in above.ends)
    least = ratio * below.look.outside(low, -low / max(ratio, 1e-200), "of squares")[1]
    most = error.look.outside(low, high, "of squares")[1]
    down, up = np.minimum(above.look.outside(low, high, 1, SLOW), RARE * np.array([least, most])) / n
    return replace(above, below=np.maximum(above.below, down), above=np.maximum(above.above, up))


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
