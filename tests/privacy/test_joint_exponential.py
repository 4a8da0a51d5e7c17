"""The joint exponential mechanism: exact probabilities, neighbours, sums that enclose, windows that miss nothing."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import mpmath
import numpy as np
import pytest
from scipy import stats

from eptr.privacy import draws, joint_exponential
from eptr.privacy.cell_line import CellLine
from eptr.privacy.joint_exponential import Chain, joint_places, joint_ranks, rank_sensitivity, rows_wanted
from eptr.privacy.noise import ExactNoise, SeededNoise
from eptr.privacy.unit import Unit

from .fed_bits import distribution

MEDIAN = [Fraction(1, 2)]
THIRDS = [Fraction(1, 3), Fraction(2, 3)]
CLOSE = [Fraction(1, 4), Fraction(2, 7), Fraction(2, 7), Fraction(9, 10)]


class Points:
    """A line with rows at given places."""

    def __init__(self, places, length):
        self.rows, self.count, self.length = [0, *sorted(places), length], len(places), length

    def regions(self, first, last):
        ranks = np.array([k for k in range(first, last + 1) if self.rows[k + 1] > self.rows[k]], dtype=int)
        return ranks, [self.rows[k] for k in ranks[:1]] + [self.rows[k + 1] for k in ranks]


def rows_on(line):
    """Places of all rows: at each border as many as ranks differ by around it."""
    ranks, borders = line.regions(0, line.count)
    return np.repeat(np.array(borders, dtype=object), np.diff([0, *ranks, line.count])).tolist()


def utility(line, wanted, ranks):
    return -sum(abs(b - a - w) for a, b, w in zip([0, *ranks], [*ranks, line.count], wanted, strict=True))


def truth(line, wanted, rate):
    """Probability of every sequence of ranks, from the definition."""
    gaps = np.diff(np.array([0, *rows_on(line), line.length], dtype=object))
    weights = {}
    for ranks in combinations_with_replacement(range(line.count + 1), len(wanted) - 1):
        shared = math.prod(math.factorial(c) for c in Counter(ranks).values())
        volume = mpmath.mpf(math.prod(gaps[list(ranks)])) / shared
        weights[ranks] = volume * mpmath.exp(
            mpmath.mpf(rate.numerator) / rate.denominator * _real(utility(line, wanted, ranks))
        )
    total = mpmath.fsum(weights.values())
    return {ranks: weight / total for ranks, weight in weights.items()}


def _real(x):
    return mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator


def flat(found):
    return tuple(rank for rank, run in found for _ in range(run))


LINES = [
    (Points([3, 5, 6, 14], 16), MEDIAN, Fraction(1, 2)),
    (Points([3, 5, 6, 14], 16), THIRDS, Fraction(1, 2)),
    (Points([3, 3, 3, 9], 10), THIRDS, Fraction(5, 3)),
    (Points([1, 2, 7], 9), CLOSE, Fraction(1, 3)),
    (Points([0, 0, 4, 4, 4, 10], 10), THIRDS, Fraction(1, 5)),
    (Points([], 5), THIRDS, Fraction(1)),
    (Points([2], 5), [Fraction(0), Fraction(1)], Fraction(1, 7)),
]


def chances(chain, ranks):
    """Probability of a sequence: the product of the chances of the choices that lead to it, last quantile first."""
    found, step, later = mpmath.mpf(1), len(ranks), chain.frame.line.count + 1
    while step:
        rank, run = ranks[step - 1], Counter(ranks[:step])[ranks[step - 1]]
        place = list(chain.outwards(step, later)).index(rank)
        for table, i in ((chain.before(step, later), place), (chain.runs(step, rank), run - 1)):
            found *= mpmath.mpf(table[i][0]) / max(1, sum(low for low, _ in table)) if i < len(table) else 0
        step, later = step - run, rank
    return found


@pytest.mark.parametrize(("line", "levels", "rate"), LINES)
@pytest.mark.parametrize("total", [None, 6])
def test_every_sequence_of_ranks_has_its_probability(line, levels, rate, total):
    wanted = rows_wanted(levels, line.count if total is None else total)
    chain = Chain(line, wanted, rate, 200)
    for ranks, p in truth(line, wanted, rate).items():
        assert (p == 0) == (not set(ranks) <= set(line.regions(0, line.count)[0].tolist()))
        assert p == 0 or abs(chances(chain, ranks) - p) < mpmath.mpf(2) ** -50


@pytest.fixture
def remembered(monkeypatch):
    """Chains of one line are kept, by their precision: many draws from the same one."""
    chains = {}

    def chain(*args):
        return chains.get(args[-1]) or chains.setdefault(args[-1], Chain(*args))

    monkeypatch.setattr(joint_exponential, "Chain", chain)
    return chains


def test_every_sequence_of_bits_leads_to_the_right_ranks(monkeypatch, remembered):
    """What few bits decide is below the truth, and short of it by what they leave open."""
    line, wanted, rate = Points([3, 5, 14], 16), rows_wanted(MEDIAN, 3), Fraction(1, 2)
    monkeypatch.setattr(draws, "FIRST_BITS", 4)
    found, undecided = distribution(lambda noise: flat(joint_ranks(line, wanted, rate, noise)), 11)
    assert 0 < undecided < 0.9
    assert sum(found.values()) + undecided == 1
    for ranks, p in truth(line, wanted, rate).items():
        assert _real(found[ranks]) <= p <= _real(found[ranks] + undecided)


def is_drawn_from(exact, draw, runs):
    """Chi-square of so many draws; sequences that are rare are one class."""
    found = Counter(draw() for _ in range(runs))
    assert set(found) <= set(exact)
    common = [ranks for ranks, p in exact.items() if p * runs > 5]
    observed, expected = [found[r] for r in common], [float(exact[r]) * runs for r in common]
    rest = runs - sum(expected)
    if rest > 1e-6:
        observed, expected = [*observed, runs - sum(observed)], [*expected, rest]
    return len(expected) == 1 or stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize(("line", "levels", "rate"), LINES)
def test_drawn_frequencies_are_the_exact_probabilities(line, levels, rate, remembered):
    wanted, noise = rows_wanted(levels, line.count), SeededNoise(3)
    assert is_drawn_from(truth(line, wanted, rate), lambda: flat(joint_ranks(line, wanted, rate, noise)), 800)


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("levels", [MEDIAN, THIRDS])
def test_windows_that_cut_draw_as_the_definition_says(levels, bits, monkeypatch, remembered):
    """So few bits that most draws need more of them, and wider windows."""
    monkeypatch.setattr(draws, "FIRST_BITS", bits)
    line, rate, noise, wanted = Points(range(2, 42), 60), Fraction(1), SeededNoise(bits), rows_wanted(levels, 40)
    assert not Chain(line, wanted, rate, bits).frame.complete
    assert is_drawn_from(truth(line, wanted, rate), lambda: flat(joint_ranks(line, wanted, rate, noise)), 300)
    assert len(remembered) > 2


@pytest.mark.parametrize("bits", [4, 16, 64, 200])
@pytest.mark.parametrize(("line", "levels", "rate"), LINES)
def test_sums_enclose_and_close_in(line, levels, rate, bits):
    wanted = rows_wanted(levels, line.count)
    chain, exact = Chain(line, wanted, rate, bits), truth(line, wanted, rate)
    table = chain.before(len(levels), line.count + 1)
    weights = Counter()
    for ranks, p in exact.items():
        weights[ranks[-1]] += p
    order = chain.outwards(len(levels), line.count + 1).tolist()
    low, high = (mpmath.fsum(row) for row in zip(*table, strict=True))
    least = most = share = mpmath.mpf(0)
    for rank, (a, b) in zip(order, table, strict=False):
        least, most, share = least + a, most + b, share + weights[rank]
        assert least <= share * high * (1 + mpmath.mpf(2) ** -30)
        assert most >= share * low * (1 - mpmath.mpf(2) ** -30)
    assert sorted(order) == line.regions(0, line.count)[0].tolist()
    if bits >= 64:
        assert high - low < low * mpmath.mpf(2) ** (12 - bits)


def test_a_narrow_window_misses_no_more_than_it_says():
    """The weight of all sequences that leave the windows, in the unit of the sums inside."""
    rng = np.random.default_rng(0)
    for levels, rate in product((MEDIAN, THIRDS, CLOSE[:3]), (Fraction(6), Fraction(25, 2))):
        line = Points(rng.integers(1, 1000, 24).tolist(), 1000)
        wanted = rows_wanted(levels, 24)
        chain, exact = Chain(line, wanted, rate, 2), truth(line, wanted, rate)
        within = [set(ranks.tolist()) for ranks in chain.frame.ranks]
        inside = {ranks: all(map(set.__contains__, within, ranks)) for ranks in exact}
        assert not all(inside.values())
        table = chain.before(len(levels), 25)
        missing = chain.missing(len(levels), Fraction(0))
        most = mpmath.fsum(high for _, high in table) - missing
        assert mpmath.fsum(p for ranks, p in exact.items() if not inside[ranks]) * most <= missing
        assert table[-1] == (0, 0)  # a rank outside of the window is never certain
        outside = next(k for k in range(25) if k not in within[-1])
        assert {low for low, _ in chain.runs(len(levels), outside)} == {0}  # nor is anything about it


def partial(line, wanted, rate, step, unit):
    """Weight of every sequence of the first ``step`` ranks, a region's length in units of 2^unit."""
    gaps = np.diff(np.array([0, *rows_on(line), line.length], dtype=object))
    for ranks in combinations_with_replacement(line.regions(0, line.count)[0].tolist(), step):
        shared = math.prod(math.factorial(c) for c in Counter(ranks).values())
        far = sum(abs(b - a - w) for a, b, w in zip([0, *ranks[:-1]], ranks, wanted, strict=False))
        yield (
            ranks,
            mpmath.ldexp(_real(math.prod(gaps[list(ranks)])), -unit * step) / shared * mpmath.exp(-_real(rate * far)),
        )


