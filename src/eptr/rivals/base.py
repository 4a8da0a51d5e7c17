"""What all rivals share: a form, an honest Release, and the same rules about bounds, sums, noise and ledgers as ours."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..accounting.budget import Budget
from ..errors import InputError, NotPrivateWarning, PrivacyError, positive, probability
from ..estimators.base import NoisyScore, PrivateEstimator
from ..estimators.bayes.model import MeansClassifier
from ..estimators.kernel.design import pairs, y_range
from ..estimators.linear.model import LinearModel
from ..estimators.predicting import numbers_of, predictions
from ..privacy.claim import Cost, Release
from ..privacy.gaussian import gaussian_mu
from ..privacy.spending import Spending
from ..privacy.unit import Unit
from ..rows.engine import Rows

__all__ = ["ClassRival", "Frame", "FunctionRival", "LinearRival", "Problem", "Rival"]

Array = NDArray[np.float64]
NOTHING: Mapping[str, str] = MappingProxyType({})


class Rival:
    """Mixin: ``form`` selects the repaired or the published variant; the three maps say what its guarantee rests on.

    ``faults``: forms that are not private, and why. ``unverified``: forms whose guarantee nobody verified, and what is
    missing. ``citations``: forms that rest on a published theorem, with its hypotheses. All other forms are proven here.
    """

    rows_per_person = 1
    fallback = None
    _variants: ClassVar[tuple[str, tuple[str, ...]]] = ("form", ("repaired",))
    zero_out: ClassVar[tuple[str, ...]] = ()  # forms that are proven for rows that are dropped, too
    faults: ClassVar[Mapping[str, str]] = NOTHING
    unverified: ClassVar[Mapping[str, str]] = NOTHING
    citations: ClassVar[Mapping[str, str]] = NOTHING
    neighbours: str
    epsilon: float
    delta: float
    form: str

    def _unit(self) -> Unit:
        if self.neighbours != "replace-one" and self.form not in self.zero_out:
            raise InputError(
                f"{type(self).__name__}(form={self.form!r}) is not proven for neighbours={self.neighbours!r}; use 'replace-one'"
                + (f", or form={self.zero_out[0]!r}." if self.zero_out else ".")
            )
        if self.rows_per_person != 1:
            raise InputError("rows_per_person must be 1: rivals are proven for one row of a person.")
        return super()._unit()  # type: ignore[misc, no-any-return]

    def _open(self, cost: Cost, rows: Rows) -> Spending:
        if self.form in self.faults:
            warnings.warn(
                f"{type(self).__name__}(form={self.form!r}) is not private: {self.faults[self.form]}",
                NotPrivateWarning,
                stacklevel=5,
            )
        return super()._open(cost, rows)  # type: ignore[misc, no-any-return]

    def _marked(self, cost: Cost) -> Cost:
        """The cost with what the guarantee of this form rests on: what is charged and what is released agree."""
        for basis, reasons in (("not verified", {**self.unverified, **self.faults}), ("cited", self.citations)):
            if self.form in reasons:
                return replace(cost, basis=basis, theorem=reasons[self.form])
        return super()._marked(cost)  # type: ignore[misc, no-any-return]

    @property
    def _honest(self) -> bool:
        return self.form not in self.faults

    def _released(self, value: Any, scale: float, spending: Spending, replied: bool = True) -> Release:
        return spending.close(value, scale, f"{type(self).__name__}, {self.form}", replied=replied)

    def _pure_cost(self) -> Cost:
        """epsilon-DP with delta = 0."""
        return Cost(positive("epsilon", self.epsilon), 0.0, "basic", 0.0)

    def _gaussian_cost_of(self, mu: float) -> Cost:
        """Published noise, accounted exactly: refused where it does not keep its claim."""
        if mu > gaussian_mu(self.epsilon, self.delta):
            raise PrivacyError(
                f"{type(self).__name__}(form={self.form!r}) is not ({self.epsilon:g}, {self.delta:g})-DP with its published "
                "noise; use a smaller epsilon or form='repaired'."
            )
        return Cost(positive("epsilon", self.epsilon), probability("delta", self.delta), "gaussian", mu)


@dataclass(frozen=True, slots=True)
class Problem:
    """A linear problem: rows of norm at most ``radius`` (the constant column included), |y| at most ``y_bound``."""

    rows: Rows
    x_bound: float
    y_bound: float
    constant: float | None

    @property
    def radius(self) -> float:
        return math.hypot(self.x_bound, self.constant or 0.0)

    @property
    def dimension(self) -> int:
        return self.rows.n_features + (self.constant is not None)


class LinearRival(Rival, LinearModel):
    """Least squares by somebody else's method (n public; replace-one neighbours by default)."""

    x_bound: Any
    y_bound: Any

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        rows = self._regression_rows(X, y)
        bounds = [self._needed(name) for name in ("x_bound", "y_bound")]
        problem = Problem(rows, bounds[0], bounds[1], self._constant(bounds[0], rows.n_features))
        theta, release = self._solve(problem, budget)
        beta = theta * self._scaling(bounds[0], rows.n_features)
        self.coef_ = np.array(beta[: rows.n_features])
        self.intercept_ = float(beta[-1]) if self.fit_intercept else 0.0
        self._finish(release)

    def _needed(self, name: str) -> float:
        advice = "Pass a bound on the norm of a row." if name == "x_bound" else "Pass a bound on |y|."
        return float(self._bound(name, advice))

    def _solve(self, problem: Problem, budget: Budget) -> tuple[Array, Release]:
        raise TypeError(f"{type(self).__name__} does not say how to solve a problem")


