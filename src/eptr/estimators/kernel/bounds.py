"""Nadaraya-Watson at declared query points: threshold, Lipschitz constant, sensitivity, sums.  Proof: bounds.md."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.mechanism import Proposal
from ...rows.engine import RowFunction
from ...rows.exact import product_grid, toward_zero
from ...rows.namespace import like, namespace
from .design import Design

__all__ = ["QueryRule", "least_degree", "paper_rule", "query_sums", "tight_rule"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryRule:
    """Public constants of one answer: it is proposed where the kernel degree is above ``threshold``."""

    threshold: float
    lipschitz: float
    sensitivity: float
    lost: float  # what the safety value gives away before it counts steps

    def propose(self, degree: float, total: float) -> Proposal:
        """The Nadaraya-Watson estimate total/degree (zero, the centre, where nothing is near). proof: queries"""
        gamma = max(degree - self.threshold - self.lost, 0.0) / self.lipschitz
        return Proposal(total / degree if degree > 0 else 0.0, self.sensitivity, gamma)


def least_degree(design: Design, n: int, c0: float) -> float:
    """b0 = c0 n Π h_j ∫k / volume: where the density is c0 times the uniform one."""
    volume = math.prod(high - low for low, high in design.domain)
    return c0 * n * math.prod(h * design.kernel.integral for h in design.bandwidths) / volume


def tight_rule(design: Design, n: int, c0: float, group: int) -> QueryRule:
    """L = 1 and 2F/b0, times ``group``. proof: queries"""
    threshold = least_degree(design, n, c0)
    sharp = 2.0 * design.y_radius / threshold * (1.0 + 1e-12) + 2.0**-50 * design.y_radius
    return QueryRule(threshold, 1.0 * group, sharp * group, 0.0)


def paper_rule(design: Design, n: int, c0: float, group: int) -> QueryRule:
    """The published L = 2 and 4F/b0 with one step lost, times ``group``. proof: queries"""
    threshold = least_degree(design, n, c0)
    return QueryRule(threshold, 2.0 * group, 4.0 * design.y_radius / threshold * group, 2.0 * group)


def query_sums(design: Design, queries: Array, n: int) -> RowFunction:
    """Row function: exact degrees D(x0) and sums N(x0) at every query."""
    k_grid, y_grid = product_grid(n, 1.0), product_grid(n, design.y_radius)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp, x, points = namespace(x), design.inside(x), like(queries, x)
        profiles = [
            design.kernel.profile(abs(points[:, j][:, None] - x[:, j][None, :]) / h)
            for j, h in enumerate(design.bandwidths)
        ]
        weights = reduce(operator.mul, profiles)
        if keep is not None:
            weights = xp.where(keep, weights, 0.0)
        weights = toward_zero(weights, k_grid)
        return xp.sum(weights, axis=1), weights @ toward_zero(design.target(y), y_grid)

    return block