HIGH = [Fraction(4, 5), Fraction(9, 10)]
CUT = [(MEDIAN, Fraction(6)), (THIRDS, Fraction(6)), (HIGH, Fraction(1)), (CLOSE[:3], Fraction(25, 2))]


@pytest.mark.parametrize("total", [17, 20])
@pytest.mark.parametrize(("levels", "rate"), CUT)
@pytest.mark.parametrize(("bits", "reach"), [(2, 1), (5, 1), (12, 1), (24, 20), (60, 5), (60, 60), (3, 0.1), (6, 0.1)])
def test_tables_enclose_what_windows_cut(levels, rate, bits, reach, total, monkeypatch):
    """Of every choice, in the order in which it is drawn: what sums to an end lies between the sums of both bounds."""
    monkeypatch.setattr(joint_exponential, "_REACH", joint_exponential._REACH / Fraction(reach))
    line = Points(np.random.default_rng(bits).integers(1, 1000, 20).tolist(), 1000)
    tables_enclose(Chain(line, rows_wanted(levels, total), rate, bits))


def test_runs_that_are_not_followed_weigh_more_where_sums_are_shifted():
    """Two in the first region weigh less than a unit and are lost; then all else falls to a sixteenth, but not a third there."""
    line, rate = Points([*range(1023, 8 * 1023, 1023), *[8 * 1023] * 151], 8 * 1023 + 127), Fraction(1, 20)
    chain = Chain(line, [Fraction(w) for w in (4, 154, 0, 0)], rate, 12)
    assert [side.lost for side in chain.sides] == [[0, 0, 0], [0, 1, 16]]
    tables_enclose(chain)


