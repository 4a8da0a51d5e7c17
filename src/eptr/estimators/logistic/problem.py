"""Classes and their log odds before a row is read, and what is known afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fitted import Fitted
from ..linear.problem import Problem

__all__ = ["LogisticFitted", "LogisticProblem"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LogisticProblem(Problem):
    """Log odds of so many classes, linear in rows of norm at most ``x_bound`` or in columns with ranges."""

    n_classes: int
    x_range: tuple[Array, Array] | None = None
    shares: Mapping[int, float] = field(default_factory=dict)  # of ones in columns of zeros and ones, for a plan

    @property
    def stated(self) -> dict[str, Any]:
        """What a fit says about the table and the bounds."""
        found: dict[str, Any] = {"n_rows": self.n, "x_bound": self.x_bound}
        return found if self.x_range is None else found | {"x_bound": None, "x_range": np.column_stack(self.x_range)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LogisticFitted(Fitted):
    """Coefficients in scikit-learn's shape, and log odds against the first class with their covariance."""

    coef: Array
    intercept: Array
    n_rows: int
    x_bound: Any
    x_range: Any = None  # one row for each column
    centre: Any = (
        None  # of the intervals, before they were shrunk: a row of (slopes, intercept) for every class but the first
    )
    covariance: Any = None  # of the centre, row after row
    se_sampling: Any = None  # the part of its standard errors that is not privacy noise
    undetermined: Any = None  # whether the rows are too few to say, shaped like the centre
    outside: Any = None  # share of rows beyond a bound or range
    shares: Any = None  # of the classes
    corrected: Any = None  # whether there were rows enough to undo the clipping of rare classes
