"""The one list of statistics: the audit and the common tests take theirs from here; one more statistic is one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from .covariance import correlation, covariance
from .estimate import Estimate
from .histogram import histogram
from .mean import mean
from .quantiles import quantiles
from .score import SCORES, score
from .spread import std, variance
from .table import table

__all__ = ["BOUND", "COLUMNS", "LEVELS", "STATISTICS", "Statistic"]

# What examples are asked about: three columns of numbers, mostly within the bound, and one of labels.
COLUMNS, LEVELS, BOUND = ("a", "b", "c"), ("no", "yes"), 3.0


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic, and how it is asked about rows of the common form.

    ``ask(x, t, bounds, **settings)``: x holds the columns, t the labels; or x is a table with all of them and t the name of
    the labels, ``bounds`` being pairs by name then.
    """

    name: str
    ask: Callable[..., Estimate]
    pure: bool = False  # no noisy sums, no delta

    def example(self, x: Any, t: Any, **settings: Any) -> Estimate:
        """The answer about rows of the common form."""
        bounds: Any = dict.fromkeys(COLUMNS, (-BOUND, BOUND)) if isinstance(t, str) else (-BOUND, BOUND)
        return self.ask(x, t, bounds, **{"epsilon": 1.0, "delta": 1e-6, **settings})


def _of_columns(function: Any) -> Callable[..., Estimate]:
    return lambda x, t, bounds, **settings: function(x, bounds, **settings)


def _of_one(function: Any) -> Callable[..., Estimate]:
    """The same of the first column alone, which has an interval to itself."""
    return lambda x, t, bounds, **settings: (
        function(x, {"a": (-BOUND, BOUND)}, **settings) if isinstance(t, str) else function(x[:, 0], bounds, **settings)
    )


def _of_groups(function: Any) -> Callable[..., Estimate]:
    return lambda x, t, bounds, **settings: function(x, bounds, by=t, levels=LEVELS, **settings)


def _of_model(scoring: str) -> Callable[..., Estimate]:
    """A public model: the first column, or the odds of the second label that it gives. The third column is the outcome."""

    def odds(x: Any) -> Any:
        p = np.clip(0.5 + 0.15 * np.asarray(x)[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - p, p])

    def label(x: Any) -> Any:
        return np.where(np.asarray(x)[:, 0] > 0.0, LEVELS[1], LEVELS[0])

    labels = SimpleNamespace(classes_=np.array(LEVELS), predict=label, predict_proba=odds, feature_names_in_=COLUMNS)
    numbers = SimpleNamespace(predict=lambda x: np.asarray(x)[:, 0], feature_names_in_=COLUMNS[:2])

    def ask(x: Any, t: Any, bounds: Any, **settings: Any) -> Estimate:
        if scoring not in ("r2", "neg_mean_squared_error"):
            return score(labels, x, t, scoring=scoring, **settings)
        X, y = (x, "c") if isinstance(t, str) else (x[:, :2], x[:, 2])
        return score(numbers, X, y, scoring=scoring, y_range=(-BOUND, BOUND), **settings)

    return ask


def _histogram(x: Any, t: Any, bounds: Any, **settings: Any) -> Estimate:
    edges = [-BOUND, -1.0, 0.0, 1.0, BOUND]
    return (
        histogram(x, {COLUMNS[0]: edges}, **settings) if isinstance(t, str) else histogram(x[:, 0], edges, **settings)
    )


def _table(x: Any, t: Any, bounds: Any, **settings: Any) -> Estimate:
    return table(x, levels={t: LEVELS}, **settings) if isinstance(t, str) else table(t, levels=LEVELS, **settings)


STATISTICS = [
    *(Statistic(f.__name__, _of_columns(f)) for f in (mean, variance, std, covariance, correlation)),
    *(Statistic(f"{f.__name__} of one column", _of_one(f)) for f in (mean, variance, std)),
    *(Statistic(f"{f.__name__} by group", _of_groups(f)) for f in (mean, variance, std)),
    *(Statistic(f"score {name}", _of_model(name)) for name in SCORES),
    Statistic("histogram", _histogram),
    Statistic("quantiles", lambda x, t, bounds, delta, **settings: quantiles(x, [0.25, 0.5], bounds, **settings), True),
    Statistic("table", _table),
]
