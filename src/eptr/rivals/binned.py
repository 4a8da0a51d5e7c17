"""Binned kernel regression: noisy counts and sums on a fixed grid, smoothed afterwards.  Proof: binned.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimators.kernel.design import bandwidths
from ..privacy.contribution import Shape
from ..privacy.spending import Spending
from ..rows.engine import Rows
from ..rows.exact import sum_grid, toward_zero
from ..rows.namespace import on_host
from .base import FunctionFitted, FunctionProblem, FunctionRival, checked_count

__all__ = ["BinnedKernel"]

Array = NDArray[np.float64]
MOST_CELLS = 200_000
DEGREE_FLOOR = 4.0  # standard deviations of its noise below which a degree is not divided by


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BinnedFitted(FunctionFitted):
    """Cell sums and counts, the number of cells on every axis, and the smoother's bandwidths as shares of the domain."""

    bandwidth: list[float]
    shape: list[int]


@dataclass(eq=False, repr=False)
class BinnedKernel(FunctionRival):
    """Cell counts and cell sums released together, a kernel smoother on the cells; (epsilon, delta)-DP. A strong rival.

    Parameters
    ----------
    domain : (low, high) or list of pairs
        Public range of every axis; values outside are moved to the edge.
    y_bound : float or (low, high)
        Public bound on |y|, or its public range.
    bandwidth : float or list
        Of the Gaussian smoother; one for all axes, or one per axis.
    cells : int, optional
        Per axis; default two per bandwidth.
    """

    bandwidth: Any = 0.1
    cells: Any = None
    form: str = "repaired"

    zero_out = ("repaired",)
    _fitted = BinnedFitted

    def _fit(self, rows: Rows, public: FunctionProblem, spending: Spending) -> BinnedFitted:
        n, d = rows.n, rows.n_features
        frame, fixed = public.frame, checked_count("cells", self.cells)
        # Bandwidths as shares of the domain.
        widths = [h / (b - a) for h, (a, b) in zip(bandwidths(self.bandwidth, d), frame.domain, strict=True)]
        shape = [fixed or max(1, math.ceil(2.0 / h)) for h in widths]
        if math.prod(shape) > MOST_CELLS:
            raise InputError(
                f"{math.prod(shape)} cells on {d} axes are too many; use fewer cells or a larger bandwidth."
            )
        grid = sum_grid(n, 1.0)

        def block(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
            index = _cell(frame.unit(x), shape)
            target = toward_zero(frame.target(y), grid)
            weight = None if keep is None else keep.astype(float)
            size = math.prod(shape)
            sums = np.bincount(index, weights=target if weight is None else target * weight, minlength=size)
            return sums.astype(float), np.bincount(index, weights=weight, minlength=size).astype(float)

        joint = Shape(2.0, math.sqrt(2.0))
        sums, counts = spending.draw(np.stack(rows.sum(on_host(block))), joint, spending.mu)  # proof: joint
        return BinnedFitted(
            value=np.stack([sums, counts]), noise=joint.scale(spending.unit, spending.mu), **public.frame.stated,
            sums=sums, counts=counts, bandwidth=widths, shape=shape,
        )  # fmt: skip

    def _function(self, unit: Array) -> Array:
        fitted: BinnedFitted = self.fitted_
        weights = [
            np.exp(-0.5 * ((unit[:, j, None] - (np.arange(m) + 0.5) / m) / h) ** 2)
            for j, (m, h) in enumerate(zip(fitted.shape, fitted.bandwidth, strict=True))
        ]
        tables = [s.reshape(fitted.shape) for s in (fitted.sums, fitted.counts)]
        answers = []
        for start in range(0, len(unit), 256):
            part = [w[start : start + 256] for w in weights]
            top, bottom = (_contract(table, part) for table in tables)
            size = np.sqrt(math.prod((w * w).sum(axis=1) for w in part))
            answers.append(top / np.maximum(bottom, DEGREE_FLOOR * fitted.noise * np.maximum(size, 1e-300)))
        return np.concatenate(answers)


def _cell(unit: Array, shape: list[int]) -> NDArray[np.intp]:
    cells = [np.minimum((unit[:, j] * m).astype(int), m - 1) for j, m in enumerate(shape)]
    return np.asarray(np.ravel_multi_index(tuple(cells), tuple(shape)))


def _contract(table: Array, weights: list[Array]) -> Array:
    """Σ over cells of table times the product of the axes' weights, for every row."""
    result = np.tensordot(weights[0], table, axes=(1, 0))
    for w in weights[1:]:
        result = np.einsum("ij,ij...->i...", w, result)
    return np.asarray(result)
