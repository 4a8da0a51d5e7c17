"""The exact privacy of any test, and the tests of the literature.  Proof: profile.md.

A *test* maps the safety of a dataset to the probability of a reply. Rung 0 is "not known to be
safe"; from rung 1 upwards the local sensitivity is at most alpha. Neighbours differ by at most one rung.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError, PrivacyError, positive
from .gaussian import RELATIVE_ERROR, _delta

__all__ = ["LaplaceTest", "LogisticTest", "hockey_stick", "privacy_profile", "profile_within"]

Probability = float | Fraction
_DIGITS = Context(prec=120, rounding=ROUND_FLOOR)
# A function of a real safety value is enclosed cell by cell until bound and value agree to this. proof: enclosure
_ENCLOSURE = 1e-4
_MOST_CELLS = 200_000


def exp_floor(x: float, bits: int) -> int:
    """floor(2^bits exp(x)) or a hair less, from a correctly rounded decimal exponential."""
    digits = int(bits * 0.302 + abs(x) * 0.435) + 20
    value = Context(prec=digits, rounding=ROUND_FLOOR).exp(Decimal(x))
    return math.floor(Fraction(value) * (1 - Fraction(1, 10 ** (digits - 2))) * (1 << bits))


@lru_cache(maxsize=64)
def _exp_below(x: float) -> Fraction:
    """A rational just below exp(x): the hockey-stick it gives errs upwards."""
    return Fraction(exp_floor(x, 400), 1 << 400)


def hockey_stick(p: Probability, q: Probability, mu: float, epsilon: float) -> float:
    """H_eps between two datasets that reply with probabilities p and q, at least one of them safe.

    H = max(0, (1-p) - e^eps (1-q)) + p delta_G(eps + log(q/p); mu)      # proof: exact
    """
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        silence = max(0.0, float((1 - p) - _exp_below(epsilon) * (1 - q)))
    else:
        # A float within 2^-53 of 1 is all a float can say: the rounding is added, not hidden. proof: rounding
        growth = math.exp(epsilon)
        silence = max(0.0, (1.0 - p) - growth * (1.0 - q)) + (1.0 + growth) * 2.0**-52
    if p == 0:
        return silence
    if q == 0:
        return silence + float(p)
    ratio = float((q - p) / p)
    shift = math.log1p(ratio) if abs(ratio) < 0.5 else math.log(float(q)) - math.log(float(p))
    return silence + float(p) * _delta(epsilon + shift, mu)


@dataclass(frozen=True, slots=True)
class LogisticTest:
    """The published ePTR test: reply with probability sigmoid(eps/2 (gamma - M))."""

    epsilon: float
    delta: float

    @property
    def midpoint(self) -> float:
        """M = 1 + (2/eps) log max(1/delta, 1/eps), the safety at which half of the datasets get a reply."""
        return 1.0 + 2.0 / self.epsilon * math.log(max(1.0 / self.delta, 1.0 / self.epsilon))

    def exact(self, gamma: float) -> Fraction:
        """The probability to 120 digits: a float near 1 would be coarser than a small delta."""
        exponent = Fraction(self.epsilon) / 2 * (Fraction(self.midpoint) - Fraction(gamma))
        decimal = _DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
        return 1 / (1 + Fraction(_DIGITS.exp(min(decimal, Decimal(1000)))))

    def __call__(self, gamma: Any) -> Any:
        from scipy.special import expit

        return expit(0.5 * self.epsilon * (np.asarray(gamma, dtype=float) - self.midpoint))


@dataclass(frozen=True, slots=True)
class LaplaceTest:
    """The test of standard PTR: reply iff D + Lap(2/eps) > (2/eps) log(1/delta)."""

    epsilon: float
    delta: float

    def exact(self, distance: float) -> Fraction:
        """P(D + Lap(2/eps) > t) to 120 digits: half an exponential on either side of t."""
        threshold = 2.0 / self.epsilon * math.log(1.0 / self.delta)
        gap = Fraction(self.epsilon) / 2 * (Fraction(distance) - Fraction(threshold))
        decimal = _DIGITS.divide(Decimal(abs(gap).numerator), Decimal(gap.denominator))
        tail = Fraction(_DIGITS.exp(-min(decimal, Decimal(1000)))) / 2
        return tail if gap < 0 else 1 - tail

    def __call__(self, distance: Any) -> Any:
        gap = 0.5 * self.epsilon * np.asarray(distance, dtype=float) - math.log(1.0 / self.delta)
        tail = 0.5 * np.exp(-np.abs(gap))
        return np.where(gap < 0, tail, 1.0 - tail)


def privacy_profile(test: Any, mu: float, epsilon: float) -> float:
    """Exact smallest delta at ``epsilon`` of "reply with the test's probability, noise alpha/mu".

    Parameters
    ----------
    test : sequence or callable
        Probabilities p_0..p_K by rung (rung 0 unsafe, rungs above K as K), or a non-decreasing
        function of the safety value gamma >= 0 with gamma = 0 unsafe.
    mu : float
        Sensitivity over noise.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        The supremum over all ordered replace-one pairs, rounded up (by at most 1e-4 of itself for a function).

    Examples
    --------
    >>> p = [1e-6, 1.0]                        # replies always as soon as the dataset is safe
    >>> round(privacy_profile(p, mu=0.2, epsilon=1.0), 6)
    0.999999
    """
    return profile_within(test, mu, epsilon, 0.0)


def profile_within(test: Any, mu: float, epsilon: float, limit: float) -> float:
    """An upper bound on the profile that is exact only where it exceeds ``limit``: much faster for a yes or no."""
    mu = positive("mu", mu)
    epsilon = positive("epsilon", epsilon) if epsilon != 0 else 0.0
    enough = limit / (1.0 + 2.0 * RELATIVE_ERROR)
    if callable(test):
        value = _enclose(test, mu, epsilon, enough)
        if (1.0 + math.exp(epsilon)) * 2.0**-52 > _ENCLOSURE * value and hasattr(test, "exact"):
            value = _enclose(test.exact, mu, epsilon, enough)  # delta is too small for floats near 1
    else:
        value = _by_rungs(_rungs(test), mu, epsilon)
    return min(1.0, value * (1.0 + RELATIVE_ERROR))


def _rungs(test: Any) -> Sequence[Probability]:
    numerators = getattr(test, "numerators", None)
    if numerators is not None:
        return [Fraction(m, 1 << test.bits) for m in numerators]
    try:
        rungs = np.asarray(test, dtype=float)
    except (TypeError, ValueError):
        rungs = np.empty(0)
    if rungs.ndim != 1 or rungs.size == 0 or not np.all((rungs >= 0.0) & (rungs <= 1.0)):
        raise InputError("test must be a sequence of probabilities p_0..p_K in [0, 1], or a non-decreasing function.")
    return [float(p) for p in rungs]


def _by_rungs(p: Sequence[Probability], mu: float, epsilon: float) -> float:
    unsafe = float(p[0])  # both unsafe: the replies may be arbitrarily far apart. proof: unsafe
    equal = float(max(p)) * _delta(epsilon, mu)
    steps = [hockey_stick(a, b, mu, epsilon) for x, y in pairwise(p) for a, b in ((x, y), (y, x))]
    return max(unsafe, equal, *steps)


def _enclose(test: Callable[[float], Any], mu: float, epsilon: float, enough: float) -> float:
    """Branch and bound over gamma; H is jointly convex, so a cell's maximum is at a corner. proof: enclosure"""
    seen: dict[float, Probability] = {}

    def p(gamma: float) -> Probability:
        if gamma not in seen:
            value = test(gamma) if math.isfinite(gamma) else Fraction(1)
            seen[gamma] = value if isinstance(value, Fraction) else _checked(float(value))
        return seen[gamma]

    def both(x: Probability, y: Probability) -> float:
        return max(hockey_stick(x, y, mu, epsilon), hockey_stick(y, x, mu, epsilon))

    def cell(low: float, high: float) -> float:
        x0, x1, y0, y1 = p(low), p(high), p(low + 1.0), p(high + 1.0)
        if not (x0 <= x1 and y0 <= y1):
            raise InputError("test must be non-decreasing in the safety value.")
        return max(both(x, y) for x in (x0, x1) for y in (y0, y1))

    far = 1.0
    while p(far) < 1 - Fraction(1, 10**40) and far < 2.0**60:
        far *= 2.0
    just_safe = p(5e-324)
    best = max(float(p(0.0)), both(p(0.0), just_safe), _delta(epsilon, mu), both(p(0.0), p(1.0)))
    edges = [0.0, *(far * 2.0**-k for k in range(int(math.log2(far)), -1, -1))]
    cells = [(-cell(a, b), a, b) for a, b in pairwise(edges)]
    tail = cell(far, math.inf)
    heapq.heapify(cells)
    for _ in range(_MOST_CELLS):
        bound, low, high = cells[0]
        if -bound <= max(best * (1.0 + _ENCLOSURE), enough):
            return max(-bound, best, tail)
        middle = 0.5 * (low + high)
        best = max(best, both(p(middle), p(middle + 1.0)))
        heapq.heapreplace(cells, (-cell(low, middle), low, middle))
        heapq.heappush(cells, (-cell(middle, high), middle, high))
    raise PrivacyError("the profile of this test could not be enclosed; give it rung by rung.")


def _checked(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise InputError("test must return probabilities between 0 and 1.")
    return value
