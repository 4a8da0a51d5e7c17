"""Quantiles and medians: the same bits everywhere, ranks that are right, intervals that hold, and sentences for bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats as scipy_stats

from eptr import InputError, NotPrivateWarning, PrivacyError, SettingsWarning, stats
from eptr.privacy.bounded_range import bounded_range_mu
from eptr.privacy.cell_line import CellLine
from eptr.rows.memory import MemoryRows
from eptr.stats.quantiles import Plan, _counts, _to_ties
from eptr.stats.rank_interval import RankError
from eptr.stats.value_grid import ValueGrid

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
DECILES = np.arange(1, 10) / 10


def rank_errors(x, found, levels):
    """Points between a quantile and its rank; a tie may take any rank of its points."""
    below, until = (np.searchsorted(np.sort(x), found, side) for side in ("left", "right"))
    wanted = np.asarray(levels) * len(x)
    return np.maximum(0.0, np.maximum(below - wanted, wanted - until))


@pytest.mark.parametrize(
    ("make", "bounds"),
    [
        (lambda rng: rng.normal(0, 5, 1000), (-100, 100)),
        (lambda rng: rng.lognormal(10, 1, 1000), (0, 1e7)),
        (lambda rng: 5 + rng.standard_cauchy(1000), (-1e6, 1e6)),
        (lambda rng: -rng.exponential(size=1000), (-100, 0)),
    ],
)
def test_ranks_miss_as_little_as_the_mechanism_says(make, bounds):
    """Nine deciles at epsilon 1: a walk of Laplace steps of scale 4 that comes home misses about 6 ranks."""
    found = []
    for seed in range(12):
        x = make(np.random.default_rng(seed))
        value = stats.quantiles(x, DECILES, bounds, epsilon=1.0, level=None, random_state=seed).value
        found.append(rank_errors(x, value, DECILES).mean())
    expected = np.mean([RankError.of(k, 10, 4.0).sd for k in range(1, 10)])
    assert np.mean(found) < 1.1 * expected
    assert np.mean(found) > 0.4 * expected


def test_many_rows_at_an_end_push_no_quantile_into_the_empty_range():
    """Incomes, of which most are zero, within wide bounds: ranks in the tie and beyond it."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(500) < 0.6, 0.0, rng.lognormal(8, 1, 500))
        value = stats.quantiles(x, [0.1, 0.5, 0.9], (0, 1e6), epsilon=1.0, random_state=seed).value
        found.append((*rank_errors(x, value, [0.1, 0.5, 0.9]), value[2]))
    _, median, high, value = np.array(found).T
    assert median.mean() < 25
    assert high.mean() < 32
    assert np.median(value) < 30_000


