"""Standard propose-test-release, where the distance to instability can be computed.  Proof: ptr.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError, positive
from ..estimators.bayes.bounds import class_sums
from ..estimators.bayes.problem import Classes, MeansFitted, into_ball
from ..privacy.claim import Cost
from ..privacy.gaussian import gaussian_mu
from ..privacy.mechanism import Proposal, forecast_test
from ..privacy.profile import LaplaceTest
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import ClassRival

__all__ = ["PTR", "slope_distance"]


@dataclass(eq=False, repr=False)
class PTR(ClassRival):
    """Class means by propose-test-release (Dwork and Lei 2009; Brunel and Avella-Medina 2020); (epsilon, delta)-DP.

    Without a reply all means are zero and the prior is uniform.

    Parameters
    ----------
    x_bound : float
        Public bound on the norm of a row.
    c0 : float
        Proposes the sensitivity of a dataset whose classes have at least c0 n rows.
    form : {"repaired", "literature"}
        "repaired": half of epsilon for the test, half for the noise. "literature": half for the test and all of epsilon
        for the noise, as printed: **not private** at the claimed level (delta 1.1e-4 instead of 1e-6 at epsilon = 1).
    """

    c0: float = 0.05
    form: str = "repaired"

    forms = ("repaired", "literature")
    faults = MappingProxyType({"literature": "it spends half of epsilon on the test and all of it again on the noise."})

    def _cost(self, public: Classes) -> Cost:
        return forecast_test("ptr", public.budget.epsilon, public.budget.delta).cost

    def _fit(self, rows: Rows, public: Classes, spending: Spending) -> MeansFitted:
        K, p, n, radius, budget = public.n_classes, public.n_features, rows.n, public.x_bound, public.budget
        b = float(max(math.ceil(positive("c0", self.c0, below=1.0) * n), 1))  # whole, so that distances are exact
        # The prior is released as weight * prior, so that its noise is small.
        weight = 0.1 * n * 2.0 * radius / (b + 1.0)
        move = math.hypot(2.0 * radius / b, 2.0 * radius / (b + 1.0), math.sqrt(2.0) * weight / n)
        alpha = move * (1.0 + 1e-12) + 1e-14 * (radius * math.sqrt(K) + weight)
        sums = class_sums(rows, K, radius)
        distance = max(0.0, float(sums.counts.min()) - b + 1.0)  # proof: distance
        value = np.append((sums.sums / np.maximum(sums.counts, 1.0)[:, None]).ravel(), weight * sums.counts / n)
        if self.form == "repaired":
            found = spending.test(Proposal(value, alpha, distance), "ptr", budget.epsilon, budget.delta)
            replied, noisy, scale = found.replied, found.value, found.noise_scale
        else:
            noise, scale = spending.by_its_own_theorem(), alpha / gaussian_mu(budget.epsilon, budget.delta)
            chance = LaplaceTest(budget.epsilon, budget.delta).exact(distance)
            replied, noisy = noise.coin(math.floor(chance * 2**128), 128), noise.gaussian(value, scale)
        if not replied:
            return MeansFitted(value=None, noise=scale, means=np.zeros((K, p)), priors=np.full(K, 1.0 / K))
        means = into_ball(np.asarray(noisy[: K * p]).reshape(K, p), radius)
        priors = np.maximum(noisy[K * p :] / weight, min(self.c0, 1.0 / K))
        priors = priors / priors.sum()
        return MeansFitted.of(means, priors, scale)


def slope_distance(x: Any, threshold: float) -> int:
    """Rows that must be replaced before sum x^2 falls below ``threshold``: the largest go first. proof: slope

    The exact distance for regression on one column; ``release(Proposal(slope, (2RY + R^2 C)/b, distance), strategy="ptr")``
    with b = threshold - R^2 is then standard PTR.

    Examples
    --------
    >>> slope_distance([1.0, 1.0, 2.0, 0.5], threshold=2.0)
    2
    """
    values = np.asarray(x, dtype=float).ravel()
    if values.size == 0 or not np.all(np.isfinite(values)):
        raise InputError("x must hold at least one finite number.")
    # In rational numbers: a rounded sum could move by two steps where one row moves.
    squares = sorted((Fraction(float(v)) ** 2 for v in values), reverse=True)
    left, limit = sum(squares, Fraction(0)), Fraction(threshold)
    for count, square in enumerate(squares):
        if left < limit:
            return count
        left -= square
    return len(squares)
