"""What groups may lack beyond a clip that all share: rows beyond it are not those of all groups alike.

Post-processing of released counts and powers of groups; see mean.md and spread.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .clip import Clip
from .moments import Moments

__all__ = ["means_lack", "variances_lack"]

Array = NDArray[np.float64]


def means_lack(clip: Clip, found: Moments, bounds: Array, n: int) -> list[Array]:
    """Of means, below and above, at most; an even part of what was guessed has been added."""
    mean, square, out = _middle(found), found.powers[2], _outside(clip, found, bounds)
    more, uneven = [], []
    for sign, most, guess in zip((-1.0, 1.0), (clip.below, clip.above), clip.sides, strict=True):
        # Of what lies beyond, groups have parts as their squared distances from the other end of the clip do.
        part = _parts(1.0 + 2.0 * sign * mean + square, found, 2)
        more.append(most * part)
        uneven.append(guess * (part - 1.0 / n))
    gained = [np.maximum(own, 0.0) + np.maximum(-other, 0.0) for own, other in (uneven, uneven[::-1])]
    return [m + g + o for m, g, o in zip(more, gained, out, strict=True)]


def variances_lack(clip: Clip, found: Moments, bounds: Array, n: int) -> list[Array]:
    """Of variances, below and above, at most; an even part of what was guessed has been added."""
    # Groups have parts of what lies beyond as they have of fourth powers, which are those of their longest rows.
    part = _parts(found.powers[4], found, 4)
    uneven = clip.beyond * (part - 1.0 / n)
    spread, reach = _spread(found) * clip.scale, 0.5 * sum(_outside(clip, found, bounds))
    # Standard deviations of sums are at most sums of theirs, and half as long as the range for what lies in one.
    out = (spread + reach) ** 2 - spread**2
    return [np.maximum(-uneven, 0.0), clip.above * part + np.maximum(uneven, 0.0) + out]


def _middle(found: Moments) -> Array:
    return np.asarray(np.clip(found.powers[1], -1.0, 1.0))


def _spread(found: Moments) -> Array:
    return np.asarray(np.sqrt(np.maximum(found.powers[2] - _middle(found) ** 2, 0.5 * found.noise[2])))


def _parts(heavy: Array, found: Moments, power: int) -> Array:
    """Of what lies beyond, for each row of a group: as what is ``heavy`` is shared out, and no less than its noise."""
    heavy = np.maximum(heavy, found.noise[power])
    return np.asarray(heavy / (found.counts * heavy).sum(axis=0))


def _outside(clip: Clip, found: Moments, bounds: Array) -> list[Array]:
    """How far below and above the clip a group may lie as a whole.

    It may where its mean is hardly a standard deviation from the clip, and as far out as half of its rows can be.
    """
    mean, blur = _middle(found), found.noise[1].max(axis=1, keepdims=True)
    length, spread = (np.linalg.norm(v, axis=1, keepdims=True) for v in (mean, _spread(found)))
    near, halves = 1.0 - length < spread + blur, 0.5 * found.counts[:, 0]
    out = []
    for side, sign in enumerate((-1.0, 1.0)):
        ends = np.array([np.clip(clip.farthest(float(half))[side], *bounds.T) for half in halves])
        reach = np.maximum(sign * (ends - clip.centre) - clip.scale, 0.0)
        out.append(np.where(near & (sign * mean > -blur), reach, 0.0))
    return out
