"""AdaSSP: sufficient statistics with an adaptive ridge (Wang 2018).  Proof: adassp.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..estimators.linear.bounds import moments, smallest_eigenvalue
from ..privacy.claim import Cost
from ..privacy.contribution import Ball, Outer, Shape
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import LinearRival, Problem

__all__ = ["AdaSSP"]

Array = NDArray[np.float64]
SHARES = (0.1, 0.45, 0.45)  # of mu^2: smallest eigenvalue, X'X, X'y
FAILURE = 0.05  # rho: chance that the ridge is too small; a matter of accuracy, not of privacy


@dataclass(eq=False, repr=False)
class AdaSSP(LinearRival):
    """Noisy X'X and X'y, and a ridge as small as a noisy smallest eigenvalue allows (Wang 2018); (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon, delta : float
    x_bound, y_bound : float
        Public bounds on the norm of a row and on |y|.
    fit_intercept : bool, default True
    form : {"repaired", "literature"}
        "repaired": replace-one sensitivities and exact Gaussian calibration. "literature": the published noise, three
        releases at (epsilon/3, delta/3) with add/remove sensitivities; accounted exactly and refused where it fails.
    neighbours, invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    y_bound: Any = None
    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired",)
    forms = ("repaired", "literature")

    def _cost(self, public: Problem) -> Cost:
        if self.form == "repaired":
            return super()._cost(public)
        return self._gaussian_cost_of(math.sqrt(1.0 + 2.0 + 4.0) / _published(public.budget)[1])  # proof: published

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        n, p, R, Y, budget = problem.n, problem.numbers, problem.radius, problem.y_bound, problem.budget
        log_size = math.log(2.0 * p * p / FAILURE)
        # An eigenvalue solver errs by far less than what is added here, relative to the sensitivity R^2. proof: statistics
        smallest = Shape(R * R, R * R)
        computed = Shape(*(R * R * (1.0 + 1e-9 + 128.0 * p * p * 2.0**-53 * n),) * 2)
        if self.form == "repaired":
            mus, gram_is = budget.split(SHARES), Outer(R, p)
            margin = 2.0 * smallest.scale(self._unit(), mus[0])
            ridge = gram_is.scale(self._unit(), mus[1]) * math.sqrt(p * log_size)
        else:
            level, s = _published(budget)
            mus = tuple(m / s * (1.0 - 1e-15) for m in (1.0, math.sqrt(2.0), 2.0))
            margin = R * R * level / (budget.epsilon / 3.0)
            ridge = R * R * math.sqrt(p * level * log_size) / (budget.epsilon / 3.0)
        sums = moments(rows, problem.x_bound, Y, problem.constant, weighted=self.form == "repaired")
        low = max(float(spending.draw(np.array(smallest_eigenvalue(sums.gram)), computed, mus[0])) - margin, 0.0)
        if self.form == "repaired":
            gram = spending.draw(sums.gram, gram_is, mus[1])
        else:  # the same noise on every entry of the upper triangle
            upper = np.triu_indices(p, 1)
            entries = np.append(np.diag(sums.gram), sums.gram[upper])
            noisy = spending.draw(entries, Shape(math.sqrt(2.0) * R * R), mus[1])
            gram = np.diag(noisy[:p])
            gram[upper] = noisy[p:]
            gram.T[upper] = gram[upper]
        cross = spending.draw(sums.cross, Ball(R * Y), mus[2])
        cross_sd = Ball(R * Y).scale(self._unit(), mus[2])
        theta: Array = np.asarray(
            np.linalg.lstsq(gram + max(0.0, ridge - low) * np.eye(p), cross, rcond=None)[0], dtype=float
        )
        return theta, cross_sd / n


def _published(budget: Budget) -> tuple[float, float]:
    """log(6/delta), and the published noise of a statistic of sensitivity 1."""
    level = math.log(6.0 / budget.delta)
    return level, math.sqrt(level) / (budget.epsilon / 3.0)
