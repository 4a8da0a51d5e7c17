"""TukeyEM: many small fits, and a point of high approximate depth (Amin et al. 2023).  Proof: tukey.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..accounting.budget import Budget
from ..errors import InputError
from ..privacy.mechanism import Cost, Release
from ..privacy.noise import NoiseSource
from ..rows.memory import MemoryRows
from ..rows.namespace import is_foreign
from .base import LinearRival, Problem, checked_count

__all__ = ["TukeyEM"]

Array = NDArray[np.float64]


class TukeyEM(LinearRival):
    """Exponential mechanism over the boxes of m least squares fits (Amin et al. 2023); (epsilon, delta)-DP, no bounds needed.

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

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        batches: Any = None,
        fit_intercept: bool = True,
        form: str = "repaired",
        *,
        invalid: str = "raise",
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.batches = batches
        self.fit_intercept = fit_intercept
        self.form = form
        self.invalid = invalid
        self.ledger = ledger
        self.random_state = random_state

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
        noise = self._charged(cost, problem.rows)
        fits = np.sort(self._batch_fits(problem, m, noise), axis=0)
        half = m // 2
        # Box i = 1 .. m/2: between the i-th smallest and the i-th largest value of every coordinate.
        with np.errstate(divide="ignore"):
            volume = np.log(np.maximum(fits[::-1][:half] - fits[:half], 0.0)).sum(axis=1)
        share = 0.5 * budget.epsilon
        if not self._safe(volume, m // 4, share, budget.delta, noise):
            return np.zeros(p), self._released(None, math.inf, cost, noise, replied=False)
        theta = _deep_point(fits, volume, m // 4, share, noise)
        return theta, self._released(theta, float("nan"), cost, noise)

    def _batch_fits(self, problem: Problem, m: int, noise: NoiseSource) -> Array:
        rows = problem.rows
        assert isinstance(rows, MemoryRows)  # checked before anything was paid for
        order = np.argsort(noise.uniform(rows.n))
        fits = np.zeros((m, problem.dimension))
        for k in range(m):
            x, y, keep = rows.part(order[k::m])
            if problem.constant is not None:
                x = np.column_stack([x, np.ones(len(x)) if keep is None else keep.astype(float)])
            fits[k] = np.linalg.lstsq(x, y, rcond=None)[0]
        return np.clip(np.nan_to_num(fits), -1e100, 1e100)

    @staticmethod
    def _safe(volume: Array, t: int, share: float, delta: float, noise: NoiseSource) -> bool:
        """Whether the distance to a dataset with unstable volumes passes a noisy threshold. proof: test"""
        limit = math.log(delta) - math.log(8.0) - share
        best = -1
        for k in range(t - 1):
            outer = volume[t - k - 2]  # V_{t-k-1}, counted from 1
            inner = volume[t + k + 1 :]  # V_{t+k+g+1}, g = 1, 2, ...
            if len(inner) == 0 or not np.isfinite(outer):
                break
            gaps = outer - inner - share * np.arange(1, len(inner) + 1) / 2.0
            if not np.any(gaps[np.isfinite(inner)] <= limit):
                break
            best = k
        return bool(float(noise.laplace(np.array(float(best)), 1.0 / share)) > math.log(1.0 / (2.0 * delta)) / share)


def _deep_point(fits: Array, volume: Array, t: int, share: float, noise: NoiseSource) -> Array:
    """Depth i >= t with weight (V_i - V_{i+1}) exp(share i/2), then a uniform point of box i outside box i + 1."""
    depth = np.arange(t, len(volume) + 1)
    outer = volume[t - 1 :]
    inner = np.append(volume[t:], -math.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        shells = outer + np.log1p(-np.exp(np.minimum(inner - outer, 0.0)))
    weights = np.where(np.isfinite(shells), shells, -math.inf) + share * depth / 2.0
    if not np.any(
        np.isfinite(weights)
    ):  # all boxes are points; the test lets this through with a tiny probability only
        return np.asarray(fits[len(fits) // 2])
    cumulative = np.cumsum(np.exp(weights - logsumexp(weights)))
    i = t + int(np.searchsorted(cumulative, float(noise.uniform(1)[0]) * cumulative[-1], side="right"))
    i = min(i, len(volume))
    low, high = fits[i - 1], fits[-i]
    for _ in range(10_000):
        point = low + (high - low) * noise.uniform(len(low))
        if i == len(volume) or np.any((point < fits[i]) | (point > fits[-i - 1])):
            return np.asarray(point)
    return np.asarray(point)
