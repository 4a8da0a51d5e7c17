"""Objective perturbation: the minimum of a loss with a random linear term (Chaudhuri et al. 2011).  Proof: objective.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from ..accounting.budget import Budget
from ..errors import PrivacyError
from ..estimators.linear.problem import Problem
from ..privacy.claim import Cost
from ..privacy.gaussian import gaussian_delta, gaussian_mu
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import bare_cost
from .log_odds import STEEPEST, LogOddsRival, curvature, score

__all__ = ["ObjectivePerturbation", "perturbed_delta"]

Array = NDArray[np.float64]
CURVED, OUTPUT = 0.3, 0.01  # shares of epsilon: to the curvature, and to the output (of delta, too)
ARRIVED = 1e-7  # gradient of the minimum that is accepted, in standard deviations of the linear term
MOST_STEPS = 200
THEOREM = (
    "Redberg, Koskela and Wang (2023), Theorem 3.1, and the accounting of replaced rows and of an approximate minimum proven in "
    "rivals/objective.md; it assumes that the gradient at the released point is as small as it was computed to be."
)


@dataclass(eq=False, repr=False)
class ObjectivePerturbation(LogOddsRival):
    """The minimum of logistic loss, a quadratic and a random linear term, and a little noise; (epsilon, delta)-DP, cited.

    Parameters
    ----------
    x_bound : float
        Public bound on the norm of a row.
    classes : "public" or sequence of two
        The labels. "public" declares those that occur in y to be public knowledge.
    form : {"repaired", "literature"}
        "repaired": the noise that the privacy profile asks for. "literature": the published constants of Kifer, Smith and
        Thakurta (2012), for a gradient that moves by twice the radius; refused where they do not hold.
    """

    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired",)
    forms = ("repaired", "literature")
    citations = MappingProxyType(dict.fromkeys(forms, THEOREM))

    def _cost(self, public: Problem) -> Cost:
        self._calibrated(public)  # refuses before anything is computed
        return bare_cost(public.budget)

    def _calibrated(self, problem: Problem) -> tuple[float, float]:
        """Standard deviation of the linear term and weight of the quadratic. proof: profile"""
        whole, relation, steep = problem.budget, problem.unit.relation, STEEPEST * problem.radius**2
        budget = Budget((1.0 - OUTPUT) * whole.epsilon, (1.0 - OUTPUT) * whole.delta)
        reach = problem.radius * (2.0 if relation == "replace-one" else 1.0)
        if self.form == "literature":  # proof: published
            sigma = reach * math.sqrt(8.0 * math.log(2.0 / budget.delta) + 4.0 * budget.epsilon) / budget.epsilon
            ridge = 2.0 * steep / budget.epsilon
            if perturbed_delta(budget.epsilon, reach / sigma, math.log1p(steep / ridge), relation) > budget.delta:
                raise PrivacyError(
                    f"ObjectivePerturbation(form='literature') is not ({whole.epsilon:g}, {whole.delta:g})-DP with its published "
                    "noise; use form='repaired'."
                )
            return sigma, ridge
        jacobian = min(CURVED * budget.epsilon, 1.0)
        spare = lambda m: perturbed_delta(budget.epsilon, m, jacobian, relation) - budget.delta  # noqa: E731
        # From below, where the profile is far below delta, to the largest mu that the linear term may have.
        low, high = 1e-3 * gaussian_mu(budget.epsilon, budget.delta), math.sqrt(2.0 * (budget.epsilon - jacobian))
        mu = high if spare(high) <= 0.0 else float(brentq(spare, low, high, xtol=1e-15, rtol=1e-12)) * (1.0 - 1e-9)  # type: ignore[no-untyped-call]
        return reach / mu, steep / math.expm1(jacobian) * (1.0 + 1e-12)

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        (sigma, ridge), p, n = self._calibrated(problem), problem.numbers, problem.n
        noise = spending.by_its_own_theorem()
        linear = noise.gaussian(np.zeros(p), sigma)
        # What a gradient may err by: quantised scores and the rounding of the rest. proof: output
        rounding = n * problem.radius * math.sqrt(p) * (1e-11 + n * 2.0**-50)
        enough = ARRIVED * sigma + rounding
        theta = _minimum(rows, problem, linear, ridge, enough)
        distance = 2.0 * (enough + rounding) / ridge
        scale = distance / gaussian_mu(OUTPUT * problem.budget.epsilon, OUTPUT * problem.budget.delta)
        return noise.gaussian(theta, scale), sigma / n


def _minimum(rows: Rows, problem: Problem, linear: Array, ridge: float, enough: float) -> Array:
    """Where the gradient of loss + ridge |theta|^2/2 + linear'theta is at most ``enough``: Newton's steps, shortened."""

    def slope(theta: Array) -> Array:
        return np.asarray(rows.sum(score(problem, theta))[0] - ridge * theta - linear)

    theta, length = np.zeros(problem.numbers), 1.0
    rise = slope(theta)
    for _ in range(MOST_STEPS):
        size = float(np.linalg.norm(rise))
        if size <= enough:
            break
        if length == 1.0:
            hessian = rows.sum(curvature(problem, theta))[0] + ridge * np.eye(len(theta))
            step = np.linalg.solve(hessian, rise)
        further = slope(theta + length * step)
        if float(np.linalg.norm(further)) <= (1.0 - 0.1 * length) * size:
            theta, rise, length = theta + length * step, further, 1.0
        else:
            length *= 0.5
    else:
        raise PrivacyError(
            "the minimum was not found; nothing was released. Use a smaller x_bound or a smaller epsilon."
        )
    return theta


def perturbed_delta(epsilon: float, mu: float, jacobian: float, relation: str) -> float:
    """delta at epsilon of a linear term with sensitivity/sd = mu, whose Jacobian moves by exp(jacobian). proof: profile"""
    rest = epsilon - jacobian
    if rest < mu**2 / 2.0:
        return 1.0
    if relation == "zero-out":
        return 2.0 * float(gaussian_delta(rest, mu))  # at most 1: half a normal law lies beyond 0
    tail = math.log(mu * math.sqrt(2.0 * math.pi)) + rest + float(norm.logcdf(-rest / mu - mu / 2.0))
    return min(1.0, math.exp(tail) * (1.0 + 1e-9))
