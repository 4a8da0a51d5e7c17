"""What all rivals share: a form, an honest Release, and the same rules about bounds, sums, noise and ledgers as ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..errors import InputError, PrivacyError, positive, probability, whole_number
from ..estimators.bayes.model import MeansClassifier
from ..estimators.bayes.problem import Classes, MeansFitted, into_ball
from ..estimators.fitted import Fitted
from ..estimators.kernel.design import pairs, y_range
from ..estimators.linear.model import LinearModel
from ..estimators.linear.problem import LinearFitted, Problem
from ..estimators.predicting import Regressing
from ..estimators.strategy import Public, gaussian_cost
from ..privacy.claim import Cost
from ..privacy.gaussian import gaussian_mu
from ..privacy.spending import Spending
from ..privacy.unit import Unit
from ..rows.engine import Rows

__all__ = [
    "BoundedLinearRival",
    "ClassRival",
    "Frame",
    "FunctionFitted",
    "FunctionProblem",
    "FunctionRival",
    "LinearRival",
    "Problem",
    "Rival",
]

Array = NDArray[np.float64]
NOTHING: Mapping[str, str] = MappingProxyType({})


class Rival:
    """Mixin: ``form`` selects the repaired or the published variant; the three maps say what its guarantee rests on.

    ``faults``: forms that are not private, and why. ``unverified``: forms whose guarantee nobody verified, and what is
    missing. ``citations``: forms that rest on a published theorem, with its hypotheses. All other forms are proven here.
    """

    rows_per_person = 1
    fallback = None
    forms: ClassVar[tuple[str, ...]] = ("repaired",)
    zero_out: ClassVar[tuple[str, ...]] = ()  # forms that are proven for rows that are dropped, too
    faults: ClassVar[Mapping[str, str]] = NOTHING
    unverified: ClassVar[Mapping[str, str]] = NOTHING
    citations: ClassVar[Mapping[str, str]] = NOTHING
    neighbours: str
    epsilon: float
    delta: float
    form: str
    fit_intercept: bool  # of those that are linear
    _selector: ClassVar[str] = "form"
    _advice = "More rows or a larger epsilon make a reply likelier."

    @property
    def _method(self) -> str:
        return f"{type(self).__name__}, {self.form}"

    @property
    def _fault(self) -> str | None:
        return self.faults.get(self.form)

    def _unit(self) -> Unit:
        if self.neighbours != "replace-one" and self.form not in self.zero_out:
            raise InputError(
                f"{type(self).__name__}(form={self.form!r}) is not proven for neighbours={self.neighbours!r}; use 'replace-one'"
                + (f", or form={self.zero_out[0]!r}." if self.zero_out else ".")
            )
        if self.rows_per_person != 1:
            raise InputError("rows_per_person must be 1: rivals are proven for one row of a person.")
        return super()._unit()  # type: ignore[misc, no-any-return]

    def _marked(self, cost: Cost) -> Cost:
        """The cost with what the guarantee of this form rests on: what is charged and what is released agree."""
        for basis, reasons in (("not verified", {**self.unverified, **self.faults}), ("cited", self.citations)):
            if self.form in reasons:
                return replace(cost, basis=basis, theorem=reasons[self.form])
        return super()._marked(cost)  # type: ignore[misc, no-any-return]

    def _cost(self, public: Any) -> Cost:
        """Of this form; Gaussian unless a rival says otherwise."""
        return gaussian_cost(public.budget)

    def _gaussian_cost_of(self, mu: float) -> Cost:
        """Published noise, accounted exactly: refused where it does not keep its claim."""
        if mu > gaussian_mu(self.epsilon, self.delta):
            raise PrivacyError(
                f"{type(self).__name__}(form={self.form!r}) is not ({self.epsilon:g}, {self.delta:g})-DP with its published "
                "noise; use a smaller epsilon or form='repaired'."
            )
        return Cost(positive("epsilon", self.epsilon), probability("delta", self.delta), "gaussian", mu)


def pure_cost(budget: Budget) -> Cost:
    """epsilon-DP with delta = 0."""
    return Cost(budget.epsilon, 0.0, "basic", 0.0)


def bare_cost(budget: Budget) -> Cost:
    """The claim itself, of a method with a theorem of its own."""
    return Cost(budget.epsilon, budget.delta, "basic", 0.0)


class LinearRival(Rival, LinearModel):
    """Least squares by somebody else's method (n public; replace-one neighbours by default)."""

    def _fit(self, rows: Rows, public: Problem, spending: Spending) -> LinearFitted:
        theta, noise = self._solve(rows, public, spending)
        beta = np.zeros(public.numbers) if theta is None else theta * public.scaling
        return LinearFitted(value=theta, noise=noise, **public.named(beta))

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array | None, float]:
        """Coefficients of (x, constant), or None for no reply, and their noise."""
        raise TypeError(f"{type(self).__name__} does not say how to solve a problem")


