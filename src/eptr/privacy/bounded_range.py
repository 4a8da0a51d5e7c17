"""What an exponential mechanism costs in a Gaussian account: its bounded range as a mu.  Proof: bounded_range.md."""

from __future__ import annotations

import math

from scipy.special import erfcinv, erfinv, log_ndtr

from ..errors import positive

__all__ = ["bounded_range_epsilon", "bounded_range_mu"]

# The special functions are right to 1e-14, measured against mpmath in the tests; mu keeps back more, epsilon more again.
_MARGIN = 1e-12


def bounded_range_mu(epsilon: float) -> float:
    """mu = 2 Phi^-1(1 / (1 + exp(-epsilon/2))), rounded up: an exponential mechanism of ``epsilon`` is mu-GDP. proof: gaussian

    Examples
    --------
    >>> round(bounded_range_mu(1.0), 4)
    0.6239
    """
    epsilon = positive("epsilon", epsilon)
    if epsilon < 4.0:
        z = float(erfinv(math.tanh(0.25 * epsilon)))
    else:  # the tail, which does not cancel
        z = float(erfcinv(2.0 * math.exp(-0.5 * epsilon) / (1.0 + math.exp(-0.5 * epsilon))))
    return 2.0 * math.sqrt(2.0) * z * (1.0 + _MARGIN)


def bounded_range_epsilon(mu: float) -> float:
    """The exponential mechanism that ``mu`` pays for: ``bounded_range_mu`` of it is at most mu. proof: inverse

    Examples
    --------
    >>> round(bounded_range_epsilon(bounded_range_mu(1.0)), 9)
    1.0
    """
    half = 0.5 * positive("mu", mu)
    # 2 log(Phi(mu/2) / Phi(-mu/2)), where mu is small without cancellation
    small = 4.0 * math.atanh(math.erf(min(half, 1.0) / math.sqrt(2.0)))
    epsilon = small if half < 1.0 else 2.0 * float(log_ndtr(half) - log_ndtr(-half))
    return epsilon * (1.0 - 10.0 * _MARGIN)
