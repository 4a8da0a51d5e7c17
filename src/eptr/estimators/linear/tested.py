"""Least squares by propose, test, release: with the sharp constants, or the published ones.  Proof: tested.md."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from ...privacy.mechanism import Proposal
from ...privacy.rung import ladder_rung
from ...privacy.spending import Spending
from ...rows.engine import Rows
from ..strategy import Tested
from .bounds import SafetyRule, moments, paper_rule, smallest_eigenvalue, solve, tight_rule
from .problem import LeastSquares, RegressionFitted

__all__ = ["Paper", "Tight"]

Array = NDArray[np.float64]


class _LeastSquares(Tested):
    safety = "smallest eigenvalue of X'X"

    def fit(self, rows: Rows, public: LeastSquares, spending: Spending) -> RegressionFitted:
        """One pass, one test."""
        theta, noise = self.reply(rows, public, spending)
        value = None if theta is None else theta * public.scaling
        beta = public.fallback if value is None else value
        return RegressionFitted(value=value, noise=noise, **public.named(beta), **public.stated)

    @abstractmethod
    def reply(self, rows: Rows, public: LeastSquares, spending: Spending) -> tuple[Array | None, float]:
        """The noisy coefficients of (x, constant), or None, and their noise."""


class Tight(_LeastSquares):
    """Sharp constants and the largest possible test."""

    name = "tight"

    def rule(self, public: LeastSquares) -> SafetyRule:
        return tight_rule(*public.of_a_rule)

    def reply(self, rows: Rows, public: LeastSquares, spending: Spending) -> tuple[Array | None, float]:
        rule, budget, most = self.rule(public), public.budget, public.coef_bound
        sums = moments(rows, public.x_bound, public.y_bound, public.constant)
        # proof: rung
        rung = ladder_rung(smallest_eigenvalue(sums.gram), rule.threshold, rule.lipschitz, rule.safety_error)
        found = spending.test_at_rung(lambda: solve(sums, most), rung, rule.sensitivity, budget.epsilon, budget.delta)
        if found.value is None:
            return None, found.noise_scale
        # Post-processing: the truth is inside the ball, so a projection only helps.
        return found.value * min(1.0, most / max(float(np.linalg.norm(found.value)), 1e-300)), found.noise_scale


class Paper(_LeastSquares):
    """Published constants, with y clipped at R R_t, as their proof needs."""

    name = "paper"

    def rule(self, public: LeastSquares) -> SafetyRule:
        return paper_rule(*public.of_a_rule)

    def reply(self, rows: Rows, public: LeastSquares, spending: Spending) -> tuple[Array | None, float]:
        rule, budget = self.rule(public), public.budget
        clip = min(public.y_bound, public.radius * public.coef_bound)
        sums = moments(rows, public.x_bound, clip, public.constant, weighted=False)
        step = rule.lipschitz + 2.0 * rule.safety_error
        above = smallest_eigenvalue(sums.gram) - rule.safety_error - rule.threshold
        # Below the threshold no neighbour is safe, and the estimate may be anything. proof: gamma
        theta = solve(sums, public.coef_bound) if above >= 0.0 else np.zeros(public.numbers)
        proposal = Proposal(theta, rule.sensitivity, max(above - step, 0.0) / step)
        found = spending.test(proposal, self.name, budget.epsilon, budget.delta)
        return found.value, found.noise_scale
