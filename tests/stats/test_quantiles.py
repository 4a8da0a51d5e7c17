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

from eptr import InputError, NotPrivateWarning, PrivacyError, stats
from eptr.privacy.bounded_range import bounded_range_mu
from eptr.stats.quantiles import Plan
from eptr.stats.rank_interval import RankError, interval_ranks
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
    for seed in range(25):
        x = make(np.random.default_rng(seed))
        value = stats.quantiles(x, DECILES, bounds, epsilon=1.0, level=None, random_state=seed).value
        found.append(rank_errors(x, value, DECILES).mean())
    expected = np.mean([RankError.of(k, 10, 4.0).sd for k in range(1, 10)])
    assert np.mean(found) < 1.1 * expected
    assert np.mean(found) > 0.4 * expected


def test_whole_numbers_are_answered_with_whole_numbers():
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 90, 2000)
    found = stats.quantiles(ages, DECILES, (0, 120), epsilon=1.0, step=1)
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
    found = stats.quantiles(x, [0.3, 0.5, 0.8], (0, 1e6), epsilon=1.0, level=None)
    assert found.value[:2].tolist() == [0.0, 0.0]
    assert rank_errors(x, found.value, [0.3, 0.5, 0.8]).max() < 40


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


def test_rank_errors_are_a_walk_that_comes_home():
    """Against simulated walks, weighted by how near they come home."""
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.laplace(scale=3.3, size=(400_000, 4)), axis=1)  # a tenth for uneven gaps
    weight = np.exp(-np.abs(walks[:, 3]) / 3.3)  # the last of five steps
    for step in (1, 2, 4):
        law = RankError.of(step, 5, 3.0)
        assert law.sd == pytest.approx(math.sqrt(np.average(walks[:, step - 1] ** 2, weights=weight)), rel=0.03)
        assert law.chance.sum() == pytest.approx(1.0)
        assert law.off @ law.chance == pytest.approx(0.0, abs=0.1)
    assert RankError.of(2, 5, 3.0).sd == pytest.approx(RankError.of(3, 5, 3.0).sd, rel=1e-6)


def test_interval_ranks_have_their_tails():
    rng = np.random.default_rng(0)
    low, high = interval_ranks(2, 4, 2.0, 1000, 0.3, 0.9)
    errors = [rng.choice(law.off, 200_000, p=law.chance) for law in (RankError.of(k, 4, 2.0) for k in (1, 3))]
    own = rng.binomial(1000, 0.3, 200_000)
    for off in (low + errors[0] - own, own - high - errors[1]):
        assert (
            0.042 < np.mean(off > 0) + np.mean(off == 0) / 2 < 0.0515
        )  # in the same gap it is as likely above as below
    assert interval_ranks(2, 4, 2.0, 20, 0.01, 0.95)[0] == 0


def test_a_plan_asks_for_two_more_levels_each_and_leaves_out_the_ends():
    plan = Plan.of([Fraction(1, 2), Fraction(1, 100)], 100, 4.0, 0.95)
    assert plan.asked == sorted(plan.asked)
    assert plan.low[1] == 0  # below rank 0: the bound itself
    assert [plan.asked[k - 1] for k in plan.middle] == [Fraction(1, 2), Fraction(1, 100)]
    bare = Plan.of([Fraction(1, 2), Fraction(1, 100)], 100, 4.0, None)
    assert bare.asked == [Fraction(1, 100), Fraction(1, 2)]
    assert bare.low == bare.middle == bare.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "bounds", "relation"),
    [
        (scipy_stats.norm, (-100, 100), "replace-one"),
        (scipy_stats.lognorm(1.0), (0, 1e4), "zero-out"),
        (scipy_stats.t(2), (-1e4, 1e4), "replace-one"),
    ],
    ids=["normal", "lognormal", "Student t"],
)
def test_intervals_hold_the_quantiles_of_the_population(law, bounds, relation):
    levels, held = [0.1, 0.5, 0.75], []
    for seed in range(120):
        x = law.rvs(size=800, random_state=seed)
        found = stats.quantiles(x, levels, bounds, epsilon=1.0, neighbours=relation, random_state=seed)
        held.append((found.low <= law.ppf(levels)) & (law.ppf(levels) <= found.high))
    assert 0.92 < np.mean(held) < 0.985  # 360 intervals, each right in 95 % of all cases


# The grid.


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1e7), (-5.0, 5.0), (1000.0, 1020.0), (-1e-3, -1e-9), (-3e8, 0.1), (0.0, 1.0)]
)
def test_cells_hold_every_value_once_and_read_it_back(low, high):
    grid, rng = ValueGrid(low, high), np.random.default_rng(0)
    assert grid.points[0] == low
    assert grid.points[-1] == high
    assert np.all(np.diff(grid.points) > 0)
    assert 9_000 < len(grid.points) < 30_000
    assert len(grid.lengths) == grid.cells
    assert grid.lengths.min() > 0
    values = np.concatenate(
        [rng.uniform(low, high, 500), rng.choice(grid.points, 100), [low - 1.0, high + 1.0, low, high]]
    )
    counts = grid.counts(values)
    assert counts.sum() == len(values)
    cells = np.repeat(np.arange(grid.cells), counts.astype(int))
    read = grid.values(cells, rng.uniform(size=len(cells)))
    near = np.sort(np.clip(values, low, high))
    # A point is read back exactly, any other value within its gap.
    place = np.searchsorted(grid.points, near)
    is_point = grid.points[np.minimum(place, len(grid.points) - 1)] == near
    assert np.array_equal(read[is_point], near[is_point])
    assert np.all(np.abs(read - near) <= np.diff(grid.points).max())


def test_counts_add_up_over_blocks():
    grid, values = ValueGrid(0.0, 1e4), np.random.default_rng(0).lognormal(3, 2, 999)
    assert np.array_equal(grid.counts(values), sum(grid.counts(values[k::4]) for k in range(4)))


def test_decimals_are_points():
    points = set(ValueGrid(0.0, 120.0).points.tolist())
    assert {0.1, 0.3, 0.7, 37.5, 64.0, 99.99, 0.0123} <= points
    assert {30_000.0, 32_500.0, 1_250_000.0, 45.4} <= set(ValueGrid(0.0, 1e7).points.tolist())


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
