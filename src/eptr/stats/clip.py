"""Where to clip: noise grows with the clip, and what lies beyond it is lost; the least sum of both.

A clip is a guess about tails that fade; whether it is right changes what an interval is worth, never what is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.namespace import squares, widened
from .locate import FINEST, Located, locate, locate_norms
from .looks import FADE, FASTEST, SHARED, Look, Tail
from .moments import Weights

__all__ = ["CLUMP", "Clip", "beyond", "clip_columns", "clip_norms", "missing", "of_columns"]

Array = NDArray[np.float64]
# A guess of what lies beyond is corrected; so much of its square is feared to be left.
FEAR = 0.5
# Squares weigh tails more, and count on one that fades faster; both fear one that lasts.
FASTER = 0.3
# Squares are in the cells of their roots at half the step, over which the logarithms of counts bend a quarter as much.
# Half as much is guessed: a quarter costs squares of normal errors more (two fifths with 2,000 rows) than it helps skewed ones.
SQUARES = (FADE**0.5, FASTEST**0.5)
# So many standard deviations of the noise of the cells that stand out are rows that do not.
MISSING = 2.0
# A clump may lie at the outer end of a cell, where a tail that fades has next to nothing: so much of its rows are feared there.
CLUMP = 0.25


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
    sides: tuple[Array, Array]  # what ``beyond`` takes from a sum below and adds to it above
    # Within which ends all but so many rows lie, whatever noise hides; a clip that holds the bounds needs no answer.
    farthest: Callable[[float], tuple[Any, Any]] = lambda many: (-math.inf, math.inf)
    look: Look | None = None  # of one column


def clip_columns(
    rows: Rows, bounds: Array, spending: Portion, weights: Weights, power: int = 1, *, of_squares: bool = False
) -> Clip:
    """From bounds that may be wide to a ball that holds most rows, for sums of x^``power``; one column may be ``of_squares``."""
    # The squares of what is told apart, if a column holds squares.
    found = locate(rows, bounds, spending, FINEST**2 if of_squares else FINEST)
    if rows.n_features > 1:
        return _ball(rows, bounds, spending, found, weights, power)
    left = 1.0 - found.share
    look, noise = found.looks[0], spending.scale(weights.contribution(1, rows.n), left)
    if power == 1:
        # Differences of squares may be negative, and are near 0 in most rows: of their rare rows `score.py` knows more.
        apart = of_squares and look.bounds[0] < 0.0
        fades = SQUARES if of_squares and not apart else (FADE, FASTEST)
        lasts = 2 if apart else "of squares" if of_squares else 1
        clip = _interval(look, noise / weights.mean, fades, lasts)[:, None]
    else:
        clip = _centred(look, noise / weights.square, weights.square / weights.mean)[:, None]
    return Clip(clip[0], clip[1], clip[2], clip[3], clip[4], clip[5], left, (clip[6], clip[7]), look.farthest, look)


def _ends(look: Look, tails: tuple[Tail, Tail]) -> list[Array]:
    """Where each side may be clipped: at the bound alone if nothing stands out there, or only where most rows are."""
    return [tail.clips() if _known(look, tails, tail) else tail.edges[-1:] for tail in tails]


def _known(look: Look, tails: tuple[Tail, Tail], tail: Tail) -> bool:
    """Whether more stands out on a side than the cell that holds most rows, or than one of two, if rows are missing elsewhere.

    Of two cells that hold everything, noise decides which is the fullest: both sides end there.
    """
    first, second = np.sort(look.counts)[[-1, -2]]
    most = first > SHARED * look.counts.sum() or (first + second > SHARED * look.rows and _missing(look, tails))
    return tail.standing > int(most and tail.counts.max() == max(float(each.counts.max()) for each in tails))


def _missing(look: Look, tails: tuple[Tail, Tail]) -> bool:
    """Whether more rows are where nothing stands out than noise explains."""
    cells = sum(tail.seen for tail in tails)
    seen = sum(float(tail.counts[: tail.seen].sum()) for tail in tails)
    return look.rows - seen > MISSING * look.sd * math.sqrt(cells)


def _feared(tail: Tail, clips: Array, lost: Array, power: int = 1) -> Array:
    """What clips lose, as guessed, or if a part of the rows lies at the outer ends of cells."""
    return np.maximum(lost, CLUMP / power * tail.outermost(clips, power))


def _interval(look: Look, noise: float, fades: tuple[float, float], lasts: int | str) -> Array:
    """For means: each end where noise and loss together are least; tails fade so, and last as those for such a power do."""
    tails = look.tails(*fades)
    ends = _ends(look, tails)
    last = look.lasting(lasts)
    lost, most = ([t.beyond(end) for t, end in zip(pair, ends, strict=True)] for pair in (tails, last))
    feared = [_feared(t, end, guess) for t, end, guess in zip(tails, ends, lost, strict=True)]
    most = [np.maximum(more, fear) for more, fear in zip(most, feared, strict=True)]
    risk = (0.5 * noise * np.add.outer(*ends)) ** 2 + FEAR * np.add.outer(feared[0] ** 2, feared[1] ** 2)
    at = np.unravel_index(np.argmin(risk), risk.shape)
    end, guess, all_of_it = (np.array([v[k] for v, k in zip(pair, at, strict=True)]) for pair in (ends, lost, most))
    (below, above), more = end, np.maximum(all_of_it - guess, 0.0)
    if lasts != 2:
        # Rows beyond a clip at c add x - c each, if tails last, and differ from sample to sample: two standard errors of that.
        squares = [(t.beyond(c[None], 2) - 2.0 * c * t.beyond(c[None])).item() for t, c in zip(last, end, strict=True)]
        more = np.hypot(more, 2.0 * np.sqrt(np.maximum(squares, 0.0)))
    centre, lacking = look.centre + 0.5 * (above - below), guess[1] - guess[0]
    return np.array([centre, 0.5 * (above + below), lacking, np.hypot(*guess), *more, *guess])


def _centred(look: Look, noise: float, blur: float) -> Array:
    """For squares: as far to one side as to the other, so that what is subtracted for the mean is small.

    ``blur``: how much more noise the mean has.
    """
    tails = look.tails()
    ends = _ends(look, tails)
    clips = np.unique(np.concatenate(ends))
    clips = clips[clips >= max(1e-200, *(end[0] for end in ends))]
    feared = [_feared(tail, clips, tail.beyond(clips, 2), 2) for tail in tails]
    lost, unit = feared[0] + feared[1], clips[-1] ** 2
    k = int(np.argmin((noise * (clips**2 / unit)) ** 2 + FEAR * (lost / unit) ** 2))
    centre, everything = _holding(look.mean(), np.array([look.bounds]), np.ones(1), blur)
    if _noise(look.centre, clips[k], look.mean(), blur) >= _noise(centre, everything, look.mean(), blur):
        return np.array([centre[0], everything, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    sure, most = (
        float(sum(tail.beyond(clips[[k]], 2)[0] for tail in pair))
        for pair in (look.tails(FASTER, FASTER), look.lasting(2))
    )
    most = max(most, float(lost[k]))
    return np.array([look.centre, clips[k], sure, sure, 0.0, max(most - sure, 0.0), 0.0, sure])


def _noise(centre: Any, radius: float, mean: Any, blur: float) -> float:
    """Of a variance, up to a factor: of squares around a centre, and of the mean that is subtracted, with ``blur`` as much noise.

    Of a square with noise s and a mean m with noise b s, the variance has s sqrt(1 + (2 b m)^2), times the radius squared.
    """
    off = np.asarray(mean - centre) / radius
    return radius**2 * math.sqrt(float(np.mean(1.0 + (2.0 * blur * off) ** 2)))


def _holding(mean: Any, bounds: Array, units: Array, blur: float) -> tuple[Array, float]:
    """The ball that holds the bounds, in units: around their middle, or around the mean if that leaves less noise."""
    found = []
    for centre in (np.mean(bounds, axis=1), mean + np.zeros(len(bounds))):
        radius = math.hypot(*(np.max(np.abs(bounds - centre[:, None]), axis=1) / units))
        found.append((_noise(centre / units, radius, mean / units, blur), radius, centre))
    _, radius, centre = min(found, key=lambda ball: ball[:2])
    return centre, radius


def _ball(rows: Rows, bounds: Array, spending: Portion, found: Located, weights: Weights, power: int) -> Clip:
    """Around the middles, in units of the columns' spreads."""
    d, middles, spreads = rows.n_features, found.middles, found.spreads
    weight, blur = (weights.mean, 1.0) if power == 1 else (weights.square, weights.square / weights.mean)

    def norms(x: Any) -> Any:
        wide, middle, factor = widened(x, middles, 1.0 / spreads)
        return np.sqrt(squares(((wide - middle) * factor).reshape(x.shape), 1))[:, None]

    whole = math.hypot(*(np.diff(bounds)[:, 0] / spreads))
    # Around the middles nothing within the bounds is farther than this; spreads are at most about half as wide.
    reach = max(math.hypot(*(np.max(np.abs(bounds - middles[:, None]), axis=1) / spreads)), math.sqrt(d))
    look, spent = locate_norms(rows, norms, reach, spending, 1.0 - found.share)
    left = 1.0 - found.share - spent
    noise = spending.scale(weights.contribution(d, rows.n), left) / weight
    # Of a mean, rows that are too long may all point the same way; squares are shared out.
    own = np.zeros_like if power == 1 else of_columns(found.looks, spreads)
    radius, lost, most = clip_norms(look, noise, power, math.sqrt(d) if power == 1 else d, own)
    # All rows are held where that costs less than the sampling error.
    hold = power == 1 and found.lumps and 0.5 * noise * whole < math.sqrt(rows.n)
    centres, everything = np.mean(bounds, axis=1), 0.5 * whole
    if power == 2:
        means = np.array([look.mean() for look in found.looks])
        centres, everything = _holding(means, bounds, spreads, blur)
        less = [_noise(c / spreads, r, means / spreads, blur) for c, r in ((centres, everything), (middles, radius))]
    if hold or (radius >= everything if power == 1 else less[1] >= less[0]):
        none = np.zeros(d)
        return Clip(centres, everything * spreads, none, none, none, none, left, (none, none))
    ends, unit = spreads * radius, spreads**power

    def farthest(many: float) -> tuple[Array, Array]:
        reach = spreads * look.farthest(many)[1]
        return middles - reach, middles + reach

    tails = [look.tails(FADE if power == 1 else FASTER) for look in found.looks]
    sides, alone = beyond(tails, ends, power), beyond([look.lasting(power) for look in found.looks], ends, power)
    if power == 2:  # columns have it as they have tails of their own; at most all of it, at least an even part
        own = sides.sum(axis=1) / unit
        guess = unit * lost * (d * own / own.sum() if own.sum() > 0.0 else 1.0)
        above = np.maximum(missing(alone.sum(axis=1), sides.sum(axis=1), unit * most) - guess, 0.0)
        none, unseen = np.zeros(d), np.hypot(np.hypot(*sides.T), guess)
        return Clip(middles, ends, guess, unseen, none, above, left, (none, guess), farthest)
    # What means lose is corrected where rows are seen beyond the clip and it matters beside the noise; else guesses are noise.
    seen = found.clear * np.array([[t.edges[t.seen] > e for t in pair] for pair, e in zip(tails, ends, strict=True)])
    guess = (sides * seen) @ [-1.0, 1.0]
    kept = guess**2 / (guess**2 + (0.5 * noise * ends) ** 2)
    together = unit * most * math.sqrt(d)  # all that norms lose
    added = kept[:, None] * sides * seen
    below, above = np.maximum(np.minimum(alone, together[:, None]) - added, 0.0).T
    unseen = np.hypot(np.hypot(*sides.T), unit * lost)
    return Clip(middles, ends, kept * guess, unseen, below, above, left, (added[:, 0], added[:, 1]), farthest)


