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
from ..privacy.claim import Cost, Release
from ..privacy.draws import permutation
from ..privacy.noise import NoiseSource
from ..rows.memory import MemoryRows
from ..rows.namespace import is_foreign
from .base import LinearRival, Problem, checked_count
from .tukey_boxes import DepthBoxes

__all__ = ["TukeyEM"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class TukeyEM(LinearRival):
    """Exponential mechanism over the boxes of m least squares fits (Amin et al. 2023); (epsilon, delta)-DP, no bounds needed.

    Boxes, test and draw are exact; coefficients are a real draw rounded to floats. Without a reply they are zero.

    Parameters
    ----------
    epsilon, delta : float
    batches : int, optional
        Number m of disjoint random batches; default n/(3 p).
    fit_intercept : bool, default True
    form : {"repaired"}
        Test noise of scale 1/epsilon' and the factor 1/2 in the depth's weight that replacement needs.
    invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`. Its statistic is not a sum over rows: it works in memory only.
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

    def _needed(self, name: str) -> float:
        return 1.0  # it needs no bounds; 1 only sets the size of the constant column

    def _constant(self, x_bound: float, features: int) -> float | None:
        return 1.0 if self.fit_intercept else None

    def _solve(self, problem: Problem, budget: Budget) -> tuple[Array, Release]:
        p = problem.dimension
        if not isinstance(problem.rows, MemoryRows) or is_foreign(problem.rows.x):
            raise InputError(
                "TukeyEM sorts many small fits: its statistic is not a sum over rows, so X must be an array in memory. Every "
                "other estimator here reads tables, files and clusters."
            )
        m = checked_count("batches", self.batches) or max(1, problem.rows.n // (3 * p))
        cost = Cost(budget.epsilon, budget.delta, "basic", 0.0)
        spending = self._open(cost, problem.rows)
        noise = spending.by_its_own_theorem()
        boxes = DepthBoxes(_batch_fits(problem, m, noise))
        t = max(1, m // 4)
        rate = Fraction(budget.epsilon) / 4  # epsilon' / 2, half of epsilon for the test and half for the point
        safe = passes(boxes.distance(t, rate, Fraction(budget.delta) / 8), budget, noise)
        if not safe or not boxes.volume(t):  # proof: privacy
            return np.zeros(p), self._released(None, math.inf, spending, replied=False)
        theta = boxes.deep_point(t, rate, noise)
        return theta, self._released(theta, float("nan"), spending)


def passes(distance: int, budget: Budget, noise: NoiseSource) -> bool:
    """Whether ``distance`` plus Laplace noise of scale 2/epsilon is above the threshold. proof: test"""
    return bool(float(noise.laplace(np.array(float(distance)), 2.0 / budget.epsilon)) > threshold(budget))


def threshold(budget: Budget) -> float:
    """ln(1/(2 delta)) 2/epsilon, at least 0, rounded up. proof: test"""
    tail = max(0.0, -math.log(2.0 * budget.delta))
    return (tail + (1.0 + tail) * 2.0**-45) * (2.0 / budget.epsilon)


def _batch_fits(problem: Problem, m: int, noise: NoiseSource) -> Array:
    """Least squares in m random batches, each from its own rows alone. proof: batches"""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)  # checked before anything was paid for
    order = permutation(rows.n, noise)
    fits = np.zeros((m, problem.dimension))
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
