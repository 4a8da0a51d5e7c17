"""BoostedAdaSSP: sufficient statistics once, then rounds on clipped residuals (Tang et al. 2023).  Proof: boosted.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import positive
from ..estimators.linear.bounds import moments, smallest_eigenvalue
from ..privacy.claim import Cost
from ..privacy.contribution import Ball
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.exact import shrink_factors, sum_grid, toward_zero
from ..rows.namespace import on_host
from .adassp import entries, ridged_gram, symmetric
from .base import BoundedLinearRival, Problem, bare_cost, checked_count

__all__ = ["BoostedAdaSSP"]

Array = NDArray[np.float64]
SHARES = (0.1, 0.3, 0.6)  # of mu^2: smallest eigenvalue, X'X, all rounds together
QUANTILE = 1.96  # published: of the noise, in the ridge and in the margin below the smallest eigenvalue


@dataclass(eq=False, repr=False)
class BoostedAdaSSP(BoundedLinearRival):
    """AdaSSP's matrix and ridge, then rounds that fit what is left of y (Tang et al. 2023); (epsilon, delta)-DP.

    Parameters
    ----------
    x_bound, y_bound : float
        Public bounds on the norm of a row and on |y|.
    clip : float, optional
        Public bound tau on the residuals of a round; default ``y_bound``.
    rounds : int, optional
        Default 20 ("repaired"), 100 ("literature").
    form : {"repaired", "literature"}
        "repaired": replace-one sensitivities, exact Gaussian noise, every round paid for; round t moves by 1/t of its
        solution, which averages the noise of all rounds. "literature": the authors' public code, which uses the mu of
        (epsilon, delta) as a standard deviation and pays for no round: **not private** ((1, 1e-6) is an epsilon of about 1,100).
    """

    clip: Any = None
    rounds: Any = None
    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired",)
    forms = ("repaired", "literature")
    faults = MappingProxyType(
        {"literature": "its noise takes mu for a standard deviation, and its rounds are not composed."}
    )

    def _cost(self, public: Problem) -> Cost:
        return super()._cost(public) if self.form == "repaired" else bare_cost(public.budget)

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        n, p, R, budget = problem.n, problem.numbers, problem.radius, problem.budget
        tau = problem.y_bound if self.clip is None else positive("clip", self.clip)
        repaired, rounds = self.form == "repaired", checked_count("rounds", self.rounds)
        scores = Ball(R * tau)
        if repaired:
            rounds = rounds or 20
            sums = moments(rows, problem.x_bound, problem.y_bound, problem.constant)
            matrix = ridged_gram(sums.gram, R, n, spending, SHARES[:2])  # proof: matrix
            scale = spending.scale(scores, SHARES[2])
        else:
            rounds, scale = rounds or 100, R * tau * budget.mu
            noise, sigma = spending.by_its_own_theorem(), R * R * budget.mu
            gram = moments(rows, problem.x_bound, problem.y_bound, problem.constant, weighted=False).gram
            low = float(noise.gaussian(np.array(smallest_eigenvalue(gram)), sigma)) - QUANTILE * sigma
            ridge = max(0.0, QUANTILE * sigma * math.sqrt(p) - max(low, 0.0))
            matrix = symmetric(noise.gaussian(entries(gram), sigma), p) + ridge * np.eye(p)
        theta = np.zeros(p)
        for t in range(1, rounds + 1):
            score = on_host(_scores(problem, theta, tau, weighted=repaired))
            if repaired:
                total = spending.sums(rows, score, scores, SHARES[2] / rounds)  # proof: rounds
            else:
                total = noise.gaussian(rows.sum(score)[0], scale)
            step = np.linalg.lstsq(matrix, total, rcond=None)[0]
            theta = np.clip(theta + step / (t if repaired else 1), -1e100, 1e100)
        return theta, scale / n


def _scores(
    problem: Problem, theta: Array, tau: float, *, weighted: bool
) -> Callable[[Array, Array, NDArray[np.bool_] | None], tuple[Array, ...]]:
    """Sums of x clip(y - x'theta, tau) over rows shortened to the bound; ``weighted``: together with their y. proof: rounds"""
    grid, safe = sum_grid(problem.n, problem.radius * tau), tau * (1.0 - (len(theta) + 16) * 2.0**-52)
    x_bound, constant = problem.x_bound, problem.constant

    def block(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
        shorten, ones = shrink_factors(x, x_bound), np.ones(len(x))
        if shorten is not None:
            x = x * shorten[:, None]
            ones, y = (shorten, y * shorten) if weighted else (ones, y)
        if constant is not None:
            x = np.column_stack([x, constant * ones])
        # Row by row: blocks and machines cannot change a bit.
        residual = np.clip(y - np.einsum("ij,j->i", x, theta), -safe, safe)
        if keep is not None:
            residual = np.where(keep, residual, 0.0)
        return (toward_zero(x * residual[:, None], grid).sum(axis=0),)

    return block