def tables_enclose(chain):
    line, wanted, rate, bits = chain.frame.line, chain.frame.wanted, chain.frame.rate, chain.frame.bits
    for step in range(1, len(wanted)):
        parts = list(partial(line, wanted, rate, step, chain.frame.unit))
        scale = mpmath.ldexp(1, bits + sum(chain.sides[0].shifts[:step]))
        for later in (line.count + 1, line.count // 2, 3, 1):
            weights = Counter()
            for ranks, weight in parts:
                off = abs(min(later, line.count) - ranks[-1] - wanted[step])
                weights[ranks[-1]] += scale * weight * mpmath.exp(-_real(rate * off)) * (ranks[-1] < later)
            order = [*chain.outwards(step, later).tolist()]
            order += sorted(set(weights) - set(order), key=lambda k, at=chain.frame.centres[step - 1]: (abs(k - at), k))
            encloses(chain.before(step, later), [weights[rank] for rank in order])
        for rank in range(line.count + 1):
            lengths = [mpmath.mpf(0)] * step
            for ranks, weight in parts:
                if ranks[-1] == rank:
                    lengths[Counter(ranks)[rank] - 1] += scale * weight
            encloses(chain.runs(step, rank), lengths)


def encloses(table, weights):
    """Whether sums of weights up to each lie between those of a table; the last of it stands for all that follow."""
    low = high = share = mpmath.mpf(0)
    for k, (a, b) in enumerate(table):
        low, high, share = low + a, high + b, share + (weights[k] if k < len(weights) else 0)
        assert low <= share * (1 + mpmath.mpf(2) ** -40)
        assert share <= high * (1 + mpmath.mpf(2) ** -40)
    assert mpmath.fsum(weights) <= high * (1 + mpmath.mpf(2) ** -40)


def test_powers_of_windows_far_from_the_first_row_are_in_their_table():
    table = Chain(Points(range(1, 12_002), 12_003), rows_wanted(THIRDS, 12_001), Fraction(6), 8).before(2, 12_002)
    assert all(0 <= low <= high for low, high in table)


def test_more_bits_continue_the_order():
    """What has been drawn must mean the same rank at every precision."""
    line, wanted, rate = Points(range(2, 42), 60), rows_wanted(THIRDS, 40), Fraction(1)
    few, more = (Chain(line, wanted, rate, bits) for bits in (1, 8))
    for step, later in product((1, 2), (41, 30, 20)):
        first, then = few.outwards(step, later).tolist(), more.outwards(step, later).tolist()
        assert 0 < len(first) < len(then)
        assert then[: len(first)] == first


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2)])
def test_powers_enclose_however_far(rate):
    """From both tables, and beyond their ends."""
    chain = Chain(Points(range(1, 3001), 4000), rows_wanted(MEDIAN, 3000), rate, 40)
    far = np.array([0, 1, 1023, 1024, 1025, 2047, 2999, 5000, 10**6])
    low, high = (side.power(far) for side in chain.sides)
    for k, a, b in zip(far.tolist(), low, high, strict=True):
        assert a <= mpmath.ldexp(mpmath.exp(-_real(rate * k)), 40) <= b


