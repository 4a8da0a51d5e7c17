"""The whole regression function at once: noisy kernel sums, read anywhere.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Interval, Shape
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ...rows.exact import sum_grid, toward_zero
from ...rows.namespace import dots, like, namespace, tiled
from ..linear.problem import Problem
from ..linear.refined import descend, effective
from ..quantile import RADIUS_SHARE, private_quantile, private_radius, target_sizes
from ..strategy import NoisySums
from .bounds import least_degree
from .design import Design
from .features import KERNELS
from .problem import KernelFitted, Smoothing

__all__ = ["Refined", "read_function", "unsupported"]

Array = NDArray[np.float64]

# Chosen on simulated data only, TREND_SHARE and DEGREE_FLOOR by benchmarks/choose_defaults.py. Shares are of mu^2.
TREND_SHARE = 0.20
MEAN_SHARE = 0.03  # on the mean of y
RESIDUAL_SHARE = 0.04  # on the size of what the mean leaves, and again on that of what a line does
OUTSIDE, MOST_OUTSIDE = 8.0, 0.05  # rows that may be longer than that: OUTSIDE/mu, and at most such a share
FAR = 3.0  # y is moved if its mean lies so many times its noise from the middle of the range
# Where the noisy degree is below this many standard deviations of its noise, neighbours further away are asked.
DEGREE_FLOOR = 4.0
# How far: kernels wider by factors of sqrt 2, up to eight times, read off the same released sums.
WIDER = tuple(2.0 ** (k / 2) for k in range(7))


class Refined(NoisySums):
    """The whole function at once; any number of predictions costs nothing more."""

    kernels: ClassVar[tuple[str, ...]] = tuple(name for name, kernel in KERNELS.items() if kernel.positive_definite)

    def planned_noise(self, public: Smoothing) -> float:
        """On an answer at a point of average density, where the degree is n Π h integral / volume."""
        scale = _pair(public.design.features(), public.n).scale(public.unit, public.budget.mu)
        return public.design.y_radius * scale / least_degree(public.design, public.n, 1.0)

    def fit(self, rows: Rows, public: Smoothing, spending: Spending) -> KernelFitted:
        """Buy the bound if it is to be bought, then spend the rest on the function."""
        left: Portion = spending
        if public.to_buy:
            radius = private_radius(rows, target_sizes, spending)
            public = replace(public, design=replace(public.design, y_radius=radius))
            left = spending.within(1.0 - RADIUS_SHARE)
        return release_sums(rows, public, left)


def release_sums(rows: Rows, public: Smoothing, spending: Portion) -> KernelFitted:
    """Where y is and how far it goes, a private line if asked for, then the kernel sums of what is left. proof: function"""
    n, d, design, line = rows.n, rows.n_features, public.design, np.zeros(rows.n_features + 1)
    line[-1] = _mean(rows, design, spending)
    radius, kernel_share = _size(rows, design, line, spending), 1.0 - MEAN_SHARE - RESIDUAL_SHARE
    if public.trend:
        problem = Problem(public.budget, public.unit, n, d, math.sqrt(d), radius, True)
        seen, reach = _Scaled(rows, design, float(line[-1])), 2.0 * design.y_radius / radius  # y to both ends
        found, whitening, *_ = descend(seen, problem, spending.within(TREND_SHARE), symmetric=True, reach=reach)
        line = line + whitening.matrix @ found.phi
        radius, kernel_share = _size(rows, design, line, spending), kernel_share - TREND_SHARE - RESIDUAL_SHARE
    features = design.features()

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        residual = design.target(y) - along(line, design, x)
        return (features.sums(design.inside(x), namespace(x).clip(residual / radius, -1.0, 1.0), n, keep),)

    (sums,) = rows.sum(block)
    pair = _pair(features, n)
    noisy = spending.noisy(sums, pair, kernel_share)
    return KernelFitted.of(
        public, value=noisy, noise=spending.scale(pair, kernel_share), trend=line, residual_radius=radius, sums=noisy
    )


def _mean(rows: Rows, design: Design, spending: Portion) -> float:
    """Of y, from the middle of its range, if it stands out from its noise. proof: mean"""
    n, radius = rows.n, design.y_radius
    grid, each = sum_grid(n, radius), Interval(-radius, radius)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        target = toward_zero(design.target(y), grid)
        return (namespace(y).sum(target if keep is None else namespace(y).where(keep, target, 0.0)),)

    (total,) = rows.sum(block)
    mean = float(spending.noisy(total, each, MEAN_SHARE)) / n
    return min(max(mean, -radius), radius) if abs(mean) > FAR * spending.scale(each, MEAN_SHARE) / n else 0.0


def _size(rows: Rows, design: Design, line: Array, spending: Portion) -> float:
    """What a released line leaves of y is no larger, but for few rows: its noise would be that of the whole range. proof: size"""
    level = 1.0 - min(OUTSIDE / (rows.n * effective(spending.mu, spending.unit)), MOST_OUTSIDE)
    return private_quantile(
        rows, lambda x, y: abs(design.target(y) - along(line, design, x)), level, low=design.y_radius * 2.0**-12,
        high=2.0 * design.y_radius, spending=spending, share=RESIDUAL_SHARE, ratio=2.0, forgiving=2.0,
    )  # fmt: skip


def _pair(features: Any, n: int) -> Shape:
    """Both sums together: rows are 2 sqrt(1 + r) apart, and sqrt 2 from nothing. proof: function"""
    return Shape(2.0 * features.inflation(n), math.sqrt(2.0))


def along(line: Array, design: Design, x: Any) -> Any:
    """The released trend at ``x``."""
    return design.unit(x) @ like(line[:-1], x) + float(line[-1])


def read_function(fitted: KernelFitted, x: Array) -> Array:
    """trend + v'S / v'C; where v'C drowns in its noise the kernel widens, and at last only the trend is left.

    Post-processing of the release: any number of points, no cost.
    """
    design = fitted.design
    features = design.features()
    size = max(1, 2_000_000 // max(features.shape))
    parts = [_read_block(fitted, design, features, x[i : i + size]) for i in range(0, len(x), size)]
    return design.y_centre + np.clip(np.concatenate(parts), -design.y_radius, design.y_radius)


def _read_block(fitted: KernelFitted, design: Design, features: Any, x: Array) -> Array:
    inside = design.inside(x)
    answer, missing = np.zeros(len(x)), np.ones(len(x))
    for widen in WIDER:
        todo = np.flatnonzero(missing > 0.0)
        if todo.size == 0:
            break
        # Whole tiles: what is said of a point must not depend on how many others are left.
        top, bottom, norm = (v[: todo.size] for v in features.evaluate(tiled(inside[todo]), fitted.sums, widen))
        floor = DEGREE_FLOOR * fitted.noise * np.maximum(norm, 1.0)
        answer[todo] += missing[todo] * top / np.maximum(bottom, floor)
        missing[todo] *= np.clip(1.0 - bottom / floor, 0.0, 1.0)
    return np.asarray(dots(design.unit(x), fitted.trend[:-1]) + fitted.trend[-1] + fitted.residual_radius * answer)


def unsupported(fitted: KernelFitted, x: Array) -> NDArray[np.bool_]:
    """Where the noisy degree, at the bandwidth that was asked for, drowns in its noise. Post-processing."""
    features = fitted.design.features()
    _, degree, norm = features.evaluate(fitted.design.inside(x), fitted.sums)
    return np.asarray(degree < DEGREE_FLOOR * fitted.noise * np.maximum(norm, 1.0))


class _Scaled:
    """The same rows with the domain mapped to [-1, 1] and y centred, for the trend."""

    def __init__(self, rows: Rows, design: Design, centre: float) -> None:
        self.rows, self.design, self.centre = rows, design, centre
        self.n, self.n_features, self.each = rows.n, rows.n_features, rows.each

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: Any) -> tuple[Array, ...]:
        design, centre = self.design, self.design.y_centre + self.centre

        def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp, unit, target = namespace(x), design.unit(x), y - centre
            if keep is not None:  # a dropped row is zero after the mapping, too
                unit, target = xp.where(keep[:, None], unit, 0.0), xp.where(keep, target, 0.0)
            result: tuple[Any, ...] = fn(unit, target, keep)
            return result

        return self.rows.sum(block)
