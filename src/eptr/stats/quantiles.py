"""Quantiles of columns, all at once: one exponential mechanism for each column, sampled exactly.  Proof: quantiles.md."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..errors import InputError, SettingsWarning, positive
from ..privacy.bounded_range import bounded_range_epsilon, bounded_range_mu
from ..privacy.cell_line import CellLine, Occupied
from ..privacy.claim import Cost
from ..privacy.contribution import Interval
from ..privacy.joint_exponential import rank_sensitivity
from ..privacy.spending import Portion, Spending
from ..rows.engine import Engine
from ..rows.namespace import to_numpy
from ..rows.task import Task
from .estimate import Estimate
from .fine_cells import MOST, FineCells
from .persons import SHARE, variances
from .question import Question, Shared, column_bounds, column_names, is_column, statistic
from .rank_interval import RankError, interval_ranks
from .value_grid import ValueGrid

__all__ = ["counted_quantiles", "median", "quantiles"]

Array = NDArray[np.float64]
# Of epsilon, so that what columns get adds up to no more.
_KEPT_BACK = 1.0 - 1e-15
# Below this, numbers of rank errors overflow; nothing is left of an answer long before.
_LEAST = 1e-100
COUNT = 0.05  # of mu^2, where it is Gaussian: on how many rows count
# Intervals hold within bounds that are so many times too wide.
_WIDE = 100.0
# Where rows are very many a gap has fewer cells, or a pass would bring back all rows of a narrow column.
_MANY, _MOST_OF_MANY = 1_000_000, 1e10
# Two would be just enough, if all places that could gain did.
_SAFE = 1.5
# Places in a tie of many rows, for each unit of the scale of rank errors.
_FINENESS = 8.0
# Ranks that a draw looks at, in units of the scale of rank errors: so many, and some more for each level.
_BITS = 100


@statistic
def quantiles(
    x: Any,
    q: Any,
    bounds: Any,
    *,
    epsilon: float,
    step: float | None = None,
    level: float | None = 0.95,
    kept: float | None = None,
    **shared: Unpack[Shared],
) -> Estimate:
    """Quantiles of one or more columns; epsilon-DP, with delta = 0.

    Parameters
    ----------
    x : array, list, series, table, path of Parquet files, or what Arrow, Dask or Spark have
        With several columns each gets an equal part of epsilon.
    q : float or sequence of floats
        Levels between 0 and 1, of the rows that are not dropped; many cost little more than one.
    bounds : (low, high), one pair per column, or {name: (low, high)}, which chooses columns
        From what is known before seeing the data; values beyond count at the ends. Much too wide bounds cost little.
    epsilon : float
        A ledger counts it as epsilon or, beside noisy sums, by its mu, whichever leaves more.
    step : float, optional
        Values are known to be multiples of it, such as 1 for whole numbers: quantiles are, then, and ties do little harm. If a
        large tie begins or ends a few rows from a level, its interval may end beside the tie, more often than ``level`` says.
    level : float or None
        Intervals that hold the quantile of the population so often. They are quantiles, too, two more for each level, and
        make errors in ranks larger: None buys none.
    kept : float, optional
        About how many rows are not dropped, if most are: public, or released before. Without it intervals count all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from eptr import stats
    >>> ages = np.random.default_rng(0).integers(18, 90, size=10_000)
    >>> bool(stats.quantiles(ages, [0.1, 0.5, 0.9], (0, 120), epsilon=1.0, step=1).value[1] in range(50, 58))
    True
    """
    return _answer("quantiles", x, q, bounds, epsilon, step, level, shared, kept)


@statistic
def median(
    x: Any,
    bounds: Any,
    *,
    epsilon: float,
    step: float | None = None,
    level: float | None = 0.95,
    **shared: Unpack[Shared],
) -> Estimate:
    """The median of one or more columns; epsilon-DP, with delta = 0."""
    return _answer("median", x, 0.5, bounds, epsilon, step, level, shared)


def _answer(
    what: str,
    x: Any,
    q: Any,
    bounds: Any,
    epsilon: float,
    step: float | None,
    level: float | None,
    shared: Shared,
    kept: float | None = None,
) -> Estimate:
    levels, step = _levels(q), None if step is None else positive("step", step)
    if kept is not None and not (isinstance(kept, Real) and 0 <= kept < 2**53):
        raise InputError("kept must be about how many rows are not dropped, a number, or None.")
    if float(positive("epsilon", epsilon)) < _LEAST:
        raise InputError(f"epsilon must be at least {_LEAST:g} for quantiles, got {epsilon!r}.")
    question = Question(
        what=what,
        epsilon=epsilon,
        delta=0.0,
        level=math.nan if level is None else level,
        home=__name__,
        declared={"q": q, "bounds": bounds, "step": step},
        **shared,
    )
    columns = tuple(bounds) if isinstance(bounds, Mapping) else None
    task = Task("none", drop_invalid=question.drop, columns=columns)
    rows, spending = question.open(x, task=task, cost=lambda rows: _cost(epsilon, rows.n_features))
    if question.drop and level is not None and kept is None:
        warnings.warn(
            "intervals count all rows, and are too short if many are dropped: pass quantiles(..., kept=) about how many are not.",
            SettingsWarning,
            stacklevel=4,
        )
    grids = _grids(bounds, step, rows)
    count = rows.n if kept is None else max(1, min(rows.n, round(kept)))
    found = _placed(rows, grids, levels, spending, epsilon / len(grids) * _KEPT_BACK, question, count)
    return _told(question, spending, found, rows, q, column=is_column(x))


def counted_quantiles(
    rows: Engine, q: Any, bounds: Any, *, step: float | None, level: float | None, **settings: Any
) -> Estimate:
    """Of the rows of a study, on a Gaussian budget: how many count, the quantiles, and what persons' rows share. proof: counted

    One release. Intervals depend on the first. Ranks are asked for as if all rows of a person were alike; how they fall below and
    above the quantiles that were found says how much they are.
    """
    levels, held = _levels(q), math.nan if level is None else level
    declared = {"q": q, "bounds": bounds, "step": step}
    question = Question(what="quantiles", level=held, home=__name__, declared=declared, **settings)
    rows, spending = question.open(rows)
    grids, last = _grids(bounds, step, rows), SHARE if rows.each > 1 and level is not None else 0.0
    seen = float(spending.sums(rows, _kept, Interval(0.0, 1.0), COUNT))
    count = max(1, min(rows.n, round(seen)))
    each = bounded_range_epsilon(spending.share((1.0 - COUNT - last) / len(grids)))
    found = _placed(rows, grids, levels, spending, each, question, count)
    if last:
        found = _over_persons(found, levels, rows, count, spending.within(last))
    return _told(question, spending, found, rows, q, column=False)


class Placed(NamedTuple):
    """Quantiles, one line a column: the ends of their intervals, and their standard errors."""

    value: Array
    low: Array
    high: Array
    sampling: Array
    privacy: Array


def _grids(bounds: Any, step: float | None, rows: Engine) -> list[ValueGrid]:
    return [ValueGrid(low, high, step) for low, high in column_bounds(bounds, rows.n_features).tolist()]


def _kept(x: Any, y: Any, keep: Any) -> tuple[Array, ...]:
    """How many rows count."""
    return (np.asarray(float(x.shape[0] if keep is None else to_numpy(keep).sum())),)


def _placed(
    rows: Engine,
    grids: list[ValueGrid],
    levels: list[Fraction],
    spending: Spending,
    each: float,
    question: Question,
    count: int,
) -> Placed:
    """Quantiles of every column, by an exponential mechanism of epsilon ``each``; ``count``: of rows, for intervals alone."""
    total = None if question.drop else rows.n
    widest = rank_sensitivity([Fraction(0)], spending.unit, public_total=total is not None)
    scale = float(2 * widest) / each  # of the steps of rank errors: rows that share a place are not told apart anyway
    level = None if math.isnan(question.level) else question.level
    plan = Plan.of(levels, count, scale, level, spending.unit.rows)
    most = plan.cells(count, scale)
    fine = [FineCells(grid, most) if grid.gaps else None for grid in grids]
    lines = _lines(rows, grids, fine, max(1, int(scale / _FINENESS)))  # proof: quantiles
    _learn(rows, fine, lines, plan.asked, total, scale)
    ends, reached = [], []
    for grid, cells, line in zip(grids, fine, lines, strict=True):
        places = spending.place(line, plan.asked, each, total=total)
        reached.append(plan.reached(places / line.length, count, scale))
        found = line.cells(places)
        both = (grid.points[found[0]],) * 2 if cells is None else map(grid.rounded, cells.ends(*found))
        ends.append([[grid.points[0], *end, grid.points[-1]] for end in both])
    left, right = np.moveaxis(np.array(ends), 1, 0)
    value = np.array([grid.rounded(line) for grid, line in zip(grids, 0.5 * (left + right), strict=True)])
    value, low, high = value[:, plan.middle], left[:, plan.low], right[:, plan.high]
    farther = [np.take_along_axis(end, np.array(reached)[:, k], axis=1) for k, end in enumerate((left, right))]
    # Half an interval is z standard errors, of which sampling and privacy have their parts in ranks.
    error = (high - low) / (2.0 * question.normal_quantile * np.hypot(plan.sampling, plan.privacy))
    low, high = _to_ties(left, plan, low, high)[0], _to_ties(right, plan, low, high)[1]
    low, high = np.minimum(low, farther[0]), np.maximum(high, farther[1])
    return Placed(value, low, high, error * plan.sampling, error * plan.privacy)


def _to_ties(places: Array, plan: Plan, low: Array, high: Array) -> tuple[Array, Array]:
    """Ends at a tie that the next two places beyond them agree on, unless it is farther than the interval is wide.

    Rows of a tie share little of the line, so places for ranks just inside of one fall beside it. see quantiles.md
    """
    ends, last = [low.copy(), high.copy()], places.shape[1] - 1
    for side, indices, sign in ((0, plan.low, -1), (1, plan.high, 1)):
        for level, index in enumerate(indices):
            if 0 < index < last and 0 < index + 2 * sign < last:  # bounds are no places
                tie, other = places[:, index + sign], places[:, index + 2 * sign]
                near = (tie == other) & (abs(tie - places[:, index]) <= high[:, level] - low[:, level])
                ends[side][:, level] = np.where(near, tie, ends[side][:, level])
    return ends[0], ends[1]


def _told(question: Question, spending: Spending, found: Placed, rows: Engine, q: Any, *, column: bool) -> Estimate:
    names: list[list[str]] = [] if column else [column_names(rows)]
    names += [[f"{float(level):g}" for level in _levels(q)]] if np.ndim(q) else []
    value, low, high, sampling, privacy = (v.reshape(tuple(map(len, names))) for v in found)
    if math.isnan(question.level):
        low, high = low + math.nan, high + math.nan
    return question.answer(spending, value, sampling, privacy, names, noise_scale=math.nan, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which levels to ask for, and where the answers stand among them; the bounds stand at both ends."""

    asked: list[Fraction]
    middle: list[int]
    low: list[int]
    high: list[int]
    sampling: Array  # standard deviations, in ranks
    privacy: Array

    @classmethod
    def of(cls, levels: list[Fraction], n: int, scale: float, level: float | None, alike: float = 1.0) -> Plan:
        """``scale``: of the steps of rank errors. Without ``level`` the ends of intervals are the quantiles themselves.

        ``alike``: so many rows of a person are as good as one, at worst (persons.md, bound).
        """
        different = sorted(set(levels))
        steps = (1 if level is None else 3) * len(different) + 1
        ends: dict[Fraction, tuple[Fraction, Fraction]] = {}
        if level is not None:
            ranks = [
                interval_ranks(3 * j + 2, steps, scale, n, float(q), level, alike) for j, q in enumerate(different)
            ]
            held = _held(ranks, n, scale)
            ends = {q: (Fraction(low, n), Fraction(high, n)) for q, (low, high) in zip(different, held, strict=True)}
        asked = sorted({*different, *(end for pair in ends.values() for end in pair if 0 < end < 1)})
        place = {q: k for k, q in enumerate(asked, start=1)}
        bounds = {Fraction(0): 0, Fraction(1): len(asked) + 1} if ends else {}
        low, high = ([(place | bounds)[ends.get(q, (q, q))[side]] for q in levels] for side in (0, 1))
        sampling = np.sqrt([alike * n * float(q * (1 - q)) for q in levels])
        privacy = np.array([RankError.of(place[q], steps, scale).sd for q in levels])
        return cls(asked, [place[q] for q in levels], low, high, sampling, privacy)

    def cells(self, n: int, scale: float) -> float:
        """How many the range may have for places to stay at home if all rows lie in one. see quantiles.md"""
        ranks = np.array([float(q) * n for q in self.asked if 0 < q < 1])
        number = np.arange(1, (len(ranks) + 1) // 2 + 1)
        beyond = np.minimum(ranks[: len(number)], n - ranks[::-1][: len(number)])
        gains = (_SAFE * beyond / scale + gammaln(number + 1.0)) / number
        most = MOST if n <= _MANY else _MOST_OF_MANY
        return float(max(1.0, min(most, math.exp(min(np.min(gains, initial=math.inf), 600.0)) * 2.0 * scale / n)))

    def reached(self, places: Array, n: int, scale: float) -> tuple[list[int], list[int]]:
        """Which places intervals must reach, or bounds, if places lie as close together as these. see quantiles.md

        ``places``: as parts of the line.
        """
        if self.low == self.middle == self.high:
            return self.low, self.high
        ranks = np.array([float(q) * n for q in self.asked])
        apart = ranks[None, :] - ranks[:, None]
        many = (apart > 0.0) & (apart >= min(n / 3.0, ranks[-1] - ranks[0]))
        far = np.maximum(places[None, :] - places[:, None], 1e-300)
        wide = float(np.max(apart[many] / (n * far[many]), initial=0.0))
        if wide <= _WIDE:
            return self.low, self.high
        count = len(ranks)
        needed = np.array([_needed(k, n, scale, wide) for k in range(count + 1)])
        whole, numbers = np.array([math.inf, *ranks, -math.inf]), np.arange(count + 2)
        stay = n - whole >= needed[np.clip(count + 1 - numbers, 0, count)]  # if all above run away
        low = [max(k for k in range(index + 1) if stay[k] or not k) for index in self.low]
        stay = whole >= needed[np.clip(numbers, 0, count)]
        high = [min(k for k in range(index, count + 2) if stay[k] or k > count) for index in self.high]
        return low, high


def _needed(places: int, n: int, scale: float, wide: float) -> int:
    """Rows that keep so many places at home, where rows fill a part 1/wide of the line. see quantiles.md"""
    gain = math.log(max(wide * n / (2.0 * scale), 1.0))
    return math.ceil(scale * max(places * gain - math.lgamma(places + 1.0), 0.0))


def _held(ends: list[tuple[int, int]], n: int, scale: float) -> list[tuple[int, int]]:
    """Ranks for the ends of intervals, by increasing level, or 0 and n for the bounds where rows are too few to hold them.

    m places that run off to where nobody is gain its length m times, in any order, and miss the rows between. see quantiles.md
    """

    def needed(places: int) -> int:
        return _needed(places, n, scale, _WIDE)

    def from_above(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        found, places = [], 0
        for low, high in reversed(pairs):
            high = high if n - high >= needed(places + 1) else n
            places += 1 + (high < n)
            low = max(min(low, n - needed(places + 1)), 0)
            places += low > 0
            found.append((low, high))
        return found[::-1]

    def turned(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(n - high, n - low) for low, high in reversed(pairs)]

    return from_above(turned(from_above(turned(from_above(ends)))))


def _over_persons(found: Placed, levels: list[Fraction], rows: Engine, count: float, spending: Portion) -> Placed:
    """The same, with intervals as narrow as what persons' rows have in common allows. proof: persons"""
    value, q = found.value, np.broadcast_to(np.array(levels, dtype=float), found.value.shape)

    def around(x: Any, y: Any, keep: Any) -> Any:
        below = np.where(keep[:, None, None], (to_numpy(x)[:, :, None] <= value) - q, 0.0)
        return below.reshape(len(below), -1)

    alone, radius = np.maximum(count * q * (1.0 - q), 1e-300), float(np.linalg.norm(np.maximum(q, 1.0 - q)))
    varying = variances(rows, alone, around, radius, spending, 1.0)
    sampling = found.sampling * np.sqrt(varying / (spending.unit.rows * alone))
    before, after = (np.hypot(error, found.privacy) for error in (found.sampling, sampling))
    ratio = np.where(before > 0.0, after / np.where(before > 0.0, before, 1.0), 1.0)
    low, high = (value + ratio * (end - value) for end in (found.low, found.high))
    return Placed(value, low, high, sampling, found.privacy)


def _levels(q: Any) -> list[Fraction]:
    """Levels as fractions, in the order of the caller."""
    listed = list(np.ravel(np.asarray(q, dtype=object)))
    if not listed or np.ndim(q) > 1:
        raise InputError("q must be a level between 0 and 1, or a list of some.")
    for level in listed:
        number: Any = level if isinstance(level, Real) and not isinstance(level, bool) else math.nan
        if not 0 <= number <= 1:
            raise InputError("q must hold levels between 0 and 1, and comes second: quantiles(x, q, bounds).")
    return [Fraction(float(level)).limit_denominator(10**9) for level in listed]


def _cost(epsilon: float, columns: int) -> Cost:
    """Pure, and by its range in a Gaussian account."""
    return Cost(epsilon, 0.0, "bounded-range", bounded_range_mu(epsilon / columns), parts=columns)


def _counts(rows: Engine, grids: list[ValueGrid]) -> tuple[Array, ...]:
    """How many values of every column lie in each cell of its grid."""

    def counts(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        x = x if keep is None else x[keep]
        return tuple(grid.counts(x[:, j]) for j, grid in enumerate(grids))

    return rows.sum(counts)


def _lines(rows: Engine, grids: list[ValueGrid], fine: list[FineCells | None], together: int) -> list[CellLine]:
    """Of every column, its values in the finest cells, which are counted where they are wanted alone. proof: finer"""
    lines = []
    for j, (grid, cells, counts) in enumerate(zip(grids, fine, _counts(rows, grids), strict=True)):
        finer = None if cells is None else partial(_one_finer, rows, fine, j)
        lines.append(CellLine(counts, grid.lengths if cells is None else cells.lengths, together, finer))
    return lines


def _one_finer(rows: Engine, fine: list[FineCells | None], column: int, asked: Any) -> Occupied:
    return _finer(rows, fine, {column: asked})[column]


def _finer(rows: Engine, fine: list[FineCells | None], asked: dict[int, Any]) -> dict[int, Occupied]:
    """The fine cells that hold rows, of chosen cells of some columns, in one pass."""
    chosen = {}
    for j, cells in asked.items():
        chosen[j] = np.zeros(len(_some(fine[j]).lengths), dtype=bool)
        chosen[j][cells] = True

    def names(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        kept = slice(None) if keep is None else to_numpy(keep)
        return tuple(_counted(_some(fine[j]).names(to_numpy(x[:, j])[kept], chosen[j])) for j in asked)

    found: tuple[Any, ...] = rows.sum(names)
    return {j: _some(fine[j]).occupied(v["key"], v["count"]) for j, v in zip(asked, found, strict=True)}


def _counted(names: Any) -> Any:
    keys, counts = np.unique(names, return_counts=True)
    found = np.empty(len(keys), dtype=[("key", np.int64), ("count", np.int64)])
    found["key"], found["count"] = keys, counts
    return found


def _some(cells: FineCells | None) -> FineCells:
    assert cells is not None
    return cells


def _learn(
    rows: Engine,
    fine: list[FineCells | None],
    lines: list[CellLine],
    asked: list[Fraction],
    total: int | None,
    scale: float,
) -> None:
    """In one pass what draws will most likely ask about; which ranks these are matters for time alone."""
    wanted = {}
    for j, line in enumerate(lines):
        if fine[j] is not None:
            n = line.count if total is None else total
            reach = min(math.ceil(scale * (_BITS + 6 * len(asked))) + abs(line.count - n), line.count + n)
            cells = [line.within(round(q * n) - reach, round(q * n) + reach) for q in asked]
            wanted[j] = np.unique(np.concatenate(cells))
    for j, parts in (_finer(rows, fine, wanted) if wanted else {}).items():
        lines[j].learn(parts, wanted[j])