def test_zeros_inside_of_the_bounds_push_no_quantile_away():
    """Three tenths are zero; the next quantiles went far above the rows they belong to."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(2000) < 0.3, 0.0, rng.lognormal(10, 1, 2000))
        value = stats.quantiles(x, [0.25, 0.5, 0.75], (-1000, 1e6), epsilon=0.5, random_state=seed).value
        errors.append(rank_errors(x, value, [0.25, 0.5, 0.75]))
    assert np.max(np.mean(errors, axis=0)) < 55


def test_intervals_of_few_rows_in_wide_bounds_are_the_bounds_where_places_would_run_away():
    """Fifteen levels ran off into the empty range, and intervals held half of the time; now the values stay, too."""
    levels, held, values = [0.1, 0.25, 0.5, 0.75, 0.9], [], []
    truth = 37.0 + np.array([-1.2816, -0.6745, 0.0, 0.6745, 1.2816])
    for seed in range(8):
        x = np.random.default_rng(seed).normal(37, 1, 500)
        found = stats.quantiles(x, levels, (-100, 400), epsilon=1.0, random_state=seed)
        held.append((found.low <= truth) & (truth <= found.high))
        values.append(found.value)
    assert np.mean(held) > 0.85
    assert abs(np.median(values, axis=0) - truth).max() < 0.3


def test_whole_numbers_are_answered_with_whole_numbers():
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 90, 2000)
    found = stats.quantiles(ages, DECILES, (0, 120), epsilon=1.0, step=1, random_state=0)
    for numbers in (found.value, found.low, found.high):
        assert np.array_equal(numbers, np.rint(numbers))
    assert rank_errors(ages, found.value, DECILES).max() < 40
    tenths = np.round(rng.uniform(0, 3, 500), 1)
    assert set(stats.quantiles(tenths, DECILES, (0, 3), epsilon=1.0, step=0.1).value) <= {
        round(k / 10, 1) for k in range(31)
    }
    dollars = np.round(rng.lognormal(10, 1, 2000))
    assert float(stats.median(dollars, (0, 1e7), epsilon=1.0, step=1).value).is_integer()


def test_half_of_the_rows_may_be_zero():
    rng = np.random.default_rng(1)
    x = np.where(rng.uniform(size=3000) < 0.55, 0.0, rng.lognormal(8, 1, 3000))
    found = stats.quantiles(x, [0.3, 0.5, 0.8], (0, 1e6), epsilon=1.0, level=None, random_state=0)
    assert found.value[:2].tolist() == [0.0, 0.0]
    assert rank_errors(x, found.value, [0.3, 0.5, 0.8]).max() < 40


def test_a_dropped_row_is_in_no_cell():
    """Zeroed, it would be a value like any other."""
    grids = [ValueGrid(-1.0, 2.0, 1.0), ValueGrid(-1.0, 2.0, 1.0)]
    x = np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, -1.0]])
    known = [_counts(MemoryRows(rows, drop_invalid=True), grids) for rows in (x, x[[0, 2]])]
    assert [counts.sum() for counts in known[0]] == [2.0, 2.0]
    assert all(np.array_equal(*pair) for pair in zip(*known, strict=True))


@pytest.mark.parametrize(("epsilon", "together"), [(1.0, 1), (0.01, 50)])
def test_ties_have_eight_places_for_each_unit_of_the_scale_of_rank_errors(epsilon, together, monkeypatch):
    """Laplace steps of scale 4/epsilon: no fewer, or rows that could be told apart are not; no more, or time is lost."""
    made = []
    line = lambda *arguments: made.append(arguments[2]) or CellLine(*arguments)  # noqa: E731
    monkeypatch.setitem(_counts.__globals__, "CellLine", line)  # the module has the name of a function
    stats.quantiles(np.zeros(60), [0.5], (0, 1), epsilon=epsilon, level=None, random_state=0)
    assert made == [together]


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
@pytest.mark.parametrize("invalid", ["raise", "drop"])
def test_the_same_bits_wherever_the_rows_are(relation, invalid):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1500, 2))
    if invalid == "drop":
        x[::7, 0] = np.nan
    settings = {"epsilon": 1.0, "neighbours": relation, "invalid": invalid, "random_state": 5}
    named = {"a": x[:, 0], "b": x[:, 1]}
    first = stats.quantiles(x, [0.2, 0.9], (-3, 3), **settings)
    for rows in (pd.DataFrame(named), pa.table(named), pl.DataFrame(named), array_api_strict.asarray(x), x.tolist()):
        found = stats.quantiles(rows, [0.2, 0.9], (-3, 3), **settings)
        for name in ("value", "low", "high"):
            assert np.array_equal(getattr(found, name), getattr(first, name))
    chosen = stats.quantiles(pa.table(named), [0.2, 0.9], {"b": (-3, 3)}, **settings)
    assert chosen.names == (("b",), ("0.2", "0.9"))
    kept = x[np.all(np.isfinite(x), axis=1), 1] if invalid == "drop" else x[:, 1]
    assert rank_errors(kept, chosen.value[0], [0.2, 0.9]).max() < 80


def test_shapes_and_names_follow_the_question():
    x = np.random.default_rng(0).normal(size=(200, 2))
    assert isinstance(stats.median(x[:, 0], (-3, 3), epsilon=1.0).value, float)
    assert stats.median(x, (-3, 3), epsilon=1.0).names == (("x0", "x1"),)
    assert stats.quantiles(x[:, 0], 0.25, (-3, 3), epsilon=1.0).names == ()
    found = stats.quantiles(x[:, 0], [0.9, 0.1, 0.9, 0.0, 1.0], (-3, 3), epsilon=1.0)
    assert found.names == (("0.9", "0.1", "0.9", "0", "1"),)
    assert found.value[0] == found.value[2]
    assert np.all(found.value[[3, 1, 0]] <= found.value[[1, 0, 4]])
    assert np.all((found.low <= found.value) & (found.value <= found.high))
    assert found.low[3] == found.low[3] >= -3.0
    assert "interval" in str(found)
    bare = stats.quantiles(x[:, 0], [0.5], (-3, 3), epsilon=1.0, level=None)
    assert np.isnan(bare.low).all()
    assert "interval" not in str(bare)
    assert "interval" not in bare._repr_html_()


def test_the_release_is_pure_and_names_the_mu_of_its_columns():
    x = np.random.default_rng(0).normal(size=(200, 3))
    release = stats.quantiles(x, [0.5], (-3, 3), epsilon=1.5).release
    assert (release.epsilon, release.delta, release.private, release.basis) == (1.5, 0.0, True, "proven")
    assert (release.cost.kind, release.cost.parts) == ("bounded-range", 3)
    assert release.cost.mu == bounded_range_mu(0.5)
    with pytest.warns(NotPrivateWarning):
        assert not stats.median(x, (-3, 3), epsilon=1.0, random_state=0).release.private


def test_what_is_charged_is_what_is_drawn(tmp_path):
    from eptr import Ledger

    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("study", epsilon=1.0, delta=1e-6)
    account, x = ledger.account("study"), np.random.default_rng(0).normal(size=300)
    stats.median(x, (-3, 3), epsilon=0.6, ledger=account)
    assert ledger.remaining("study").epsilon == pytest.approx(0.4)
    with pytest.raises(PrivacyError, match="does not fit"):
        stats.median(x, (-3, 3), epsilon=0.6, ledger=account)
    ledger.verify("study")


# Intervals.


def test_a_plan_asks_for_two_more_levels_each_and_leaves_out_the_ends():
    plan = Plan.of([Fraction(1, 2), Fraction(1, 100)], 100, 4.0, 0.95)
    assert plan.asked == sorted(plan.asked)
    assert plan.low[1] == 0  # below rank 0: the bound itself
    assert [plan.asked[k - 1] for k in plan.middle] == [Fraction(1, 2), Fraction(1, 100)]
    bare = Plan.of([Fraction(1, 2), Fraction(1, 100)], 100, 4.0, None)
    assert bare.asked == [Fraction(1, 100), Fraction(1, 2)]
    assert bare.low == bare.middle == bare.high


def test_intervals_of_five_answers_hold_them_without_a_step():
    levels, answers, held = [0.1, 0.25, 0.5, 0.75, 0.9], np.arange(1.0, 6.0), []
    for seed in range(6):
        x = np.random.default_rng(seed).choice(answers, 2000, p=[0.05, 0.15, 0.2, 0.45, 0.15])
        found = stats.quantiles(x, levels, (1, 5), epsilon=0.5, random_state=seed)
        held.append((found.low <= [2, 3, 4, 4, 5]) & (found.high >= [2, 3, 4, 4, 5]))
    assert np.mean(held) >= 0.95


def test_an_interval_reaches_a_tie_that_begins_or_ends_at_its_level():
    """Places for ranks just inside of it have little room there, and stood beside it."""
    levels, held = [0.25, 0.5, 0.9], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        u = rng.random(2000)
        x = np.where(u < 0.2455, rng.integers(0, 30, 2000), np.where(u < 0.9, 40, rng.integers(41, 70, 2000)))
        found = stats.quantiles(x, levels, (0, 168), epsilon=0.5, step=1, random_state=seed)
        held.append((found.low <= 40) & (found.high >= 40))
    assert np.mean(held) >= 0.95


def test_ends_move_to_ties_that_are_near_and_to_no_others():
    plan = Plan([], [2, 5], [1, 4], [3, 6], np.ones(2), np.ones(2))
    places = [[0, 3, 4, 6, 8, 8, 8, 100], [0, 3, 4, 6, 20, 20, 20, 100], [0, 3, 4, 6, 8, 9, 10, 100]]
    places += [[0, 5, 5, 5, 5, 5, 6, 100], [0, 4, 4, 4, 6, 7, 8, 100], [0, 4, 4, 4, 9, 10, 11, 100]]
    found = np.array(places, dtype=float)
    low, high = _to_ties(found, plan, found[:, [1, 4]], found[:, [3, 6]])
    assert high[:, 0].tolist() == [8, 6, 6, 5, 4, 4]  # from 6: 8 is near, 20 is not, 8 and 9 are no tie
    assert high[:, 1].tolist() == found[:, 6].tolist()  # the bound is no place
    assert low[:, 1].tolist() == [8, 20, 8, 5, 4, 9]  # 4 is as far from 6 as 8 is; from 9 it is farther than 11
    assert low[:, 0].tolist() == found[:, 1].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "bounds", "relation"),
    [
        (scipy_stats.lognorm(1.0), (0, 1e4), "zero-out"),
        (scipy_stats.t(2), (-1e4, 1e4), "replace-one"),
    ],
    ids=["lognormal", "Student t"],
)
def test_intervals_hold_the_quantiles_of_the_population(law, bounds, relation):
    levels, held = [0.1, 0.5, 0.75], []
    for seed in range(80):
        x = law.rvs(size=800, random_state=seed)
        found = stats.quantiles(x, levels, bounds, epsilon=1.0, neighbours=relation, random_state=seed)
        held.append((found.low <= law.ppf(levels)) & (law.ppf(levels) <= found.high))
    # 240 intervals, each right in 95 % of all cases: the ends are 2.1 and 2.5 standard errors away, and intervals that hold
    # in 90 % of all cases are found out in 5 of 6 times.
    assert 0.92 < np.mean(held) < 0.985


@pytest.mark.parametrize(
    ("law", "bounds", "step", "n", "epsilon"),
    [
        (scipy_stats.norm(52.52, 0.004), (-90, 90), None, 3000, 4.0),
        (scipy_stats.norm(1e4, 1.0), (0, 1e6), None, 3000, 1.0),
        (scipy_stats.norm(1e4, 1.0), (0, 2e4), None, 3000, 4.0),
        (scipy_stats.beta(2, 3, 1.6e9, 86400), (0, 2e9), 1.0, 3000, 4.0),
        (scipy_stats.norm(101325, 60), (0, 1e6), None, 3000, 4.0),
    ],
    ids=["degrees", "a millionth", "zero to twice", "times of a day", "pressure"],
)
def test_values_that_use_little_of_their_bounds_are_as_good_as_others(law, bounds, step, n, epsilon):
    """They all lay in a gap or two of the grid; intervals held next to never."""
    levels, held, errors = [0.1, 0.25, 0.5, 0.75, 0.9], [], []
    truth = law.ppf(levels)
    for seed in range(30):
        x = law.rvs(size=n, random_state=seed)
        x = x if step is None else np.rint(x / step) * step
        found = stats.quantiles(x, levels, bounds, epsilon=epsilon, step=step, random_state=seed)
        held.append((found.low <= truth) & (truth <= found.high))
        errors.append((found.value - truth, np.quantile(x, levels) - truth))
    assert np.mean(held) > 0.91
    private, sampling = np.sqrt(np.mean(np.square(errors), axis=(0, 2)))
    assert private < 1.25 * sampling


@pytest.mark.parametrize("n", [300, 1000])
def test_intervals_of_few_rows_in_a_millionth_of_their_bounds_reach_as_far_as_the_rows_may_lie(n):
    levels, held = [0.1, 0.25, 0.5, 0.75, 0.9], []
    truth = scipy_stats.norm(1e4, 1.0).ppf(levels)
    for seed in range(15):
        x = np.random.default_rng(seed).normal(1e4, 1.0, n)
        found = stats.quantiles(x, levels, (0, 1e6), epsilon=1.0, random_state=seed)
        held.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(held) > 0.95


def test_whole_years_in_wide_bounds_are_years_without_a_step():
    levels, held, found = [0.12, 0.27, 0.52, 0.73, 0.92], [], []
    truth = 2000.0 + np.ceil(20 * np.array(levels)) - 1
    for seed in range(15):
        x = np.random.default_rng(seed).integers(2000, 2020, 3000)
        answer = stats.quantiles(x, levels, (0, 1e6), epsilon=4.0, random_state=seed)
        held.append((answer.low <= truth) & (truth <= answer.high))
        found.append(answer.value == truth)
    assert np.mean(held) > 0.95
    assert np.mean(found) > 0.9


# Bad input.


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"q": 1.5}, "q must hold levels between 0 and 1"),
        ({"q": [-0.1, 0.5]}, "q must hold levels between 0 and 1"),
        ({"q": [0.5, math.nan]}, "q must hold levels between 0 and 1"),
        ({"q": "median"}, "q must hold levels between 0 and 1"),
        ({"q": []}, "q must be a level"),
        ({"q": [[0.5]]}, "q must be a level"),
        ({"bounds": (3, -3)}, "bounds must be finite with low < high"),
        ({"bounds": (0, math.inf)}, "bounds must be finite"),
        ({"bounds": None}, "bounds is missing"),
        ({"bounds": [(0, 1), (0, 1)]}, "bounds must be one pair"),
        ({"x": np.empty((0, 1))}, "x has no rows"),
        ({"x": []}, "x has no rows"),
        ({"x": pd.Series([], dtype=float)}, "x has no rows"),
        ({"x": [1.0, math.nan]}, "NaN"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"step": -1.0}, "step must be"),
        ({"level": 1.0}, "level must be"),
        ({"neighbours": "add-remove"}, "neighbours must be one of"),
        ({"invalid": "ignore"}, "invalid must be"),
        ({"rows_per_person": 0}, "rows_per_person must be"),
    ],
)
def test_bad_input_gets_a_sentence(change, match):
    settings = {"x": np.linspace(0, 1, 60), "q": 0.5, "bounds": (0, 1), "epsilon": 1.0} | change
    with pytest.raises(InputError, match=match):
        stats.quantiles(settings.pop("x"), settings.pop("q"), settings.pop("bounds"), **settings)


def test_constant_and_dropped_columns_are_answered():
    assert stats.median(np.full(2000, 5.0), (0, 10), epsilon=1.0).value == 5.0
    gone = stats.median(np.full(100, math.nan), (0, 10), epsilon=1.0, invalid="drop")
    assert 0.0 <= gone.low <= gone.value <= gone.high <= 10.0


def test_where_rows_may_be_dropped_the_caller_is_told_what_intervals_count():
    x = np.full(5000, math.nan)
    with pytest.warns(SettingsWarning, match="kept="):
        stats.quantiles(x, 0.5, (0, 10), epsilon=1.0, invalid="drop")
    none = stats.quantiles(x, [0.1, 0.5, 0.9], (0, 10), epsilon=1.0, invalid="drop", kept=0)
    assert np.all(none.low == 0.0)
    assert np.all(none.high == 10.0)  # nothing is known


def test_no_interval_of_the_least_value_begins_above_the_bound():
    """Nothing is known of what lies below all rows, or above."""
    x = np.random.default_rng(0).normal(size=2000)
    found = stats.quantiles(x, [0.0, 1.0], (-9, 9), epsilon=1.0, random_state=0)
    assert (found.low[0], found.high[1]) == (-9.0, 9.0)


def test_dropped_rows_are_in_no_fine_cell():
    x = np.random.default_rng(0).normal(0.0, 1e-4, 3000)
    x[::3], x[1::9] = np.nan, 0.0  # what a dropped row becomes is a value of others
    with pytest.warns(SettingsWarning):
        found = stats.median(x, (-10.0, 10.0), epsilon=4.0, invalid="drop", random_state=0)
    assert abs(found.value) < 1e-4
