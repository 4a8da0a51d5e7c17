"""Full-batch gradient descent for log odds, every row's gradient clipped (Abadi et al. 2016).  Proof: clipped_descent.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import positive
from ..estimators.linear.problem import Problem
from ..estimators.sigmoid import sigmoid
from ..privacy.contribution import Ball
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.exact import sum_grid, toward_zero
from ..rows.namespace import on_host
from .base import checked_count
from .dpgd import shortened
from .log_odds import LogOddsRival

__all__ = ["ClippedDescent"]

Array = NDArray[np.float64]
# Public settings for all data. Rows of unit columns are about sqrt(p) long, two thirds of a sensible x_bound.
STEPS, STEP, CLIP = 25, 0.8, 0.4
TYPICAL = 1.5


@dataclass(eq=False, repr=False)
class ClippedDescent(LogOddsRival):
    """Logistic regression by noisy full-batch descent with clipped gradients; (epsilon, delta)-DP, exact composition.

    Parameters
    ----------
    x_bound : float
        Public bound on the norm of a row; it sets the scale of the defaults, no row is shortened to it.
    classes : "public" or sequence of two
        The labels. "public" declares those that occur in y to be public knowledge.
    steps : int, optional
        Default 25.
    step_size : float, optional
        Default .8 over the mean square of a column, if rows are two thirds of ``x_bound`` long.
    clip : float, optional
        Bound on the norm of one row's gradient; default .4 x_bound.
    """

    steps: Any = None
    step_size: Any = None
    clip: Any = None
    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired",)

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        n, p = rows.n, problem.numbers
        steps = checked_count("steps", self.steps) or STEPS
        typical = problem.x_bound / TYPICAL / math.sqrt(problem.n_features)
        eta = STEP / typical**2 if self.step_size is None else positive("step_size", self.step_size)
        clip = CLIP * problem.x_bound if self.clip is None else positive("clip", self.clip)
        ball, constant, grid, theta = Ball(clip), problem.constant, sum_grid(n, clip), np.zeros(p)

        def gradients(x: Array, y: Array, keep: Any) -> tuple[Array, ...]:
            x = x if constant is None else np.column_stack([x, np.full(len(x), constant)])
            with np.errstate(over="ignore", invalid="ignore"):
                predictor = np.einsum("ij,j->i", x, theta)  # row by row: blocks and machines cannot change a bit
            residual = y - sigmoid(np.nan_to_num(predictor, posinf=1e300, neginf=-1e300))
            residual = residual if keep is None else np.where(keep, residual, 0.0)
            return (toward_zero(shortened(x * residual[:, None], clip), grid).sum(axis=0),)

        for _ in range(steps):
            total = spending.sums(rows, on_host(gradients), ball, 1.0 / steps)  # proof: steps
            theta = np.clip(theta + eta / n * total, -1e100, 1e100)
        return theta, eta * spending.scale(ball, 1.0 / steps) / n
