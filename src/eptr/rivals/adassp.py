"""AdaSSP: sufficient statistics with an adaptive ridge (Wang 2018).  Proof: adassp.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..estimators.linear.bounds import moments, smallest_eigenvalue
from ..privacy.claim import Cost
from ..privacy.contribution import Ball, Outer, Shape
from ..privacy.spending import Portion, Spending
from ..rows.engine import Rows
from .base import BoundedLinearRival, Problem

__all__ = ["AdaSSP"]

Array = NDArray[np.float64]
SHARES = (0.1, 0.45, 0.45)  # of mu^2: smallest eigenvalue, X'X, X'y
FAILURE = 0.05  # rho: chance that the ridge is too small; a matter of accuracy, not of privacy


@dataclass(eq=False, repr=False)
class AdaSSP(BoundedLinearRival):
    """Noisy X'X and X'y, and a ridge as small as a noisy smallest eigenvalue allows (Wang 2018); (epsilon, delta)-DP.

    Parameters
    ----------
    x_bound, y_bound : float
        Public bounds on the norm of a row and on |y|.
    form : {"repaired", "literature"}
        "repaired": replace-one sensitivities and exact Gaussian calibration. "literature": the published noise, three
        releases at (epsilon/3, delta/3) with add/remove sensitivities; accounted exactly and refused where it fails.
    """

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
        if self.form == "repaired":
            sums = moments(rows, problem.x_bound, Y, problem.constant)
            matrix, cross_mu = ridged_gram(sums.gram, R, n, spending, SHARES[:2]), spending.share(SHARES[2])
        else:
            level, s = _published(budget)
            least_mu, gram_mu, cross_mu = (m / s * (1.0 - 1e-15) for m in (1.0, math.sqrt(2.0), 2.0))
            sums = moments(rows, problem.x_bound, Y, problem.constant, weighted=False)
            low = spending.draw(np.array(smallest_eigenvalue(sums.gram)), eigenvalue_moves(R, p, n), least_mu)
            low = max(float(low) - R * R * level / (budget.epsilon / 3.0), 0.0)
            ridge = R * R * math.sqrt(p * level * math.log(2.0 * p * p / FAILURE)) / (budget.epsilon / 3.0)
            # The same noise on every entry of the upper triangle.
            noisy = spending.draw(entries(sums.gram), Shape(math.sqrt(2.0) * R * R), gram_mu)
            matrix = symmetric(noisy, p) + max(0.0, ridge - low) * np.eye(p)
        products = Ball(R * Y)
        cross = spending.draw(sums.cross, products, cross_mu)
        theta: Array = np.asarray(np.linalg.lstsq(matrix, cross, rcond=None)[0], dtype=float)
        return theta, products.scale(spending.unit, cross_mu) / n


def _published(budget: Budget) -> tuple[float, float]:
    """log(6/delta), and the published noise of a statistic of sensitivity 1."""
    level = math.log(6.0 / budget.delta)
    return level, math.sqrt(level) / (budget.epsilon / 3.0)


def eigenvalue_moves(radius: float, dimension: int, n: int) -> Shape:
    """R^2, and far more than an eigenvalue solver errs by. proof: statistics"""
    return Shape(*(radius**2 * (1.0 + 1e-9 + 128.0 * dimension**2 * 2.0**-53 * n),) * 2)


def ridged_gram(gram: Array, radius: float, n: int, spending: Portion, shares: tuple[float, ...]) -> Array:
    """X'X with noise, and a ridge where its noise could exceed its (noisy) smallest eigenvalue. proof: statistics"""
    p, outer = len(gram), Outer(radius, len(gram))
    smallest = eigenvalue_moves(radius, p, n)
    low = float(spending.noisy(np.array(smallest_eigenvalue(gram)), smallest, shares[0]))
    low = max(low - 2.0 * spending.scale(smallest, shares[0]), 0.0)
    ridge = spending.scale(outer, shares[1]) * math.sqrt(p * math.log(2.0 * p * p / FAILURE))
    return np.asarray(spending.noisy(gram, outer, shares[1]) + max(0.0, ridge - low) * np.eye(p))


def entries(matrix: Array) -> Array:
    """The diagonal and what is above it."""
    return np.append(np.diag(matrix), matrix[np.triu_indices(len(matrix), 1)])


def symmetric(values: Array, dimension: int) -> Array:
    """The symmetric matrix with these entries."""
    matrix, upper = np.diag(values[:dimension]), np.triu_indices(dimension, 1)
    matrix[upper] = matrix.T[upper] = values[dimension:]
    return matrix
