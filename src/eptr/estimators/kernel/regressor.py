"""Kernel regression as a scikit-learn estimator: the whole function (refined), or chosen points (tight, paper)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...accounting.budget import Budget
from ...errors import BoundError, InputError, positive
from ..base import validated
from ..planning import Plan
from ..predicting import Regressing, predictions
from .design import Design, bandwidths, pairs, y_range
from .drawing import draw_function
from .features import KERNELS
from .problem import KernelFitted, Smoothing
from .refined import Refined, read_function, unsupported
from .tested import Paper, Tight

__all__ = ["KernelRegressor"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class KernelRegressor(Regressing):
    """Differentially private Nadaraya-Watson regression (n public; replace-one neighbours by default).

    The paper's estimator; :class:`eptr.AdditiveRegressor` needs no bandwidth and is nearly always more accurate.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit (with ``budget="each"``: of every query).
    domain : (low, high) or list of pairs
        Public range of every axis, required; values outside are moved to the edge.
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
    fallback : None or "paper"
        The answer to a query without a reply: None is the middle of the range, "paper" draws it uniformly from the range.

    Attributes
    ----------
    kernel_, queries_ : the kernel, and the points at which "tight" and "paper" answer
    values_, replied_ : the answers there, and whether each is a reply
    sums_ : released kernel sums of y and of ones, from which the function follows ("refined")
    trend_, residual_radius_ : slopes and intercept of the private line (else the mean of y), and the bound on what it leaves

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(4000, 1))
    >>> y = np.sin(6 * x[:, 0]) + 0.1 * rng.normal(size=4000)
    >>> fit = eptr.KernelRegressor(epsilon=1.0, domain=(0, 1), y_bound=1.5, bandwidth=0.05).fit(x, y)
    >>> bool(abs(fit.predict([[0.3]])[0] - np.sin(1.8)) < 0.5)
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    domain: Any = None
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

    strategies = MappingProxyType({"refined": Refined(), "tight": Tight(), "paper": Paper()})
    _fitted = KernelFitted

    def _public(self, n: int, n_features: int, n_classes: int) -> Smoothing:
        strategy: Any = self.strategies[self.strategy]
        if self.kernel not in KERNELS:
            raise InputError(f"kernel must be one of {tuple(KERNELS)}, got {self.kernel!r}.")
        if self.kernel not in strategy.kernels:
            raise InputError(
                f"kernel={self.kernel!r} is not positive definite; use it with strategy='tight' at query points."
            )
        if self.trend not in (None, "linear"):
            raise InputError(f"trend must be None or 'linear', got {self.trend!r}.")
        if self.budget not in ("total", "each"):
            raise InputError(f"budget must be 'total' or 'each', got {self.budget!r}.")
        if self.fallback not in (None, "paper"):
            raise InputError("fallback must be None (the middle of the range) or 'paper'.")
        if self.domain is None:
            raise BoundError(
                "domain is missing. Pass the range of every column, such as domain=(0, 1) or a list of pairs: values outside are "
                "moved to its edge, so it must be known to hold them before seeing the data."
            )
        c0, domain = positive("c0", self.c0), pairs(self.domain, n_features)
        widths = bandwidths(self.bandwidth, n_features)
        design = Design(self.kernel, domain, widths, *y_range(self.y_bound, private=strategy.buys_bounds))
        whole, split, trend = Budget(self.epsilon, self.delta), self.budget == "total", self.trend is not None
        queries = self._query_points(domain)
        return Smoothing(whole, self._unit(), n, n_features, design, trend, queries, split, c0, self.fallback)

    def _query_points(self, domain: list[tuple[float, float]]) -> Array:
        d = len(domain)
        if self.queries is None:
            return np.array([[0.5 * (low + high) for low, high in domain]])
        points = np.asarray(self.queries, dtype=float)
        if points.ndim == 1 and d == 1:
            points = points[:, None]
        if points.ndim != 2 or points.shape[1] != d or len(points) == 0 or not np.all(np.isfinite(points)):
            raise InputError(f"queries must be finite, of shape (m, {d}) with m >= 1, got shape {points.shape}.")
        return points

    def plan(self, n: int, n_features: int) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        return self._planned(n, n_features)

    def predict(self, X: Any) -> Any:
        """The released function, anywhere, at no further cost; for "tight" and "paper" the nearest query's answer."""
        return predictions(self, X)

    def _predict(self, x: Array) -> Array:
        fitted: KernelFitted = self.fitted_
        if fitted.values is None:
            return read_function(fitted, x)
        return np.asarray(fitted.values[self._nearest(x)])

    def _nearest(self, x: Array) -> Any:
        """The number of the query that each row is nearest to."""
        from scipy.spatial import cKDTree

        scale = np.array(self.fitted_.bandwidth)
        return cKDTree(self.fitted_.queries / scale).query(x / scale)[1]

    def too_few(self, X: Any) -> NDArray[np.bool_]:
        """Where the released counts cannot be told from none, or no query nearby was answered: post-processing."""
        check_is_fitted(self, "release_")
        fitted: KernelFitted = self.fitted_
        x = np.asarray(validated(self, X, reset=False, dtype=np.float64))
        return unsupported(fitted, x) if fitted.values is None else ~fitted.replied[self._nearest(x)]

    def plot(self, ax: Any = None) -> Any:
        """The released function over the first two columns, the others in the middle of their domain; grey where
        the rows are too few to say. On ``ax`` or new axes of matplotlib's, which are returned."""
        check_is_fitted(self, "release_")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return draw_function(self, self.fitted_.domain, [str(name) for name in names], ax)
