"""DP-Newton: noise on gradients and on Newton's direction (Ganesh et al. 2023).  Proof: dp_newton.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..errors import InputError
from ..estimators.linear.problem import Problem
from ..privacy.claim import Cost
from ..privacy.contribution import Ball, Interval, Shape
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import checked_count
from .log_odds import STEEPEST, LogOddsRival, curvature, score

__all__ = ["DPNewton", "concentrated"]

Array = NDArray[np.float64]
STEPS = {"repaired": 6, "literature": 10}
STABLE = 6.0  # noise on a direction is at most about 1/STABLE of what a step leaves to go
GRADIENT_SHARE = {"repaired": 0.7, "literature": 0.5}  # of mu^2
TRACE_SHARE = 0.1  # of the rest


@dataclass(eq=False, repr=False)
class DPNewton(LogOddsRival):
    """Newton's steps for log odds, with a second noise for the Hessian that they divide by; (epsilon, delta)-DP.

    Parameters
    ----------
    x_bound : float
        Public bound on the norm of a row.
    classes : "public" or sequence of two
        The labels. "public" declares those that occur in y to be public knowledge.
    steps : int, optional
        Default 6 ("repaired"), 10 ("literature").
    eigenvalues : {"clipped", "shifted"}
        How the Hessian is kept away from zero: its eigenvalues are at least a number that follows from a noisy trace, or that
        number is added to them.
    form : {"repaired", "literature"}
        "repaired": exact Gaussian composition, eigenvalues kept so large that noisy steps converge, scores bounded at the
        coefficients they are taken at (by half in the first step), and the smaller of two bounds on a direction. "literature":
        concentrated privacy as published, converted to (epsilon, delta), with sensitivities for replaced rows.
    """

    steps: Any = None
    eigenvalues: str = "clipped"
    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired",)
    forms = ("repaired", "literature")

    def _cost(self, public: Problem) -> Cost:
        if self.form == "repaired":
            return super()._cost(public)
        return self._gaussian_cost_of(math.sqrt(2.0 * concentrated(public.budget)))  # proof: published

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        if self.eigenvalues not in ("shifted", "clipped"):
            raise InputError(f"eigenvalues must be 'shifted' or 'clipped', got {self.eigenvalues!r}.")
        n, R, steps = rows.n, problem.radius, checked_count("steps", self.steps) or STEPS[self.form]
        traces = Interval(0.0, STEEPEST * R**2 * (1.0 + problem.numbers * n * 2.0**-51))
        p, gradient_share = problem.numbers, GRADIENT_SHARE[self.form]
        left = 1.0 - gradient_share
        share = (1.0 - TRACE_SHARE) * left / steps
        rho = 0.5 * spending.share(share) ** 2
        theta, noise = np.zeros(p), 0.0
        for _ in range(steps):
            scores = Ball(R if self.form == "literature" else R * _largest(R * float(np.linalg.norm(theta))))
            gradient = spending.sums(rows, score(problem, theta), scores, gradient_share / steps)  # proof: gradient
            (hessian,) = rows.sum(curvature(problem, theta))
            trace = max(
                float(spending.noisy(np.trace(hessian), traces, TRACE_SHARE * left / steps)), 0.0
            )  # proof: trace
            least = n * R**2 * max((trace / (n * R**2) / (n**2 * rho)) ** (1.0 / 3.0), 1.0 / n)
            if self.form == "repaired":
                least = max(least, math.sqrt(STABLE * trace / math.sqrt(p) * spending.scale(traces, share)))
            moves = self._moves(float(np.linalg.norm(gradient)), least, problem)
            theta = theta + spending.noisy(_direction(hessian, gradient, least, self.eigenvalues), moves, share)
            theta, noise = np.clip(theta, -1e100, 1e100), spending.scale(moves, share)
        return theta, noise

    def _moves(self, length: float, least: float, problem: Problem) -> Shape:
        """How far the direction of a gradient of this length moves if one row does. proof: direction"""
        steep, p = STEEPEST * problem.radius**2, problem.numbers
        dropped = steep / (least * (least + steep)) if self.eigenvalues == "shifted" else steep / least**2
        replaced = min(2.0 * dropped, math.sqrt(2.0) * steep / least**2)
        if self.form == "literature":
            replaced = 2.0 * steep / (least * (least + (steep if self.eigenvalues == "shifted" else -steep)))
        rounding = 1e-9 * dropped + 64.0 * p**2 * 2.0**-52 * (problem.n * steep + least) / least**2
        return Shape(length * (replaced + rounding), length * (dropped + rounding))


def _largest(predictor: float) -> float:
    """|y - sigmoid| where log odds are at most this large; rounded up. proof: gradient"""
    return min(1.0, (1.0 + 1e-10) / (1.0 + math.exp(-min(predictor * (1.0 + 1e-10), 700.0))))


def _direction(hessian: Array, gradient: Array, least: float, eigenvalues: str) -> Array:
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(values, 0.0) + least if eigenvalues == "shifted" else np.maximum(values, least)
    return np.asarray(vectors @ ((vectors.T @ gradient) / values))


def concentrated(budget: Budget) -> float:
    """The rho at which rho-zCDP is (epsilon, delta)-DP, as published: rho + 2 sqrt(rho log(1/delta)) = epsilon."""
    level = math.log(1.0 / budget.delta)
    return (math.sqrt(budget.epsilon + level) - math.sqrt(level)) ** 2
