"""The best test there is: the pointwise largest reply probabilities that keep (epsilon, delta).  Proof: ladder.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import PrivacyError, positive, probability
from .gaussian import _delta, _slope, gaussian_mu
from .profile import exp_floor

__all__ = ["Ladder", "build_ladder", "ladder", "DEFAULT_SLACK", "DEFAULT_P0_SHARE"]

# Noise is slack times that of the plain Gaussian mechanism; ladder.md tabulates what a smaller slack costs in rungs.
DEFAULT_SLACK = 1.05
# p_0 = delta/10 costs no rung and removes most of the mass at infinite loss when releases are composed.
DEFAULT_P0_SHARE = 0.1
# Pessimism of the construction, far above the error of `_delta` and far below anything visible. proof: margins
_EPSILON_MARGIN = 1e-12
_DELTA_MARGIN = 1e-9
_SMALLEST_EPSILON = 0.01
_SMALLEST_DELTA = 1e-100
_MOST_RUNGS = 100_000


@dataclass(frozen=True, slots=True)
class Ladder:
    """The pointwise largest test that is (epsilon, delta)-DP with noise alpha/mu.

    ``numerators[k] / 2**bits`` is the probability of a reply on rung k; the last one is exactly 1.
    No test of the safety value replies more often (proof: largest), and it stops refusing (proof: ends).
    """

    epsilon: float
    delta: float
    mu: float
    bits: int
    numerators: tuple[int, ...]

    @property
    def top(self) -> int:
        """The first rung on which the test always replies."""
        return len(self.numerators) - 1

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """p_0..p_K as floats (for reading and plotting; coins are drawn from the integers)."""
        return np.array([m / (1 << self.bits) for m in self.numerators])

    def numerator(self, rung: int) -> int:
        """Numerator of the reply probability on a rung; below rung 0 the test never replies."""
        return 0 if rung < 0 else self.numerators[min(rung, self.top)]


class _Step:
    """One application of G: the largest q >= p that keeps both ordered pairs within delta."""

    def __init__(self, epsilon: float, delta: float, mu: float, bits: int) -> None:
        # proof: margins
        self.epsilon, self.delta, self.mu = epsilon - _EPSILON_MARGIN, delta * (1.0 - _DELTA_MARGIN), mu
        self.one = 1 << bits
        self.exp_floor = exp_floor(self.epsilon, bits + 32)
        self.exp_one = 1 << (bits + 32)

    def upward(self, p: int, q: int) -> float:
        """q delta_G(eps + log(p/q)): the larger side seen from the smaller (its silence term is zero)."""
        return q / self.one * _delta(self.epsilon - math.log1p((q - p) / p), self.mu)

    def reply_excess(self, p: int, q: int) -> float:
        """p delta_G(eps + log(q/p)): the reply term of the smaller side seen from the larger."""
        return p / self.one * _delta(self.epsilon + math.log1p((q - p) / p), self.mu)

    def feasible(self, p: int, q: int) -> bool:
        """Both ordered pairs are within delta; the silence term is compared exactly, in integers."""
        if self.upward(p, q) > self.delta:
            return False
        slack = self.delta - self.reply_excess(p, q)
        if slack < 0.0:
            return False
        # (1-p) - e^eps (1-q) <= slack, times one * exp_one; e^eps rounded down makes the left side larger.
        silence = (self.one - p) * self.exp_one - self.exp_floor * (self.one - q)
        return silence <= math.floor(Fraction(slack) * self.one * self.exp_one)

    def __call__(self, p: int, guess: int) -> int:
        q = min(self._upward_root(p, guess), self.one)
        q = min(q, self._downward_root(p, q))
        # The roots carry float error; step down by a growing, still invisible, amount until the exact check holds.
        back = 0
        while q > p and not self.feasible(p, q):
            back = 2 * back or max(1, min(q - p, self.one - q) >> 44)
            q -= back
        return q

    def _upward_root(self, p: int, guess: int) -> int:
        """Newton on the convex increasing q delta_G(eps + log(p/q)) = delta; its slope is one tail. proof: newton"""
        x0 = p / self.one
        ceiling = min(1.0, x0 * math.exp(self.epsilon) + self.delta)  # H >= q - e^eps p
        x = min(guess / self.one, ceiling)
        for _ in range(100):
            e = self.epsilon - math.log(x / x0)
            gap = x * _delta(e, self.mu) - self.delta
            slope = _slope(e, self.mu)
            new = ceiling if slope <= 0.0 else min(max(x - gap / slope, x0), ceiling)
            done = abs(new - x) <= 1e-15 * x
            x = new
            if done:
                break
        return self.one if x >= 1.0 else int(Fraction(x) * self.one)

    def _downward_root(self, p: int, q: int) -> int:
        """Largest q with (1-p) - e^eps (1-q) + p delta_G(eps + log(q/p)) <= delta, in the complement 1-q."""
        for _ in range(60):
            slack = math.floor(Fraction(self.delta - self.reply_excess(p, q)) * self.one)
            # 1-q = e^-eps ((1-p) - slack): exact but for `reply_excess`, which falls as q grows. proof: newton
            silent = -(-((self.one - p) - slack) * self.exp_one // self.exp_floor)
            limit = self.one - max(silent, 0)
            new = max(min(q, limit), p)
            if q - new <= (self.one - q) >> 50:
                return new
            q = new
        return q


@lru_cache(maxsize=256)
def build_ladder(epsilon: float, delta: float, mu: float, p0: float) -> Ladder:
    """Climb from p_0 by p_{k+1} = down(G(p_k)) until the probability is exactly 1. proof: ladder"""
    if epsilon < _SMALLEST_EPSILON:
        raise PrivacyError(
            f"epsilon={epsilon!r} is below {_SMALLEST_EPSILON}: the test would need about log(1/delta)/epsilon rungs "
            "before it ever replies. Use epsilon >= 0.01, or strategy='refined', which needs no test."
        )
    if delta < _SMALLEST_DELTA:
        raise PrivacyError(f"delta={delta!r} is below {_SMALLEST_DELTA}, where the test's arithmetic is not verified.")
    if mu >= gaussian_mu(epsilon, delta):
        raise PrivacyError(
            f"mu={mu!r} leaves nothing for the test; pass mu below gaussian_mu(epsilon, delta), "
            f"such as gaussian_mu(epsilon, delta) / {DEFAULT_SLACK}."
        )
    if p0 > delta:
        raise PrivacyError(f"p0={p0!r} must not exceed delta={delta!r}: an unsafe dataset replies with probability p0.")
    bits = 64 + math.ceil(math.log2(1.0 / p0))
    step, one = _Step(epsilon, delta, mu, bits), 1 << bits
    rungs = [math.floor(Fraction(p0) * one)]
    guess = min(2 * rungs[0], one)
    while rungs[-1] < one:
        if len(rungs) > _MOST_RUNGS:
            raise PrivacyError("the ladder does not reach 1; use a larger slack (a smaller mu).")
        rungs.append(step(rungs[-1], guess))
        if rungs[-1] == rungs[-2]:
            raise PrivacyError("the ladder does not reach 1; use a larger slack (a smaller mu).")
        guess = min(one, rungs[-1] * rungs[-1] // rungs[-2])
    return Ladder(epsilon, delta, mu, bits, tuple(rungs))


def ladder(epsilon: float, delta: float, mu: float | None = None, *, p0: float | None = None) -> NDArray[np.float64]:
    """Reply probabilities p_0..p_K of the largest (epsilon, delta)-DP test for noise alpha/mu.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee, under replace-one neighbours.
    mu : float, default gaussian_mu(epsilon, delta) / 1.05
        Sensitivity over noise. Closer to ``gaussian_mu`` means less noise and more rungs.
    p0 : float, default delta / 10
        Reply probability on an unsafe dataset.

    Examples
    --------
    >>> p = ladder(1.0, 1e-6, p0=1e-6)
    >>> len(p) - 1, float(p[-1])
    (61, 1.0)
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    mu = gaussian_mu(epsilon, delta) / DEFAULT_SLACK if mu is None else positive("mu", mu)
    p0 = DEFAULT_P0_SHARE * delta if p0 is None else probability("p0", p0)
    return build_ladder(epsilon, delta, mu, p0).probabilities
