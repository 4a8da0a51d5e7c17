"""The exact privacy curve of Gaussian noise, and its inverse.  Proof: gaussian.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erfc, erfcx

from ..errors import InputError, positive, probability

__all__ = ["delta_on_grid", "gaussian_delta", "gaussian_epsilon", "gaussian_mu", "tail_quantile"]

_SQRT2 = math.sqrt(2.0)
_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)
# Below this width the difference of two erfcx values cancels, and its Taylor series is exact to rounding.
_NARROW = 0.1
# Relative error of `_delta`, measured against mpmath in the tests with a hundredfold margin. proof: accuracy
RELATIVE_ERROR = 1e-11
# Relative margins that every calibration keeps back.
DELTA_MARGIN = 1e-10
EPSILON_MARGIN = 1e-13


def _erfcx_drop(a: float, h: float) -> float:
    """erfcx(a) - erfcx(a + h) for h > 0, without cancellation when h is small."""
    if h >= _NARROW:
        return float(erfcx(a)) - float(erfcx(a + h))
    # Midpoint Taylor series; w' = 2tw - 2/sqrt(pi) and w^(k+1) = 2t w^(k) + 2k w^(k-1).  proof: accuracy
    t = a + 0.5 * h
    w0 = float(erfcx(t))
    w1 = 2.0 * t * w0 - _TWO_OVER_SQRT_PI
    w2 = 2.0 * (t * w1 + w0)
    w3 = 2.0 * (t * w2 + 2.0 * w1)
    w4 = 2.0 * (t * w3 + 3.0 * w2)
    w5 = 2.0 * (t * w4 + 4.0 * w3)
    w6 = 2.0 * (t * w5 + 5.0 * w4)
    w7 = 2.0 * (t * w6 + 6.0 * w5)
    w9 = 2.0 * (2.0 * t * (t * w7 + 7.0 * w6) + 8.0 * w7)
    q = 0.25 * h * h
    return -h * (w1 + q * (w3 / 6.0 + q * (w5 / 120.0 + q * (w7 / 5040.0 + q * w9 / 362880.0))))


def _delta(e: float, mu: float) -> float:
    """delta_G(e; mu) for one real e and one mu > 0.

    delta_G = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)
            = exp(-a^2) (erfcx(a) - erfcx(a + h)) / 2,   a = (e/mu - mu/2)/sqrt 2,  h = mu/sqrt 2.
    """
    if e < 0.0:
        # proof: reflection
        return -math.expm1(e) + math.exp(e) * _delta(-e, mu)
    a = (e / mu - 0.5 * mu) / _SQRT2
    h = mu / _SQRT2
    if a < -0.5:
        return 0.5 * math.erfc(a) - 0.5 * math.exp(-a * a) * float(erfcx(a + h))
    return 0.5 * math.exp(-a * a) * _erfcx_drop(a, h)


def delta_on_grid(e: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """delta_G(e; mu) for many e at once: 1 + 1e-9 times the fast formula, an upper bound. proof: grid"""
    size = np.abs(e)
    a = (size / mu - 0.5 * mu) / _SQRT2
    b = a + mu / _SQRT2
    far = np.exp(-(np.maximum(a, -5.0) ** 2)) * (erfcx(np.maximum(a, -5.0)) - erfcx(np.maximum(b, -5.0))) / 2.0
    near = 0.5 * erfc(a) - 0.5 * np.exp(size) * erfc(b)
    value = np.where(a < -0.5, near, far)
    value = np.where(e < 0.0, -np.expm1(-size) + np.exp(-size) * value, value)
    return np.asarray(value * (1.0 + 1e-9) + 1e-300)


def gaussian_epsilon(*, delta: float, mu: float) -> float:
    """Smallest epsilon >= 0 for which a mu-GDP release is (epsilon, delta)-DP, rounded up.

    Parameters
    ----------
    delta, mu : float
        By keyword only: if they change places both would be valid numbers, and the answer wrong.

    Examples
    --------
    >>> round(gaussian_epsilon(delta=1e-6, mu=gaussian_mu(1.0, 1e-6)), 6)
    1.0
    """
    delta, mu = probability("delta", delta), positive("mu", mu)
    target = math.log(delta) + math.log1p(-DELTA_MARGIN)

    def excess(epsilon: float) -> float:
        value = _delta(epsilon, mu)
        return (math.log(value) if value > 0.0 else -800.0) - target

    if excess(0.0) <= 0.0:
        return 0.0
    high = mu * mu + 1.0
    while excess(high) > 0.0:
        high *= 2.0
    found = brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14)
    if found < 0.01:  # to 1e-14 of itself, or what is left to step over is too far
        found = brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-14, maxiter=2000)
    epsilon = float(found) * (1.0 + EPSILON_MARGIN)
    while excess(epsilon) > 0.0:  # proof: calibration
        epsilon *= 1.0 + 1e-14
    return epsilon


def _slope(e: float, mu: float) -> float:
    """The tail Phi(mu/2 - e/mu): the derivative of x delta_G(e + log(p/x)) in x. proof: derivative"""
    return 0.5 * math.erfc((e / mu - 0.5 * mu) / _SQRT2)


def gaussian_delta(epsilon: Any, mu: Any) -> Any:
    """Smallest delta for which a mu-GDP release is (epsilon, delta)-DP under replace-one neighbours.

    Parameters
    ----------
    epsilon : float or array
        Any real number; negative values are meaningful for composition.
    mu : float or array
        Sensitivity divided by the standard deviation of the noise, above 0.

    Examples
    --------
    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    e, m = np.asarray(epsilon, dtype=float), np.asarray(mu, dtype=float)
    if not (np.all(np.isfinite(e)) and np.all(np.isfinite(m)) and np.all(m > 0)):
        raise InputError("epsilon must be finite and mu finite and above 0.")
    values = np.frompyfunc(_delta, 2, 1)(e, m)
    return float(values) if np.ndim(values) == 0 else values.astype(float)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest mu for which Gaussian noise of standard deviation sensitivity/mu is (epsilon, delta)-DP.

    Rounded down: the exact curve at the returned mu never exceeds delta.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee to be kept.

    Examples
    --------
    >>> round(1 / gaussian_mu(1.0, 0.01), 3)
    1.878
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    # What is kept back pays for every rounding downstream: scales, splits, sums of budgets. proof: calibration
    target = math.log(delta) + math.log1p(-DELTA_MARGIN)
    epsilon *= 1.0 - EPSILON_MARGIN

    def excess(log_mu: float) -> float:
        value = _delta(epsilon, math.exp(log_mu))
        return (math.log(value) if value > 0.0 else -800.0) - target

    # delta_G <= exp(-(eps/mu - mu/2)^2 / 2) is delta at sqrt(2 (L + eps)) - sqrt(2 L), L = log(1/delta): not above the root.
    level = math.log(1.0 / delta)
    start = math.log(epsilon * _SQRT2 / (math.sqrt(level + epsilon) + math.sqrt(level)))
    low, high = start - 0.5, start + 0.5
    while excess(high) < 0.0:
        high += 1.0
    mu = math.exp(brentq(excess, low, high, xtol=1e-15, rtol=1e-14))
    while excess(math.log(mu)) > 0.0:  # proof: calibration
        mu *= 1.0 - 1e-15
    return mu


def tail_quantile(probability_above: float) -> float:
    """The z with P(N(0,1) > z) <= probability_above, rounded up; accurate down to 1e-300."""
    tail = probability("probability_above", probability_above)
    z = float(brentq(lambda x: _log_upper_tail(x) - math.log(tail), -40.0, 40.0, xtol=1e-14))
    return z + 1e-11


def _log_upper_tail(x: float) -> float:
    if x < 1.0:
        return math.log(0.5 * math.erfc(x / _SQRT2))
    return math.log(0.5 * float(erfcx(x / _SQRT2))) - 0.5 * x * x
