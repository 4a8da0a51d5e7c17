"""Binned kernel regression: noisy counts and sums on a fixed grid, smoothed afterwards.  Proof: binned.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..errors import InputError, positive
from ..privacy.claim import Release
from ..privacy.contribution import Shape
from ..rows.engine import Rows
from ..rows.exact import sum_grid, toward_zero
from ..rows.namespace import on_host
from .base import FunctionRival, checked_count

__all__ = ["BinnedKernel"]

Array = NDArray[np.float64]
MOST_CELLS = 200_000
DEGREE_FLOOR = 4.0  # standard deviations of its noise below which a degree is not divided by


@dataclass(eq=False, repr=False)
class BinnedKernel(FunctionRival):
    """Cell counts and cell sums released together, a kernel smoother on the cells; (epsilon, delta)-DP. A strong rival.

    Parameters
    ----------
    epsilon, delta : float
    domain : (low, high) or list of pairs
        Public range of every axis; values outside are moved to the edge.
    y_bound : float or (low, high)
        Public bound on |y|, or its public range.
    bandwidth : float or list
        Of the Gaussian smoother; one for all axes, or one per axis.
    cells : int, optional
        Per axis; default two per bandwidth.
    form : {"repaired"}
    neighbours, invalid, ledger, random_state
        As in :class:`eptr.KernelRegressor`.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    domain: Any = (0, 1)
    y_bound: Any = None
    bandwidth: Any = 0.1
    cells: Any = None
    form: str = "repaired"

    zero_out = ("repaired",)

    def _release_function(self, rows: Rows, budget: Budget) -> Release:
        n, d = rows.n, rows.n_features
        try:
            widths = np.broadcast_to(np.asarray(self.bandwidth, dtype=float), (d,))
        except (TypeError, ValueError):
            raise InputError(f"bandwidth must be one number or one per axis ({d}), got {self.bandwidth!r}.") from None
        # Bandwidths as shares of the domain.
        self.bandwidth_ = [
            positive("bandwidth", float(h)) / (b - a) for h, (a, b) in zip(widths, self.domain_, strict=True)
        ]
        fixed = checked_count("cells", self.cells)
        self.shape_ = [fixed or max(1, math.ceil(2.0 / h)) for h in self.bandwidth_]
        if math.prod(self.shape_) > MOST_CELLS:
            raise InputError(
                f"{math.prod(self.shape_)} cells on {d} axes are too many; use fewer cells or a larger bandwidth."
            )
        grid, frame, shape = sum_grid(n, 1.0), self._frame, self.shape_

        def block(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
            index = _cell(frame.unit(x), shape)
            target = toward_zero(frame.target(y), grid)
            weight = None if keep is None else keep.astype(float)
            size = math.prod(shape)
            sums = np.bincount(index, weights=target if weight is None else target * weight, minlength=size)
            return sums.astype(float), np.bincount(index, weights=weight, minlength=size).astype(float)

        spending, joint = self._open(self._gaussian_cost(budget), rows), Shape(2.0, math.sqrt(2.0))
        sums, counts = rows.sum(on_host(block))
        scale = joint.scale(spending.unit, spending.mu)
        self.sums_, self.counts_ = spending.draw(np.stack([sums, counts]), joint, spending.mu)  # proof: joint
        return self._released(np.stack([self.sums_, self.counts_]), scale, spending)

    def _function(self, unit: Array) -> Array:
        weights = [
            np.exp(-0.5 * ((unit[:, j, None] - (np.arange(m) + 0.5) / m) / h) ** 2)
            for j, (m, h) in enumerate(zip(self.shape_, self.bandwidth_, strict=True))
        ]
        tables = [s.reshape(self.shape_) for s in (self.sums_, self.counts_)]
        answers = []
        for start in range(0, len(unit), 256):
            part = [w[start : start + 256] for w in weights]
            top, bottom = (_contract(table, part) for table in tables)
            size = np.sqrt(math.prod((w * w).sum(axis=1) for w in part))
            answers.append(top / np.maximum(bottom, DEGREE_FLOOR * self.noise_ * np.maximum(size, 1e-300)))
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
