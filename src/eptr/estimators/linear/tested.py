"""Least squares by propose, test, release: with the sharp constants, or the published ones.  Proof: tested.md."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...privacy.claim import Release
from ...privacy.mechanism import Proposal
from ...privacy.rung import ladder_rung
from ...privacy.spending import Spending
from ...rows.engine import Rows
from ..strategy import Tested
from .bounds import Moments, SafetyRule, moments, paper_rule, smallest_eigenvalue, solve, tight_rule
from .problem import LeastSquares, RegressionFitted

__all__ = ["Paper", "Tight"]

Array = NDArray[np.float64]


class _LeastSquares(Tested):
    safety: ClassVar[str] = "smallest eigenvalue of X'X"

    def fit(self, rows: Rows, public: LeastSquares, spending: Spending) -> RegressionFitted:
        """One pass, one test."""
        found = self.reply(self.sums(rows, public), public, spending)
        value = None if found.value is None else self.improved(found.value, public) * public.scaling
        beta = public.fallback if value is None else value
        return RegressionFitted(value=value, noise=found.noise_scale, **public.named(beta), **public.stated)

    @abstractmethod
    def rule(self, public: LeastSquares) -> SafetyRule: ...

    @abstractmethod
    def sums(self, rows: Rows, public: LeastSquares) -> Moments:
        """X'X and X'y of bounded rows."""

    @abstractmethod
    def reply(self, sums: Moments, public: LeastSquares, spending: Spending) -> Release:
        """The noisy coefficients, or none."""

    def improved(self, theta: Array, public: LeastSquares) -> Array:
        """What post-processing can do for an answer."""
        return theta


class Tight(_LeastSquares):
    """Sharp constants and the largest possible test."""

    name = "tight"

    def rule(self, public: LeastSquares) -> SafetyRule:
        return tight_rule(*public.of_a_rule)

    def sums(self, rows: Rows, public: LeastSquares) -> Moments:
        return moments(rows, public.x_bound, public.y_bound, public.constant)

    def reply(self, sums: Moments, public: LeastSquares, spending: Spending) -> Release:
        rule, beta, budget = self.rule(public), smallest_eigenvalue(sums.gram), public.budget
        rung = ladder_rung(beta, rule.threshold, rule.lipschitz, rule.safety_error)  # proof: rung

        def estimate() -> Array:
            return solve(sums, public.coef_bound)

        return spending.test_at_rung(estimate, rung, rule.sensitivity, budget.epsilon, budget.delta)

    def improved(self, theta: Array, public: LeastSquares) -> Array:
        """The truth is inside the ball, so a projection only helps."""
        return np.asarray(theta * min(1.0, public.coef_bound / max(float(np.linalg.norm(theta)), 1e-300)))


class Paper(_LeastSquares):
    """Published constants, with y clipped at R R_t, as their proof needs."""

    name = "paper"

    def rule(self, public: LeastSquares) -> SafetyRule:
        return paper_rule(*public.of_a_rule)

    def sums(self, rows: Rows, public: LeastSquares) -> Moments:
        clip = min(public.y_bound, public.radius * public.coef_bound)
        return moments(rows, public.x_bound, clip, public.constant, weighted=False)

    def reply(self, sums: Moments, public: LeastSquares, spending: Spending) -> Release:
        rule, budget = self.rule(public), public.budget
        step = rule.lipschitz + 2.0 * rule.safety_error
        above = smallest_eigenvalue(sums.gram) - rule.safety_error - rule.threshold
        # Below the threshold no neighbour is safe, and the estimate may be anything. proof: gamma
        theta = solve(sums, public.coef_bound) if above >= 0.0 else np.zeros(public.numbers)
        proposal = Proposal(theta, rule.sensitivity, max(above - step, 0.0) / step)
        return spending.test(proposal, self.name, budget.epsilon, budget.delta)
