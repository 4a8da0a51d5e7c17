"""From a safety statistic in floats to a rung of the ladder.  Proof: rung.md."""

from __future__ import annotations

import math

__all__ = ["RELATIVE_GUARD", "TOP", "ladder_rung"]

RELATIVE_GUARD = 1e-9
TOP = 10**6  # past the end of every ladder


def ladder_rung(safety: float, threshold: float, lipschitz: float, error: float = 0.0) -> int:
    """floor((beta - b0')/L'), or -1 below the threshold; at most ``TOP``.

    L' = L (1 + 1e-9) + 2 err,  b0' = b0 + err, where err also covers the rounding of the formula itself:
    neighbours are never more than one rung apart.   # proof: floating
    """
    reach = abs(threshold) + (TOP + 2) * (lipschitz + 2.0 * error)
    error = error + 4.0 * math.ulp(reach)
    step = lipschitz * (1.0 + RELATIVE_GUARD) + 2.0 * error
    above = (safety - (threshold + error)) / step
    if math.isnan(above) or above < 0.0:
        return -1
    return min(math.floor(min(above, float(TOP))), TOP)
