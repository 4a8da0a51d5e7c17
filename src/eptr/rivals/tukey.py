"""TukeyEM: many small fits, and a point of high approximate depth (Amin et al. 2023).  Proof: tukey.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..errors import InputError
from ..privacy.claim import Cost
from ..privacy.draws import permutation
from ..privacy.noise import NoiseSource
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.memory import MemoryRows
from ..rows.namespace import is_foreign
from .base import LinearRival, Problem, bare_cost, checked_count
from .tukey_boxes import DepthBoxes

__all__ = ["TukeyEM"]

Array = NDArray[np.float64]


class Unbounded(Problem):
    """No bounds, and an intercept as it is."""

    @property
    def constant(self) -> float | None:
        return 1.0 if self.fit_intercept else None


@dataclass(eq=False, repr=False)
class TukeyEM(LinearRival):
    """Exponential mechanism over the boxes of m least squares fits (Amin et al. 2023); (epsilon, delta)-DP, no bounds needed.

    Boxes, test and draw are exact; coefficients are a real draw rounded to floats. Without a reply they are zero.
    Its statistic is not a sum over rows: it works in memory only.

    Parameters
    ----------
    batches : int, optional
        Number m of disjoint random batches; default n/(3 p).
    form : {"repaired"}
        Test noise of scale 1/epsilon' and the factor 1/2 in the depth's weight that replacement needs.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    batches: Any = None
    fit_intercept: bool = True
    form: str = "repaired"

    citations: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "repaired": "Amin, Joseph, Ribero and Vassilvitskii (2023), Easy differentially private linear regression, "
            "Theorem 3.5. Each row is in one of m batches, drawn without looking at the rows, and a fit is computed from its "
            "batch alone; the point is a real draw of the exponential mechanism on depth, behind the test."
        }
    )

    def _public(self, n: int, n_features: int, n_classes: int) -> Unbounded:
        return Unbounded(Budget(self.epsilon, self.delta), self._unit(), n, n_features, 1.0, 1.0, self.fit_intercept)

    def _rows(self, X: Any, y: Any) -> MemoryRows:
        rows = super()._rows(X, y)
        if not isinstance(rows, MemoryRows) or is_foreign(rows.x):
            raise InputError(
                "TukeyEM sorts many small fits: its statistic is not a sum over rows, so X must be an array in memory. Every "
                "other estimator here reads tables, files and clusters."
            )
        return rows

    def _cost(self, public: Problem) -> Cost:
        return bare_cost(public.budget)

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array | None, float]:
        budget = problem.budget
        assert isinstance(rows, MemoryRows)  # checked before anything was paid for
        m = checked_count("batches", self.batches) or max(1, problem.n // (3 * problem.numbers))
        noise = spending.by_its_own_theorem()
        boxes = DepthBoxes(_batch_fits(rows, problem, m, noise))
        t = max(1, m // 4)
        rate = Fraction(budget.epsilon) / 4  # epsilon' / 2, half of epsilon for the test and half for the point
        safe = passes(boxes.distance(t, rate, Fraction(budget.delta) / 8), budget, noise)
        if not safe or not boxes.volume(t):  # proof: privacy
            return None, math.inf
        theta = boxes.deep_point(t, rate, noise)
        return theta, float("nan")


def passes(distance: int, budget: Budget, noise: NoiseSource) -> bool:
    """Whether ``distance`` plus Laplace noise of scale 2/epsilon is above the threshold. proof: test"""
    return bool(float(noise.laplace(np.array(float(distance)), 2.0 / budget.epsilon)) > threshold(budget))


def threshold(budget: Budget) -> float:
    """ln(1/(2 delta)) 2/epsilon, at least 0, rounded up. proof: test"""
    tail = max(0.0, -math.log(2.0 * budget.delta))
    return (tail + (1.0 + tail) * 2.0**-45) * (2.0 / budget.epsilon)


def _batch_fits(rows: MemoryRows, problem: Problem, m: int, noise: NoiseSource) -> Array:
    """Least squares in m random batches, each from its own rows alone. proof: batches"""
    order = permutation(rows.n, noise)
    fits = np.zeros((m, problem.numbers))
    for k in range(min(m, rows.n)):
        x, y, keep = rows.part(order[k::m])
        if problem.constant is not None:
            x = np.column_stack([x, np.ones(len(x)) if keep is None else keep.astype(float)])
        fits[k] = _least_squares(x, y)
    return np.clip(np.nan_to_num(fits), -1e100, 1e100)


def _least_squares(x: Array, y: Array) -> Array:
    """The shortest solution; zero where the decomposition fails: an error that depends on rows would be a leak."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(np.linalg.lstsq(x, y, rcond=None)[0])
    except np.linalg.LinAlgError:
        return np.zeros(x.shape[1])