class ClassRival(Rival, MeansClassifier):
    """Class means and priors by somebody else's method (n public; replace-one neighbours by default)."""

    x_bound: Any

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        rows = self._classified_rows(X, y)
        radius = float(self._bound("x_bound", "Pass a bound on the norm of a row."))
        self.means_, self.priors_, release = self._estimate(rows, radius, budget)
        self._finish(release)

    def _estimate(self, rows: Rows, radius: float, budget: Budget) -> tuple[Array, Array, Release]:
        raise TypeError(f"{type(self).__name__} does not say how to estimate means")


@dataclass(frozen=True, slots=True)
class Frame:
    """The public ranges of a regression function: what a row function needs, and no more of its estimator."""

    domain: list[tuple[float, float]]
    y_centre: float
    y_radius: float

    def unit(self, x: Array) -> Array:
        """The domain mapped to [0, 1] on every axis; values outside are moved to the edge."""
        low, high = np.array(self.domain).T
        return np.asarray((np.clip(x, low, high) - low) / (high - low))

    def target(self, y: Array) -> Array:
        """y as a share of its public range, in [-1, 1]."""
        return np.asarray(np.clip((y - self.y_centre) / self.y_radius, -1.0, 1.0))


class FunctionRival(Rival, NoisyScore, RegressorMixin, PrivateEstimator):
    """A regression function on a public domain by somebody else's method (n public; replace-one neighbours by default)."""

    domain: Any
    y_bound: Any

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        rows = self._regression_rows(X, y)
        self.domain_ = pairs(self.domain, rows.n_features)
        self.y_centre_, self.y_radius_ = y_range(self.y_bound)
        self._finish(self._release_function(rows, budget))

    def _release_function(self, rows: Rows, budget: Budget) -> Release:
        raise TypeError(f"{type(self).__name__} does not say how to release a function")

    @property
    def _frame(self) -> Frame:
        return Frame(self.domain_, self.y_centre_, self.y_radius_)

    def predict(self, X: Any) -> Any:
        """The released function, anywhere, at no further cost."""
        return predictions(self, X)

    def _predict(self, x: Array) -> Array:
        share = self._function(self._frame.unit(x))
        return np.asarray(self.y_centre_ + self.y_radius_ * np.clip(share, -1.0, 1.0))

    def _function(self, unit: Array) -> Array:
        raise TypeError(f"{type(self).__name__} does not say how to predict")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, numbers_of(X, y), sample_weight))


def checked_count(name: str, value: Any) -> int | None:
    """None, or a whole number of at least 1."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be None or a whole number of at least 1, got {value!r}.")
    return value
