"""Series estimators: noisy Haar or cosine coefficients of the regression function (Cai et al. 2024).  Proof: wavelet.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..privacy.claim import Cost
from ..privacy.contribution import Absolute, Shape
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.exact import product_grid, toward_zero
from ..rows.namespace import on_host
from .base import FunctionFitted, FunctionProblem, FunctionRival, checked_count, pure_cost

__all__ = ["WaveletEstimator"]

Array = NDArray[np.float64]
MOST_TERMS = 20_000
DENSITY_FLOOR = 0.1  # of the uniform density, below which nothing is divided
LITERATURE_LEVELS = {1: 8}  # Haar levels on one axis; 10 on the first axis only where there are more


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SeriesFitted(FunctionFitted):
    """Noisy coefficients and degrees, and the basis they belong to."""

    basis: str
    axes: int
    uniform: bool
    degrees: list[tuple[int, ...]]


@dataclass(eq=False, repr=False)
class WaveletEstimator(FunctionRival):
    """A noisy orthogonal series for the regression function, whole at once (Cai, Chakraborty and Vuursteen 2024).

    Parameters
    ----------
    epsilon, delta : float
        "literature" is pure: ``delta`` is not used and the Release shows 0.
    domain : (low, high) or list of pairs
        Public range of every axis; values outside are moved to the edge.
    y_bound : float or (low, high)
        Public bound on |y|, or its public range.
    basis : {"cosine", "haar"}
        The orthogonal functions: cosines, for smooth curves, or constants on cells.
    terms : int, optional
        Haar: cells per axis; cosine: terms per axis. Default: the rate-optimal number from n, epsilon and the dimension.
    density : {"estimate", "uniform"}
        Release the density's coefficients too and divide, or assume that x is uniform (if not: f times the density).
    form : {"repaired", "literature"}
        "literature": Haar to level 8 (10, on the first axis only, for more axes), Laplace noise 6 tau 2^L/(n epsilon) on every
        cell, uniform design assumed.
    """

    basis: str = "cosine"
    terms: Any = None
    density: str = "estimate"
    form: str = "repaired"

    zero_out = ("repaired",)
    forms = ("repaired", "literature")
    _fitted = SeriesFitted

    def _cost(self, public: FunctionProblem) -> Cost:
        return pure_cost(public.budget) if self.form == "literature" else super()._cost(public)

    def _fit(self, rows: Rows, public: FunctionProblem, spending: Spending) -> SeriesFitted:
        if self.basis not in ("cosine", "haar"):
            raise InputError(f"basis must be 'cosine' or 'haar', got {self.basis!r}.")
        if self.density not in ("estimate", "uniform"):
            raise InputError(f"density must be 'estimate' or 'uniform', got {self.density!r}.")
        n, d, frame = rows.n, rows.n_features, public.frame
        literature = self.form == "literature"
        name, axes, uniform = "haar" if literature else self.basis, 1 if literature else d, self.density == "uniform"
        count = 2 ** LITERATURE_LEVELS.get(d, 10) if literature else self._count(n, d)
        grid, basis = product_grid(n, 1.0), Basis(name, _degrees(name, count, axes), axes)

        def block(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
            features = basis(frame.unit(x))
            if keep is not None:
                features = features * keep[:, None]
            features = toward_zero(features, grid)
            return features.T @ toward_zero(frame.target(y), grid), features.sum(axis=0)

        sums, degrees = rows.sum(on_host(block))
        stated = {
            **frame.stated,
            "basis": name,
            "axes": axes,
            "uniform": literature or uniform,
            "degrees": basis.degrees,
        }
        if literature:
            # On the scale of unit features: a cell's value is D/n times its sum. proof: literature
            published = Absolute(6.0)
            noisy, noise = spending.laplace(sums, published), spending.laplace_scale(published)
            return SeriesFitted(value=noisy, noise=noise, sums=noisy, counts=np.full(count, n / count), **stated)
        # Counts are free where features are non-negative; cosines may be opposite, which costs sqrt 2. proof: joint
        # A row alone moves the pair by its own size, at most sqrt 2, or 1 where the counts are not released.
        inflation = 1.0 if uniform or name == "haar" else math.sqrt(2.0)
        pair = Shape(2.0 * inflation * (1.0 + 1e-9), (1.0 if uniform else math.sqrt(2.0)) * (1.0 + 1e-9))
        noisy = spending.noisy(sums if uniform else np.stack([sums, degrees]), pair)
        sums, counts = (noisy, basis.uniform_counts(n)) if uniform else noisy
        value, noise = np.stack([sums, counts]), spending.scale(pair, 1.0)
        return SeriesFitted(value=value, noise=noise, sums=sums, counts=counts, **stated)

    def _count(self, n: int, d: int) -> int:
        chosen = checked_count("terms", self.terms)
        if chosen is None:
            if self.basis == "haar":
                rate = min(n ** (1.0 / (2.0 + d)), (n * self.epsilon) ** (1.0 / (1.0 + d)))
                chosen = 2 ** max(0, round(math.log2(rate)))
            else:
                chosen = max(1, round(1.5 * min(n ** (1.0 / (4.0 + d)), (n * self.epsilon) ** (1.0 / (2.0 + d)))))
        total = len(_degrees(self.basis, chosen, d)) if chosen**d < 10**7 else chosen**d
        if total > MOST_TERMS:
            raise InputError(
                f"terms={chosen} on {d} axes makes {total} coefficients; use fewer terms (at most {MOST_TERMS})."
            )
        return chosen

    def _function(self, unit: Array) -> Array:
        fitted: SeriesFitted = self.fitted_
        basis = Basis(fitted.basis, fitted.degrees, fitted.axes)
        features = basis(unit)
        top, bottom = features @ fitted.sums, features @ fitted.counts
        if fitted.basis == "haar":
            return np.asarray(top / np.maximum(bottom, max(DENSITY_FLOOR * float(np.mean(fitted.counts)), 1e-300)))
        floor = DENSITY_FLOOR * max(float(fitted.counts[0]), 1e-300) / basis.norm
        return np.asarray(top / np.maximum(bottom, floor))


@dataclass(frozen=True, slots=True)
class Basis:
    """Features of norm at most 1 on the unit cube: cell indicators, or products of cosines. proof: joint"""

    name: str
    degrees: list[tuple[int, ...]]
    axes: int

    @property
    def norm(self) -> float:
        """Largest norm of the raw features: 1 for cells, sqrt(sum of 2^(active axes)) for cosines."""
        if self.name == "haar":
            return 1.0
        return math.sqrt(float(np.sum(2.0 ** (np.array(self.degrees) > 0).sum(axis=1))))

    def uniform_counts(self, n: int) -> Array:
        """The counts a uniform design would have, on the scale of the features."""
        size = len(self.degrees)
        if self.name == "haar":
            return np.full(size, n / size)
        counts = np.zeros(size)
        counts[0] = n / self.norm
        return counts

    def __call__(self, unit: Array) -> Array:
        if self.name == "haar":
            count = round(len(self.degrees) ** (1.0 / self.axes))
            cells = np.minimum((unit[:, : self.axes] * count).astype(int), count - 1)
            index = np.ravel_multi_index(tuple(cells.T), (count,) * self.axes)
            features = np.zeros((len(unit), len(self.degrees)))
            features[np.arange(len(unit)), index] = 1.0
            return features
        top = max(max(degree) for degree in self.degrees)
        waves = np.cos(math.pi * np.arange(top + 1)[:, None, None] * unit.T[None])  # (degree, axis, row)
        waves[1:] *= math.sqrt(2.0)
        features = np.ones((len(self.degrees), len(unit)))
        for j in range(self.axes):
            features *= waves[[degree[j] for degree in self.degrees], j]
        return np.asarray(features.T / self.norm * (1.0 - 1e-12))


def _degrees(basis: str, count: int, axes: int) -> list[tuple[int, ...]]:
    """Haar: all cells. Cosine: products of total degree below ``count``."""
    every = itertools.product(range(count), repeat=axes)
    return list(every) if basis == "haar" else [degree for degree in every if sum(degree) < count]
