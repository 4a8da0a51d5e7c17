"""Class means and priors by propose, test, release: with sharp or with published constants.  Proof: tested.md."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from ...privacy.claim import Release
from ...privacy.mechanism import Proposal
from ...privacy.rung import ladder_rung
from ...privacy.spending import Spending
from ...rows.engine import Rows
from ..strategy import Tested
from .bounds import ClassRule, ClassSums, class_sums, paper_rule, tight_rule
from .problem import BayesFitted, TestedClasses, into_ball

__all__ = ["Paper", "Tight"]

Array = NDArray[np.float64]


class _ClassMeans(Tested):
    safety = "smallest class"

    def fit(self, rows: Rows, public: TestedClasses, spending: Spending) -> BayesFitted:
        """One pass, one test of the smallest class."""
        K, p, rule = public.n_classes, public.n_features, self.rule(public)
        found = self.reply(class_sums(rows, K, public.x_bound), rule, public, spending)
        if found.value is None:
            means, priors = _fallback(public, spending)
            return BayesFitted(value=None, noise=found.noise_scale, means=means, priors=priors, x_bound=public.x_bound)
        means = into_ball(found.value[: K * p].reshape(K, p), public.x_bound)
        priors = np.maximum(found.value[K * p :] / rule.prior_weight, min(public.c0, 1.0 / K))
        return BayesFitted.of(means, priors / priors.sum(), found.noise_scale, x_bound=public.x_bound)

    @abstractmethod
    def reply(self, sums: ClassSums, rule: ClassRule, public: TestedClasses, spending: Spending) -> Release:
        """Noisy means and weighted priors, or none."""


class Tight(_ClassMeans):
    """Sharp constants and the largest possible test."""

    name = "tight"

    def rule(self, public: TestedClasses) -> ClassRule:
        return tight_rule(public.n, public.n_classes, public.x_bound, public.c0, public.unit.rows)

    def reply(self, sums: ClassSums, rule: ClassRule, public: TestedClasses, spending: Spending) -> Release:
        rung = ladder_rung(float(sums.counts.min()), rule.threshold, rule.lipschitz)  # proof: rung
        epsilon, delta = public.budget.epsilon, public.budget.delta
        return spending.test_at_rung(lambda: _estimate(sums, rule, public.n), rung, rule.sensitivity, epsilon, delta)


class Paper(_ClassMeans):
    """Published constants and test."""

    name = "paper"

    def rule(self, public: TestedClasses) -> ClassRule:
        return paper_rule(public.n, public.x_bound, public.c0, public.unit.rows)

    def reply(self, sums: ClassSums, rule: ClassRule, public: TestedClasses, spending: Spending) -> Release:
        # proof: gamma
        gamma = max(float(sums.counts.min()) - rule.threshold - rule.lipschitz, 0.0) / rule.lipschitz
        proposal = Proposal(_estimate(sums, rule, public.n), rule.sensitivity, gamma)
        return spending.test(proposal, self.name, public.budget.epsilon, public.budget.delta)


def _estimate(sums: ClassSums, rule: ClassRule, n: int) -> Array:
    means = sums.sums / np.maximum(sums.counts, 1.0)[:, None]
    return np.append(means.ravel(), rule.prior_weight * sums.counts / n)


def _fallback(public: TestedClasses, spending: Spending) -> tuple[Array, Array]:
    """What is published without a reply: a uniform prior and zero means, or random ones, as published."""
    K, p = public.n_classes, public.n_features
    if public.fallback is None:
        return np.zeros((K, p)), np.full(K, 1.0 / K)
    draws = spending.idle((K, p + 2), anew=True)
    means = into_ball(public.x_bound * draws[:, :p], public.x_bound)
    # Squared pairs of normals are exponential; normalised exponentials are Dirichlet(1).
    weights = (draws[:, p:] ** 2).sum(axis=1)
    priors = np.maximum(weights / weights.sum(), public.c0)
    return means, priors / priors.sum()
