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
from ..rows.namespace import squares, widened
from .locate import Located, locate, locate_norms
from .looks import FADE, Look, Tail
from .moments import Weights

__all__ = ["Clip", "clip_columns", "clip_norms"]

Array = NDArray[np.float64]
# A guess of what lies beyond is corrected; so much of its square is feared to be left.
FEAR = 0.5
# Squares weigh tails more, and count on one that fades faster; both fear one that lasts.
FASTER = 0.3


@dataclass(frozen=True, slots=True)
class Clip:
    """(x - centre)/scale is brought into the unit ball; ``beyond`` is what that takes from a sum, as guessed, +- ``unseen``.

    If tails last, a sum is smaller by as much as ``below`` or larger by as much as ``above``.
    """

    centre: Array
    scale: Array
    beyond: Array
    unseen: Array
    below: Array
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
    clip = (_interval if power == 1 else _centred)(found.looks[0], noise)[:, None]
    return Clip(clip[0], clip[1], clip[2], clip[3], clip[4], clip[5], left)


def _ends(tails: tuple[Tail, Tail]) -> list[Array]:
    """Where each side may be clipped: at the bound alone if nothing stands out there, or only where most rows are."""
    return [tail.clips() if _known(tails, tail) else tail.edges[-1:] for tail in tails]


def _known(tails: tuple[Tail, Tail], tail: Tail) -> bool:
    """Whether more stands out on a side than the cell that holds most rows."""
    fullest = max(float(each.counts.max()) for each in tails)
    return tail.standing > int(tail.counts.max() == fullest)


def _interval(look: Look, noise: float) -> Array:
    """For means: each end where noise and loss together are least."""
    tails = look.tails()
    ends = _ends(tails)
    lost, most = ([t.beyond(end) for t, end in zip(pair, ends, strict=True)] for pair in (tails, look.lasting(1)))
    risk = (0.5 * noise * np.add.outer(*ends)) ** 2 + FEAR * np.add.outer(lost[0] ** 2, lost[1] ** 2)
    at = np.unravel_index(np.argmin(risk), risk.shape)
    end, guess, all_of_it = (np.array([v[k] for v, k in zip(pair, at, strict=True)]) for pair in (ends, lost, most))
    (below, above), more = end, np.maximum(all_of_it - guess, 0.0)
    centre, beyond = look.centre + 0.5 * (above - below), guess[1] - guess[0]
    return np.array([centre, 0.5 * (above + below), beyond, np.hypot(*guess), *more])


def _centred(look: Look, noise: float) -> Array:
    """For squares: as far to one side as to the other, so that what is subtracted for the mean is small."""
    tails = look.tails()
    ends = _ends(tails)
    clips = np.unique(np.concatenate(ends))
    clips = clips[clips >= max(1e-200, *(end[0] for end in ends))]
    lost, unit = tails[0].beyond(clips, 2) + tails[1].beyond(clips, 2), clips[-1] ** 2
    k = int(np.argmin((noise * (clips**2 / unit)) ** 2 + FEAR * (lost / unit) ** 2))
    low, high = look.bounds
    if clips[k] >= 0.5 * (high - low):  # around the middle of the bounds that holds everything
        return np.array([0.5 * (low + high), 0.5 * (high - low), 0.0, 0.0, 0.0, 0.0])
    sure, most = (
        float(sum(tail.beyond(clips[[k]], 2)[0] for tail in pair))
        for pair in (look.tails(FASTER, FASTER), look.lasting(2))
    )
    return np.array([look.centre, clips[k], sure, sure, 0.0, max(most - sure, 0.0)])


def _ball(rows: Rows, bounds: Array, spending: Portion, found: Located, shape: Any, weight: float, power: int) -> Clip:
    """Around the middles, in units of the columns' spreads."""
    d, middles, spreads = rows.n_features, found.middles, found.spreads

    def norms(x: Any) -> Any:
        wide, middle, factor = widened(x, middles, 1.0 / spreads)
        return np.sqrt(squares(((wide - middle) * factor).reshape(x.shape), 1))[:, None]

    whole = math.hypot(*(np.diff(bounds)[:, 0] / spreads))
    look, spent = locate_norms(rows, norms, whole, spending, 1.0 - found.share)
    left = 1.0 - found.share - spent
    noise = spending.scale(shape, left) / weight
    # Of a mean, rows that are too long may all point the same way; squares are shared out.
    radius, lost, most = clip_norms(look, noise, power, math.sqrt(d) if power == 1 else d)
    # All rows are held where that costs less than the sampling error.
    hold = power == 1 and found.lumps and 0.5 * noise * whole < math.sqrt(rows.n)
    if hold or radius >= 0.5 * whole:  # around the middle of the bounds that holds everything
        none = np.zeros(d)
        return Clip(np.mean(bounds, axis=1), 0.5 * whole * spreads, none, none, none, none, left)
    ends, unit = spreads * radius, spreads**power

    def beyond(tails: list[tuple[Tail, Tail]]) -> Array:
        pairs = zip(tails, ends, strict=True)
        return np.array([[t.beyond(np.array([e]), power)[0] for t in pair] for pair, e in pairs])

    tails = [look.tails(FADE if power == 1 else FASTER) for look in found.looks]
    sides, alone = beyond(tails), beyond([look.lasting(power) for look in found.looks])
    if power == 2:  # columns have it as they have tails of their own; at most all of it, at least an even part
        own = sides.sum(axis=1) / unit
        guess = unit * lost * (d * own / own.sum() if own.sum() > 0.0 else 1.0)
        above = np.clip(alone.sum(axis=1), unit * most, d * unit * most) - guess
        return Clip(
            middles, ends, guess, np.hypot(np.hypot(*sides.T), guess), np.zeros(d), np.maximum(above, 0.0), left
        )
    # What means lose is corrected where rows are seen beyond the clip and it matters beside the noise; else guesses are noise.
    seen = found.clear * np.array([[t.edges[t.seen] > e for t in pair] for pair, e in zip(tails, ends, strict=True)])
    guess = (sides * seen) @ [-1.0, 1.0]
    kept = guess**2 / (guess**2 + (0.5 * noise * ends) ** 2)
    together = unit * most * math.sqrt(d)  # all that norms lose
    below, above = np.maximum(np.minimum(alone, together[:, None]) - kept[:, None] * sides * seen, 0.0).T
    return Clip(middles, ends, kept * guess, np.hypot(np.hypot(*sides.T), unit * lost), below, above, left)


def clip_norms(look: Look, noise: float, power: int, parts: float) -> tuple[float, float, float]:
    """The radius of least risk to each of ``parts`` equal parts of |x|^``power``.

    Also what it takes from each: as guessed, and at most.
    """
    tail, sure = (look.tails(fade)[1] for fade in (FADE, FADE if power == 1 else FASTER))
    clips = tail.clips()
    lost = tail.beyond(clips, power, look.centre) / parts
    fear = FEAR if power == 2 else 0.5 * FEAR  # long rows seldom all point the same way
    k = int(np.argmin((noise * (look.centre + clips) ** power) ** 2 + fear * lost**2))
    if not _known(look.tails(), tail):  # longer rows may be anywhere
        k = -1
    guess, most = (float(t.beyond(clips[[k]], power, look.centre)[0]) / parts for t in (sure, look.lasting(power)[1]))
    return look.centre + float(clips[k]), guess, most
