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
GRADIENT_SHARE, TRACE_SHARE = 0.5, 0.1  # of mu^2, and of what is not for gradients: the published values


@dataclass(eq=False, repr=False)
class DPNewton(LogOddsRival):
    """Newton's steps for log odds, with a second noise for the Hessian that they divide by; (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon, delta : float
    x_bound : float
        Public bound on the norm of a row.
    classes : "public" or sequence of two
    steps : int, optional
        Default 6 ("repaired"), 10 ("literature").
    eigenvalues : {"shifted", "clipped"}
        How the Hessian is kept away from zero: a number is added to its eigenvalues, or they are at least that number. It follows
        from a noisy trace.
    fit_intercept : bool, default True
    form : {"repaired", "literature"}
        "repaired": exact Gaussian composition and the smaller of two bounds on a direction. "literature": concentrated privacy
        as published, converted to (epsilon, delta), with sensitivities for replaced rows.
    neighbours, invalid, ledger, random_state
        As in :class:`eptr.BayesClassifier`.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    classes: Any = "public"
    steps: Any = None
    eigenvalues: str = "shifted"
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
        scores, traces = Ball(R), Interval(0.0, STEEPEST * R**2)
        left = 1.0 - GRADIENT_SHARE
        rho = 0.5 * spending.share((1.0 - TRACE_SHARE) * left / steps) ** 2
        theta, noise = np.zeros(problem.numbers), 0.0
        for _ in range(steps):
            gradient = spending.sums(rows, score(problem, theta), scores, GRADIENT_SHARE / steps)  # proof: gradient
            (hessian,) = rows.sum(curvature(problem, theta))
            trace = max(
                float(spending.noisy(np.trace(hessian), traces, TRACE_SHARE * left / steps)), 0.0
            )  # proof: trace
            least = n * R**2 * max((trace / (n * R**2) / (n**2 * rho)) ** (1.0 / 3.0), 1.0 / n)
            moves = self._moves(float(np.linalg.norm(gradient)), least, problem)
            share = (1.0 - TRACE_SHARE) * left / steps
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


def _direction(hessian: Array, gradient: Array, least: float, eigenvalues: str) -> Array:
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(values, 0.0) + least if eigenvalues == "shifted" else np.maximum(values, least)
    return np.asarray(vectors @ ((vectors.T @ gradient) / values))


def concentrated(budget: Budget) -> float:
    """The rho at which rho-zCDP is (epsilon, delta)-DP, as published: rho + 2 sqrt(rho log(1/delta)) = epsilon."""
    level = math.log(1.0 / budget.delta)
    return (math.sqrt(budget.epsilon + level) - math.sqrt(level)) ** 2
