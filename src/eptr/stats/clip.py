"""Where to clip: noise grows with the clip, and what lies beyond it is lost. Looks first, then the least sum of both.

A clip is a guess about tails that fade; whether it is right changes what an interval is worth, never what is private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..privacy.spending import Portion
from ..rows.engine import Rows
from .looks import FADE, Look, column_cells, look_at_columns, look_at_norms
from .moments import Weights

__all__ = ["Clip", "clip_columns"]

Array = NDArray[np.float64]
# Shares of mu^2: each look in search of the columns, at most so many of them; the look at their tails, of one column and of
# many; and the two looks at norms.
SEARCH, MOST = 0.02, 5
ONE_TAIL, MANY_TAILS, NORMS = 0.10, 0.05, (0.01, 0.02)
# Cells next to the centre are a third of the spread wide, or wide enough to stand out by four times their noise.
UNIT, NOISE_UNIT = 1.0 / 3.0, 10.0
# A search ends when the cell of the median is about a spread wide; two that hold everything are 1.35.
RESOLVED = 1.1
# A guess of what lies beyond is corrected; so much of its square is feared to be left.
FEAR = 0.5
# Tails that fade more slowly and faster: how uncertain a guess is, and what squares, which weigh tails more, may count on.
SLOWER, FASTER = 0.8, 0.3
_FINEST = 2.0**-20


@dataclass(frozen=True, slots=True)
class Clip:
    """(x - centre)/scale is brought into the unit ball; ``beyond`` is what that takes from a sum, as guessed, +- ``unseen``."""

    centre: Array
    scale: Array
    beyond: Array
    unseen: Array
    share: float  # of mu^2 that is left


def clip_columns(rows: Rows, bounds: Array, spending: Portion, weights: Weights, power: int = 1) -> Clip:
    """From bounds that may be wide to a ball that holds most rows, for sums of x^``power``."""
    many = rows.n_features > 1
    middles, spreads, looks = _search(rows, bounds, spending)
    units = spreads * _unit(rows, spending, last := MANY_TAILS if many else ONE_TAIL)
    looked = look_at_columns(rows, middles, units, bounds, spending, last)
    left = 1.0 - SEARCH * looks - last - sum(NORMS) * many
    noise = spending.scale(weights.contribution(rows.n_features, rows.n), left)
    noise /= weights.mean if power == 1 else weights.square
    if many:
        found = _ball(rows, bounds, spending, looked, noise, power)
    else:
        found = (_interval if power == 1 else _centred)(looked[0], noise, power)
    centre, scale, beyond, unseen = found
    return Clip(centre, scale, beyond, unseen, left)


def _search(rows: Rows, bounds: Array, spending: Portion) -> tuple[Array, Array, int]:
    """Middles and spreads, and how many looks that took: each around what the one before has seen, the first around 0."""
    width, centres = bounds[:, 1] - bounds[:, 0], np.clip(0.0, bounds[:, 0], bounds[:, 1])
    # Where all numbers have one sign their size is told at once; else cells near 0 would divide what lies around it.
    units = width * np.where((bounds[:, 0] >= 0.0) | (bounds[:, 1] <= 0.0), _FINEST, 1.0 / 32.0)
    middles, spreads = centres, units
    open_ = np.ones(len(width), dtype=bool)
    wanted = _unit(rows, spending, SEARCH)
    for looked in range(1, MOST + 1):
        looks = look_at_columns(rows, centres, units, bounds, spending, SEARCH)
        found = _spreads(looks)
        middles, spreads = (np.where(open_, new, old) for new, old in zip(found, (middles, spreads), strict=True))
        spreads = np.maximum(spreads, width * _FINEST)
        cells = np.array([look.cell(at) for look, at in zip(looks, middles, strict=True)])
        open_ &= cells > RESOLVED * wanted / UNIT * spreads
        if looked == MOST or not open_.any():
            break
        centres, units = middles, wanted * spreads
    return middles, spreads, looked


def _spreads(looks: list[Look]) -> tuple[Array, Array]:
    """Medians, and standard deviations as those of a normal column with the same quartiles."""
    quartiles = np.array([look.quantiles([0.25, 0.5, 0.75]) for look in looks])
    return quartiles[:, 1], (quartiles[:, 2] - quartiles[:, 0]) / 1.35


def _unit(rows: Rows, spending: Portion, share: float) -> float:
    """How wide the cells next to the centre should be, in spreads; from public numbers."""
    noise = spending.scale(column_cells(rows.n_features), share) / rows.n
    return min(max(NOISE_UNIT * noise, UNIT), 2.0)


def _interval(look: Look, noise: float, power: int) -> Array:
    """For means: each end where noise and loss together are least."""
    tails, (low, high) = look.tails(), look.bounds
    if tails[0].standing + tails[1].standing < 2:  # one cell tells nothing about a tail
        return np.array([[0.5 * (low + high)], [0.5 * (high - low)], [0.0], [0.0]])
    ends = [tail.clips() for tail in tails]
    lost = [tail.beyond(end) for tail, end in zip(tails, ends, strict=True)]
    risk = (0.5 * noise * np.add.outer(*ends)) ** 2 + FEAR * np.add.outer(lost[0] ** 2, lost[1] ** 2)
    at = np.unravel_index(np.argmin(risk), risk.shape)
    below, above = (float(end[k]) for end, k in zip(ends, at, strict=True))
    slower = [tail.beyond(end[[k]])[0] for tail, end, k in zip(look.tails(SLOWER), ends, at, strict=True)]
    guess = np.array([lost[0][at[0]], lost[1][at[1]]])
    unseen = float(np.hypot(*np.maximum(guess, np.array(slower) - guess)))
    return np.array([[look.centre + 0.5 * (above - below)], [0.5 * (above + below)], [guess[1] - guess[0]], [unseen]])


def _centred(look: Look, noise: float, power: int) -> Array:
    """For squares: as far to one side as to the other, so that what is subtracted for the mean is small."""
    tails = look.tails()
    if tails[0].standing + tails[1].standing < 2:
        low, high = look.bounds
        return np.array([[0.5 * (low + high)], [0.5 * (high - low)], [0.0], [0.0]])
    clips = np.unique(np.concatenate([tail.clips() for tail in tails]))
    lost = tails[0].beyond(clips, power) + tails[1].beyond(clips, power)
    k = int(np.argmin((noise * clips**power) ** 2 + FEAR * lost**2))
    sure = float(sum(tail.beyond(clips[[k]], power)[0] for tail in look.tails(FASTER)))
    return np.array([[look.centre], [clips[k]], [sure], [max(sure, lost[k] - sure)]])


def _ball(rows: Rows, bounds: Array, spending: Portion, looks: list[Look], noise: float, power: int) -> Array:
    """Around the middles, in units of the columns' spreads."""
    d, width = rows.n_features, bounds[:, 1] - bounds[:, 0]
    middles, spreads = _spreads(looks)
    spreads = np.maximum(spreads, [look.spread(rows.n) for look in looks])
    spreads = _alike(spreads / width, 4.0 * looks[0].sd / rows.n) * width
    most = math.hypot(*(width / spreads))
    found = look_at_norms(rows, middles, spreads, 0.0, most * _FINEST, most, spending, NORMS[0])
    (centre,), (spread,) = _spreads([found])
    unit = max(spread, most * _FINEST) * UNIT
    found = look_at_norms(rows, middles, spreads, float(centre), unit, most, spending, NORMS[1])
    tail, sure = (found.tails(fade)[1] for fade in (FADE, FADE if power == 1 else FASTER))
    clips = tail.clips()
    lost = tail.beyond(clips, power, centre)
    # Of a mean, rows that are too long may all point the same way; of squares, they are shared out evenly.
    parts = math.sqrt(d) if power == 1 else d
    k = int(np.argmin((noise * (centre + clips) ** power) ** 2 + FEAR * (lost / parts) ** 2))
    ends, even = spreads * (centre + clips[k]), spreads**power * sure.beyond(clips[[k]], power, centre)[0] / parts
    tails = [look.tails(FADE if power == 1 else FASTER) for look in looks]
    sides = np.array([[t.beyond(np.array([e]), power)[0] for t in pair] for pair, e in zip(tails, ends, strict=True)])
    # Which way the long rows point, nobody has seen.
    return np.array([middles, ends, np.zeros(d) if power == 1 else even, np.hypot(np.hypot(*sides.T), even)])


def _alike(spreads: Array, noise: float) -> Array:
    """Logarithms drawn together as far as their noise may explain that they differ."""
    logs = np.log(spreads)
    if len(logs) < 4:
        return spreads
    kept = max(0.0, 1.0 - noise**2 / max(float(np.var(logs, ddof=1)), 1e-300))
    return np.asarray(np.exp(logs.mean() + kept * (logs - logs.mean())))
