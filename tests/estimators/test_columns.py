"""Raw columns with ranges: what their moments cost, how ranges may be written, and that units do not matter."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import eptr
from eptr.estimators.columns import BEND, Columns, Standardised, _closer, standardise
from eptr.estimators.ranges import column_ranges
from eptr.privacy.claim import Cost
from eptr.privacy.spending import Spending
from eptr.privacy.unit import Unit
from eptr.rows.exact import sum_grid
from eptr.rows.memory import MemoryRows


def spent(rows, low=(0.0, -1.0), high=(10.0, 3.0), mu=0.5, centred=True, unit=None):
    """Columns that were found, and the budget that they were bought from."""
    spending = Spending(Cost(1.0, 1e-6, "gaussian", mu), unit or Unit(), rows, random_state=0)
    ends = np.array(low), np.array(high)
    return standardise(rows, *ends, -2.0, 2.0, spending, 0.9, centred=centred, mu=mu)[0], spending


def test_second_moments_cost_nothing_beside_means():
    """(u, 1.66 u^2): no two points of the curve are further apart than its ends, and a steeper one would be wider."""
    u = np.linspace(-1.0, 1.0, 2001)

    def diameter(bend):
        d, s = u[:, None] - u, u[:, None] + u
        return float(np.sqrt(np.max(d**2 * (1.0 + (bend * s) ** 2))))

    assert diameter(BEND) == 2.0
    assert diameter(BEND + 0.02) > 2.0
    curve = spent(MemoryRows(np.ones((50, 2)), np.zeros(50)))[1].parts[0].contribution
    assert curve.reach("replace-one") == pytest.approx(2.0 * math.sqrt(3.0), rel=1e-9)  # two columns and y
    assert curve.reach("zero-out") == pytest.approx(math.hypot(1.0, BEND) * math.sqrt(3.0), rel=1e-9)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_no_row_moves_the_moments_further_than_their_contribution(relation, monkeypatch):
    """Corners, far outliers and rows that are dropped; the curve's ends are reached."""
    seen = []
    monkeypatch.setattr(
        Spending, "draw", lambda self, values, contribution, mu: seen.append((values, contribution)) or values
    )
    rng, moved = np.random.default_rng(0), []
    for _ in range(300):
        one = rng.uniform([-3, -3, -3], [13, 5, 3], size=(2, 3))  # two columns and y
        two, gone = rng.choice([0.0, 10.0, 1e9, np.nan, -5.0], size=(2, 3)), [np.nan, 0.0, 0.0]
        pair = [one[0], two[1] if rng.integers(2) else two[0]] if relation == "replace-one" else [two[0], gone]
        if rng.integers(4) == 0:
            pair = [[10.0, 3.0, 2.0], [0.0, -1.0, -2.0] if relation == "replace-one" else gone]
        seen.clear()
        for row in pair:
            both = np.array([row, [5.0, 1.0, 0.0]], dtype=float)
            spent(MemoryRows(both[:, :2], both[:, 2], drop_invalid=True), unit=Unit(relation))
        (a, curve), (b, _), (c, _), (d, count) = seen[0], seen[2], seen[1], seen[3]
        moved.append(np.linalg.norm(a - b) / curve.reach(relation))
        assert abs(c - d) <= count.reach(relation)
    assert 0.999 < max(moved) <= 1.0


