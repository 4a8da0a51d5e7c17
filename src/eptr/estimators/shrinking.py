"""Shrinking noisy numbers: all together (James and Stein 1961), or each as what they have in common says.  Post-processing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["firm", "james_stein", "posterior", "posterior_mean"]

Array = NDArray[np.float64]
ROUNDS = 100
FIRM = 1.5  # standard deviations of the squared length of noise


def posterior_mean(values: Array, variance: float) -> Array:
    """The mean of :func:`posterior`."""
    return posterior(values, np.full(values.shape, variance))[0]


def posterior(values: Array, variance: Array) -> tuple[Array, Array]:
    """Mean and variance of numbers seen with such noise, if they are drawn from a mixture of normals around zero (Stephens 2017).

    Their variances are zero and the powers of two between a quarter of the least noise and the largest square; how often each
    occurs is the maximum likelihood given the values themselves.
    """
    shape, values, variance = values.shape, values.ravel(), variance.ravel()
    least = float(np.min(variance))
    top = max(float(np.max(values**2, initial=0.0)), least)
    prior = np.append(0.0, least * 2.0 ** np.arange(-2, math.ceil(math.log2(top / least)) + 2))
    seen = prior + variance[:, None]
    density = np.exp(-0.5 * values[:, None] ** 2 / seen) / np.sqrt(seen)
    weights = np.full(len(prior), 1.0 / len(prior))
    for _ in range(ROUNDS):
        each = density * weights
        each = each / np.maximum(np.sum(each, axis=1, keepdims=True), 1e-300)
        weights = np.mean(each, axis=0)
    kept = prior / seen
    mean = values * np.sum(each * kept, axis=1)
    square = np.sum(each * kept * (values[:, None] ** 2 * kept + variance[:, None]), axis=1)
    return mean.reshape(shape), (square - mean**2).reshape(shape)


def james_stein(values: Array, noise: Array) -> float:
    """James and Stein's factor for values with such covariance of noise: 1 where they are clear, 0 where they are noise."""
    if len(values) < 3:
        return 1.0
    size = float(values @ np.linalg.solve(noise, values))
    return max(0.0, 1.0 - (len(values) - 2) / max(size, 1e-300))


def firm(values: Array, variance: float) -> float:
    """A factor for values with such noise in each: 0 unless their squared length is one that noise has seldom."""
    seldom = len(values) + FIRM * math.sqrt(2.0 * len(values))
    return max(0.0, 1.0 - seldom * variance / max(float(values @ values), 1e-300))
