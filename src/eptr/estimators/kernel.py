"""Kernel regression: the whole function (refined), or chosen points (tight, paper).  Proof: kernel.md."""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..accounting.budget import Budget
from ..errors import BoundError, InputError, positive
from ..privacy.mechanism import Cost, Proposal, Release, forecast_test, release
from ..privacy.noise import NoiseSource
from ..rows.exact import product_grid, toward_zero
from ..rows.memory import Rows
from .base import RADIUS_LEVEL, RADIUS_RANGE, RADIUS_SEARCH, RADIUS_SHARE, NoisyScore, PrivateEstimator, whole_number
from .kernel_features import KERNELS, TensorFeatures, tensor_features
from .linear_refined import refined_fit
from .planning import Plan
from .quantile import private_quantile

__all__ = ["KernelRegressor"]

Array = NDArray[np.float64]
Keep = NDArray[np.bool_] | None

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
TREND_SHARE = 0.20
RESIDUAL_SHARE = 0.04
RESIDUAL_LEVEL = 0.98
# Where the noisy degree is below this many standard deviations of its noise, predictions shrink to the centre or trend.
DEGREE_FLOOR = 4.0
ANCHORS = {1: 2_000, 2: 6_000}
MOST_ANCHORS = 20_000


class KernelRegressor(NoisyScore, RegressorMixin, PrivateEstimator):
    """Differentially private Nadaraya-Watson regression (replace-one neighbours, n public).

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
    rows_per_person, fallback, invalid, ledger, random_state
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

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        domain: Any = (0, 1),
        y_bound: Any = None,
        bandwidth: Any = 0.1,
        kernel: str = "gaussian",
        c0: float = 0.3,
        trend: Any = None,
        queries: Any = None,
        budget: str = "total",
        strategy: str = "refined",
        *,
        rows_per_person: int = 1,
        fallback: Any = None,
        invalid: str = "raise",
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.domain = domain
        self.y_bound = y_bound
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.c0 = c0
        self.trend = trend
        self.queries = queries
        self.budget = budget
        self.strategy = strategy
        self.rows_per_person = rows_per_person
        self.fallback = fallback
        self.invalid = invalid
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **unsupported: Any) -> KernelRegressor:
        """Fit privately. ``y`` is an array, or the name of the target column when ``X`` is a table."""
        budget = self._settings(**unsupported)
        rows = self._regression_rows(X, y)
        self._public_settings(rows.n_features)
        if self.strategy == "refined":
            noise = self._begin(self._gaussian_cost(budget))
            result = self._fit_refined(rows, budget, noise)
        else:
            noise = self._begin(None)
            result = self._fit_queries(rows, budget, noise)
        self._finish(result)
        return self

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
        self.domain_ = _pairs(self.domain, d)
        try:
            widths = np.broadcast_to(np.asarray(self.bandwidth, dtype=float), (d,))
        except (TypeError, ValueError):
            raise InputError(f"bandwidth must be one number or one per axis ({d}), got {self.bandwidth!r}.") from None
        self.bandwidth_ = [positive("bandwidth", float(h)) for h in widths]
        self.y_centre_, self.y_radius_ = self._range()
        self.queries_ = self._query_points(d)

    def _range(self) -> tuple[float, float]:
        value = self.y_bound
        if value is None:
            raise BoundError(
                "y_bound is missing. Pass a bound on |y| or its public range (low, high), known before seeing the data."
            )
        if isinstance(value, str) and value == "private" and self.strategy == "refined":
            return 0.0, math.nan  # bought in the fit
        if isinstance(value, str):
            raise BoundError(
                f"y_bound must be a number, a pair (low, high) or, with strategy='refined', 'private', got {value!r}."
            )
        if np.ndim(value) == 0:
            return 0.0, positive("y_bound", value)
        low, high = _pairs(value, 1, "y_bound")[0]
        return 0.5 * (low + high), 0.5 * (high - low)

    def _query_points(self, d: int) -> Array:
        if self.queries is None:
            return np.array([[0.5 * (low + high) for low, high in self.domain_]])
        points = np.asarray(self.queries, dtype=float)
        if points.ndim == 1 and d == 1:
            points = points[:, None]
        if points.ndim != 2 or points.shape[1] != d or len(points) == 0 or not np.all(np.isfinite(points)):
            raise InputError(f"queries must be finite, of shape (m, {d}) with m >= 1, got shape {points.shape}.")
        return points

    def _inside(self, x: Array) -> Array:
        low, high = np.array(self.domain_).T
        return np.clip(x, low, high)

    def _features(self, d: int) -> TensorFeatures:
        cap = ANCHORS.get(d, MOST_ANCHORS)
        return tensor_features(KERNELS[self.kernel], self.domain_, self.bandwidth_, cap)

    def _fit_refined(self, rows: Rows, budget: Budget, noise: NoiseSource) -> Release:
        mu, group, n, d = budget.mu, self.rows_per_person, rows.n, rows.n_features
        if math.isnan(self.y_radius_):
            self.y_radius_ = private_quantile(
                rows, lambda x, y: np.abs(y), RADIUS_LEVEL, low=RADIUS_RANGE[0], high=RADIUS_RANGE[1],
                mu=mu * math.sqrt(RADIUS_SHARE) * (1.0 - 1e-15), noise=noise, group=group, **RADIUS_SEARCH,
            )  # fmt: skip
            mu *= math.sqrt(1.0 - RADIUS_SHARE) * (1.0 - 1e-15)

        def part(share: float) -> float:
            return mu * math.sqrt(share) * (1.0 - 1e-15)

        self.trend_ = np.zeros(d + 1)
        self.residual_radius_, kernel_share = self.y_radius_, 1.0
        if self.trend is not None:
            scaled = _Scaled(rows, self)
            line = refined_fit(scaled, math.sqrt(d), self.y_radius_, 1.0, part(TREND_SHARE), noise, group)
            self.trend_ = line.coefficients
            self.residual_radius_ = private_quantile(
                rows, lambda x, y: np.abs(self._residual(x, y)), RESIDUAL_LEVEL, low=self.y_radius_ * 2.0**-12,
                high=self.y_radius_, mu=part(RESIDUAL_SHARE), noise=noise, group=group, ratio=1.1,
            )  # fmt: skip
            kernel_share = 1.0 - TREND_SHARE - RESIDUAL_SHARE
        features = self._features(d)
        radius = self.residual_radius_

        def block(x: Array, y: Array, keep: Keep) -> tuple[Array, ...]:
            target = np.clip(self._residual(x, y) / radius, -1.0, 1.0)
            return (features.sums(self._inside(x), target, n, keep),)

        (sums,) = rows.sum(block)
        scale = 2.0 * features.inflation(n) * group / part(kernel_share)  # proof: function
        self.sums_ = noise.gaussian(sums, scale)
        self.degree_floor_ = DEGREE_FLOOR * scale
        return self._gaussian_release(budget, noise, self.sums_, scale)

    def _residual(self, x: Array, y: Array) -> Array:
        """y minus its centre and the released trend, on the public range."""
        y = np.clip(y, self.y_centre_ - self.y_radius_, self.y_centre_ + self.y_radius_) - self.y_centre_
        return np.asarray(y - self._trend(x)) if self.trend is not None else np.asarray(y)

    def _trend(self, x: Array) -> Array:
        return np.asarray(self._unit(x) @ self.trend_[:-1] + self.trend_[-1])

    def _unit(self, x: Array) -> Array:
        """The domain mapped to [-1, 1] on every axis."""
        low, high = np.array(self.domain_).T
        return np.asarray((2.0 * np.clip(x, low, high) - low - high) / (high - low))

    def _fit_queries(self, rows: Rows, budget: Budget, noise: NoiseSource) -> Release:
        count, group = len(self.queries_), self.rows_per_person
        each = Budget(budget.epsilon / count, budget.delta / count) if self.budget == "total" else budget
        spent = budget if self.budget == "total" else Budget.total([budget] * count)
        threshold, lipschitz, alpha = self._query_rule(rows.n)
        degrees, sums = rows.sum(self._query_block(rows.n))
        forecast_test(self.strategy, each.epsilon, each.delta)  # refuses, if it must, before anything is charged
        cost = Cost(spent.epsilon, spent.delta, "basic", 0.0)
        if self.ledger is not None:
            self.ledger.charge(cost, private=noise.private)
        # One stream for all queries, so that a seed does not repeat the same noise at each.
        stream = getattr(noise, "generator", None)
        replies = []
        for degree, total in zip(degrees, sums, strict=True):
            lost = lipschitz if self.strategy == "paper" else 0.0  # proof: queries
            gamma = max(float(degree) - threshold - lost, 0.0) / lipschitz
            value = float(total / degree) if degree > 0 else 0.0
            proposal = Proposal(value, alpha * group, gamma)
            replies.append(release(proposal, each.epsilon, each.delta, self.strategy, random_state=stream))
        self.replied_ = np.array([r.replied for r in replies])
        fallback = np.zeros(count) if self.fallback is None else self._random_answers(noise, count)
        values = np.array([r.value if r.replied else f for r, f in zip(replies, fallback, strict=True)], dtype=float)
        self.values_ = self.y_centre_ + np.clip(values, -self.y_radius_, self.y_radius_)
        return Release(
            bool(self.replied_.any()), self.values_.copy() if self.replied_.any() else None, replies[0].noise_scale,
            spent.epsilon, spent.delta, noise.private, self.strategy, cost,
        )  # fmt: skip

    def _query_rule(self, n: int) -> tuple[float, float, float]:
        """Threshold, Lipschitz constant and sensitivity of one answer."""
        kernel, group = KERNELS[self.kernel], self.rows_per_person
        volume = math.prod(high - low for low, high in self.domain_)
        threshold = self.c0 * n * math.prod(h * kernel.integral for h in self.bandwidth_) / volume
        if self.strategy == "paper":
            return threshold, 2.0 * group, 4.0 * self.y_radius_ / threshold
        return threshold, 1.0 * group, 2.0 * self.y_radius_ / threshold * (1.0 + 1e-12) + 2.0**-50 * self.y_radius_

    def _query_block(self, n: int) -> Any:
        profile = KERNELS[self.kernel].profile
        k_grid, y_grid = product_grid(n, 1.0), product_grid(n, self.y_radius_)

        def block(x: Array, y: Array, keep: Keep) -> tuple[Array, ...]:
            x = self._inside(x)
            weights = np.ones((len(self.queries_), len(x)))
            for j, h in enumerate(self.bandwidth_):
                weights *= profile(np.abs(self.queries_[:, j, None] - x[None, :, j]) / h)
            if keep is not None:
                weights *= keep
            weights = toward_zero(weights, k_grid, out=weights)
            target = np.clip(y - self.y_centre_, -self.y_radius_, self.y_radius_)
            return weights.sum(axis=1), weights @ toward_zero(target, y_grid)

        return block

    def _random_answers(self, noise: NoiseSource, count: int) -> Array:
        from scipy.special import ndtr

        return np.asarray(self.y_radius_ * (2.0 * ndtr(noise.gaussian(np.zeros(count), 1.0)) - 1.0))

    def plan(self, n: int, n_features: int) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        budget, n, n_features = self._settings(), whole_number("n", n), whole_number("n_features", n_features)
        model = copy(self)  # planning must not touch a fitted model
        model._public_settings(n_features)
        if math.isnan(model.y_radius_):
            raise InputError("plan() needs y_bound as a number or a range.")
        if model.strategy == "refined":
            scale = 2.0 * model._features(n_features).inflation(n) * model.rows_per_person / budget.mu
            # At a point of average density the degree is n Π h integral / volume.
            threshold, *_ = model._query_rule(n)
            degree = threshold / model.c0
            answer = model.y_radius_ * scale / degree
            return Plan("refined", n, n_features, "", answer, answer**2, 0.0, 0.0, 0.0)
        count = len(model.queries_) if model.budget == "total" else 1
        forecast = forecast_test(model.strategy, budget.epsilon / count, budget.delta / count)
        threshold, lipschitz, alpha = model._query_rule(n)
        scale = alpha * model.rows_per_person * forecast.noise
        certain = threshold + (1.0 + forecast.certain) * lipschitz
        return Plan(model.strategy, n, n_features, "kernel degree", scale, scale**2, threshold, certain, budget.delta)

    def predict(self, X: Any) -> Array:
        """The released function, anywhere, at no further cost; for "tight" and "paper" the nearest query's answer."""
        X = self._predict_rows(X)
        if self.release_.strategy != "refined":
            return np.asarray(self.values_[_nearest(X, self.queries_, np.array(self.bandwidth_))])
        features, low = self._features(X.shape[1]), self.degree_floor_
        size = max(1, 2_000_000 // max(features.shape))
        parts = [self._smooth(features, X[i : i + size], low) for i in range(0, len(X), size)]
        limit = self.y_radius_
        return self.y_centre_ + np.clip(np.concatenate(parts), -limit, limit)

    def _smooth(self, features: TensorFeatures, x: Array, floor: float) -> Array:
        top, bottom = features.evaluate(self._inside(x), self.sums_)
        return np.asarray(self._trend(x) + self.residual_radius_ * top / np.maximum(bottom, floor))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, y, sample_weight))


