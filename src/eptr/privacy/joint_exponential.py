"""Several quantiles at once by one exponential mechanism, sampled exactly.  Proof: joint_exponential.md.

Rows lie at whole numbers on a line; region k is what lies between row k and row k + 1. An output is a place on the line for
each quantile, and its weight falls with how far the numbers of rows between the places are from what they should be. The
sums over all outputs form a chain: a pass forwards finds them, and a pass backwards draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, islice, pairwise, zip_longest
from operator import methodcaller
from typing import Any, Protocol

import numpy as np

from . import draws
from .draws import certain_choice, exponential, exponentials, rounded_uniform
from .noise import NoiseSource
from .unit import Unit

__all__ = ["Line", "joint_places", "joint_ranks", "rank_sensitivity", "rows_wanted"]

Enclosure = tuple[int, int]
Whole = Any  # arrays of Python's whole numbers, which have no largest one


class Line(Protocol):
    """Rows at whole numbers on a line from 0 to ``length``."""

    @property
    def count(self) -> int: ...

    @property
    def length(self) -> int: ...

    def places(self, first: int, last: int) -> list[int]:
        """Of the rows ``first``, ..., ``last``, in increasing order; row 0 is at 0, row count + 1 at ``length``."""


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
        low, high = map(Fraction, line.places(rank, rank + 1))
        found += sorted(rounded_uniform(low, high, noise) for _ in range(run))
    return found


def joint_ranks(line: Line, wanted: Sequence[Fraction], rate: Fraction, noise: NoiseSource) -> list[tuple[int, int]]:
    """The regions of such places, and how many fall into each; drawn from the last to the first. proof: backwards"""
    chain = cache(lambda bits: Chain(line, wanted, rate, bits))

    def chosen(weights: Callable[[Chain], list[Enclosure]]) -> int:
        return certain_choice(lambda bits: weights(chain(bits)), draws.FIRST_BITS, noise)

    found: list[tuple[int, int]] = []
    later, step = line.count + 1, len(wanted) - 1
    while step:
        index = chosen(methodcaller("before", step, later))
        later = next(islice(chain(draws.FIRST_BITS).outwards(step, later), index, None))
        run = 1 + chosen(methodcaller("runs", step, later))
        found, step = [(later, run), *found], step - run
    return found


class Frame:
    """What a chain is built on, at one precision: windows of ranks, their measures, powers of exp(-rate)."""

    def __init__(self, line: Line, wanted: Sequence[Fraction], rate: Fraction, bits: int) -> None:
        self.line, self.wanted, self.rate, self.bits = line, wanted, rate, bits
        self.centres = [round(total) for total in accumulate(wanted)][:-1]
        # Ranks further off have next to no weight, which `missing` bounds: any reach is right, and this one usually enough.
        excess = abs(line.count - Fraction(sum(wanted)))
        self.reach = math.ceil(Fraction(7 * (bits + 8 * len(self.centres)), 10) / rate + excess)
        self.windows = [range(max(0, c - self.reach), min(line.count, c + self.reach) + 1) for c in self.centres]
        self.complete = all(len(window) > line.count for window in self.windows)
        size = min(2 * self.reach, line.count + math.ceil(max(wanted))) + 8
        self.powers = exponentials(rate, size, bits)
        self.powers.append((0, self.powers[-1][1]))  # of anything larger
        self.measures = [np.diff(_whole(line.places(window.start, window.stop))) for window in self.windows]
        self.unit = max(max(measures) for measures in self.measures).bit_length()


class Chain:
    """Enclosures, at one precision, of the sums over all outputs up to each quantile. proof: forwards"""

    def __init__(self, line: Line, wanted: Sequence[Fraction], rate: Fraction, bits: int) -> None:
        self.frame = Frame(line, wanted, rate, bits)
        low = Bounds(self.frame, 0, None)
        self.sides = (low, Bounds(self.frame, 1, low.shifts))

    def outwards(self, step: int, later: int) -> Iterator[int]:
        """All ranks below ``later``, the nearest to the centre of this step first: an order that no precision changes."""
        centre = self.frame.centres[step - 1]
        for off in range(max(centre, self.frame.line.count - centre) + 1):
            yield from (rank for rank in sorted({centre - off, centre + off}) if 0 <= rank < later)

    def before(self, step: int, later: int) -> list[Enclosure]:
        """Weights of the region of quantile ``step`` if the next one lies in the region ``later``. proof: backwards"""
        window = self.frame.windows[step - 1]
        ranks = np.fromiter(islice(self.outwards(step, later), max(0, min(window.stop, later) - window.start)), int)
        rows = min(later, self.frame.line.count)  # above the last quantile: all rows
        low, high = (
            side.sums[step - 1][ranks - window.start] * side.kernel(rows - ranks, self.frame.wanted[step])
            >> self.frame.bits
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
        self.powers = _whole([power[side] for power in frame.powers])
        self.sums: list[Whole] = []
        self.lengths: list[list[tuple[range, Whole]]] = []  # the sums, by how many quantiles share the last region
        self.lost: list[int] = []  # above the weight of longer runs, which are not followed
        self.shifts: list[int] = []  # digits that were added to the sums of a step
        for step, window in enumerate(frame.windows):
            lengths = [(window, self._entering(step)), *self._staying(step)]
            total = lengths[0][1].copy()
            for both, values in lengths[1:]:
                total[both.start - window.start : both.stop - window.start] += values
            lost = -(-self.lost[-1] // 2) if step else 0
            # Numbers are kept as long as the precision, so that small sums have as many digits as large ones.
            shift = self.bits - max(abs(total)).bit_length() if shifts is None else shifts[step]
            lengths = [(both, _shifted(values, shift)) for both, values in lengths]
            lost = -_shifted(-lost, shift)
            while len(lengths) > 1 and all(abs(lengths[-1][1]) <= 1):
                lengths.pop()
                lost += side
            self.lengths.append(lengths)
            self.lost.append(lost)
            self.shifts.append(shift)
            self.sums.append(_shifted(total, shift) - side * lost)

    def kernel(self, rows: Any, wanted: Fraction) -> Whole:
        """exp(-rate |rows - wanted|)."""
        whole = math.floor(wanted)
        below, above = self._parts(wanted)
        first = np.where(rows <= whole, _whole([below]), _whole([above]))
        off = np.where(rows <= whole, whole - rows, rows - whole - 1)
        product = first * self.powers[np.minimum(off, len(self.powers) - 1)]
        return -(-product >> self.bits) if self.side else product >> self.bits

    def _parts(self, wanted: Fraction) -> tuple[int, int]:
        """exp(-rate x) for the parts of a row below and above ``wanted``."""
        below = wanted - math.floor(wanted)
        low, high = (exponential(self.frame.rate * x, self.bits)[self.side] for x in (below, 1 - below))
        return low, high

    def lengths_at(self, step: int, rank: int) -> list[int]:
        return [values[rank - both.start] if rank in both else 0 for both, values in self.lengths[step - 1]]

    def _entering(self, step: int) -> Whole:
        """Weights of sequences that enter each region with their last quantile alone. proof: entering"""
        window, wanted = self.frame.windows[step], self.frame.wanted[step]
        if step == 0:
            found = self.kernel(np.arange(window.start, window.stop), wanted) * (-1 if self.side else 1)
        else:
            earlier, whole = self.frame.windows[step - 1], math.floor(wanted)
            start, stop = min(earlier.start, window.start - whole - 1), max(earlier.stop, window.stop - whole)
            padded = [0] * (earlier.start - start) + self.sums[-1].tolist() + [0] * (stop - earlier.stop)
            here = slice(window.start - whole - start, window.stop - whole - start)
            far, near = _whole([0, *self._decaying(padded)]), self._windowed(padded, whole)
            below, above = self._parts(wanted)
            found = (above * far[here] >> self.bits) + (below * near[here] >> self.bits)
        return found * self.frame.measures[step] >> self.frame.unit

    def _staying(self, step: int) -> Iterator[tuple[range, Whole]]:
        """Runs of the step before that stay in their region with one quantile more. proof: staying"""
        if step == 0:
            return
        window, measures = self.frame.windows[step], self.frame.measures[step]
        stay = exponential(self.frame.rate * self.frame.wanted[step], self.bits)[self.side]
        for length, (earlier, values) in enumerate(self.lengths[-1], start=2):
            start, stop = max(window.start, earlier.start), min(window.stop, earlier.stop)
            if stop <= start:
                return  # nor do longer runs lie in all of their windows
            kept = values[start - earlier.start : stop - earlier.start] * stay >> self.bits
            yield (
                range(start, stop),
                kept * measures[start - window.start : stop - window.start] // (length << self.frame.unit),
            )

    def _decaying(self, values: list[int]) -> list[int]:
        """sum over j <= i of values[j] exp(-rate (i - j))."""
        bits, ratio, found, carried = self.bits, self.powers[1], [], 0
        for value in values:
            carried = value + (carried * ratio >> bits)
            found.append(carried)
        return found

    def _windowed(self, values: list[int], width: int) -> Whole:
        """sum over i <= j < i + width of values[j] exp(-rate (j - i)), without a subtraction. proof: entering"""
        bits, powers, size, carried = self.bits, self.powers, len(values), 0
        if width == 0:
            return _whole([0] * size)
        ratio, ends = powers[1], [0] * size
        for i in reversed(range(size)):  # to the end of a block as wide as the window
            ends[i] = carried = values[i] + (carried * ratio >> bits if (i + 1) % width else 0)
        if width >= size:
            return _whole(ends)
        fill = [0] * (-size % width)
        blocks, found = (_whole(row + fill).reshape(-1, width) for row in (values, ends))
        starts = np.cumsum(blocks * powers[:width] >> bits, axis=1)  # and from the start of the next one
        found[:-1, 1:] += starts[1:, :-1] * powers[width - 1 : 0 : -1] >> bits
        return found.ravel()[:size]


def _enclosed(low: Iterable[int], high: Iterable[int], missing: int) -> list[Enclosure]:
    """Bounds as pairs; what is ``missing`` may belong to any of them or to none, so it counts above from the first one on."""
    (a, b), *others = [(a, -b) for a, b in zip_longest(low, high, fillvalue=0)] or [(0, 0)]
    return [(a, b + missing), *others, *([(0, 0)] if missing else [])]


def _whole(values: Sequence[int]) -> Whole:
    return np.array([*values, None], dtype=object)[:-1]  # never a machine's numbers


def _shifted(values: Any, digits: int) -> Any:
    return values << digits if digits >= 0 else values >> -digits
