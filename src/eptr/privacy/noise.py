"""The only place that draws randomness: exact noise and coins, or a seeded stand-in.  Proof: noise.md."""

from __future__ import annotations

import math
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from itertools import chain, repeat
from numbers import Integral
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, PrivacyError

__all__ = ["ExactNoise", "NoiseSource", "NoiseStandIn", "SeededNoise", "noise_source", "pay_for_grid"]

Array = NDArray[np.float64]
# OpenDP adds its Gaussian on the finest grid of float64, then rounds: post-processing. proof: grid
FINEST_GRID = 2.0**-1074
MANY = 256  # numbers for which OpenDP takes longer than a thread does to start


def pay_for_grid(scale: float, grid: float = FINEST_GRID) -> float:
    """Standard deviation a *discrete* Gaussian on ``grid`` needs to be as private as a continuous one of ``scale``.

    sigma_discrete = sqrt(sigma^2 + (4 grid)^2), rounded up    # proof: discrete
    """
    return math.nextafter(math.hypot(scale, 4.0 * grid), math.inf)


class NoiseSource(Protocol):
    """What a mechanism needs: whether it protects anybody, a Gaussian, a coin and plain bits."""

    private: bool

    def gaussian(self, values: Array, scale: float) -> Array:
        """``values`` plus independent noise of standard deviation ``scale``."""
        ...

    def coin(self, numerator: int, bits: int) -> bool:
        """True with probability exactly ``numerator / 2**bits``."""
        ...

    def laplace(self, values: Array, scale: float) -> Array:
        """``values`` plus independent Laplace noise."""
        ...

    def cauchy(self, values: Array, scales: Array) -> Array:
        """``values`` plus independent Cauchy noise of the given scales."""
        ...

    def bits(self, count: int) -> int:
        """A uniform whole number of ``count`` random bits: what exact draws are made of."""
        ...


class ExactNoise:
    """Cryptographic randomness, no floating-point noise: what the proofs assume."""

    private = True

    def gaussian(self, values: Array, scale: float) -> Array:
        return _measured("gaussian", values, pay_for_grid(scale))

    def coin(self, numerator: int, bits: int) -> bool:
        return secrets.randbits(bits) < numerator  # proof: coin

    def laplace(self, values: Array, scale: float) -> Array:
        return _measured("laplace", values, math.nextafter(scale, math.inf))  # proof: laplace

    def cauchy(self, values: Array, scales: Array) -> Array:
        """A quotient of two exact Gaussians, added as a rational number and rounded once. proof: cauchy"""
        flat, wide = np.ravel(values), np.ravel(np.broadcast_to(scales, np.shape(values)))
        draws = self.gaussian(np.zeros((2, flat.size)), 1.0)
        sums = [
            float(Fraction(v) + Fraction(s) * Fraction(a) / Fraction(b or 1.0))
            for v, s, a, b in zip(flat.tolist(), wide.tolist(), *draws.tolist(), strict=True)
        ]
        return np.asarray(sums, dtype=float).reshape(np.shape(values))

    def bits(self, count: int) -> int:
        return secrets.randbits(count)  # proof: bits


def _measured(law: str, values: Array, paid: float) -> Array:
    """``values`` with OpenDP's noise of the scale that was paid for."""
    _check_map(law, paid)
    flat = np.ravel(values)
    parts = np.array_split(flat, min(os.cpu_count() or 1, max(1, flat.size // MANY)))
    if len(parts) == 1:
        drawn = _drawn(law, flat, paid)
    else:  # every number has noise of its own, so parts may be drawn side by side. proof: parts
        with ThreadPoolExecutor(len(parts)) as threads:
            drawn = list(chain.from_iterable(threads.map(_drawn, repeat(law), parts, repeat(paid))))
    return np.asarray(drawn, dtype=float).reshape(np.shape(values))


def _drawn(law: str, values: Array, paid: float) -> list[float]:
    return list(_measurement(law, paid)(values.tolist())) if values.size else []


def _measurement(law: str, scale: float) -> Any:
    """OpenDP's noise for a vector of floats."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import l1_distance, l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")  # both mechanisms are filed there; our own proof is noise.md
    floats = vector_domain(atom_domain(T=float, nan=False))
    if law == "gaussian":
        return make_gaussian(floats, l2_distance(T=float), scale=scale)
    return make_laplace(floats, l1_distance(T=float), scale=scale)


@lru_cache(maxsize=4096)
def _check_map(law: str, scale: float) -> None:
    """Ask the OpenDP that is installed, once for each scale, whether its noise still costs what noise.md says. proof: map"""
    from opendp.measures import max_divergence, zero_concentrated_divergence

    noise = _measurement(law, scale)
    measure = zero_concentrated_divergence() if law == "gaussian" else max_divergence()
    # In units of the scale, so that neither the square nor the quotient leaves the range of floats.
    claims = {r: 0.5 * r * r if law == "gaussian" else r for r in (1.0, 2.0**-10)}
    if noise.output_measure != measure or any(noise.map(scale * r) > c * (1.0 + 1e-12) for r, c in claims.items()):
        raise PrivacyError(
            f"the installed OpenDP says that its {law} noise of scale {scale:g} costs more than eptr counts on; "
            "install a version of opendp that eptr was tested with. Nothing was drawn."
        )


class SeededNoise:
    """Fast and reproducible, hence **not private**: anyone who knows the seed can subtract the noise."""

    private = False

    def __init__(self, random_state: Any) -> None:
        self.generator = _generator(random_state)

    def gaussian(self, values: Array, scale: float) -> Array:
        return np.asarray(values + scale * self.generator.standard_normal(np.shape(values)), dtype=float)

    def coin(self, numerator: int, bits: int) -> bool:
        return bool(self.generator.random() < numerator / (1 << bits))

    def laplace(self, values: Array, scale: float) -> Array:
        return np.asarray(values + self.generator.laplace(scale=scale, size=np.shape(values)), dtype=float)

    def cauchy(self, values: Array, scales: Array) -> Array:
        return np.asarray(values + scales * self.generator.standard_cauchy(np.shape(values)), dtype=float)

    def bits(self, count: int) -> int:
        size = -(-count // 8)
        return int.from_bytes(self.generator.bytes(size), "little") >> (8 * size - count)


class NoiseStandIn:
    """Base of noise sources that are handed over as ``random_state``, such as an auditor's; never private."""

    private = False


def noise_source(random_state: Any = None) -> NoiseSource:
    """Exact noise for ``None``, a stand-in as it is; the seeded, not private generator for anything else."""
    if isinstance(random_state, NoiseStandIn):
        if random_state.private:
            raise InputError("random_state must not stand in for noise and call itself private: only None is.")
        return cast(NoiseSource, random_state)
    return ExactNoise() if random_state is None else SeededNoise(random_state)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InputError(f"random_state must not be negative, got {random_state!r}.")
        return np.random.default_rng(int(random_state))
    raise InputError(
        "random_state must be None (exact private noise), an int, a numpy Generator or RandomState, "
        f"got {type(random_state).__name__}."
    )