class _Scaled:
    """The same rows with the domain mapped to [-1, 1] and y centred, for the trend."""

    def __init__(self, rows: Rows, owner: KernelRegressor) -> None:
        self.rows, self.owner = rows, owner
        self.n, self.n_features = rows.n, rows.n_features

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: Any) -> tuple[Array, ...]:
        owner = self.owner

        def block(x: Array, y: Array, keep: Keep) -> tuple[Array, ...]:
            unit, target = owner._unit(x), y - owner.y_centre_
            if keep is not None:  # a dropped row is zero after the mapping, too
                unit, target = unit * keep[:, None], target * keep
            result: tuple[Array, ...] = fn(unit, target, keep)
            return result

        return self.rows.sum(block)


def _pairs(value: Any, d: int, name: str = "domain") -> list[tuple[float, float]]:
    try:
        pairs = np.asarray(value, dtype=float)
        pairs = np.broadcast_to(pairs, (d, 2))
    except (TypeError, ValueError):
        raise InputError(f"{name} must be one (low, high) pair or a list of {d} pairs, got {value!r}.") from None
    if not np.all(np.isfinite(pairs)) or not np.all(pairs[:, 0] < pairs[:, 1]):
        raise InputError(f"{name} must have low < high, both finite, got {value!r}.")
    return [(float(low), float(high)) for low, high in pairs]


def _nearest(X: Array, queries: Array, scale: Array) -> NDArray[np.intp]:
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(queries / scale).query(X / scale)[1])