def test_places_are_uniform_in_their_region_and_increase():
    line = Points([4, 8], 12)
    wanted = rows_wanted([Fraction(1, 2), Fraction(1, 2)], 2)
    noise, found = SeededNoise(0), []
    for _ in range(400):
        places = joint_places(line, wanted, Fraction(30), noise)
        assert places == sorted(places)
        found += places
    assert 4.0 <= min(found) < max(found) <= 8.0
    assert stats.kstest(np.array(found[::2]), stats.beta(1, 2, loc=4, scale=4).cdf).pvalue > 1e-3
    assert len(joint_places(line, wanted, Fraction(1), ExactNoise())) == 2


# Neighbours.

UNITS = [Unit("replace-one"), Unit("zero-out"), Unit("replace-one", 2), Unit("zero-out", 2)]


def moves(counts, relation):
    """All histograms that differ in one row: moved to another cell or dropped, or a dropped row that comes back."""
    for a in range(len(counts)):
        less = list(counts)
        less[a] -= 1
        if less[a] >= 0:
            yield less
            if relation == "replace-one":
                yield from ([c + (i == b) for i, c in enumerate(less)] for b in range(len(counts)) if b != a)


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("levels", [MEDIAN, THIRDS, [Fraction(1, 10), Fraction(1, 2)]])
def test_no_neighbour_moves_the_loss_by_more_than_its_range(unit, public, levels):
    """All outputs on lines from small histograms: the range of the loss is at most epsilon, and near it."""
    epsilon, n, worst = 1.0, 5, 0.0
    rate = Fraction(epsilon) / (2 * rank_sensitivity(levels, unit, public_total=public))
    for counts in product(range(4), repeat=2):
        if not 2 <= sum(counts) <= n:
            continue
        others = [counts]
        for _ in range(unit.rows):
            others = [o for c in others for o in moves(c, unit.relation)]
        for other in {tuple(o) for o in others}:
            worst = max(worst, loss_range(counts, other, levels, rate, n if public else None))
    assert worst <= epsilon * (1 + 1e-12)
    assert worst > 0.6 * epsilon