def test_means_and_scales_are_those_of_the_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(7.0, 1.0, size=50_000), (rng.random(50_000) < 0.5) * 4.0 - 1.0])
    found, _ = spent(MemoryRows(X, np.zeros(50_000)))
    np.testing.assert_allclose(found.centre, X.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(found.scale, X.std(axis=0), rtol=0.02)
    assert not found.too_few.any()
    assert found.outside == pytest.approx(np.mean((X[:, 0] < 0) | (X[:, 0] > 10)), abs=0.002)
    without, _ = spent(MemoryRows(X, np.zeros(50_000)), centred=False)
    np.testing.assert_array_equal(without.centre, 0.0)


def test_rows_whose_y_alone_is_beyond_are_counted_with_and_without_an_intercept():
    y = np.where(np.arange(2000) % 4, 0.0, np.where(np.arange(2000) % 8, 3.0, -3.0))
    for centred in (True, False):
        found, _ = spent(MemoryRows(np.ones((2000, 2)), y), mu=50.0, centred=centred)
        assert found.outside == pytest.approx(0.25, abs=0.01)


def test_sums_of_columns_are_exact(monkeypatch):
    seen = []
    monkeypatch.setattr(Spending, "draw", lambda self, values, *rest: seen.append(values) or values)
    spent(MemoryRows(np.random.default_rng(0).uniform(size=(50, 2)), np.linspace(-2.0, 2.0, 50)))
    units = seen[0] / sum_grid(50, BEND)
    np.testing.assert_array_equal(units, np.rint(units))


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_a_closer_look_finds_narrow_columns_and_a_row_moves_one_cell_of_each(relation, monkeypatch):
    rng, n = np.random.default_rng(0), 20_000
    X = np.column_stack([rng.normal(4.0, 0.01, n), rng.lognormal(-4.0, 0.5, n) - 0.9])
    found, spending = spent(MemoryRows(X, np.zeros(n)), unit=Unit(relation))
    np.testing.assert_allclose(found.scale, X.std(axis=0), rtol=0.5)
    assert np.all(abs(found.centre - X.mean(axis=0)) < X.std(axis=0))
    spent_on_all = math.fsum(part.mu**2 for part in spending.parts)
    assert spent_on_all == pytest.approx(0.5**2 * 0.92, rel=1e-9)
    seen = []
    monkeypatch.setattr(
        Spending, "draw", lambda self, values, contribution, mu: seen.append((values, contribution)) or values
    )
    other, both = X.copy(), np.arange(2)
    other[0] = [np.nan, 0.0] if relation == "zero-out" else [9.0, 2.0]
    for rows in (X, other):  # around what was released before
        _closer(MemoryRows(rows, np.zeros(n), drop_invalid=True), both, found.centre, np.array([5.0, 2.0]), spending)
    (a, cells), (b, _) = seen
    assert np.linalg.norm(a - b) == pytest.approx(cells.reach(relation), rel=1e-12)
    assert np.linalg.norm(a - b) <= cells.reach(relation)


@pytest.mark.parametrize("seed", range(6))
def test_a_column_that_is_narrower_than_the_noise_of_its_mean_is_found_near_an_end_of_its_range(seed):
    rng, n = np.random.default_rng(seed), 20_000
    rows = MemoryRows(100.0 + rng.normal(size=(n, 3)), np.zeros(n))
    spending = Spending(Cost(1.0, 1e-6, "gaussian", 0.2), Unit(), rows, random_state=seed)
    ends = np.zeros(3), np.full(3, 1000.0)
    found, left = standardise(rows, *ends, None, None, spending, 0.04, centred=True, mu=0.2)
    assert abs(np.median(found.scale) - 1.0) < 0.4  # one may seem to have a tail
    assert np.all((found.scale > 0.6) & (found.scale < 4.0))
    np.testing.assert_allclose(found.centre, 100.0, atol=1.0)
    assert left.mu**2 == pytest.approx(0.2**2 - math.fsum(part.mu**2 for part in spending.parts), rel=1e-9)


@pytest.mark.parametrize(("held", "wide"), [(0.93, False), (0.91, True)])
def test_rows_that_no_cell_shows_are_a_tail_if_there_are_eight_per_cent_of_them(held, wide, monkeypatch):
    """And what a second look alone shows is not told."""
    rng, n = np.random.default_rng(0), 20_000
    rows = MemoryRows(np.where(rng.random((n, 2)) < 0.002, 10.0, 5.0), np.zeros(n))
    closer = np.zeros(2), np.full(2, 1e-3), np.full(2, 1.0 - held), np.ones(2), np.array([False, True])
    monkeypatch.setattr(eptr.estimators.columns, "_closer", lambda *given: closer)
    found, _ = spent(rows, low=(0.0, 0.0), high=(10.0, 10.0))
    assert bool(np.all(found.scale > 0.05)) is wide
    np.testing.assert_array_equal(found.too_few, [False, True])


@pytest.mark.parametrize("seed", range(3))
def test_a_tail_that_no_cell_shows_makes_a_column_wide(seed):
    rng, n = np.random.default_rng(seed), 5000
    tail = rng.random((n, 12)) < 0.03
    X = np.where(tail, rng.uniform(0.0, 1000.0, (n, 12)), rng.uniform(5.0, 40.0, (n, 12)))
    rows = MemoryRows(X, np.zeros(n))
    spending = Spending(Cost(1.0, 1e-6, "gaussian", 0.8), Unit(), rows, random_state=seed)
    found, _ = standardise(rows, np.zeros(12), np.full(12, 1000.0), None, None, spending, 0.04, centred=True, mu=0.8)
    assert np.median(found.scale / X.std(axis=0)) > 0.35  # .12 is what the other rows have


def test_a_column_of_one_value_and_a_few_others_is_not_taken_to_be_narrow():
    rng, n = np.random.default_rng(0), 3000
    X = np.column_stack([np.where(rng.random(n) < 0.01, 8.0, 0.0), rng.uniform(-1, 3, n)])
    found, _ = spent(MemoryRows(X, np.zeros(n)), mu=0.25)
    assert found.scale[0] >= 0.5


@pytest.mark.parametrize(("ones", "few"), [(5, True), (20, True), (400, False), (49_990, True)])
def test_a_level_that_few_rows_have_or_lack_is_recognised(ones, few):
    X = np.column_stack([np.linspace(0, 10, 50_000), np.where(np.arange(50_000) < ones, 3.0, -1.0)])
    found, _ = spent(MemoryRows(X, np.zeros(50_000)))  # 25/mu is 50
    assert found.too_few.tolist() == [False, few]
    assert found.scale[1] >= 0.2 * 2.0


def test_rows_that_are_dropped_are_zero_whatever_the_centre():
    X = np.array([[5.0, 1.0], [np.nan, 1.0], [2.0, -1.0]])
    columns = Columns(
        np.zeros(2),
        np.full(2, 10.0),
        np.array([4.0, 2.0]),
        np.ones(2),
        np.zeros(2, bool),
        np.ones(2),
        0.0,
        np.zeros(2, bool),
    )
    rows = Standardised(MemoryRows(X, np.ones(3), drop_invalid=True), columns, 30.0)
    blocks = []
    rows.sum(lambda x, y, keep: blocks.append((x, y, keep)) or (np.zeros(1),))
    ((x, y, keep),) = blocks
    assert keep.tolist() == [True, False, True]
    np.testing.assert_array_equal(x, [[1.0, -1.0], [0.0, 0.0], [-2.0, -2.0]])  # -1 is below its range
    np.testing.assert_array_equal(y, [-29.0, 0.0, -29.0])


def study(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(1000.0, 2.0, n), rng.uniform(0, 200_000, n), rng.random(n) < 0.3]).astype(float)
    y = 500.0 + 3.0 * (X[:, 0] - 1000.0) + 1e-4 * X[:, 1] - 2.0 * X[:, 2] + rng.normal(size=n)
    return pd.DataFrame(X, columns=["year", "wage", "urban"]), y


