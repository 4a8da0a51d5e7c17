"""The public geometry of a kernel fit: domain, bandwidths, kernel, and the range of the response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BoundError, InputError, positive, sensible
from ...rows.namespace import like, namespace
from .features import KERNELS, Kernel, TensorFeatures, tensor_features

__all__ = ["Design", "bandwidths", "pairs", "y_range"]

ANCHORS = {1: 2_000, 2: 6_000}
MOST_ANCHORS = 20_000


@dataclass(frozen=True, slots=True)
class Design:
    """Everything a row function may know: nothing here was learned from the rows, except by a release."""

    kernel_name: str
    domain: list[tuple[float, float]]
    bandwidths: list[float]
    y_centre: float
    y_radius: float

    @property
    def kernel(self) -> Kernel:
        return KERNELS[self.kernel_name]

    def features(self) -> TensorFeatures:
        """Features of the whole function; the number of anchors is capped by dimension."""
        cap = ANCHORS.get(len(self.domain), MOST_ANCHORS)
        return tensor_features(self.kernel, self.domain, self.bandwidths, cap)

    def _ends(self, x: Any) -> tuple[Any, Any]:
        low, high = np.array(self.domain).T
        return like(low, x), like(high, x)

    def inside(self, x: Any) -> Any:
        """Values outside the domain are moved to its edge."""
        return namespace(x).clip(x, *self._ends(x))

    def unit(self, x: Any) -> Any:
        """The domain mapped to [-1, 1] on every axis."""
        low, high = self._ends(x)
        return (2.0 * namespace(x).clip(x, low, high) - low - high) / (high - low)

    def target(self, y: Any) -> Any:
        """The response, clipped to its range and centred on it."""
        return namespace(y).clip(y - self.y_centre, -self.y_radius, self.y_radius)


def pairs(value: Any, d: int, name: str = "domain") -> list[tuple[float, float]]:
    """One (low, high) pair for all axes or one for each, or an error that names the argument."""
    try:
        table = np.broadcast_to(np.asarray(value, dtype=float), (d, 2))
    except (TypeError, ValueError):
        raise InputError(f"{name} must be one (low, high) pair or a list of {d} pairs, got {value!r}.") from None
    if not np.all(np.isfinite(table)) or not np.all(table[:, 0] < table[:, 1]):
        raise InputError(f"{name} must have low < high, both finite, got {value!r}.")
    return [(float(low), float(high)) for low, high in table]


def bandwidths(value: Any, d: int) -> list[float]:
    """One for every axis, or an error that names the argument."""
    try:
        widths = np.broadcast_to(np.asarray(value, dtype=float), (d,))
    except (TypeError, ValueError):
        raise InputError(f"bandwidth must be one number or one per axis ({d}), got {value!r}.") from None
    return [positive("bandwidth", float(h)) for h in widths]


def y_range(value: Any, *, private: bool = False) -> tuple[float, float]:
    """Centre and radius of the response from a bound on |y| or a range; the radius is NaN if it is to be bought."""
    if value is None:
        raise BoundError(
            "y_bound is missing. Pass a bound on |y| or its public range (low, high), known before seeing the data."
        )
    if isinstance(value, str) and value == "private" and private:
        return 0.0, math.nan
    if isinstance(value, str):
        raise BoundError(
            f"y_bound must be a number, a pair (low, high) or, with strategy='refined', 'private', got {value!r}."
        )
    if np.ndim(value) == 0:
        return 0.0, sensible("y_bound", positive("y_bound", value))
    low, high = pairs(value, 1, "y_bound")[0]
    return 0.5 * (low + high), sensible("y_bound", 0.5 * (high - low))
