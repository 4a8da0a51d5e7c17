"""AdaSSP: sufficient statistics with an adaptive ridge (Wang 2018).  Proof: adassp.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..estimators.linear_bounds import moments, smallest_eigenvalue
from ..privacy.mechanism import Release
from .base import LinearRival, Problem

__all__ = ["AdaSSP"]

Array = NDArray[np.float64]
SHARES = (0.1, 0.45, 0.45)  # of mu^2: smallest eigenvalue, X'X, X'y
FAILURE = 0.05  # rho: chance that the ridge is too small; a matter of accuracy, not of privacy


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
    invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`.
    """

    _variants = ("form", ("repaired", "literature"))

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        x_bound: Any = None,
        y_bound: Any = None,
        fit_intercept: bool = True,
        form: str = "repaired",
        *,
        invalid: str = "raise",
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.x_bound = x_bound
        self.y_bound = y_bound
        self.fit_intercept = fit_intercept
        self.form = form
        self.invalid = invalid
        self.ledger = ledger
        self.random_state = random_state

    def _solve(self, problem: Problem, budget: Budget) -> tuple[Array, Release]:
        n, p, R, Y = problem.rows.n, problem.dimension, problem.radius, problem.y_bound
        log_size = math.log(2.0 * p * p / FAILURE)
        if self.form == "repaired":
            low_mu, gram_mu, cross_mu = budget.split(SHARES)
            low_sd, gram_sd, cross_sd = R * R / low_mu, math.sqrt(2.0) * R * R / gram_mu, 2.0 * R * Y / cross_mu
            cost, margin, ridge = self._gaussian_cost(budget), 2.0 * low_sd, gram_sd * math.sqrt(p * log_size)
        else:
            level = math.log(6.0 / budget.delta)
            s = math.sqrt(level) / (budget.epsilon / 3.0)
            low_sd, gram_sd, cross_sd = s * R * R, s * R * R, s * R * Y
            # proof: published
            cost = self._gaussian_cost_of(math.sqrt(1.0 + 2.0 + 4.0) / s)
            margin, ridge = (
                R * R * level / (budget.epsilon / 3.0),
                R * R * math.sqrt(p * level * log_size) / (budget.epsilon / 3.0),
            )
        sums = moments(problem.rows, problem.x_bound, Y, problem.constant, weighted=self.form == "repaired")
        noise = self._charged(cost, problem.rows)
        # An eigenvalue solver errs by far less than what is added here. proof: statistics
        low_sd *= 1.0 + 1e-9 + 128.0 * p * p * 2.0**-53 * n  # relative to the sensitivity R^2
        low = max(float(noise.gaussian(np.array(smallest_eigenvalue(sums.gram)), low_sd)) - margin, 0.0)
        upper = np.triu_indices(p, 1)
        gram = np.diag(noise.gaussian(np.diag(sums.gram).copy(), gram_sd))
        off = gram_sd / math.sqrt(2.0) * (1.0 + 1e-15) if self.form == "repaired" else gram_sd
        gram[upper] = noise.gaussian(sums.gram[upper], off)
        gram.T[upper] = gram[upper]
        cross = noise.gaussian(sums.cross, cross_sd)
        theta: Array = np.asarray(
            np.linalg.lstsq(gram + max(0.0, ridge - low) * np.eye(p), cross, rcond=None)[0], dtype=float
        )
        return theta, self._released(theta, cross_sd / n, cost, noise)
