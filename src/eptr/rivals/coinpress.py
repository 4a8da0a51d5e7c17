"""CoinPress (Biswas et al. 2020): means and covariances of normal rows by sets that shrink.  Proof: coinpress.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..docstrings import described
from ..errors import positive, whole_number
from ..estimators.mapped import Mapped
from ..privacy.contribution import Outer
from ..rows.engine import Rows
from ..rows.exact import product_grid, project, shrink_factors
from ..rows.namespace import namespace
from ..stats.estimate import Estimate
from ..stats.mean import ask_columns
from ..stats.moments import Weights, moments
from ..stats.question import Question, column_names

__all__ = ["CoinPress"]

Array = NDArray[np.float64]
# Of mu^2 for the last step; the others share the rest evenly.
LAST = 0.75


@described
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinPress:
    """Normal rows with a known scale: each step clips to a set that holds them all with high probability, then shrinks it.

    Parameters
    ----------
    steps : int
        Of which the last has three quarters of the budget.
    failure : float
        Probability that a set misses a row.
    scale : float
        Standard deviation of every column: means need it. For covariances, an upper bound of it.
    """

    epsilon: float
    delta: float = 1e-6
    steps: int = 4
    failure: float = 0.01
    scale: float = 1.0
    level: float = 0.95
    neighbours: str = "replace-one"
    rows_per_person: int = 1
    invalid: str = "raise"
    ledger: Any = None
    random_state: Any = None

    def mean(self, x: Any, bounds: Any) -> Estimate:
        """Around the middle of the bounds first, within a radius that reaches their corners. proof: steps"""
        asked = ask_columns(self._question("mean"), x, bounds)
        rows, spending, d, scale = asked.rows, asked.spending, asked.rows.n_features, positive("scale", self.scale)
        centre, weights = asked.bounds.mean(axis=1), Weights(0.0, 1.0, 0.0)
        radius = 0.5 * math.hypot(*(asked.bounds[:, 1] - asked.bounds[:, 0])) / scale
        length, drift = _longest(d, self.failure / rows.n), _longest(d, self.failure)
        for share in self._shares():
            reach = np.full(d, scale * (radius + length))
            found = moments(rows, 1, centre, reach, asked.bounds, weights, spending, share)
            centre = centre + reach * found.powers[1][0]
            noise = reach[0] * float(found.noise[1][0, 0])
            radius = drift * math.hypot(1.0 / math.sqrt(rows.n), noise / scale)
        sampling, privacy = (np.full((1, d), v) for v in (scale / math.sqrt(rows.n), noise))
        return asked.answer(centre[None], sampling, privacy, noise)

    def covariance(self, x: Any, bounds: Any) -> Estimate:
        """Around 0, which this method takes for the mean: an upper bound of the matrix whitens the next step. proof: steps"""
        asked = ask_columns(self._question("covariance"), x, bounds)
        rows, spending, d = asked.rows, asked.spending, asked.rows.n_features
        length, gram = _longest(d, self.failure / rows.n), Outer(1.0, d)
        upper, shares = np.eye(d) * positive("scale", self.scale) ** 2, self._shares()
        wobble = math.sqrt(d / rows.n) + math.sqrt(2.0 * math.log(2.0 / self.failure) / rows.n)
        for step, share in enumerate(shares):
            root = _root(upper)
            mapped = Mapped(np.zeros(d), np.ones(d), np.asarray(np.linalg.inv(root)), np.zeros(d))
            released = spending.noisy(_gram(rows, mapped, length), gram, share) * (length**2 / rows.n)
            noise = spending.scale(gram, share) * length**2 / rows.n
            back = np.linalg.inv(mapped.matrix)
            if (
                step < len(shares) - 1
            ):  # what the matrix is at most: noise has that norm, samples fall short by that much
                most = noise * (math.sqrt(2.0 * d) + math.sqrt(2.0 * math.log(2.0 / self.failure)))
                values, vectors = np.linalg.eigh(released + most * np.eye(d))
                short = max(1.0 - wobble, 0.25) ** 2
                values = np.minimum(np.maximum(values, most) / short, 1.0)  # never above what was known before
                upper = back @ ((vectors * values) @ vectors.T) @ back.T
        value = back @ released @ back.T
        values, vectors = np.linalg.eigh(0.5 * (value + value.T))
        value = (vectors * np.maximum(values, 0.0)) @ vectors.T
        variances = np.maximum(np.diag(value), 1e-300)
        sampling = np.sqrt((np.outer(variances, variances) + value**2) / rows.n)
        names, privacy = column_names(rows), np.full((d, d), noise * float(np.max(back**2)))
        question = asked.question
        return question.answer(spending, value, sampling, privacy, (names, names), noise_scale=float(privacy[0, 0]))

    def _question(self, what: str) -> Question:
        whole_number("steps", self.steps)
        names = ("epsilon", "delta", "level", "neighbours", "rows_per_person", "invalid", "ledger", "random_state")
        return Question(what=f"CoinPress {what}", **{name: getattr(self, name) for name in names})

    def _shares(self) -> list[float]:
        others = self.steps - 1
        return [*([(1.0 - LAST) / others] * others), LAST] if others else [1.0]


def _longest(d: int, failure: float) -> float:
    """Length that a standard normal vector exceeds with probability at most ``failure`` (Laurent and Massart)."""
    log = math.log(1.0 / failure)
    return math.sqrt(d + 2.0 * math.sqrt(d * log) + 2.0 * log)


def _root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 1e-300))) @ vectors.T)


def _gram(rows: Rows, mapped: Mapped, radius: float) -> Array:
    """Sum of u u' over the rows, u the mapped row in units of the radius, within the unit ball. proof: gram"""
    grid = product_grid(rows.n, 1.0)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp = namespace(x)
        u = mapped(x) * (1.0 / radius)
        if keep is not None:
            u = xp.where(keep[:, None], u, xp.zeros_like(u))
        units = project(u, shrink_factors(u, 1.0, grid), grid, nearest=True)
        return (units.T @ units * grid**2,)

    (found,) = rows.sum(block)
    return found
