"""Least squares with a private answer: refined (default), tight and paper."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...accounting.budget import Budget
from ...errors import InputError, positive
from ...privacy.claim import Release
from ...privacy.mechanism import Proposal, forecast_test
from ...privacy.rung import ladder_rung
from ...privacy.spending import Spending
from ...rows.engine import Rows
from ..base import RADIUS_SHARE, private_radius, whole_number
from ..planning import Plan
from ..quantile import row_norms, target_sizes
from .bounds import SafetyRule, moments, paper_rule, smallest_eigenvalue, solve, tight_rule
from .inference import Summary, dominated, standard_errors, summarise
from .model import LinearModel
from .refined import planned_noise, refined_fit

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
        Public bound on the Euclidean norm of a row; longer rows are shortened to it where it matters. With
        columns scaled to about unit size, 1.5 sqrt(p) is a good choice. "private" buys one from the
        budget ("refined" only).
    y_bound : float or "private"
        Public bound on |y|.
    coef_bound : float, default 1
        "tight" and "paper" only: public bound on the norm of (slopes, intercept/constant).
    c0 : float, default 0.5
        "tight" and "paper" only: the fit is proposed if the smallest eigenvalue of X'X is above c0 n.
    fit_intercept : bool, default True
        A constant column of about x_bound/sqrt(p) is added.
    strategy : {"refined", "tight", "paper"}
        "refined" never refuses and comes close to the non-private fit if errors are roughly symmetric; where it does
        not, see docs/inference.md. "paper" clips y at x_bound coef_bound, as its proof needs.
    neighbours : {"replace-one", "zero-out"}
        What must stay hidden: that one row is replaced by any other, or ("refined" only) that it is dropped, a weaker
        promise at equal epsilon with less noise.
    rows_per_person : int, default 1
        Rows one person may own; every sensitivity grows by this factor.
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
    coef_, intercept_ : released coefficients, or the fallback
    release_, released_, noise_ : the Release, whether there was a reply, the noise on each released number

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 3))
    >>> y = X @ [1.0, -0.5, 0.25] + rng.normal(size=5000)
    >>> fit = eptr.LinearRegression(epsilon=1.0, delta=1e-6, x_bound=3.0, y_bound=5.0).fit(X, y)
    >>> bool(np.abs(fit.coef_ - [1.0, -0.5, 0.25]).max() < 0.2)
    True
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

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        rows = self._regression_rows(X, y)
        x_bound = self._bound(
            "x_bound", "Pass a bound on the norm of a row, such as x_bound=1.5*sqrt(p) for scaled columns."
        )
        y_bound = self._bound(
            "y_bound", "Pass the largest |y| that is plausible from general knowledge; twice too large costs little."
        )
        positive("coef_bound", self.coef_bound), positive("c0", self.c0)
        fallback = self._fallback_coefficients(rows.n_features)
        if self.strategy == "refined":
            spending = self._open(self._gaussian_cost(budget), rows)
            result = self._fit_refined(rows, x_bound, y_bound, spending)
        else:
            assert isinstance(x_bound, float)
            assert isinstance(y_bound, float)
            spending = self._open(forecast_test(self.strategy, budget.epsilon, budget.delta).cost, rows)
            result = self._fit_tested(rows, budget, x_bound, y_bound, spending)
        beta = result.value if result.replied else fallback
        self.coef_ = np.array(beta[: rows.n_features])
        self.intercept_ = float(beta[-1]) if self.fit_intercept else 0.0
        self.n_rows_ = rows.n
        self._finish(result)

    def _fit_refined(self, rows: Rows, x_bound: float | str, y_bound: float | str, spending: Spending) -> Release:
        bought = 0
        if x_bound == "private":
            x_bound, bought = private_radius(rows, row_norms, spending), bought + 1
        if y_bound == "private":
            y_bound, bought = private_radius(rows, target_sizes, spending), bought + 1
        x_bound, y_bound = self.x_bound_, self.y_bound_ = float(x_bound), float(y_bound)
        constant = self._constant(x_bound, rows.n_features)
        fit = refined_fit(rows, x_bound, y_bound, constant, spending.within(1.0 - RADIUS_SHARE * bought))
        scaling = self._scaling(x_bound, rows.n_features)
        errors = standard_errors(fit, rows.n)
        self.noisy_directions_ = int(dominated(fit).sum())
        self.covariance_ = scaling[:, None] * errors * scaling
        self.residual_scale_ = math.sqrt(fit.spread) / fit.slope
        spread = math.sqrt(float(np.mean(np.sum(fit.whitening**2, axis=1))))  # of a coefficient per whitened unit
        return spending.close(fit.coefficients * scaling, fit.noise[-1] * spread, "refined")

    def _fit_tested(self, rows: Rows, budget: Budget, x_bound: float, y_bound: float, spending: Spending) -> Release:
        self.x_bound_, self.y_bound_ = x_bound, y_bound
        rule, dimension = self._rule(rows.n, rows.n_features, x_bound, y_bound)
        clip = (
            min(y_bound, self._norm(x_bound, rows.n_features) * self.coef_bound)
            if self.strategy == "paper"
            else y_bound
        )
        sums = moments(rows, x_bound, clip, self._constant(x_bound, rows.n_features), weighted=self.strategy == "tight")
        beta = smallest_eigenvalue(sums.gram)
        scaling = self._scaling(x_bound, rows.n_features)

        def estimate() -> Array:
            return solve(sums, self.coef_bound)

        if self.strategy == "tight":
            rung = ladder_rung(beta, rule.threshold, rule.lipschitz, rule.safety_error)
            result = spending.test_at_rung(estimate, rung, rule.sensitivity, budget.epsilon, budget.delta)
        else:
            step = rule.lipschitz + 2.0 * rule.safety_error
            above = beta - rule.safety_error - rule.threshold
            # Below the threshold no neighbour is safe, and the estimate may be anything. proof in bounds.md
            theta = estimate() if above >= 0.0 else np.zeros(dimension)
            gamma = max(above - step, 0.0) / step
            result = spending.test(Proposal(theta, rule.sensitivity, gamma), "paper", budget.epsilon, budget.delta)
        value = result.value
        if value is None:
            return spending.close(None, result.noise_scale, self.strategy, replied=False)
        if self.strategy == "tight":  # post-processing: the truth is inside, so the projection only helps
            value = value * min(1.0, self.coef_bound / max(float(np.linalg.norm(value)), 1e-300))
        return spending.close(value * scaling, result.noise_scale, self.strategy)

    def _rule(self, n: int, features: int, x_bound: float, y_bound: float) -> tuple[SafetyRule, int]:
        dimension = features + bool(self.fit_intercept)
        rule = tight_rule if self.strategy == "tight" else paper_rule
        arguments = self._norm(x_bound, features), y_bound, self.coef_bound, self.c0, self.rows_per_person
        return rule(n, dimension, *arguments), dimension

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

    def plan(self, n: int, n_features: int) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        budget, n, n_features = self._settings(), whole_number("n", n), whole_number("n_features", n_features)
        bounds = [self._bound(name, "plan() needs it as a number.") for name in ("x_bound", "y_bound")]
        if "private" in bounds:
            raise InputError("plan() needs x_bound and y_bound as numbers.")
        p = n_features + bool(self.fit_intercept)
        if self.strategy == "refined":
            scale = planned_noise(n, p, float(bounds[1]), self._unit(), budget.mu)
            return Plan("refined", n, n_features, "", scale, p * scale**2, 0.0, 0.0, 0.0)
        rule, _ = self._rule(n, n_features, float(bounds[0]), float(bounds[1]))
        forecast = forecast_test(self.strategy, budget.epsilon, budget.delta)
        scale = rule.sensitivity * forecast.noise
        certain = rule.threshold + (1.0 + forecast.certain) * rule.lipschitz
        return Plan(
            self.strategy,
            n,
            n_features,
            "smallest eigenvalue of X'X",
            scale,
            p * scale**2,
            rule.threshold,
            certain,
            budget.delta,
        )

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence intervals, one row per coefficient, the intercept last; sampling and privacy noise both."""
        return self._summary(level).intervals

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients, standard errors, intervals and p-values, laid out like R's ``lm``."""
        return self._summary(level)

    def _summary(self, level: float) -> Summary:
        check_is_fitted(self, "release_")
        if self.release_.strategy != "refined":
            raise InputError(
                f"strategy={self.release_.strategy!r} releases neither X'X nor a residual variance, so there are no "
                "standard errors; use strategy='refined', which pays for them inside its budget."
            )
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(self.coef_))]))
        values = np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_
        if self.fit_intercept:
            names.append("(Intercept)")
        return summarise(
            names,
            values,
            self.covariance_,
            level,
            self.residual_scale_,
            self.n_rows_,
            self.release_,
            self.noisy_directions_,
        )
