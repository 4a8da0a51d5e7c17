"""The hockey-stick divergence by quadrature of the two output densities; imports nothing from eptr."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_PANELS = 36


def reply_term(p, q, mu, epsilon):
    """∫ (p phi(x) - e^eps q phi(x - mu))_+ dx, for arrays of positive p and q."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    edge = mu / 2 - (epsilon + np.log(q / p)) / mu  # the integrand is positive left of here
    edge = np.minimum(edge, 12.0)
    width = (np.maximum(edge, 0.0) + 13.0) / _PANELS
    left = edge[:, None] - width[:, None] * np.arange(1, _PANELS + 1)
    x = (left[..., None] + width[:, None, None] * (_NODES + 1) / 2).reshape(len(p), -1)
    w = np.tile(_WEIGHTS, _PANELS) * width[:, None] / 2
    log_ratio = epsilon + np.log(q / p)[:, None] + mu * x - mu * mu / 2
    values = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * -np.expm1(np.minimum(log_ratio, 0.0))
    return p * np.sum(w * values, axis=1)


def ladder_delta(numerators, bits, mu, epsilon):
    """Exact delta of a ladder given as integers over 2^bits: all ordered pairs of neighbouring rungs."""
    one = 1 << bits
    p = np.array([m / one for m in numerators])
    with mpmath.workdps(60):
        growth = Fraction(str(mpmath.exp(mpmath.mpf(epsilon))))
    worst = [p[0]]
    for low, high in ((numerators[:-1], numerators[1:]), (numerators[1:], numerators[:-1])):
        silence = [
            max(0.0, float(Fraction(one - a, one) - growth * Fraction(one - b, one)))
            for a, b in zip(low, high, strict=True)
        ]
        a, b = np.array([m / one for m in low]), np.array([m / one for m in high])
        worst.append(np.max(np.array(silence) + reply_term(a, b, mu, epsilon)))
    worst.append(np.max(reply_term(p, p, mu, epsilon)))
    return max(worst)
