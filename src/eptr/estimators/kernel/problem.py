"""Kernel regression before a row is read, and what is known afterwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...accounting.budget import Budget
from ..fitted import Fitted
from ..strategy import Public
from .design import Design

__all__ = ["KernelFitted", "Smoothing"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Smoothing(Public):
    """A design, and what to ask: the whole function, perhaps with a trend, or its values at declared points."""

    design: Design
    trend: bool
    queries: Array
    split: bool  # whether the queries share the budget, or spend it at every one
    c0: float
    fallback: str | None

    @property
    def to_buy(self) -> list[str]:
        return ["y_bound"] if math.isnan(self.design.y_radius) else []

    @property
    def each(self) -> Budget:
        count = len(self.queries)
        return Budget(self.budget.epsilon / count, self.budget.delta / count) if self.split else self.budget

    @property
    def numbers(self) -> int:
        """One answer."""
        return 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KernelFitted(Fitted):
    """The design, and either noisy kernel sums (with a trend and the radius of what it leaves) or answers at points."""

    kernel: str
    domain: list[tuple[float, float]]
    bandwidth: list[float]
    y_centre: float
    y_radius: float
    queries: Array
    trend: Any = None
    residual_radius: Any = None
    sums: Any = None
    replied: Any = None
    values: Any = None

    @property
    def design(self) -> Design:
        """The public geometry again."""
        return Design(self.kernel, self.domain, self.bandwidth, self.y_centre, self.y_radius)

    @classmethod
    def of(cls, public: Smoothing, **released: Any) -> KernelFitted:
        """With the geometry that was used."""
        d = public.design
        return cls(
            kernel=d.kernel_name, domain=d.domain, bandwidth=d.bandwidths, y_centre=d.y_centre, y_radius=d.y_radius,
            queries=public.queries, **released,
        )  # fmt: skip
