"""Least squares before a row is read, with its constant column, and what is known afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fitted import Fitted
from ..strategy import Public

__all__ = ["LeastSquares", "LinearFitted", "Problem", "RegressionFitted"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Problem(Public):
    """Least squares for rows of norm at most ``x_bound`` and |y| at most ``y_bound``, perhaps with a constant column."""

    x_bound: Any  # a number, or "private"
    y_bound: Any
    fit_intercept: bool

    @property
    def to_buy(self) -> list[str]:
        return [name for name in ("x_bound", "y_bound") if getattr(self, name) == "private"]

    @property
    def constant(self) -> float | None:
        """About x_bound/sqrt(p), with eight significant bits: a multiple of any grid that sums are quantised to."""
        if not self.fit_intercept:
            return None
        mantissa, exponent = math.frexp(self.x_bound / math.sqrt(self.n_features))
        return math.ldexp(math.floor(mantissa * 256.0), exponent - 8)

    @property
    def radius(self) -> float:
        """Of a row with its constant."""
        return math.hypot(self.x_bound, self.constant or 0.0)

    @property
    def numbers(self) -> int:
        """Slopes, and the intercept if there is one."""
        return self.n_features + bool(self.fit_intercept)

    @property
    def scaling(self) -> Array:
        """From coefficients of (x, constant) to slopes and intercept."""
        return np.ones(self.numbers) if self.constant is None else np.append(np.ones(self.n_features), self.constant)

    def named(self, beta: Array) -> dict[str, Any]:
        """Slopes and intercept of such coefficients, scaled."""
        return {"coef": np.array(beta[: self.n_features]), "intercept": float(beta[-1]) if self.fit_intercept else 0.0}


@dataclass(frozen=True, slots=True)
class LeastSquares(Problem):
    """A problem with what the tests need to know."""

    coef_bound: float
    c0: float
    fallback: Array
    x_range: tuple[Array, Array] | None = None  # ends of every column, instead of x_bound
    y_range: tuple[float, float] | None = None
    symmetric: bool = False  # errors, known to be so
    shares: Mapping[int, float] = field(default_factory=dict)  # of ones in columns of zeros and ones, for a plan

    @property
    def of_a_rule(self) -> tuple[Any, ...]:
        """The arguments of a safety rule."""
        return self.n, self.numbers, self.radius, self.y_bound, self.coef_bound, self.c0, self.unit.rows

    @property
    def stated(self) -> dict[str, Any]:
        """What a fit says about the table and the bounds."""
        found: dict[str, Any] = {"n_rows": self.n, "x_bound": self.x_bound, "y_bound": self.y_bound}
        if self.x_range is not None:
            found |= {"x_bound": None, "x_range": np.column_stack(self.x_range)}
        return found if self.y_range is None else found | {"y_bound": None, "y_range": list(self.y_range)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearFitted(Fitted):
    """Slopes and intercept, as released or the fallback."""

    coef: Array
    intercept: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RegressionFitted(LinearFitted):
    """Coefficients, the bounds they were fitted with (bought ones too) and, of a refined fit alone, how uncertain they are."""

    n_rows: int
    x_bound: Any
    y_bound: Any
    x_range: Any = None  # one row for each column
    y_range: Any = None
    centre: Any = None  # of the intervals: (slopes, intercept) before they were shrunk
    covariance: Any = None  # of the centre
    se_sampling: Any = None  # the part of its standard errors that is not privacy noise and what that may hide
    residual_scale: Any = None
    undetermined: Any = None  # whether the rows are too few to say, slope by slope and for the intercept
    outside: Any = None  # share of rows beyond a bound or range
    corrected: Any = None  # whether there were rows enough to undo the clipping of skewed errors
