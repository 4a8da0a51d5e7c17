"""Several quantiles at once by one exponential mechanism, sampled exactly.  Proof: joint_exponential.md.

Rows lie at whole numbers on a line; region k is what lies between row k and row k + 1. An output is a place on the line for
each quantile, and its weight falls with how far the numbers of rows between the places are from what they should be. The
sums over all outputs form a chain: a pass forwards finds them, and a pass backwards draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, zip_longest
from operator import methodcaller
from typing import Any, Protocol

import numpy as np

from . import draws
from .draws import certain_choice, exponential, exponentials, rounded_uniform
from .noise import NoiseSource
from .unit import Unit

__all__ = ["Line", "joint_places", "joint_ranks", "rank_sensitivity", "rows_wanted"]

Enclosure = tuple[int, int]
# Powers of exp(-rate) come from a table of so many, and one of every so-many-th.
_BLOCK = 1024
# Ranks further off than bits times this have next to no weight, which `missing` bounds: any is right, log 2 usually enough.
_REACH = Fraction(7, 10)
Whole = Any  # arrays of Python's whole numbers, which have no largest one


class Line(Protocol):
    """Rows at whole numbers on a line from 0 to ``length``."""

    @property
    def count(self) -> int: ...

    @property
    def length(self) -> int: ...

    def regions(self, first: int, last: int) -> tuple[Any, list[int]]:
        """The ranks from ``first`` to ``last`` whose region has a length, as an array, and the borders around them."""


def rows_wanted(levels: Sequence[Fraction], total: int) -> list[Fraction]:
    """How many rows should lie below the first quantile, between neighbours, and above the last."""
    return [(b - a) * total for a, b in pairwise([Fraction(0), *levels, Fraction(1)])]


def rank_sensitivity(levels: Sequence[Fraction], unit: Unit, *, public_total: bool) -> Fraction:
    """How far the utility of an output moves if the rows of one person change. proof: sensitivity"""
    if unit.relation == "replace-one":
        return Fraction(2 * unit.rows)
    return unit.rows * (Fraction(1) if public_total else 2 * (1 - min(rows_wanted(levels, 1))))


def joint_places(line: Line, wanted: Sequence[Fraction], rate: Fraction, noise: NoiseSource) -> list[float]:
    """Increasing places with density exp(-rate sum_j |rows between places j and j + 1 - wanted_j|). proof: places"""
    found = []
    for rank, run in joint_ranks(line, wanted, rate, noise):
        low, high = map(Fraction, line.regions(rank, rank)[1])
        found += sorted(rounded_uniform(low, high, noise) for _ in range(run))
    return found


def joint_ranks(line: Line, wanted: Sequence[Fraction], rate: Fraction, noise: NoiseSource) -> list[tuple[int, int]]:
    """The regions of such places, and how many fall into each; drawn from the last to the first. proof: backwards"""
    chains: dict[int, Chain] = {}

    def chosen(weights: Callable[[Chain], list[Enclosure]]) -> int:
        def enclosed(bits: int) -> list[Enclosure]:
            if bits not in chains:
                chains[bits] = Chain(line, wanted, rate, bits)
            return weights(chains[bits])

        # Half of the usual bits: a chain takes time, and wants windows as wide as it has bits.
        return certain_choice(enclosed, -(-draws.FIRST_BITS // 2), noise)

    found: list[tuple[int, int]] = []
    later, step = line.count + 1, len(wanted) - 1
    while step:
        index = chosen(methodcaller("before", step, later))
        later = int(chains[max(chains)].outwards(step, later)[index])
        run = 1 + chosen(methodcaller("runs", step, later))
        found, step = [(later, run), *found], step - run
    return found


class Frame:
    """What a chain is built on, at one precision: windows of ranks, their measures, powers of exp(-rate)."""

    def __init__(self, line: Line, wanted: Sequence[Fraction], rate: Fraction, bits: int) -> None:
        self.line, self.wanted, self.rate, self.bits = line, wanted, rate, bits
        self.centres = [round(total) for total in accumulate(wanted)][:-1]
        excess = abs(line.count - Fraction(sum(wanted)))
        self.reach = math.ceil(_REACH * (bits + 8 * len(self.centres)) / rate + excess)
        windows = [(max(0, c - self.reach), min(line.count, c + self.reach)) for c in self.centres]
        self.complete = all(last - first == line.count for first, last in windows)
        most = min(2 * self.reach, line.count + math.ceil(max(wanted))) + 8
        self.powers = exponentials(rate, min(_BLOCK, most), bits)
        self.blocks = exponentials(rate * _BLOCK, most // _BLOCK + 1, bits)
        for table in (self.powers, self.blocks):
            table.append((0, table[-1][1]))  # of anything larger
        self.ranks, borders = zip(*(line.regions(*window) for window in windows), strict=True)
        self.measures = [np.diff(_whole(row)) for row in borders]
        self.unit = max(max(measures, default=0) for measures in self.measures).bit_length()


class Chain:
    """Enclosures, at one precision, of the sums over all outputs up to each quantile. proof: forwards"""

    def __init__(self, line: Line, wanted: Sequence[Fraction], rate: Fraction, bits: int) -> None:
        self.frame = Frame(line, wanted, rate, bits)
        low = Bounds(self.frame, 0, None)
        self.sides = (low, Bounds(self.frame, 1, low.shifts))

    def outwards(self, step: int, later: int) -> Any:
        """Ranks below ``later``, the nearest to the centre of this step first: an order that more ranks only continue."""
        ranks = self.frame.ranks[step - 1]
        ranks = ranks[ranks < later]
        return ranks[np.lexsort((ranks, np.abs(ranks - self.frame.centres[step - 1])))]

    def before(self, step: int, later: int) -> list[Enclosure]:
        """Weights of the region of quantile ``step`` if the next one lies in the region ``later``. proof: backwards"""
        ranks, rows = self.outwards(step, later), min(later, self.frame.line.count)  # above the last quantile: all rows
        places = np.searchsorted(self.frame.ranks[step - 1], ranks)
        low, high = (
            side.sums[step - 1][places] * side.kernel(rows - ranks, self.frame.wanted[step]) >> self.frame.bits
            for side in self.sides
        )
        return _enclosed(low, high, self.missing(step, rows - sum(self.frame.wanted[: step + 1])))

    def runs(self, step: int, rank: int) -> list[Enclosure]:
        """Weights of how many quantiles, the last being ``step``, share the region. proof: backwards"""
        low, high = (side.lengths_at(step, rank) for side in self.sides)
        missing = self.missing(step, rank - sum(self.frame.wanted[:step]))
        return _enclosed(low, high, missing + self.sides[1].lost[step - 1])

    def missing(self, step: int, off: Fraction | int) -> int:
        """Above the weight of sequences that leave a window up to ``step`` and end ``off`` the mark. proof: windows"""
        if self.frame.complete:
            return 0
        volume = Fraction(self.frame.line.length**step, math.factorial(step) << self.frame.unit * step)
        scale = self.frame.bits + sum(self.sides[0].shifts[:step])
        digits = max(1, scale + math.ceil(volume).bit_length())
        least = max(Fraction(0), 2 * self.frame.reach + 1 - abs(Fraction(off)))
        _, high = exponential(self.frame.rate * least, digits)
        return math.ceil(high * volume * Fraction(2) ** (scale - digits))


class Bounds:
    """The sums of a chain from below, or from above with a minus: shifts and quotients round down, so both are bounds."""

    def __init__(self, frame: Frame, side: int, shifts: list[int] | None) -> None:
        self.frame, self.side, self.bits = frame, side, frame.bits
        self.powers, self.blocks = (_whole([power[side] for power in table]) for table in (frame.powers, frame.blocks))
        self.sums: list[Whole] = []
        self.lengths: list[list[tuple[slice, Whole]]] = []  # the sums, by how many quantiles share the last region
        self.lost: list[int] = []  # above the weight of longer runs, which are not followed
        self.shifts: list[int] = []  # digits that were added to the sums of a step
        for step, ranks in enumerate(frame.ranks):
            lengths = [(slice(0, len(ranks)), self._entering(step)), *self._staying(step)]
            total = lengths[0][1].copy()
            for where, values in lengths[1:]:
                total[where] += values
            lost = -(-self.lost[-1] // 2) if step else 0
            # Numbers are kept as long as the precision, so that small sums have as many digits as large ones.
            shift = self.bits - max(abs(total), default=0).bit_length() if shifts is None else shifts[step]
            lengths = [(where, _shifted(values, shift)) for where, values in lengths]
            lost = -_shifted(-lost, shift)
            while len(lengths) > 1 and all(abs(lengths[-1][1]) <= 1):
                lengths.pop()
                lost += side
            self.lengths.append(lengths)
            self.lost.append(lost)
            self.shifts.append(shift)
            self.sums.append(_shifted(total, shift) - side * lost)

    def power(self, exponent: Any) -> Whole:
        """exp(-rate exponent)."""
        block, rest = np.divmod(exponent, _BLOCK)
        large, small = (t[np.minimum(i, len(t) - 1)] for t, i in ((self.blocks, block), (self.powers, rest)))
        return self._up(large * small)

    def _up(self, product: Any) -> Whole:
        """A product of two bounds as a bound, without a minus."""
        return -(-product >> self.bits) if self.side else product >> self.bits

    def kernel(self, rows: Any, wanted: Fraction) -> Whole:
        """exp(-rate |rows - wanted|)."""
        whole = math.floor(wanted)
        below, above = self._parts(wanted)
        first = np.where(rows <= whole, _whole([below]), _whole([above]))
        return self._up(first * self.power(np.where(rows <= whole, whole - rows, rows - whole - 1)))

    def _parts(self, wanted: Fraction) -> tuple[int, int]:
        """exp(-rate x) for the parts of a row below and above ``wanted``."""
        below = wanted - math.floor(wanted)
        low, high = (exponential(self.frame.rate * x, self.bits)[self.side] for x in (below, 1 - below))
        return low, high

    def lengths_at(self, step: int, rank: int) -> list[int]:
        """Nothing, which more bits will mend, for a rank outside of the window."""
        place = next(iter(np.flatnonzero(self.frame.ranks[step - 1] == rank)), -1)
        return [v[place - at.start] if at.start <= place < at.stop else 0 for at, v in self.lengths[step - 1]]

    def _entering(self, step: int) -> Whole:
        """Weights of sequences that enter each region with their last quantile alone. proof: entering"""
        ranks, wanted = self.frame.ranks[step], self.frame.wanted[step]
        if step == 0:
            found = self.kernel(ranks, wanted) * (-1 if self.side else 1)
        else:
            below, above = self._parts(wanted)
            far, near = self._far(step, ranks - math.floor(wanted) - 1), self._near(step, ranks, math.floor(wanted))
            found = (above * far >> self.bits) + (below * near >> self.bits)
        return found * self.frame.measures[step] >> self.frame.unit

    def _staying(self, step: int) -> Iterator[tuple[slice, Whole]]:
        """Runs of the step before that stay in their region with one quantile more. proof: staying"""
        if step == 0:
            return
        earlier, ranks, measures = self.frame.ranks[step - 1], self.frame.ranks[step], self.frame.measures[step]
        stay = exponential(self.frame.rate * self.frame.wanted[step], self.bits)[self.side]
        for length, (where, values) in enumerate(self.lengths[-1], start=2):
            both = np.flatnonzero(np.isin(ranks, earlier[where], assume_unique=True))
            if not len(both):
                return  # nor do longer runs lie in all of their windows
            here = slice(int(both[0]), int(both[-1]) + 1)
            first = int(np.searchsorted(earlier[where], ranks[here.start]))
            kept = values[first : first + len(both)] * stay >> self.bits
            yield here, kept * measures[here] // (length << self.frame.unit)

    def _far(self, step: int, until: Any) -> Whole:
        """sum over k' <= until of sums(k') exp(-rate (until - k'))."""
        earlier, values, bits = self.frame.ranks[step - 1], self.sums[-1].tolist(), self.bits
        found, carried = [0], 0
        for value, ratio in zip(values, self.power(np.diff(earlier, prepend=earlier[:1])), strict=True):
            carried = value + (carried * ratio >> bits)
            found.append(carried)
        last = np.searchsorted(earlier, until, side="right")
        off = until - np.append(until[:1], earlier)[last]
        return _whole(found)[last] * self.power(off) >> bits

    def _near(self, step: int, ranks: Any, width: int) -> Whole:
        """sum over k - width <= k' < k of sums(k') exp(-rate (k' - k + width)), without a subtraction. proof: entering"""
        earlier, values, bits = self.frame.ranks[step - 1], self.sums[-1].tolist(), self.bits
        if width == 0 or not values:
            return _whole([0])
        origin = int(earlier[0])
        block, inside = np.divmod(earlier - origin, width)  # blocks as wide as the window
        apart, same = self.power(np.diff(earlier, append=earlier[-1:])), np.diff(block, append=-1) == 0
        ends, starts, carried = [0] * (len(values) + 1), [0], 0
        for i in reversed(range(len(values))):  # from each rank to the end of its block
            ends[i] = carried = values[i] + (carried * apart[i] >> bits if same[i] else 0)
        for value, power, fresh in zip(values, self.power(inside), np.append(True, ~same[:-1]), strict=True):
            carried = (value * power >> bits) + (0 if fresh else carried)  # from its start to each rank
            starts.append(carried)
        begin = ranks - width
        own, into = np.divmod(begin - origin, width)
        first, last = np.searchsorted(earlier, begin), np.searchsorted(earlier, ranks)
        ends_here = np.append(block, -2)[first] == own
        starts_there = np.append(-2, block)[last] == own + 1
        off = np.where(ends_here, np.append(earlier, 0)[first] - begin, 0)
        one = np.where(ends_here, _whole(ends)[first], 0) * self.power(off) >> bits
        two = (
            np.where(starts_there, _whole(starts)[last], 0) * self.power(np.where(starts_there, width - into, 0))
            >> bits
        )
        return one + two


def _enclosed(low: Iterable[int], high: Iterable[int], missing: int) -> list[Enclosure]:
    """Bounds as pairs; what is ``missing`` may belong to any of them or to none, so it counts above from the first one on."""
    (a, b), *others = [(a, -b) for a, b in zip_longest(low, high, fillvalue=0)] or [(0, 0)]
    return [(a, b + missing), *others, *([(0, 0)] if missing else [])]


def _whole(values: Sequence[int]) -> Whole:
    return np.array([*values, None], dtype=object)[:-1]  # never a machine's numbers


def _shifted(values: Any, digits: int) -> Any:
    return values << digits if digits >= 0 else values >> -digits
