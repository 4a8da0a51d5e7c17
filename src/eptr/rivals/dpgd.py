"""DPGD: noisy gradient descent for least squares (Cai, Wang and Zhang 2021).  Proof: dpgd.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import positive
from ..estimators.linear.bounds import moments, sharp_numerator
from ..privacy.claim import Cost
from ..privacy.contribution import Ball, Shape
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.exact import sum_grid, toward_zero
from ..rows.namespace import on_host
from .base import BoundedLinearRival, Problem, checked_count

__all__ = ["DPGD", "shortened"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class DPGD(BoundedLinearRival):
    """Projected gradient descent, noise in every step (Cai, Wang and Zhang 2021); (epsilon, delta)-DP.

    Parameters
    ----------
    x_bound, y_bound : float
        Public bounds on the norm of a row and on |y| ("clipped" uses them for the intercept's scale only).
    coef_bound : float
        Public bound on the norm of the coefficients; iterates are projected to it (not by "clipped").
    steps : int, optional
        Default ceil(log n) ("literature"), half of that ("repaired": noise grows with every step, and with a good
        step size few are needed), 6 ("clipped").
    step_size : float
        Public; about one over the largest eigenvalue of the covariance of x.
    clip : float
        "clipped": bound on the norm of one row's gradient, about twice the noise level times sqrt(p).
    form : {"repaired", "literature", "clipped"}
        "repaired": exact sensitivity and Gaussian composition. "literature": published noise, twice the sensitivity
        and T-fold summation. "clipped": every row's gradient clipped to ``clip`` instead of the data.
    """

    coef_bound: float = 1.0
    steps: Any = None
    step_size: float = 0.9
    clip: float = 5.0
    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired", "clipped")
    forms = ("repaired", "literature", "clipped")

    def _cost(self, public: Problem) -> Cost:
        if self.form != "literature":
            return super()._cost(public)
        # proof: published
        return self._gaussian_cost_of(
            self._score(public).diameter * math.sqrt(self._steps(public.n)) / self._published(public)
        )

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        n, C, eta, steps = rows.n, self.coef_bound, positive("step_size", self.step_size), self._steps(rows.n)
        if self.form == "clipped":
            clip = positive("clip", self.clip)
            theta = self._descend_clipped(rows, problem, spending, steps, eta, clip)
            return theta, eta * spending.scale(Ball(clip), 1.0 / steps) / n
        score, repaired = self._score(problem), self.form == "repaired"
        mu = problem.budget.mu / math.sqrt(steps) if repaired else score.diameter / self._published(problem)
        mu *= 1.0 - 1e-15
        sums = moments(rows, problem.x_bound, problem.y_bound, problem.constant, weighted=repaired)
        theta = np.zeros(problem.numbers)
        for _ in range(steps):
            theta = theta + eta / n * spending.draw(sums.cross - sums.gram @ theta, score, mu)
            theta *= min(1.0, C / max(float(np.linalg.norm(theta)), 1e-300))
        return theta, eta * score.scale(spending.unit, mu) / n

    def _steps(self, n: int) -> int:
        default = {"clipped": 6, "literature": math.ceil(math.log(n)), "repaired": math.ceil(math.log(n) / 2.0)}
        return checked_count("steps", self.steps) or max(1, default[self.form])

    def _score(self, problem: Problem) -> Shape:
        """What a row adds to the gradient. proof: gradient"""
        n, p, R, Y, C = (
            problem.n,
            problem.numbers,
            problem.radius,
            problem.y_bound,
            positive("coef_bound", self.coef_bound),
        )
        # The product of exact sums with theta rounds by at most p 2^-52 n R (Y + R C).
        rounding = 2.0 * p * 2.0**-52 * n * R * (Y + R * C)
        # A row that is dropped takes away its own score, of norm at most R (Y + R C).
        return Shape(sharp_numerator(R, Y, C, p) * (1.0 + 1e-9) + rounding, R * (Y + R * C) * (1.0 + 1e-9) + rounding)

    def _published(self, problem: Problem) -> float:
        """The scale of the published noise."""
        R, Y, C, steps = problem.radius, problem.y_bound, self.coef_bound, self._steps(problem.n)
        published = 4.0 * (Y + C * R) * R * math.sqrt(2.0 * math.log(2.0 * steps / problem.budget.delta)) * steps
        return float(published / problem.budget.epsilon)

    def _descend_clipped(
        self, rows: Rows, problem: Problem, spending: Spending, steps: int, eta: float, clip: float
    ) -> Array:
        theta, constant = np.zeros(problem.numbers), problem.constant
        n, grid = rows.n, sum_grid(rows.n, clip)

        def gradients(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
            if constant is not None:
                x = np.column_stack([x, np.full(len(x), constant)])
            residual = y - np.einsum("ij,j->i", x, theta)  # row by row: blocks and machines cannot change a bit
            if keep is not None:
                residual = np.where(keep, residual, 0.0)
            return (toward_zero(shortened(x * residual[:, None], clip), grid).sum(axis=0),)

        for _ in range(steps):
            theta = theta + eta / n * spending.sums(rows, on_host(gradients), Ball(clip), 1.0 / steps)
        return theta


def shortened(rows: Array, clip: float) -> Array:
    """Gradients of norm at most ``clip``, in place; an overflow counts as nothing. proof: gradient"""
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    # The norm of what is summed, scaled first: no square can vanish or overflow.
    largest = np.abs(rows).max(axis=1)
    scaled = rows / np.where(largest > 0.0, largest, 1.0)[:, None]
    size = largest * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    safe = clip * (1.0 - (rows.shape[1] + 16) * 2.0**-52)
    rows *= np.where(size > safe, safe / np.maximum(size, safe), 1.0)[:, None]
    return rows
