"""Where columns lie and how their tails fade, from noisy counts on the grid that floats have themselves.  Proof: looks.md.

The sign and the exponent of (x - centre)/unit, one added to its size, are a public grid: fine at the centre, and wide enough
for any bounds. What is read off the released counts are guesses about tails: they choose clips, never what is claimed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Shape
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.namespace import on_host, widened

__all__ = ["Look", "Tail", "column_cells", "look_at_columns", "look_at_norms"]

Array = NDArray[np.float64]
# In standard deviations of the noise: what stands out beside another cell that does, what each cell between adds to that, up to
# what stands out anywhere.
NEXT, APART, ALONE = 3.5, 0.5, 5.0
# What a cell must hold, in the same unit, to be worth counting among its neighbours.
RUN = 1.5
# Rows at either end of the bounds, in standard deviations of noise, and share of all that may be elsewhere, in a column of flags.
AT_ENDS = 4.0, 0.05
# A cell with a larger part of the rows has a value that many share: none of a third of a spread, nor of two, has as much.
# Beside it a faint cell says little about where other rows are, and must stand out as one that lies alone.
SHARED = 0.6
# Beyond the last cell that stands out, each count is this times less of the one before than that was of its own, or less if
# that is seen, down to a limit: values that are counts have gaps.
FADE, FASTEST = 0.55, 0.2
# What noise may have taken from a clump that is too faint to clip for, in its standard deviations.
HIDDEN = 2.0
# The mean of what lies beyond the inner end of a cell, as a share of its width: tails fall.
WITHIN = 0.37


class Feared(NamedTuple):
    """The most that may be in cells that noise hides, of each the part ``fade`` times that of the cell before."""

    fade: float = 1.0
    most: float = 1.0  # such part of the cell before
    doubt: float = 1.0  # what noise may hide, in its standard deviations


# Counts that are the same parts of each other, as those of powers of x; where squares are asked for, which such tails may double,
# parts that fall by 5 %. Columns of squares have a mean only if less than half of the rows are twice as far out, and most of it
# may be in the one cell that noise happens to empty.
LASTING = {1: Feared(), 2: Feared(fade=0.95), "of squares": Feared(most=0.5, doubt=2.0)}
# Numbers at a time, so that what is computed of them stays near the processor.
_IN_CACHE = 200_000
_SIGN = 2**11  # of twelve bits, the one that is the sign


@dataclass(frozen=True, slots=True)
class Tail:
    """Counts outward from a centre, as guessed: cell k lies between ``edges[k]`` and ``edges[k + 1]``."""

    edges: Array
    counts: Array
    seen: int  # cells up to the last that stands out
    standing: int  # cells that stand out
    apart: Array  # of cells beyond these, what clumps may hold at most, beside ``counts``

    def clips(self) -> Array:
        """Where to clip: at the ends of cells, and at three places within each."""
        inner, outer = np.maximum(self.edges[1:-1], 1e-200), np.maximum(self.edges[2:], 1e-200)
        found = np.concatenate([self.edges[1:], *(inner ** (1.0 - part) * outer**part for part in (0.25, 0.5, 0.75))])
        return np.unique(np.clip(found, 0.0, self.edges[-1]))

    def standing_out(self, beyond: float = 0.0) -> Tail:
        """Without what is guessed, in cells that lie beyond a place."""
        kept = (np.arange(len(self.counts)) < self.seen) & (self.edges[:-1] >= beyond)
        return replace(self, counts=np.where(kept, self.counts, 0.0))

    def lengths(self) -> Array:
        """How fast the density falls within each cell: the length of an exponential that leads there from the cell before."""
        widths = np.maximum(np.diff(self.edges), 1e-200)
        density = np.maximum(self.counts, 1e-9) / widths
        falls = np.log(density[:-1] / density[1:])
        between = 0.5 * (widths[:-1] + widths[1:])
        found = np.append(4.0 * widths[0], between / np.maximum(falls, 0.25 * between / widths[1:]))
        return np.asarray(np.maximum(found, 0.02 * widths))

    def beyond(self, clips: Array, power: int = 1, start: float = 0.0) -> Array:
        """Sum over the rows of what (``start`` + x)^``power`` has beyond each clip, as guessed; of clumps, at most."""
        low, length = self.edges[:-1], self.lengths()
        left = np.maximum(self.edges[1:] - np.maximum(low, clips[:, None]), 0.0)  # of each cell, beyond each clip
        above = self.edges[1:] - left - low
        whole, rest = -np.expm1(-np.diff(self.edges) / length), -np.expm1(-left / length)
        share = np.exp(-above / length) * rest / np.maximum(whole, 1e-300)
        typical = low + above + length - left * np.exp(-left / length) / np.maximum(rest, 1e-300)
        clip = start + clips[:, None]
        last = int(np.max(np.flatnonzero(np.diff(self.edges) > 0.0), initial=-1))
        if self.seen == last + 1 > 0:  # rows reach the bound, and all that lie beyond it, or have two values, are there
            share[:, last], typical[:, last] = 1.0, self.edges[-1]
        found = self.counts * share * ((start + typical) ** power - clip**power)
        return np.asarray(np.where(left > 0.0, found, 0.0).sum(axis=1) + self._outside(self.apart, clips, power, start))

    def outermost(self, clips: Array, power: int = 1) -> Array:
        """The same if all rows lay at the outer ends of their cells, as those of a clump may."""
        return self._outside(self.counts + self.apart, clips, power)

    def _outside(self, counts: Array, clips: Array, power: int, start: float = 0.0) -> Array:
        clip = clips[:, None]
        return np.asarray(((start + np.maximum(self.edges[1:], clip)) ** power - (start + clip) ** power) @ counts)


def fading(counts: Array, edges: Array, sd: float, fade: float, fastest: float, near: float) -> Tail:
    """The counts of one side, outward, with what cannot be told from noise replaced by a tail that fades."""
    seen, standing = _standing(counts, sd, near)
    found = np.maximum(counts, 0.0)
    ratios = found[1:seen] / np.maximum(found[: max(seen - 1, 0)], sd)
    ratio = min(max(float(ratios[-1]), 0.01), 0.9) if seen > 1 else 0.3 * seen
    if seen > 2:  # as fast as it is seen to fade, if that is faster
        fade = min(fade, max(float(ratios[-1] / max(ratios[-2], 1e-9)), fastest))
    for k in range(seen, len(counts)):
        ratio *= fade
        guess = ratio * found[k - 1] if k else 0.0
        trust = guess**2 / (guess**2 + sd**2)
        found[k] = max(guess + trust * (counts[k] - guess), 0.0)
    return Tail(edges, found, seen, standing, np.zeros_like(found))


def lasting(counts: Array, edges: Array, sd: float, feared: Feared, near: float, slow: float = 0.0) -> Tail:
    """The same with the most that may be there.

    ``slow``: each is at least such a part, if noise may hide it.
    """
    seen, standing = _standing(counts, sd, near)
    found = np.maximum(counts, 0.0)
    found[seen - 1 : seen] += sd  # of the last that stands out, too
    ratio = min(float(found[seen - 1] / max(found[seen - 2], sd)), 1.0) if seen > 1 else 1.0
    for k in range(max(seen, 1), len(counts)):
        part = max(feared.fade * min(ratio, feared.most), slow)
        found[k] = min(part * found[k - 1], found[k] + feared.doubt * sd)
        ratio = float(found[k] / max(found[k - 1], 1e-9))
    # Others may be too faint to clip for, and too many to be sure that they are noise; where cells are wide, what is far out is
    # a clump (a code of many nines), and may lie anywhere in its cell.
    apart = (np.arange(len(counts)) >= seen) & (counts > NEXT * sd) & (np.diff(edges) > 0.0)
    return Tail(edges, np.where(apart, 0.0, found), seen, standing, np.where(apart, counts + HIDDEN * sd, 0.0))


def _standing(counts: Array, sd: float, near: float) -> tuple[int, int]:
    """Cells up to the last that stands out, by itself or with those before it that do not, and how many do.

    What a fading tail has in those before is no sign that rows go on to the last.
    """
    seen = standing = 0
    ratio = guess = usual = 0.0  # how a tail fades, what it has in a cell, and in those before it that do not stand out
    for k, count in enumerate(counts.tolist()):
        run, together = k - seen, float(counts[seen : k + 1].sum()) - usual
        if max(count / ALONE, together / math.sqrt(run + 1) / min(near + APART * run, ALONE)) > sd:
            seen, standing = k + 1, standing + 1
            ratio = min(count / max(float(counts[k - 1]), sd), 0.9) if k else 0.3
            guess, usual = count, 0.0
        else:
            usual += guess
        ratio *= FADE
        guess *= ratio
    return seen, standing


def _run(gains: Array) -> tuple[int, int]:
    """Where the largest sum of neighbours begins and ends: noise far away is not worth the cells between."""
    best, total, start, found = -math.inf, 0.0, 0, (0, 1)
    for k, gain in enumerate(gains.tolist()):
        start, total = (k, gain) if total <= 0.0 else (start, total + gain)
        if total > best:
            best, found = total, (start, k + 1)
    return found


@dataclass(frozen=True, slots=True)
class Look:
    """Released counts of one column in 2K cells: +-[0, u), +-[u, 3u), +-[3u, 7u), ... from ``centre``, within the bounds."""

    counts: Array
    sd: float
    centre: float
    unit: float
    bounds: tuple[float, float]
    n: int  # rows, some of which may be dropped

    def edges(self) -> Array:
        """2K + 1 ends of cells; the outermost are those of the bounds."""
        steps = self.unit * (2.0 ** np.arange(1, len(self.counts) // 2 + 1) - 1.0)
        edges = self.centre + np.concatenate([-steps[::-1], [0.0], steps])
        edges[[0, -1]] = self.bounds
        return np.clip(edges, *self.bounds)

    def quantiles(self, levels: Any) -> Array:
        """Of the run of cells that stands out most, even within cells."""
        first, last = _run(self.counts - RUN * self.sd)
        weight = np.maximum(self.counts[first:last], 1e-9)
        steps, edges = np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum(), self.edges()
        return np.asarray(np.interp(levels, steps, edges[first : last + 1]))

    def mean(self) -> float:
        """Of what stands out; rows in the last cell are at the bound."""
        total = weight = 0.0
        for tail, sign in zip(self.tails(), (-1.0, 1.0), strict=True):
            places = tail.edges[:-1] + WITHIN * np.diff(tail.edges)
            if tail.seen == len(tail.counts):
                places[-1] = tail.edges[-1]
            counts = tail.standing_out().counts
            total, weight = total + sign * float(counts @ places), weight + float(counts.sum())
        return float(np.clip(self.centre + total / max(weight, 1e-9), *self.bounds))

    def cell(self, at: float) -> float:
        """Width of the cell of a number."""
        edges = self.edges()
        k = min(max(int(np.searchsorted(edges, at)), 1), len(edges) - 1)
        return float(edges[k] - edges[k - 1])

    def around(self, at: float) -> float:
        """How much of the run of cells that stands out most is in the cell of a number and the two beside it."""
        first, last = _run(self.counts - RUN * self.sd)
        k = min(max(int(np.searchsorted(self.edges(), at)), 1), len(self.counts))
        found = np.maximum(self.counts, 0.0)
        return float(found[max(k - 2, first) : min(k + 1, last)].sum() / max(float(found[first:last].sum()), self.sd))

    def farthest(self, many: float) -> tuple[float, float]:
        """The ends of the cells below and above which so ``many`` rows cannot lie, whatever noise hides."""
        edges = self.edges()
        real = np.diff(edges) > 0.0  # others, beyond the bounds, hold none
        below, above = (
            np.maximum(np.cumsum(self.counts[way] * real[way]), 0.0) + 2.0 * self.sd * np.sqrt(np.cumsum(real[way]))
            for way in (slice(None), slice(None, None, -1))
        )
        low, high = (int(np.argmax(np.append(most, math.inf) >= many)) for most in (below, above))
        return float(edges[low]), float(edges[-1 - high])

    @property
    def near(self) -> float:
        """What stands out beside other cells, in standard deviations: more if most rows share a value."""
        return self._needed(SHARED)

    @property
    def rows(self) -> float:
        """At most, some of which may be dropped."""
        return min(self.n, float(self.counts.sum()) + 2.0 * self.sd * math.sqrt(len(self.counts)))

    def _needed(self, share: float) -> float:
        return ALONE if self.counts.max() > share * self.rows else NEXT

    def spread(self) -> float:
        """Standard deviation of what stands out; half the width of the bounds if no more does than one cell."""
        below, above = self.tails()
        if below.standing + above.standing < 2:
            return self._faint()
        sides = [(t.counts[: t.seen], t.edges[: t.seen + 1], sign) for t, sign in ((below, -1.0), (above, 1.0))]
        weight = np.concatenate([counts for counts, _, _ in sides])
        middle = np.concatenate([sign * (e[:-1] + WITHIN * np.diff(e)) for _, e, sign in sides])
        return math.sqrt(max(float(np.cov(middle, aweights=weight, ddof=0)), 0.0))

    def at_ends(self) -> bool:
        """Whether nearly all rows are at the two ends of the bounds, or close, and some at either."""
        wide = self.counts[np.diff(self.edges()) > 0.0]
        inner = float(np.sum(wide[1:-1]))
        some = len(wide) > 2 and min(wide[0], wide[-1]) > AT_ENDS[0] * self.sd
        return bool(some and inner < AT_ENDS[1] * self.n + 2.0 * self.sd * math.sqrt(len(wide)))

    def _faint(self) -> float:
        """The same where cells are faint by themselves: some may stand out together, beside the fullest of them."""
        best, first, last = 0.0, 0, 0
        for k in range(2, len(self.counts) + 1):
            window = np.lib.stride_tricks.sliding_window_view(self.counts, k)
            others = (window.sum(axis=1) - window.max(axis=1)) / math.sqrt(k - 1)
            if others.max() > best:
                best, first = float(others.max()), int(others.argmax())
                last = first + k
        if best <= self._needed(SHARED - 0.2) * self.sd:
            return 0.5 * (self.bounds[1] - self.bounds[0])
        fullest, edges = int(self.counts.argmax()), self.edges()
        first, last = min(first, fullest), max(last, fullest + 1)
        middles, weight = 0.5 * (edges[first:last] + edges[first + 1 : last + 1]), self.counts[first:last]
        return math.sqrt(max(float(np.cov(middles, aweights=np.maximum(weight, 0.0), ddof=0)), 0.0))

    def tails(self, fade: float = FADE, fastest: float = FASTEST) -> tuple[Tail, Tail]:
        """Below the centre and above it."""
        below, above = (fading(*side, self.sd, fade, fastest, self.near) for side in self._sides())
        return below, above

    def lasting(self, power: int | str, slow: float = 0.0) -> tuple[Tail, Tail]:
        """The same, with the most that may be there, for sums of x^``power``, or for those of a column "of squares"."""
        below, above = (lasting(*side, self.sd, LASTING[power], self.near, slow) for side in self._sides())
        return below, above

    def outside(self, low: float, high: float, power: int | str, slow: float = 0.0) -> Array:
        """Sums of what lies below and above two ends, at most."""
        pairs = zip(self.lasting(power, slow), (self.centre - low, high - self.centre), strict=True)
        return np.array([tail.beyond(np.array([max(end, 0.0)])).item() for tail, end in pairs])

    def _sides(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Counts and edges outward."""
        half, edges = len(self.counts) // 2, np.abs(self.edges() - self.centre)
        return (self.counts[:half][::-1], edges[: half + 1][::-1]), (self.counts[half:], edges[half:])


