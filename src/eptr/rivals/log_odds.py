"""What rivals of logistic regression share: two classes, bounded rows, exact scores and curvature.  Proof: log_odds.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..errors import InputError
from ..estimators.fitted import Fitted
from ..estimators.linear.problem import Problem
from ..estimators.predicting import Classifying
from ..estimators.sigmoid import sigmoid
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.exact import product_grid, shrink_factors, sum_grid, toward_zero
from ..rows.namespace import on_host, whole
from .base import Rival

__all__ = ["LogOddsFitted", "LogOddsRival", "curvature", "score"]

Array = NDArray[np.float64]
RowSums = Callable[[Any, Any, Any], tuple[Any, ...]]
STEEPEST = 0.25  # of the logistic curve


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LogOddsFitted(Fitted):
    """Coefficients in scikit-learn's shape: one row."""

    coef: Array
    intercept: Array


@dataclass(eq=False, repr=False)
class LogOddsRival(Rival, Classifying):
    """Log odds of the second of two classes, linear in x, by somebody else's method (n public; replace-one by default)."""

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    classes: Any = "public"
    _fitted: ClassVar[type[Fitted]] = LogOddsFitted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _public(self, n: int, n_features: int, n_classes: int) -> Problem:
        if n_classes > 2:
            raise InputError(
                f"Only binary classification is supported. classes has {n_classes} labels; use two of them."
            )
        bound, unit = self._bound("x_bound", "Pass a bound on the norm of a row."), self._unit()
        return Problem(Budget(self.epsilon, self.delta), unit, n, n_features, bound, 1.0, self.fit_intercept)

    def _fit(self, rows: Rows, public: Problem, spending: Spending) -> LogOddsFitted:
        theta, noise = self._solve(rows, public, spending)
        found = public.named(theta * public.scaling)
        return LogOddsFitted(
            value=theta, noise=noise, coef=found["coef"][None, :], intercept=np.array([found["intercept"]])
        )

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        """Coefficients of (x, constant), and their noise."""
        raise TypeError(f"{type(self).__name__} does not say how to solve a problem")

    def _decision_function(self, x: Array) -> Array:
        fitted: LogOddsFitted = self.fitted_
        return np.asarray(x @ fitted.coef[0] + fitted.intercept[0])

    def _predict(self, x: Array) -> NDArray[Any]:
        return np.asarray(self.classes_[(self._decision_function(x) > 0.0).astype(int)])

    def _predict_proba(self, x: Array) -> Array:
        odds = self._decision_function(x)
        return np.column_stack([sigmoid(-odds), sigmoid(odds)])


def _bounded(problem: Problem, x: Array) -> Array:
    """(x, constant) of norm at most the radius."""
    shorten = shrink_factors(x, problem.x_bound)
    x = x if shorten is None else x * shorten[:, None]
    return x if problem.constant is None else np.column_stack([x, np.full(len(x), problem.constant)])


def score(problem: Problem, theta: Array) -> RowSums:
    """Sums of x (y - sigmoid(x'theta)) over bounded rows. proof: score"""
    grid, safe = sum_grid(problem.n, problem.radius), 1.0 - (len(theta) + 16) * 2.0**-52

    def block(x: Array, y: Array, keep: Any) -> tuple[Array, ...]:
        x = _bounded(problem, x)
        # Row by row: blocks and machines cannot change a bit.
        residual = safe * (y - sigmoid(np.einsum("ij,j->i", x, theta)))
        residual = residual if keep is None else np.where(keep, residual, 0.0)
        return (toward_zero(x * residual[:, None], grid).sum(axis=0),)

    return on_host(block)


def curvature(problem: Problem, theta: Array) -> RowSums:
    """Sums of q (1 - q) x x' over bounded rows, q = sigmoid(x'theta). proof: curvature"""
    radius = problem.radius * math.sqrt(STEEPEST)
    grid, safe = product_grid(problem.n, radius), 1.0 - (len(theta) + 16) * 2.0**-52

    def block(x: Array, y: Array, keep: Any) -> tuple[Array, ...]:
        x = _bounded(problem, x)
        share = sigmoid(np.einsum("ij,j->i", x, theta))
        root = safe * np.sqrt(share * (1.0 - share))
        root = root if keep is None else np.where(keep, root, 0.0)
        units = whole(x * (root / grid)[:, None])
        return (units.T @ units * grid**2,)

    return on_host(block)