def of_columns(looks: list[Look], units: Array) -> Callable[[Array], Array]:
    """What columns of these units are seen to lose of their squares beyond each radius, on the whole."""
    tails = [[tail.standing_out() for tail in look.tails()] for look in looks]

    def lost(radii: Array) -> Array:
        found = [
            sum(t.beyond(radii * unit, 2) for t in pair) / unit**2 for pair, unit in zip(tails, units, strict=True)
        ]
        return np.asarray(np.sqrt(np.mean(np.square(found), axis=0)))

    return lost


def missing(alone: Array, guess: Array, even: Array) -> Array:
    """What squares of columns lose at most: as they have tails of their own, but no more than all that norms lose, of which
    ``even`` is an even part, or than is seen; and no less than that part.
    """
    return np.maximum(np.clip(alone, even, len(even) * even), guess)


def beyond(tails: list[tuple[Tail, Tail]], ends: Array, power: int) -> Array:
    """What columns have beyond their ends, below and above."""
    pairs = zip(tails, ends, strict=True)
    return np.array([[tail.beyond(np.array([end]), power)[0] for tail in pair] for pair, end in pairs])


def clip_norms(
    look: Look, noise: float, power: int, parts: float, own: Callable[[Array], Array] = np.zeros_like, held: float = 0.0
) -> tuple[float, float, float]:
    """The radius of least risk to each of ``parts`` equal parts of |x|^``power``.

    Also what it takes from each: as guessed, and at most. ``own``: what columns are seen to have beyond a radius, if that is more
    than norms show. ``held``: a length to be held beside the radius.
    """
    tail, sure = (look.tails(fade)[1] for fade in (FADE, FADE if power == 1 else FASTER))
    clips = tail.clips()
    lost = np.maximum(tail.beyond(clips, power, look.centre) / parts, own(look.centre + clips))
    fear = FEAR if power == 2 else 0.5 * FEAR  # long rows seldom all point the same way
    k = int(np.argmin((noise * (look.centre + clips) ** power) ** 2 + fear * lost**2))
    if not _known(look, look.tails(), tail):  # longer rows may be anywhere
        k = -1
    radius = min(math.hypot(look.centre + float(clips[k]), held), look.centre + float(tail.edges[-1]))
    end = np.array([radius - look.centre])
    guess, most = (float(t.beyond(end, power, look.centre)[0]) / parts for t in (sure, look.lasting(power)[1]))
    return radius, guess, most