@dataclass(eq=False, repr=False)
class BoundedLinearRival(LinearRival):
    """On rows and targets with public bounds."""

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    y_bound: Any = None

    def _public(self, n: int, n_features: int, n_classes: int) -> Problem:
        x_bound = self._bound("x_bound", "Pass a bound on the norm of a row.")
        y_bound = self._bound("y_bound", "Pass a bound on |y|.")
        budget = Budget(self.epsilon, self.delta)
        return Problem(budget, self._unit(), n, n_features, x_bound, y_bound, self.fit_intercept)


@dataclass(eq=False, repr=False)
class ClassRival(Rival, MeansClassifier):
    """Class means and priors by somebody else's method (n public; replace-one neighbours by default)."""

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    classes: Any = "public"

    def _public(self, n: int, n_features: int, n_classes: int) -> Classes:
        bound = self._bound("x_bound", "Pass a bound on the norm of a row.")
        return Classes(Budget(self.epsilon, self.delta), self._unit(), n, n_features, n_classes, bound)

    def _answer(self, counts: Array, means: Array, public: Classes, noise: float) -> MeansFitted:
        """Shares from noisy counts; means as long as rows may be, but for a published form, which publishes what it drew."""
        within = means if self.form == "literature" else into_ball(means, public.x_bound)
        return MeansFitted.of(within, counts / counts.sum(), noise)


@dataclass(frozen=True, slots=True)
class Frame:
    """The public ranges of a regression function: what a row function needs, and no more of its estimator."""

    domain: list[tuple[float, float]]
    y_centre: float
    y_radius: float

    @property
    def stated(self) -> dict[str, Any]:
        """What a fit says about its ranges."""
        return {"domain": self.domain, "y_centre": self.y_centre, "y_radius": self.y_radius}

    def unit(self, x: Array) -> Array:
        """The domain mapped to [0, 1] on every axis; values outside are moved to the edge."""
        low, high = np.array(self.domain).T
        return np.asarray((np.clip(x, low, high) - low) / (high - low))

    def target(self, y: Array) -> Array:
        """y as a share of its public range, in [-1, 1]."""
        return np.asarray(np.clip((y - self.y_centre) / self.y_radius, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class FunctionProblem(Public):
    """A regression function on a public domain."""

    frame: Frame


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FunctionFitted(Fitted):
    """Noisy sums and degrees of features, on the ranges that were used."""

    domain: list[tuple[float, float]]
    y_centre: float
    y_radius: float
    sums: Array
    counts: Array

    @property
    def frame(self) -> Frame:
        """The public ranges again."""
        return Frame(self.domain, self.y_centre, self.y_radius)


@dataclass(eq=False, repr=False)
class FunctionRival(Rival, Regressing):
    """A regression function on a public domain by somebody else's method (n public; replace-one neighbours by default)."""

    epsilon: float = 1.0
    delta: float = 1e-6
    domain: Any = (0, 1)
    y_bound: Any = None

    def _public(self, n: int, n_features: int, n_classes: int) -> FunctionProblem:
        frame = Frame(pairs(self.domain, n_features), *y_range(self.y_bound))
        return FunctionProblem(Budget(self.epsilon, self.delta), self._unit(), n, n_features, frame)

    def _predict(self, x: Array) -> Array:
        frame: Frame = self.fitted_.frame
        share = self._function(frame.unit(x))
        return np.asarray(frame.y_centre + frame.y_radius * np.clip(share, -1.0, 1.0))

    def _function(self, unit: Array) -> Array:
        raise TypeError(f"{type(self).__name__} does not say how to predict")


def checked_count(name: str, value: Any) -> int | None:
    """None, or a whole number of at least 1."""
    return None if value is None else whole_number(name, value)
