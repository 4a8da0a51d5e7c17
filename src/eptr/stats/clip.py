"""Where to clip: noise grows with the clip, and what lies beyond it is lost; the least sum of both.

A clip is a guess about tails that fade; whether it is right changes what an interval is worth, never what is private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.namespace import squares
from .locate import Located, locate, locate_norms
from .looks import FADE, Look, Tail
from .moments import Weights

__all__ = ["Clip", "clip_columns", "clip_norms"]

Array = NDArray[np.float64]
# A guess of what lies beyond is corrected; so much of its square is feared to be left.
FEAR = 0.5
# Other tails, to say how uncertain a guess is: of means one that fades more slowly; squares, which weigh tails more, count on one
# that fades faster, and fear one that lasts.
SLOWER, FASTER = 0.8, 0.3


@dataclass(frozen=True, slots=True)
class Clip:
    """(x - centre)/scale is brought into the unit ball; ``beyond`` is what that takes from a sum, as guessed, +- ``unseen``.

    Of squares, where few rows may hold much, it may be more by as much as ``above``.
    """

    centre: Array
    scale: Array
    beyond: Array
    unseen: Array
    above: Array
    share: float  # of mu^2 that is left


def clip_columns(rows: Rows, bounds: Array, spending: Portion, weights: Weights, power: int = 1) -> Clip:
    """From bounds that may be wide to a ball that holds most rows, for sums of x^``power``."""
    found = locate(rows, bounds, spending)
    shape, weight = weights.contribution(rows.n_features, rows.n), weights.mean if power == 1 else weights.square
    if rows.n_features > 1:
        return _ball(rows, bounds, spending, found, shape, weight, power)
    left = 1.0 - found.share
    noise = spending.scale(shape, left) / weight
    centre, scale, beyond, unseen, above = (_interval if power == 1 else _centred)(found.looks[0], noise)[:, None]
    return Clip(centre, scale, beyond, unseen, above, left)


def _whole(look: Look) -> Array:
    """Nothing is clipped."""
    low, high = look.bounds
    return np.array([0.5 * (low + high), 0.5 * (high - low), 0.0, 0.0, 0.0])


def _interval(look: Look, noise: float) -> Array:
    """For means: each end where noise and loss together are least."""
    tails = look.tails()
    if tails[0].standing + tails[1].standing < 2:  # one cell tells nothing about a tail
        return _whole(look)
    ends = [tail.clips() for tail in tails]
    lost = [tail.beyond(end) for tail, end in zip(tails, ends, strict=True)]
    risk = (0.5 * noise * np.add.outer(*ends)) ** 2 + FEAR * np.add.outer(lost[0] ** 2, lost[1] ** 2)
    at = np.unravel_index(np.argmin(risk), risk.shape)
    below, above = (float(end[k]) for end, k in zip(ends, at, strict=True))
    slower = [tail.beyond(end[[k]])[0] for tail, end, k in zip(look.tails(SLOWER, SLOWER), ends, at, strict=True)]
    guess = np.array([lost[0][at[0]], lost[1][at[1]]])
    unseen = float(np.hypot(*np.maximum(guess, np.array(slower) - guess)))
    return np.array([look.centre + 0.5 * (above - below), 0.5 * (above + below), guess[1] - guess[0], unseen, 0.0])


def _centred(look: Look, noise: float) -> Array:
    """For squares: as far to one side as to the other, so that what is subtracted for the mean is small."""
    tails = look.tails()
    if tails[0].standing + tails[1].standing < 2:
        return _whole(look)
    clips = np.unique(np.concatenate([tail.clips() for tail in tails]))[1:]  # the smallest may be 0
    lost, unit = tails[0].beyond(clips, 2) + tails[1].beyond(clips, 2), clips[-1] ** 2
    k = int(np.argmin((noise * (clips**2 / unit)) ** 2 + FEAR * (lost / unit) ** 2))
    sure, most = (
        float(sum(tail.beyond(clips[[k]], 2)[0] for tail in pair))
        for pair in (look.tails(FASTER, FASTER), look.lasting())
    )
    return np.array([look.centre, clips[k], sure, sure, max(most - sure, 0.0)])


def _ball(rows: Rows, bounds: Array, spending: Portion, found: Located, shape: Any, weight: float, power: int) -> Clip:
    """Around the middles, in units of the columns' spreads."""
    d, middles, spreads = rows.n_features, found.middles, found.spreads

    def norms(x: Any) -> Any:
        return np.sqrt(squares((x - middles) * (1.0 / spreads), 1))[:, None]

    whole = math.hypot(*(np.diff(bounds)[:, 0] / spreads))
    look, spent = locate_norms(rows, norms, whole, spending)
    left = 1.0 - found.share - spent
    noise = spending.scale(shape, left) / weight
    # Of a mean, rows that are too long may all point the same way; of squares, they are shared out evenly.
    radius, lost, most = clip_norms(look, noise, power, math.sqrt(d) if power == 1 else d)
    if (
        power == 1 and found.lumps and noise * whole < math.sqrt(rows.n)
    ):  # less than the sampling error: all rows are held
        radius, lost = whole, 0.0
    ends, even = spreads * radius, spreads**power * lost

    def beyond(tails: list[tuple[Tail, Tail]]) -> Array:
        pairs = zip(tails, ends, strict=True)
        return np.array([[t.beyond(np.array([e]), power)[0] for t in pair] for pair, e in pairs])

    tails = [look.tails(FADE if power == 1 else FASTER) for look in found.looks]
    sides = beyond(tails)
    unseen = np.hypot(np.hypot(*sides.T), even)
    if power == 2:
        # At most what lasts in a column by itself, within an even part of what lasts in norms and all of it.
        alone, part = beyond([look.lasting() for look in found.looks]).sum(axis=1), spreads**2 * most
        return Clip(middles, ends, even, unseen, np.maximum(np.clip(alone, part, d * part) - even, 0.0), left)
    # What means lose is corrected where rows are seen beyond the clip and it matters beside the noise; else guesses are noise.
    seen = np.array([[t.edges[t.seen] > e for t in pair] for pair, e in zip(tails, ends, strict=True)])
    guess, noises = (sides * seen * found.clear) @ [-1.0, 1.0], noise * ends
    return Clip(middles, ends, guess * guess**2 / (guess**2 + (0.5 * noises) ** 2), unseen, np.zeros(d), left)


def clip_norms(look: Look, noise: float, power: int, parts: float) -> tuple[float, float, float]:
    """The radius of least risk to each of ``parts`` equal parts of |x|^``power``.

    Also what it takes from each: as guessed, and at most.
    """
    tail, sure = (look.tails(fade)[1] for fade in (FADE, FADE if power == 1 else FASTER))
    clips = tail.clips()
    lost = tail.beyond(clips, power, look.centre) / parts
    fear = FEAR if power == 2 else 0.5 * FEAR  # long rows seldom all point the same way
    k = int(np.argmin((noise * (look.centre + clips) ** power) ** 2 + fear * lost**2))
    guess, most = (float(t.beyond(clips[[k]], power, look.centre)[0]) / parts for t in (sure, look.lasting()[1]))
    return look.centre + float(clips[k]), guess, most