def column_cells(columns: int) -> Shape:
    """One cell in the histogram of every column. proof: columns"""
    return Shape(math.nextafter(math.sqrt(2.0 * columns), math.inf), math.nextafter(math.sqrt(columns), math.inf))


def look_at_columns(
    rows: Rows, which: Any, centres: Array, units: Array, bounds: Array, spending: Portion, share: float
) -> list[Look]:
    """Noisy counts of the columns ``which``, each around its centre; costs ``share``."""
    every = len(which) == rows.n_features
    return _look(rows, lambda x: x if every else x[:, which], centres, units, bounds, spending, share)


def look_at_norms(
    rows: Rows, norms: Any, centre: float, unit: float, most: float, spending: Portion, share: float
) -> Look:
    """Noisy counts of ``norms(x)``, one number for every row, around a centre; costs ``share``. proof: norms"""
    bounds = np.array([[0.0, most]])
    return _look(rows, norms, np.array([centre]), np.array([unit]), bounds, spending, share)[0]


def _look(
    rows: Rows, statistic: Any, centres: Array, units: Array, bounds: Array, spending: Portion, share: float
) -> list[Look]:
    """One cell for each number of ``statistic(x)``, by its sign and its exponent. proof: columns"""
    d, scale = len(centres), 1.0 / units
    span = max(float(np.max((bounds[:, 1] - centres) * scale)), float(np.max((centres - bounds[:, 0]) * scale)), 2.0)
    side = math.ceil(math.log2(span + 1.0))
    # Added to 0 or to -0, which not every reader of text tells apart, 0 is 0: no row is on the other side of it. proof: columns
    away, most, piece = 0.0 - centres, math.nextafter(2.0**side, 0.0), max(64, _IN_CACHE // rows.n_features // 64 * 64)
    # The first twelve bits of a number are 1023 and its exponent, and 2,048 less below 0: so many cells are between two sides.
    group, place = np.divmod(np.arange(d), _SIGN // side)
    below = 2 * _SIGN * group + place * side
    every, offsets = int(below[-1]) + 2 * _SIGN, below + (_SIGN - 1023)

    def leading(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        x, counts = x if keep is None else x[keep], np.zeros(every, dtype=np.int64)
        for start in range(0, len(x), piece):
            z, back, factor, offset = widened(statistic(x[start : start + piece]), away, scale, offsets)
            z = z + back
            z *= factor
            z += np.copysign(1.0, z)  # the exponent is 0 next to the centre
            cells = np.clip(z, -most, most, out=z).view(np.int64)
            cells >>= 52
            cells += offset
            counts += np.bincount(cells.ravel(), minlength=every)
        outward = counts[np.add.outer(below, np.arange(side))], counts[np.add.outer(below + _SIGN, np.arange(side))]
        return (np.concatenate([outward[0][:, ::-1], outward[1]], axis=1).astype(float),)

    (counts,) = rows.sum(on_host(leading))
    cells = column_cells(d)
    noisy, sd = spending.noisy(counts, cells, share), spending.scale(cells, share)
    return [Look(noisy[j], sd, float(centres[j]), float(units[j]), (*bounds[j].tolist(),), rows.n) for j in range(d)]
