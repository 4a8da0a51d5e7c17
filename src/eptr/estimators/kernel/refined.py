"""The whole regression function at once: noisy kernel sums, read anywhere.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Shape
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ...rows.namespace import dots, like, namespace, tiled
from ..linear.problem import Problem
from ..linear.refined import descend
from ..quantile import RADIUS_SHARE, private_quantile, private_radius, target_sizes
from ..strategy import NoisySums
from .bounds import least_degree
from .design import Design
from .features import KERNELS
from .problem import KernelFitted, Smoothing

__all__ = ["Refined", "read_function", "unsupported"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
TREND_SHARE = 0.20
RESIDUAL_SHARE = 0.04
RESIDUAL_LEVEL = 0.98
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
    """A private line if asked for, then the kernel sums of what it leaves; costs the portion. proof: function"""
    n, d, design = rows.n, rows.n_features, public.design
    line, radius, kernel_share = np.zeros(d + 1), design.y_radius, 1.0
    if public.trend:
        problem = Problem(public.budget, public.unit, n, d, math.sqrt(d), design.y_radius, True)
        found, whitening, *_ = descend(_Scaled(rows, design), problem, spending.within(TREND_SHARE), symmetric=True)
        line = whitening.matrix @ found.phi
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
    noisy = spending.noisy(sums, pair, kernel_share)
    return KernelFitted.of(
        public, value=noisy, noise=spending.scale(pair, kernel_share), trend=line, residual_radius=radius, sums=noisy
    )


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

    def __init__(self, rows: Rows, design: Design) -> None:
        self.rows, self.design = rows, design
        self.n, self.n_features, self.each = rows.n, rows.n_features, rows.each

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