RANGES = {"year": (990.0, 1010.0), "wage": (0.0, 200_000.0), "urban": (0.0, 1.0)}
Y_RANGE = (450.0, 550.0)


def robust(X, y):
    wide = np.column_stack([X, np.ones(len(y))])
    scale = np.abs(wide).max(axis=0)
    wide = wide / scale
    bread = np.linalg.inv(wide.T @ wide)
    beta = bread @ wide.T @ y
    v = wide * (y - wide @ beta)[:, None]
    return beta / scale, np.sqrt(np.diag(bread @ v.T @ v @ bread)) / scale


def test_coefficients_come_in_the_units_of_the_columns_however_ranges_are_written():
    X, y = study()
    beta, se = robust(X.to_numpy(), y)
    ways = [RANGES, list(RANGES.values()), np.array(list(RANGES.values())), dict(reversed(RANGES.items()))]
    fits = [eptr.LinearRegression(4.0, x_range=w, y_range=Y_RANGE, random_state=1).fit(X, y) for w in ways]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.fitted_.centre, fits[0].fitted_.centre)
    fit = fits[0]
    assert np.abs((fit.fitted_.centre - beta) / se).max() < 2.5
    low, high = fit.conf_int().T
    assert np.all((low < beta) & (beta < high))
    assert np.all((high - low) < 3.0 * 3.92 * se)
    assert "wage" in str(fit.summary())
    np.testing.assert_allclose(fit.predict(X), X.to_numpy() @ fit.coef_ + fit.intercept_)


def test_units_do_not_matter():
    """Months for years and thousands for units: the same fit, told in other units."""
    X, y = study()
    raw = eptr.LinearRegression(1.0, x_range=list(RANGES.values()), y_range=Y_RANGE, random_state=1).fit(
        X.to_numpy(), y
    )
    factor, shift = np.array([16.0, 1.0 / 1024.0, 1.0]), np.array([-16000.0, 0.0, 0.0])
    ranges = np.array(list(RANGES.values())) * factor[:, None] + shift[:, None]
    other = eptr.LinearRegression(1.0, x_range=ranges, y_range=(-50.0, 50.0), random_state=1)
    other.fit(X.to_numpy() * factor + shift, y - 500.0)
    np.testing.assert_allclose(other.coef_ * factor, raw.coef_, rtol=1e-6)
    np.testing.assert_allclose(other.intercept_ + 500.0 + other.coef_ @ shift, raw.intercept_, rtol=1e-6)
    widths = [np.diff(m.conf_int(), axis=1)[:3, 0] for m in (raw, other)]
    np.testing.assert_allclose(widths[1] * factor, widths[0], rtol=1e-6)


