"""What a fit spends on a pair of neighbours, call by call: the second fit is fed the outputs of the first.

A mechanism that adds noise to statistics, each chosen from earlier outputs, has a privacy loss that is the sum over its
calls of (|change| / scale)^2 for Gaussian and |change|_1 / scale for Laplace noise, *given the same outputs*. `Replay`
measures just that, for any estimator, without knowing its algorithm: pass it as ``random_state``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.noise import NoiseStandIn

__all__ = ["Call", "Diverged", "Replay"]

Array = NDArray[np.float64]
# Two scales computed from the same outputs differ by no more than this, relatively: the rounding of sums.
_SAME_SCALE = 1e-12


class Diverged(Exception):
    """The second fit asked for other draws than the first: what it asks for is not a function of released numbers."""


@dataclass(frozen=True, slots=True)
class Call:
    """One draw: what was asked for, and what came out."""

    kind: str
    values: Array  # of a coin: its probability; of bits: nothing
    scale: Array
    output: Any


class Replay(NoiseStandIn):
    """A noise source that records one fit and replays its outputs to others.

    Parameters
    ----------
    seed : int
    same_scales : bool, default True
        Noise of another size counts as diverging. Smooth sensitivity has scales that are private themselves: its losses
        are not those measured here, but its outputs can be replayed with False.

    Attributes
    ----------
    calls : list of Call
        Of the recorded fit.
    gaussian_loss, laplace_loss : float
        Sums over the calls of (|change| / scale)^2, and of |change|_1 / scale; the square root of the first is a mu, the
        second an epsilon.
    coins : list of (float, float, bool)
        Probability of heads on either side, and the outcome that both were told.

    Examples
    --------
    >>> noise = Replay(seed=0)
    >>> first = noise.gaussian(np.array([1.0, 2.0]), 0.5)
    >>> second = noise.rewind().gaussian(np.array([1.0, 2.5]), 0.5)
    >>> bool(np.array_equal(first, second)), noise.gaussian_loss
    (True, 1.0)
    """

    def __init__(self, seed: int = 0, *, same_scales: bool = True) -> None:
        self.seed, self.same_scales = seed, same_scales
        self.calls: list[Call] = []
        self.replaying, self._rng = False, np.random.default_rng(seed)
        self._start()

    def _start(self) -> None:
        self.position, self.gaussian_loss, self.laplace_loss = 0, 0.0, 0.0
        self.coins: list[tuple[float, float, bool]] = []

    def __deepcopy__(self, memo: Any) -> Replay:
        return self  # `sklearn.base.clone` copies settings, and both fits must meet in one object

    def __reduce__(self) -> Any:
        return Replay, (self.seed,)  # a pickled model holds no recording

    def __repr__(self) -> str:
        return f"Replay(seed={self.seed})"

    def rewind(self) -> Replay:
        """The next fit is told the outputs of the recorded one; its losses start at zero."""
        self._start()
        self.replaying = True
        return self

    def finish(self) -> None:
        """After a replayed fit: it must have asked for as many draws as the recorded one."""
        if self.position != len(self.calls):
            raise Diverged(f"{self.position} draws instead of {len(self.calls)}")

    def _call(self, kind: str, values: Any, scale: Any, draw: Callable[[], Any]) -> Any:
        values, scale = np.array(values, dtype=float), np.array(scale, dtype=float)
        if not self.replaying:
            self.calls.append(Call(kind, values, scale, draw()))
            return _own(self.calls[-1].output)
        if self.position == len(self.calls):
            raise Diverged(f"more than {len(self.calls)} draws")
        first = self.calls[self.position]
        self.position += 1
        # Everything public must be the same on both sides: the kind, the shape and the scale of the noise.
        if (first.kind, first.values.shape, first.scale.shape) != (kind, values.shape, scale.shape):
            raise Diverged(f"draw {self.position}: {kind} {values.shape} instead of {first.kind} {first.values.shape}")
        if self.same_scales and not np.allclose(first.scale, scale, rtol=_SAME_SCALE, atol=0.0):
            raise Diverged(f"draw {self.position}: {kind} noise of another scale")
        self._add(kind, values - first.values, scale)
        if kind == "coin":
            self.coins.append((float(first.values), float(values), bool(first.output)))
        return _own(first.output)

    def _add(self, kind: str, change: Array, scale: Array) -> None:
        if kind == "gaussian":
            self.gaussian_loss += float(np.sum((change / scale) ** 2))
        elif kind == "laplace":
            self.laplace_loss += float(np.sum(np.abs(change) / scale))

    def gaussian(self, values: Array, scale: float) -> Array:
        return self._noisy("gaussian", values, scale, self._rng.standard_normal)

    def laplace(self, values: Array, scale: float) -> Array:
        return self._noisy("laplace", values, scale, lambda shape: self._rng.laplace(size=shape))

    def cauchy(self, values: Array, scales: Array) -> Array:
        return self._noisy("cauchy", values, scales, self._rng.standard_cauchy)

    def _noisy(self, kind: str, values: Array, scales: Any, unit: Callable[[Any], Array]) -> Array:
        return np.asarray(self._call(kind, values, scales, lambda: values + scales * unit(np.shape(values))))

    def coin(self, numerator: int, bits: int) -> bool:
        chance = numerator / (1 << bits)
        return bool(self._call("coin", chance, 1.0, lambda: bool(self._rng.random() < chance)))

    def bits(self, count: int) -> int:
        draw = lambda: int.from_bytes(self._rng.bytes(-(-count // 8))) >> (-count % 8)  # noqa: E731
        return int(self._call(f"{count} bits", 0.0, 1.0, draw))

    def coins_within(self, epsilon: float, delta: float) -> bool:
        """Whether every coin alone keeps the claim: necessary for the whole to keep it, not sufficient."""
        limit, slack = math.exp(min(epsilon, 700.0)), delta + 1e-12
        return all(
            a <= limit * b + slack
            for p, q, _ in self.coins
            for a, b in ((p, q), (q, p), (1.0 - p, 1.0 - q), (1.0 - q, 1.0 - p))
        )


def _own(output: Any) -> Any:
    """Estimators may write into what they are given."""
    return output.copy() if isinstance(output, np.ndarray) else output
