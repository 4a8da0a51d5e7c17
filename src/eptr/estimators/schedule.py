"""What a descent may spend on what: shares of a budget that follow from public numbers alone.  Proof: schedule.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["Schedule", "schedule"]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
OUTSIDE = 8.0  # rows beyond the last level, times mu/sqrt(p): where bias and noise are of one size
SYMMETRIC, SYMMETRIC_MOST = 3.0, 0.3  # errors known to be symmetric: share of rows to clip, times sqrt(n) mu; at most
# Where noise rules: of the budget, on what lies beyond the clip; in proportion less if few exceeds the second (rough.md, shift).
LOOK = 0.25, 0.08
ROOM = 0.04  # bands are worth their price if that many rows are less than this share of all ...
SURE = 0.015  # ... and whether they undid the clipping can be checked if they are less than this
NORMS_SHARE, CURVATURE_SHARE, SPREAD_SHARE, TRACK_SHARE, SIZES_SHARE, CHECK_SHARE = 0.04, 0.02, 0.02, 0.02, 0.02, 0.015
FIRST = 0.2  # of the two passes' budget, to the first
STEPS, STEPS_MORE, STEPS_SHARE, STEPS_NOISY = 3.0, 30.0, 1.0, 8
# Where noise rules steps clip so that such a share of rows is cut: from ROOM on, and from the third of these.
TRACK_TARGET = 0.5, 0.6, 0.15
LEVERAGE = 6.0  # least multiple of p at which w z'z may be cut
CURVATURE_NOISE, CURVATURE_FINE = 0.15, 0.03  # largest noise at which a released curvature is of use; what is aimed at


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a budget is divided; follows from n, p, mu alone. Shares add up to what the caller passes in. proof: composition"""

    outside: float  # rows beyond the last level
    banded: bool
    symmetric: bool
    steps: tuple[float, ...]  # share of each
    norms: float
    curvature: float
    leverage: float  # at which w z'z is cut; 0 if the curvature cannot be a matrix
    spread: float
    track: float
    passes: tuple[float, float]  # the first is left out from a good start, and where noise rules
    checks: tuple[float, float]  # on how many rows are beyond the last level, with each pass
    sizes: float  # on the size of gradients before the first step, if that of y is not clear
    target: float  # share of rows that a step clips, if steps are all there is

    @property
    def moves(self) -> int:
        """How often the estimate moves; a start from the normal equations counts as one. proof: arrival"""
        return max(len(self.steps), 1) + sum(share > 0.0 for share in self.passes)


def schedule(
    n: int,
    p: int,
    mu: float,
    share: float,
    *,
    symmetric: bool = False,
    warm: bool = False,
    clear: bool = True,
    look: bool = True,
) -> Schedule:
    """What to spend on what.

    ``share``: what is left after the Gram matrix; ``warm``: a start is known, no steps needed; ``clear``: so is the size of y;
    ``look``: where noise rules, beyond the clip.
    """
    outside = OUTSIDE * math.sqrt(p) / mu
    few = outside / n
    banded = few < ROOM
    if symmetric:
        outside = n * min(SYMMETRIC_MOST, SYMMETRIC / (math.sqrt(n) * mu))
    # What w z'z may be if the noise of the curvature shall be 1; at LEVERAGE p it must be below CURVATURE_NOISE to be of use.
    leverage = mu * math.sqrt(CURVATURE_SHARE) * n / math.sqrt(2.0 * p)
    seen = LEVERAGE * p < CURVATURE_NOISE * leverage
    leverage = max(LEVERAGE * p, CURVATURE_FINE * leverage)
    norms = NORMS_SHARE * (banded and not (symmetric and warm))
    curvature = CURVATURE_SHARE * (seen or symmetric or not banded)
    track = 0.0 if banded else TRACK_SHARE
    sizes = 0.0 if clear or warm or not banded else SIZES_SHARE
    again = CHECK_SHARE * (banded and look and not symmetric)
    checks = (0.0 if warm else again, again or CHECK_SHARE * (few < SURE and not symmetric))
    rest = share - norms - curvature - SPREAD_SHARE - track - sizes - math.fsum(checks)
    count = 0 if warm else round(STEPS + STEPS_MORE * math.sqrt(few)) if banded else STEPS_NOISY
    looking = LOOK[0] * min(1.0, LOOK[1] / few) * (look and not symmetric)
    stepping = 0.0 if warm else STEPS_SHARE * math.sqrt(few) if banded else (1.0 - looking) * rest
    weights = (1.5 if count <= 5 else 1.2) ** np.arange(count)
    steps = tuple(map(float, stepping * weights / np.sum(weights))) if count else ()
    final = rest - stepping
    passes = (0.0, final) if symmetric or warm or not banded else (FIRST * final, (1.0 - FIRST) * final)
    least, most, noisy = TRACK_TARGET
    target = least + (most - least) * min(1.0, max(0.0, (few - ROOM) / (noisy - ROOM)))
    shares = steps, norms, curvature, leverage * seen, SPREAD_SHARE, track, passes, checks, sizes
    return Schedule(outside, banded, symmetric, *shares, target)