def test_one_pair_is_for_all_columns():
    rng = np.random.default_rng(0)
    X = rng.uniform(5.0, 6.0, size=(5000, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=5000)
    one, each = (
        eptr.LinearRegression(4.0, x_range=r, y_range=(20, 50), random_state=0).fit(X, y)
        for r in ((5, 6), [(5, 6)] * 3)
    )
    np.testing.assert_array_equal(one.coef_, each.coef_)
    np.testing.assert_allclose(one.coef_, [1.0, 2.0, 3.0], atol=0.4)


def test_without_an_intercept_columns_are_not_moved():
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 3.0, size=(20_000, 2))
    y = X @ [2.0, -1.0] + 0.5 * rng.normal(size=20_000)
    settings = {"x_range": (0, 4), "y_range": (-4, 8), "random_state": 0, "fit_intercept": False}
    model = eptr.LinearRegression(4.0, **settings).fit(X, y)
    assert model.intercept_ == 0.0
    assert model.conf_int().shape == (2, 2)
    np.testing.assert_allclose(model.coef_, [2.0, -1.0], atol=0.05)


@pytest.mark.parametrize("settings", [{"x_range": (0, 1)}, {"x_bound": 2.0}], ids=["ranges", "bound"])
def test_rows_beyond_a_range_are_counted(settings):
    rng = np.random.default_rng(0)
    X, y = rng.random((20_000, 2)), np.where(np.arange(20_000) < 2000, 9.0, 0.5)
    model = eptr.LinearRegression(4.0, y_range=(0, 1), random_state=0, **settings).fit(X, y)
    assert model.outside_ == pytest.approx(0.1, abs=0.02)
    assert "10." in str(model.summary()) or "9." in str(model.summary())


def test_dropped_rows_change_nothing_but_their_number():
    X, y = study(8000)
    y = y.copy()
    holes = X.copy()
    holes.iloc[4000:, 0] = np.nan
    settings = {"x_range": RANGES, "y_range": Y_RANGE, "random_state": 0}
    some = eptr.LinearRegression(8.0, invalid="drop", **settings).fit(holes, y)
    half = eptr.LinearRegression(8.0, **settings).fit(X.iloc[:4000], y[:4000])
    beta, se = robust(X.to_numpy()[:4000], y[:4000])
    assert np.abs((some.fitted_.centre - beta) / se).max() < 4.0
    assert np.abs((half.fitted_.centre - beta) / se).max() < 4.0


WRONG = {
    "one number": (3.0, r"one pair \(low, high\), a list of pairs, or a dict"),
    "text": ("private?", r"one pair \(low, high\), a list of pairs, or a dict"),
    "too few pairs": ([(0, 1), (0, 1)], "2 pairs, but X has 3 columns"),
    "reversed": ((1.0, 0.0), "low < high"),
    "equal ends": ([(0, 1), (2, 2), (0, 1)], "low < high"),
    "infinite": ((0.0, math.inf), "finite"),
    "no numbers": ([("a", "b")] * 3, "pair"),
    "a missing name": ({"year": (0, 1), "wage": (0, 1)}, "lacks 1 of the 3 columns"),
    "another name": (RANGES | {"age": (0, 1)}, "has 1 that X does not have"),
}


@pytest.mark.parametrize("name", WRONG)
def test_ranges_that_make_no_sense_are_one_sentence_and_cost_nothing(name):
    value, message = WRONG[name]
    X, y = study(100)
    with pytest.raises(eptr.BoundError, match=message) as caught:
        eptr.LinearRegression(x_range=value, y_range=Y_RANGE, random_state=0).fit(X, y)
    assert "x_range" in str(caught.value)
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"x_range": (0, 1), "x_bound": 1.0, "y_range": (0, 1)}, "x_range and x_bound say the same thing twice"),
        ({"x_range": (0, 1), "y_range": (0, 1), "y_bound": 1.0}, "y_range and y_bound say the same thing twice"),
        ({"x_range": (0, 1), "y_bound": 1.0, "strategy": "tight"}, "needs x_bound"),
        ({"x_range": (0, 1), "y_range": 3.0}, "y_range must be a pair"),
        ({"x_range": (0, 1), "y_range": (1, 0)}, "y_range must be a pair"),
        ({"x_range": (0, 1)}, r"y_range \(or y_bound\) is missing"),
    ],
)
def test_settings_that_contradict_each_other(settings, message):
    X, y = study(100)
    with pytest.raises(eptr.BoundError, match=message):
        eptr.LinearRegression(**settings).fit(X, y)


def test_a_dict_for_columns_without_names_is_in_their_order():
    low, high = column_ranges({"a": (0, 1), "b": (2, 3)}, 2, None)
    assert (low.tolist(), high.tolist()) == ([0.0, 2.0], [1.0, 3.0])
    with pytest.raises(eptr.BoundError, match="2 entries, but X has 3 columns"):
        column_ranges({"a": (0, 1), "b": (2, 3)}, 3, None)