def loss_range(counts, other, levels, rate, total):
    """Largest difference of privacy losses between two outputs; lines are cut so that ranks on both sides are constant."""
    lines = [CellLine(c) for c in (counts, other)]
    digits = max(line.digits for line in lines)
    rows = [np.array([p << digits - line.digits for p in rows_on(line)]) for line in lines]
    cuts = np.unique(np.concatenate([[0], *rows, [len(counts) << digits]]))
    middles = (cuts[:-1] + cuts[1:]) / 2
    ranks = [np.searchsorted(np.sort(row), middles) for row in rows]
    wanted = [rows_wanted(levels, line.count if total is None else total) for line in lines]
    losses = []
    for places in combinations_with_replacement(range(len(middles)), len(levels)):
        one, two = (utility(line, w, [r[p] for p in places]) for line, w, r in zip(lines, wanted, ranks, strict=True))
        losses.append(float(rate * (one - two)))
    return max(losses) - min(losses)


# A histogram as a line.


def test_rows_of_a_cell_lie_at_reversed_bits():
    line = CellLine([3, 0, 5])
    digits = line.digits
    reverse = lambda i: int(f"{i:0{digits}b}"[::-1], 2)  # noqa: E731
    expected = sorted(reverse(i) for i in (1, 2, 3)) + sorted((2 << digits) + reverse(i) for i in range(1, 6))
    assert rows_on(line) == expected
    ranks, borders = line.regions(4, 6)
    assert (ranks.tolist(), borders) == ([4, 5, 6], expected[3:7])
    assert CellLine([0, 0]).regions(0, 0)[1] == [0, 2]


def test_cells_have_their_lengths():
    line, plain = CellLine([1, 2, 0], [4, 1, 10]), CellLine([1, 2, 0])
    assert line.length == 15 << line.digits
    assert [Fraction(p, 1 << line.digits) for p in rows_on(line)] == [2, Fraction(17, 4), Fraction(9, 2)]
    cells, inside = line.cells([0.0, *rows_on(line), line.length])
    assert cells.tolist() == [0, 0, 1, 1, 2]
    assert inside == pytest.approx([0.0, 0.5, 0.25, 0.5, 1.0])
    assert plain.cells(rows_on(plain))[0].tolist() == [0, 1, 1]
    assert rows_on(CellLine([5], [1 << 50])) == [p << 50 for p in rows_on(CellLine([5]))]


@pytest.mark.parametrize("together", [1, 2, 5])
def test_a_row_more_adds_one_place_and_moves_nothing(together):
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.integers(0, 9, 4)
        more = counts + np.eye(4, dtype=int)[rng.integers(4)]
        places = []
        for line in (CellLine(counts, None, together), CellLine(more, None, together)):
            places.append(Counter(Fraction(p, 1 << line.digits) for p in rows_on(line)))
        assert places[0] < places[1]
        assert (places[1] - places[0]).total() == 1
        assert places[1].total() == sum(more)


def test_a_million_rows_in_one_cell_are_evenly_spread():
    line = CellLine([0, 1_000_000, 0])
    ranks, borders = line.regions(499_990, 500_010)
    assert ranks.tolist() == list(range(499_990, 500_011))
    assert np.all(np.diff(borders) > 0)
    assert np.array(borders) / (1 << line.digits) == pytest.approx(1.5, abs=1e-4)
    assert len(CellLine([0, 1_000_000, 0], None, 250).regions(0, 1_000_000)[0]) == 4001


def test_pieces_of_a_line_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    for together in (1, 3):
        line = CellLine(rng.integers(0, 6, 20), rng.integers(1, 9, 20), together)
        ranks, borders = line.regions(0, line.count)
        for first, last in rng.integers(0, line.count + 1, (60, 2)):
            chosen = np.flatnonzero((first <= ranks) & (ranks <= last))
            found = line.regions(first, last)
            assert np.array_equal(found[0], ranks[chosen])
            if len(chosen):
                assert found[1] == borders[chosen[0] : chosen[-1] + 2]


@pytest.mark.parametrize(
    ("levels", "unit", "public", "expected"),
    [
        (MEDIAN, Unit(), True, 2),
        (MEDIAN, Unit("replace-one", 3), False, 6),
        (MEDIAN, Unit("zero-out"), True, 1),
        (MEDIAN, Unit("zero-out"), False, 1),  # 2 (1 - 1/2)
        (THIRDS, Unit("zero-out", 2), True, 2),
        ([Fraction(1, 10)], Unit("zero-out"), False, Fraction(9, 5)),  # 2 (1 - 1/10)
    ],
)
def test_sensitivities(levels, unit, public, expected):
    assert rank_sensitivity(levels, unit, public_total=public) == expected
