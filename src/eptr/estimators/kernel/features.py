"""Kernels, and public features whose inner products stand for them.  Proof: features.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from ...rows.exact import product_grid, toward_zero
from ...rows.namespace import like, namespace, squares

__all__ = ["KERNELS", "Axis", "Kernel", "TensorFeatures", "tensor_features"]

Array = NDArray[np.float64]
_RIDGE = 1e-9
_ARITHMETIC = 1e-6  # covers the rounding of the triangular solves: condition 1e9 times 1e-16, with margin


@dataclass(frozen=True, slots=True)
class Kernel:
    """A one-dimensional profile k(|u|) with values in [0, 1] and k(0) = 1; axes multiply."""

    profile: Callable[[Any], Any]
    integral: float
    spacing: float  # anchors per axis are this many bandwidths apart
    positive_definite: bool = True


# proof: kernels
KERNELS = {
    "gaussian": Kernel(lambda u: namespace(u).exp(-0.5 * u * u), math.sqrt(2.0 * math.pi), 0.75),
    "laplace": Kernel(lambda u: namespace(u).exp(-u), 2.0, 0.25),
    "wendland": Kernel(lambda u: namespace(u).clip(1.0 - u, 0.0, None) ** 4 * (4.0 * u + 1.0), 2.0 / 3.0, 0.25),
    "epanechnikov": Kernel(
        lambda u: namespace(u).clip(1.0 - u * u, 0.0, None), 4.0 / 3.0, 0.25, positive_definite=False
    ),
}


class Axis:
    """Features phi(x) = C^-1 k(Z, x) of one coordinate, K_ZZ + ridge = C C', Z evenly spaced on the domain."""

    def __init__(self, kernel: Kernel, low: float, high: float, bandwidth: float, count: int) -> None:
        self.kernel, self.bandwidth = kernel, bandwidth
        self.anchors = np.linspace(low, high, count) if count > 1 else np.array([0.5 * (low + high)])
        gram = self._kernel(self.anchors)
        self.factor = cholesky(gram + _RIDGE * np.eye(count), lower=True)
        self.inverse = solve_triangular(self.factor, np.eye(count), lower=True)
        probe = np.linspace(low, high, 32 * count + 1)
        # A public guess of the largest residual; `features` enforces it row by row. proof: residual
        self.residual = min(1.0, 1.05 * float(np.max(self._residual(self._raw(probe)))) + _ARITHMETIC)

    def _kernel(self, x: Any, widen: float = 1.0) -> Any:
        return self.kernel.profile(abs(like(self.anchors, x)[:, None] - x[None, :]) / (widen * self.bandwidth))

    def _raw(self, x: Any, widen: float = 1.0) -> Any:
        return like(self.inverse, x) @ self._kernel(x, widen)

    @staticmethod
    def _residual(phi: Any) -> Any:
        return 1.0 - squares(phi, 0)

    def features(self, x: Any) -> Any:
        """One column per value; norm at most 1, and zero where the anchors do not represent the value."""
        xp, phi = namespace(x), self._raw(x)
        left = self._residual(phi)
        phi *= xp.where(left > self.residual, 0.0, 1.0 / xp.sqrt(xp.clip(1.0 - left, 1.0, None) * (1.0 + 1e-12)))
        return phi

    def weights(self, x: Any, widen: float) -> Any:
        """v(x) with v(x)'phi(x_i) close to k(|x - x_i|/(widen h)): the wider kernel, interpolated at the anchors.

        For reading released sums only: no bound on its norm is needed.
        """
        return self.features(x) if widen == 1.0 else self._raw(x, widen)


@dataclass(frozen=True, slots=True)
class TensorFeatures:
    """phi(x) = phi_1(x_1) (x) ... (x) phi_d(x_d), kept as two factors so that sums are matrix products."""

    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features of the two factors."""
        sizes = [len(a.anchors) for a in self.axes]
        half = (len(sizes) + 1) // 2
        return math.prod(sizes[:half]), math.prod(sizes[half:])

    def inflation(self, n: int) -> float:
        """sqrt(1 + r), plus the rounding of quantised features: what counts cost beyond the sums. proof: counts"""
        left, right = self.shape
        grid = product_grid(n, 1.0)
        worst = max(axis.residual for axis in self.axes) + _ARITHMETIC + 4.0 * grid * math.sqrt(left * right)
        return math.sqrt(1.0 + worst) + 4.0 * grid * math.sqrt(left * right)

    def factors(self, x: Any, widen: float = 1.0) -> tuple[Any, Any]:
        """The two factors, one column per row of ``x``."""
        half = (len(self.axes) + 1) // 2
        parts = [axis.weights(x[:, j], widen) for j, axis in enumerate(self.axes)]
        return _outer(parts[:half], x), _outer(parts[half:], x)

    def sums(self, x: Any, target: Any, n: int, keep: Any) -> Any:
        """Exact block sums of phi(x) t and phi(x), |t| <= 1, stacked: shape (2, left, right). proof: counts"""
        grid = product_grid(n, 1.0)
        left, right = self.factors(x)
        if keep is not None:
            right = namespace(x).where(keep, right, 0.0)
        left, right = toward_zero(left, grid), toward_zero(right, grid)
        return namespace(x).stack([left @ toward_zero(right * target, grid).T, left @ right.T])

    def evaluate(self, x: Array, released: Array, widen: float = 1.0) -> tuple[Array, Array, Array]:
        """v(x)'S, v(x)'C and |v(x)| for released (2, left, right) sums; v = phi unless the kernel is widened."""
        left, right = self.factors(x, widen)
        top, bottom = (np.einsum("ij,ij->j", left, s @ right) for s in released)
        norm = np.sqrt(np.einsum("ij,ij->j", left, left) * np.einsum("ij,ij->j", right, right))
        return top, bottom, norm


def _outer(parts: list[Any], x: Any) -> Any:
    """Column-wise tensor product; one row of ones if there are no parts."""
    xp, n = namespace(x), x.shape[0]
    start = xp.reshape(xp.ones_like(x[:, 0]), (1, n))
    return reduce(lambda a, b: xp.reshape(a[:, None, :] * b[None, :, :], (-1, n)), parts, start)


def tensor_features(
    kernel: Kernel, domain: list[tuple[float, float]], bandwidths: list[float], cap: int
) -> TensorFeatures:
    """Anchors per axis by bandwidth; if the product exceeds ``cap`` all axes are thinned alike."""
    counts = [
        max(2, math.ceil((high - low) / (kernel.spacing * h)) + 1)
        for (low, high), h in zip(domain, bandwidths, strict=True)
    ]
    while math.prod(counts) > cap and max(counts) > 2:
        widest = max(range(len(counts)), key=counts.__getitem__)
        counts[widest] = max(2, int(counts[widest] * 0.9))
    while math.prod(counts) > cap:  # many dimensions: an axis without structure gets a single anchor
        counts[counts.index(max(counts))] = 1
    axes = [Axis(kernel, low, high, h, m) for (low, high), h, m in zip(domain, bandwidths, counts, strict=True)]
    return TensorFeatures(tuple(axes))
