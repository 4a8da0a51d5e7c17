"""What an attack could have found: an acquittal means something only if a bad mechanism would have been convicted."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from ..privacy.gaussian import gaussian_mu
from .attack import Measured, lower_limit, upper_limit

__all__ = ["detectable", "enough_runs"]

# "Bad" is a mechanism that spends this many times its epsilon.
FACTOR = 2.0


def detectable(epsilon: float, delta: float, runs: int, confidence: float = 0.9999) -> float:
    """The epsilon that the attack would measure on Gaussian noise that is (epsilon, delta)-DP and no better.

    Half of the runs count the event; it is the best half-line, and it occurs as often as expected.

    Examples
    --------
    With 1,000 runs a mechanism of epsilon = 2 looks as if it had less than 1; with 8,000 it does not:

    >>> [detectable(2.0, 0.01, runs) > 1.0 for runs in (1_000, 8_000)]
    [False, True]
    """
    mu, half, found = gaussian_mu(epsilon, delta), runs // 2, 0.0
    for threshold in np.linspace(-2.0, 6.0, 81):
        hits = [math.floor(half * float(ndtr(shift - threshold))) for shift in (mu, 0.0)]
        low = lower_limit(hits[0], half, confidence) - delta
        if low > 0.0:
            found = max(found, math.log(low / upper_limit(hits[1], half, confidence)))
    return found


def enough_runs(result: Measured, claimed: float) -> bool:
    """Whether so many runs would have convicted Gaussian noise that spends twice the claim."""
    return detectable(FACTOR * claimed, result.delta, result.runs, result.confidence) > claimed
