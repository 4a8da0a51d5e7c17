"""Least squares with a private answer: refined (default), tight and paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...accounting.budget import Budget
from ...errors import BoundError, InputError, positive
from ..planning import Plan
from ..ranges import column_ranges, column_shares, one_range
from .inference import Summary, summarise
from .model import LinearModel
from .problem import LeastSquares, RegressionFitted
from .refined import Refined
from .tested import Paper, Tight

__all__ = ["LinearRegression"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LinearRegression(LinearModel):
    """Differentially private least squares (n public; replace-one neighbours by default).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit.
    x_bound : float or "private"
        Public bound on the Euclidean norm of a row, for columns of about unit size around zero: 1.5 sqrt(p) is a good
        choice. "private" buys a range for every column, raw or not, from the budget ("refined" only).
    y_bound : float or "private"
        Public bound on |y|; twice too large costs little.
    coef_bound : float, default 1
        "tight" and "paper" only: public bound on the norm of (slopes, intercept/constant).
    c0 : float, default 0.5
        "tight" and "paper" only: the fit is proposed if the smallest eigenvalue of X'X is above c0 n.
    fit_intercept : bool, default True
        A constant column of about x_bound/sqrt(p) is added.
    strategy : {"refined", "tight", "paper"}
        "refined" never refuses and aims at ordinary least squares, whatever the errors are; docs/inference.md.
        "paper" clips y at x_bound coef_bound, as its proof needs.
    neighbours : {"replace-one", "zero-out"}
        What must stay hidden: that one row is replaced by any other, or ("refined" only) that it is dropped, a weaker
        promise at equal epsilon with less noise.
    rows_per_person : int, default 1
        Rows one person may own; every sensitivity grows by this factor.
    x_range : pair, list of pairs or dict of pairs by name, optional
        Public ranges of raw columns, instead of ``x_bound`` ("refined" only): one for all, one for each in order, or by name.
        Columns are centred and scaled inside the budget, values beyond are moved to the edge; coefficients are in raw units.
    y_range : pair, optional
        Public range of y, instead of ``y_bound`` ("refined" only).
    symmetric_errors : bool, default False
        A public assumption: errors are symmetric around the model, so that clipping needs no undoing. A little more accurate if
        it is true, and not least squares if it is not ("refined" only).
    fallback : None or array
        Coefficients (intercept last) used after "no reply"; None is zero.
    invalid : {"raise", "drop"}
        What to do with rows that are not finite. "drop" gives them zero weight, inside the guarantee.
    ledger : str or eptr.Ledger, optional
        ``"sqlite:///budget.db#study"``: charged once per fit, after the rows were checked and before noise is drawn.
    random_state : None or seed
        A seed makes the fit reproducible and **not private**.

    Attributes
    ----------
    coef_, intercept_ : released coefficients, shrunk together where noise dominates, or the fallback
    centre_, covariance_ : slopes and intercept before that, and their covariance, for ``conf_int`` and ``summary`` ("refined")
    undetermined_ : whether the rows are too few to say, coefficient by coefficient ("refined")
    outside_ : private share of rows beyond a bound or range ("refined")
    release_, released_, noise_ : the Release, whether there was a reply, the noise on each released number

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> age, dose = rng.uniform(18, 80, 20_000), rng.uniform(0, 5, 20_000)
    >>> pressure = 100 + 0.5 * age - 3 * dose + 10 * rng.normal(size=20_000)
    >>> ranges = {"x_range": [(0, 110), (0, 10)], "y_range": (0, 300)}
    >>> model = eptr.LinearRegression(epsilon=1.0, delta=1e-6, **ranges)
    >>> model = model.fit(np.column_stack([age, dose]), pressure)
    >>> bool(abs(model.coef_[0] - 0.5) < 0.1)
    True
    >>> model.conf_int().shape  # low and high of age, dose and the intercept
    (3, 2)
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    y_bound: Any = None
    coef_bound: float = 1.0
    c0: float = 0.5
    fit_intercept: bool = True
    strategy: str = "refined"
    _: KW_ONLY
    rows_per_person: int = 1
    fallback: Any = None
    x_range: Any = None
    y_range: Any = None
    symmetric_errors: bool = False

    strategies = MappingProxyType({"refined": Refined(), "tight": Tight(), "paper": Paper()})
    _fitted = RegressionFitted

    def _public(self, n: int, n_features: int, n_classes: int) -> LeastSquares:
        x_advice = "Pass a bound on the norm of a row, such as x_bound=1.5*sqrt(p) for scaled columns."
        y_advice = "Pass the largest |y| that is plausible from general knowledge; twice too large costs little."
        return LeastSquares(
            Budget(self.epsilon, self.delta),
            self._unit(),
            n,
            n_features,
            self._bound("x_bound", x_advice) if self.x_range is None else None,
            self._bound("y_bound", y_advice) if self.y_range is None else None,
            self.fit_intercept,
            positive("coef_bound", self.coef_bound),
            positive("c0", self.c0),
            self._fallback_coefficients(n_features),
            self._ranges(n_features),
            None if self.y_range is None else one_range("y_range", self.y_range),
            bool(self.symmetric_errors),
        )

    def _ranges(self, n_features: int) -> tuple[Array, Array] | None:
        for name in ("x", "y"):
            if getattr(self, f"{name}_range") is None:
                continue
            if getattr(self, f"{name}_bound") is not None:
                raise BoundError(f"{name}_range and {name}_bound say the same thing twice: pass one of them.")
            if self.strategy != "refined":
                raise BoundError(
                    f"strategy={self.strategy!r} needs {name}_bound; {name}_range is for strategy='refined'."
                )
        if self.x_range is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        return column_ranges(self.x_range, n_features, None if names is None else list(names))

    def _fallback_coefficients(self, features: int) -> Array:
        size = features + bool(self.fit_intercept)
        if self.fallback is None or (isinstance(self.fallback, str) and self.fallback == "paper"):
            return np.zeros(size)
        try:
            value = np.asarray(self.fallback, dtype=float)
        except (TypeError, ValueError):
            value = np.empty(0)
        if value.shape != (size,) or not np.all(np.isfinite(value)):
            raise InputError(f"fallback must be None, 'paper' or {size} finite numbers (slopes, then intercept).")
        return value

    def plan(self, n: int, n_features: int, *, shares: Mapping[Any, float] | None = None) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data.

        "refined": from a fit to simulated rows. ``shares``, with ``x_range``: of the rows at the upper end, for columns of
        zeros and ones, by number, or by name where ``x_range`` has names.
        """
        return self._planned(n, n_features, shares=column_shares(self.x_range, n_features, shares or {}))

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence intervals, one row per coefficient, the intercept last; sampling and privacy noise both."""
        return self.summary(level).intervals

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients, standard errors, intervals and p-values, laid out like R's ``lm``."""
        check_is_fitted(self, "release_")
        fitted: RegressionFitted = self.fitted_
        if fitted.covariance is None:
            raise InputError(
                f"strategy={self.release_.strategy!r} releases neither X'X nor a residual variance, so there are no "
                "standard errors; use strategy='refined', which pays for them inside its budget."
            )
        if fitted.centre is None:
            raise InputError(
                "this model was fitted by an older version, whose intervals did not hold for skewed outcomes; fit again."
            )
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(fitted.coef))]))
        return summarise([*names, "(Intercept)"] if self.fit_intercept else names, fitted, level, self.release_)
