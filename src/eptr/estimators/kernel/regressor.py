"""Kernel regression as a scikit-learn estimator: the whole function (refined), or chosen points (tight, paper)."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ...accounting.budget import Budget
from ...errors import InputError, positive
from ...privacy.claim import Release
from ...privacy.mechanism import forecast_test
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ..base import RADIUS_SHARE, NoisyScore, PrivateEstimator, private_radius, whole_number
from ..planning import Plan
from ..predicting import numbers_of, predictions
from ..quantile import target_sizes
from .bounds import query_rule, query_sums
from .design import Design, pairs, y_range
from .features import KERNELS
from .refined import KernelSums, planned_noise, read_function, release_sums

__all__ = ["KernelRegressor"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class KernelRegressor(NoisyScore, RegressorMixin, PrivateEstimator):
    """Differentially private Nadaraya-Watson regression (n public; replace-one neighbours by default).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit (with ``budget="each"``: of every query).
    domain : (low, high) or list of pairs
        Public range of every axis; values outside are moved to the edge.
    y_bound : float, (low, high) or "private"
        Public bound on |y|, or its public range. "private" buys a bound from the budget ("refined" only).
    bandwidth : float or list
        One for all axes, or one per axis.
    kernel : {"gaussian", "laplace", "wendland", "epanechnikov"}
        Products over axes. "epanechnikov" is not positive definite and works at query points only.
    c0 : float, default 0.3
        "tight" and "paper": a query is proposed where the estimated density is above c0 times the uniform one.
    trend : None or "linear"
        "refined": fit a private line first (a fifth of the budget) and smooth the residuals: less noise.
    queries : array of shape (m, d), optional
        "tight" and "paper": the public points at which to release; default the centre of the domain.
    budget : {"total", "each"}
        "tight" and "paper": split (epsilon, delta) over the queries, or spend it at every one; the Release shows the sum.
    strategy : {"refined", "tight", "paper"}
        "refined" releases the whole function at once: predictions anywhere cost nothing more.
    neighbours, rows_per_person, fallback, invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`. The fallback of an unanswered query is the middle of the range;
        ``fallback="paper"`` draws it uniformly from the range.

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(4000, 1))
    >>> y = np.sin(6 * x[:, 0]) + 0.1 * rng.normal(size=4000)
    >>> fit = eptr.KernelRegressor(epsilon=1.0, delta=1e-6, y_bound=1.5, bandwidth=0.05).fit(x, y)
    >>> bool(abs(fit.predict([[0.3]])[0] - np.sin(1.8)) < 0.3)
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    domain: Any = (0, 1)
    y_bound: Any = None
    bandwidth: Any = 0.1
    kernel: str = "gaussian"
    c0: float = 0.3
    trend: Any = None
    queries: Any = None
    budget: str = "total"
    strategy: str = "refined"
    _: KW_ONLY
    rows_per_person: int = 1
    fallback: Any = None

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        rows = self._regression_rows(X, y)
        self._public_settings(rows.n_features)
        if self.strategy == "refined":
            result = self._fit_function(rows, self._open(self._gaussian_cost(budget), rows))
        else:
            result = self._fit_queries(rows, budget)
        self._finish(result)

    def _public_settings(self, d: int) -> None:
        if self.kernel not in KERNELS:
            raise InputError(f"kernel must be one of {tuple(KERNELS)}, got {self.kernel!r}.")
        if self.strategy == "refined" and not KERNELS[self.kernel].positive_definite:
            raise InputError(
                f"kernel={self.kernel!r} is not positive definite; use it with strategy='tight' at query points."
            )
        if self.trend not in (None, "linear"):
            raise InputError(f"trend must be None or 'linear', got {self.trend!r}.")
        if self.budget not in ("total", "each"):
            raise InputError(f"budget must be 'total' or 'each', got {self.budget!r}.")
        if self.fallback not in (None, "paper"):
            raise InputError("fallback must be None (the middle of the range) or 'paper'.")
        positive("c0", self.c0)
        self.kernel_ = self.kernel
        self.domain_ = pairs(self.domain, d)
        try:
            widths = np.broadcast_to(np.asarray(self.bandwidth, dtype=float), (d,))
        except (TypeError, ValueError):
            raise InputError(f"bandwidth must be one number or one per axis ({d}), got {self.bandwidth!r}.") from None
        self.bandwidth_ = [positive("bandwidth", float(h)) for h in widths]
        self.y_centre_, self.y_radius_ = y_range(self.y_bound, private=self.strategy == "refined")
        self.queries_ = self._query_points(d)

    @property
    def _design(self) -> Design:
        return Design(self.kernel_, self.domain_, self.bandwidth_, self.y_centre_, self.y_radius_)

    def _query_points(self, d: int) -> Array:
        if self.queries is None:
            return np.array([[0.5 * (low + high) for low, high in self.domain_]])
        points = np.asarray(self.queries, dtype=float)
        if points.ndim == 1 and d == 1:
            points = points[:, None]
        if points.ndim != 2 or points.shape[1] != d or len(points) == 0 or not np.all(np.isfinite(points)):
            raise InputError(f"queries must be finite, of shape (m, {d}) with m >= 1, got shape {points.shape}.")
        return points

    def _fit_function(self, rows: Rows, spending: Spending) -> Release:
        left: Portion = spending
        if math.isnan(self.y_radius_):
            self.y_radius_ = private_radius(rows, target_sizes, spending)
            left = spending.within(1.0 - RADIUS_SHARE)
        found = release_sums(rows, self._design, self.trend is not None, left)
        self.trend_, self.residual_radius_, self.sums_ = found.trend, found.residual_radius, found.sums
        return spending.close(found.sums, found.scale, "refined")

    def _fit_queries(self, rows: Rows, budget: Budget) -> Release:
        count = len(self.queries_)
        each = Budget(budget.epsilon / count, budget.delta / count) if self.budget == "total" else budget
        spent = budget if self.budget == "total" else Budget.total([budget] * count)
        rule = query_rule(self.strategy, self._design, rows.n, self.c0, self.rows_per_person)
        # Refuses, if it must, before anything is charged.
        one = forecast_test(self.strategy, each.epsilon, each.delta).cost
        cost = replace(one, epsilon=spent.epsilon, delta=spent.delta, parts=count)
        spending = self._open(cost, rows)
        degrees, sums = rows.sum(query_sums(self._design, self.queries_, rows.n))
        replies = [
            spending.test(rule.propose(float(degree), float(total)), self.strategy, each.epsilon, each.delta)
            for degree, total in zip(degrees, sums, strict=True)
        ]
        self.replied_ = np.array([r.replied for r in replies])
        fallback = np.zeros(count) if self.fallback is None else self._random_answers(spending, count)
        values = np.array([r.value if r.replied else f for r, f in zip(replies, fallback, strict=True)], dtype=float)
        self.values_ = self.y_centre_ + np.clip(values, -self.y_radius_, self.y_radius_)
        answered = bool(self.replied_.any())
        return spending.close(self.values_.copy(), replies[0].noise_scale, self.strategy, replied=answered)

    def _random_answers(self, spending: Spending, count: int) -> Array:
        from scipy.special import ndtr

        return np.asarray(self.y_radius_ * (2.0 * ndtr(spending.idle(count)) - 1.0))

    def plan(self, n: int, n_features: int) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        budget, n, n_features = self._settings(), whole_number("n", n), whole_number("n_features", n_features)
        model = copy(self)  # planning must not touch a fitted model
        model._public_settings(n_features)
        if math.isnan(model.y_radius_):
            raise InputError("plan() needs y_bound as a number or a range.")
        rule = query_rule(model.strategy, model._design, n, model.c0, model.rows_per_person)
        if model.strategy == "refined":
            scale = planned_noise(model._design, n, self._unit(), budget.mu)
            # At a point of average density the degree is n Π h integral / volume.
            answer = model.y_radius_ * scale / (rule.threshold / model.c0)
            return Plan("refined", n, n_features, "", answer, answer**2, 0.0, 0.0, 0.0)
        count = len(model.queries_) if model.budget == "total" else 1
        forecast = forecast_test(model.strategy, budget.epsilon / count, budget.delta / count)
        scale = rule.sensitivity * forecast.noise
        certain = rule.threshold + (1.0 + forecast.certain) * rule.lipschitz
        return Plan(
            model.strategy, n, n_features, "kernel degree", scale, scale**2, rule.threshold, certain, budget.delta
        )

    def predict(self, X: Any) -> Any:
        """The released function, anywhere, at no further cost; for "tight" and "paper" the nearest query's answer."""
        return predictions(self, X)

    def _predict(self, x: Array) -> Array:
        if self.release_.strategy == "refined":
            released = KernelSums(self.trend_, self.residual_radius_, self.sums_, self.noise_)
            return read_function(released, self._design, x)
        from scipy.spatial import cKDTree

        scale = np.array(self.bandwidth_)
        return np.asarray(self.values_[cKDTree(self.queries_ / scale).query(x / scale)[1]])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, numbers_of(X, y), sample_weight))
