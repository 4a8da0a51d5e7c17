"""The whole regression function at once: noisy kernel sums, read anywhere.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Shape
from ...privacy.spending import Portion
from ...privacy.unit import Unit
from ...rows.engine import Rows
from ...rows.namespace import like, namespace
from ..linear.refined import refined_fit
from ..quantile import private_quantile
from .design import Design

__all__ = ["KernelSums", "planned_noise", "read_function", "release_sums"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
TREND_SHARE = 0.20
RESIDUAL_SHARE = 0.04
RESIDUAL_LEVEL = 0.98
# Where the noisy degree is below this many standard deviations of its noise, neighbours further away are asked.
DEGREE_FLOOR = 4.0
# How far: kernels wider by factors of sqrt 2, up to eight times, read off the same released sums.
WIDER = tuple(2.0 ** (k / 2) for k in range(7))


@dataclass(frozen=True, slots=True)
class KernelSums:
    """What a fit releases: the trend (zero without one), the radius of the residuals, the sums and their noise."""

    trend: Array
    residual_radius: float
    sums: Array
    scale: float


def release_sums(rows: Rows, design: Design, trend: bool, spending: Portion) -> KernelSums:
    """A private line if asked for, then the kernel sums of what it leaves; costs the portion. proof: function"""
    n, d = rows.n, rows.n_features
    line, radius, kernel_share = np.zeros(d + 1), design.y_radius, 1.0
    if trend:
        scaled = _Scaled(rows, design)
        line = refined_fit(scaled, math.sqrt(d), design.y_radius, 1.0, spending.within(TREND_SHARE)).coefficients
        radius = private_quantile(
            rows, lambda x, y: abs(design.target(y) - along(line, design, x)), RESIDUAL_LEVEL,
            low=design.y_radius * 2.0**-12, high=design.y_radius, spending=spending, share=RESIDUAL_SHARE, ratio=1.1,
        )  # fmt: skip
        kernel_share = 1.0 - TREND_SHARE - RESIDUAL_SHARE
    features = design.features()

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        residual = design.target(y) - along(line, design, x)
        return (features.sums(design.inside(x), namespace(x).clip(residual / radius, -1.0, 1.0), n, keep),)

    (sums,) = rows.sum(block)
    pair = _pair(features, n)
    return KernelSums(line, radius, spending.noisy(sums, pair, kernel_share), spending.scale(pair, kernel_share))


def _pair(features: Any, n: int) -> Shape:
    """Both sums together: rows are 2 sqrt(1 + r) apart, and sqrt 2 from nothing. proof: function"""
    return Shape(2.0 * features.inflation(n), math.sqrt(2.0))


def planned_noise(design: Design, n: int, unit: Unit, mu: float) -> float:
    """Noise on a number of the two sums."""
    return _pair(design.features(), n).scale(unit, mu)


def along(line: Array, design: Design, x: Any) -> Any:
    """The released trend at ``x``."""
    return design.unit(x) @ like(line[:-1], x) + float(line[-1])


def read_function(released: KernelSums, design: Design, x: Array) -> Array:
    """trend + v'S / v'C; where v'C drowns in its noise the kernel widens, and at last only the trend is left.

    Post-processing of the release: any number of points, no cost.
    """
    features = design.features()
    size = max(1, 2_000_000 // max(features.shape))
    parts = [_read_block(released, design, features, x[i : i + size]) for i in range(0, len(x), size)]
    return design.y_centre + np.clip(np.concatenate(parts), -design.y_radius, design.y_radius)


def _read_block(released: KernelSums, design: Design, features: Any, x: Array) -> Array:
    inside = design.inside(x)
    answer, missing = np.zeros(len(x)), np.ones(len(x))
    for widen in WIDER:
        todo = np.flatnonzero(missing > 0.0)
        if todo.size == 0:
            break
        top, bottom, norm = features.evaluate(inside[todo], released.sums, widen)
        floor = DEGREE_FLOOR * released.scale * np.maximum(norm, 1.0)
        answer[todo] += missing[todo] * top / np.maximum(bottom, floor)
        missing[todo] *= np.clip(1.0 - bottom / floor, 0.0, 1.0)
    return np.asarray(along(released.trend, design, x) + released.residual_radius * answer)


class _Scaled:
    """The same rows with the domain mapped to [-1, 1] and y centred, for the trend."""

    def __init__(self, rows: Rows, design: Design) -> None:
        self.rows, self.design = rows, design
        self.n, self.n_features = rows.n, rows.n_features

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: Any) -> tuple[Array, ...]:
        design = self.design

        def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp, unit, target = namespace(x), design.unit(x), y - design.y_centre
            if keep is not None:  # a dropped row is zero after the mapping, too
                unit, target = xp.where(keep[:, None], unit, 0.0), xp.where(keep, target, 0.0)
            result: tuple[Any, ...] = fn(unit, target, keep)
            return result

        return self.rows.sum(block)
