"""The Bayes classifier with class means and priors released privately: refined (default), tight and paper."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...accounting.budget import Budget
from ...errors import InputError, positive
from ...privacy.claim import Release
from ...privacy.mechanism import Proposal, forecast_test
from ...privacy.rung import ladder_rung
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ..base import RADIUS_SHARE, private_radius, whole_number
from ..planning import Plan
from ..quantile import row_norms
from .bounds import ClassRule, class_sums, paper_rule, tight_rule
from .model import MeansClassifier, into_ball
from .refined import planned_noise, refined_means

__all__ = ["BayesClassifier"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class BayesClassifier(MeansClassifier):
    """Gaussian classes with identity covariance; private class means and priors (n public; replace-one neighbours by default).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit.
    x_bound : float or "private"
        Public bound on the Euclidean norm of a row; longer rows are shortened to it.
        "private" buys one from the budget ("refined" only).
    classes : "public" or sequence
        The label set. "public" declares the labels that occur in y to be public knowledge.
    c0 : float, default 0.05
        "tight" and "paper" only: the fit is proposed if every class has more than c0 n rows.
    strategy : {"refined", "tight", "paper"}
    neighbours, rows_per_person, fallback, invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`. ``fallback="paper"`` draws the published no-reply answer, a random
        prior and random means; None is a uniform prior with all means zero.

    Attributes
    ----------
    classes_, means_, priors_ : the label set and the released parameters
    release_, released_, noise_ : the Release, whether there was a reply, the noise on each released mean

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=4000)
    >>> X = rng.normal(size=(4000, 2)) + 3 * y[:, None]
    >>> clf = eptr.BayesClassifier(epsilon=1.0, delta=1e-6, x_bound=8.0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    classes: Any = "public"
    c0: float = 0.05
    strategy: str = "refined"
    _: KW_ONLY
    rows_per_person: int = 1
    fallback: Any = None

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        rows = self._classified_rows(X, y)
        bound = self._bound(
            "x_bound", "Pass a bound on the norm of a row, such as x_bound=8 for columns of about unit size."
        )
        positive("c0", self.c0, below=1.0)
        if self.fallback is not None and self.fallback != "paper":
            raise InputError("fallback must be None (uniform prior, zero means) or 'paper'.")
        if self.strategy == "refined":
            result = self._fit_refined(rows, bound, self._open(self._gaussian_cost(budget), rows))
        else:
            spending = self._open(forecast_test(self.strategy, budget.epsilon, budget.delta).cost, rows)
            assert isinstance(bound, float)
            self.x_bound_ = bound
            result = self._fit_tested(rows, budget, spending)
            if not result.replied:
                self.means_, self.priors_ = self._fallback_parameters(rows.n_features, spending)
        self._finish(result)

    def _fit_refined(self, rows: Rows, bound: float | str, spending: Spending) -> Release:
        classes = len(self.classes_)
        left: Portion = spending
        if bound == "private":
            bound, left = private_radius(rows, row_norms, spending), spending.within(1.0 - RADIUS_SHARE)
        self.x_bound_ = float(bound)
        found = refined_means(rows, classes, self.x_bound_, left)
        self.means_, self.priors_ = found.means, found.priors
        return spending.close(np.column_stack([found.means, found.priors]), found.scale, "refined")

    def _fit_tested(self, rows: Rows, budget: Budget, spending: Spending) -> Release:
        classes, p = len(self.classes_), rows.n_features
        rule = self._rule(rows.n, classes, self.x_bound_)
        sums = class_sums(rows, classes, self.x_bound_)
        beta = float(sums.counts.min())

        def estimate() -> Array:
            means = sums.sums / np.maximum(sums.counts, 1.0)[:, None]
            return np.append(means.ravel(), rule.prior_weight * sums.counts / rows.n)

        if self.strategy == "tight":
            rung = ladder_rung(beta, rule.threshold, rule.lipschitz)
            result = spending.test_at_rung(estimate, rung, rule.sensitivity, budget.epsilon, budget.delta)
        else:
            gamma = max(beta - rule.threshold - rule.lipschitz, 0.0) / rule.lipschitz
            result = spending.test(Proposal(estimate(), rule.sensitivity, gamma), "paper", budget.epsilon, budget.delta)
        if not result.replied:
            return spending.close(None, result.noise_scale, self.strategy, replied=False)
        means = result.value[: classes * p].reshape(classes, p)
        self.means_ = into_ball(means, self.x_bound_)
        priors = np.maximum(result.value[classes * p :] / rule.prior_weight, min(self.c0, 1.0 / classes))
        self.priors_ = priors / priors.sum()
        return spending.close(np.column_stack([self.means_, self.priors_]), result.noise_scale, self.strategy)

    def _rule(self, n: int, classes: int, bound: float) -> ClassRule:
        if self.strategy == "paper":
            return paper_rule(n, bound, self.c0, self.rows_per_person)
        return tight_rule(n, classes, bound, self.c0, self.rows_per_person)

    def _fallback_parameters(self, features: int, spending: Spending) -> tuple[Array, Array]:
        classes = len(self.classes_)
        if self.fallback is None:
            return np.zeros((classes, features)), np.full(classes, 1.0 / classes)
        draws = spending.idle((classes, features + 2), anew=True)
        means = into_ball(self.x_bound_ * draws[:, :features], self.x_bound_)
        # Squared pairs of normals are exponential; normalised exponentials are Dirichlet(1).
        weights = (draws[:, features:] ** 2).sum(axis=1)
        priors = np.maximum(weights / weights.sum(), self.c0)
        return means, priors / priors.sum()

    def plan(self, n: int, n_features: int, n_classes: int = 2) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        budget, n, n_features = self._settings(), whole_number("n", n), whole_number("n_features", n_features)
        bound = self._bound("x_bound", "plan() needs it as a number.")
        if isinstance(bound, str):
            raise InputError("plan() needs x_bound as a number.")
        numbers = n_classes * n_features
        if self.strategy == "refined":
            scale = planned_noise(n, n_classes, bound, self._unit(), budget.mu)
            return Plan("refined", n, n_features, "", scale, numbers * scale**2, 0.0, 0.0, 0.0)
        rule = self._rule(n, n_classes, bound)
        forecast = forecast_test(self.strategy, budget.epsilon, budget.delta)
        scale = rule.sensitivity * forecast.noise
        certain = rule.threshold + (1.0 + forecast.certain) * rule.lipschitz
        error = numbers * scale**2
        return Plan(self.strategy, n, n_features, "smallest class", scale, error, rule.threshold, certain, budget.delta)
