"""Additive models: the functions they are made of, how well they fit, bands that hold, and what they refuse."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest

import eptr
from eptr.audit.replay import Replay
from eptr.estimators.additive.axes import FINE, Levels, Stretched, release_axes, smoothed
from eptr.estimators.additive.basis import degrees_of, smooth_functions
from eptr.estimators.additive.effects import too_few
from eptr.estimators.additive.expansion import Expanded, Expansion
from eptr.estimators.additive.refined import MOST, resolution
from eptr.estimators.additive.shrinkage import blocks, factors
from eptr.privacy.contribution import Interval
from eptr.rows.memory import MemoryRows
from eptr.rows.namespace import squares

matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
GRID = np.linspace(0.0, 1.0, 201)


def curve(x):
    return np.sin(2 * np.pi * x) + 0.5 * np.cos(4 * np.pi * x)


def sample(seed, n, f=curve, sd=0.2):
    rng = np.random.default_rng([seed, 7])
    x = rng.uniform(size=(n, 1))
    return x, f(x[:, 0]) + sd * rng.normal(size=n)


def additive(seed=0, epsilon=1.0, **settings):
    settings = {"x_range": (0, 1), "y_range": (-1.5, 1.5), "delta": 0.01} | settings
    return eptr.AdditiveRegressor(epsilon, random_state=seed, **settings)


# The functions.


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_functions_are_orthonormal_and_a_line_comes_first(count):
    u = (np.arange(200_000) + 0.5) / 200_000
    found = smooth_functions(u, count)
    np.testing.assert_allclose(found.T @ found / len(u), np.eye(count), atol=1e-6)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(found[:, 0], np.sqrt(3.0) * (2.0 * u - 1.0), atol=1e-6)


def test_functions_come_in_the_order_of_their_roughness():
    bends = np.diff(smooth_functions(np.linspace(0, 1, 20_001), 20), 2, axis=0)
    assert np.all(np.diff(np.sum(bends**2, axis=0)) > 0.0)


def test_functions_of_a_pair_leave_out_what_a_column_has_for_itself():
    alone, pair = degrees_of([(0,), (0, 1)], [3, 8])
    assert alone == [(1,), (2,), (3,)]
    assert len(pair) == 8
    assert all(second > 0 for _, second in pair)  # no function of the first column alone
    assert len(set(pair)) == 8
    assert degrees_of([(0, 1), (0,)], [8, 3]) == [pair, alone]  # whatever the order of the terms


def test_a_looked_up_row_is_the_function_of_its_place():
    rng = np.random.default_rng(0)
    axes = (
        Stretched(0.0, 2.0, *smoothed(rng.dirichlet(np.ones(256)), 1e-3, 10**6)),
        Levels(np.array([1.0, 2.0, 5.0]), np.full(3, 1 / 3), np.ones(3, dtype=bool)),
    )
    expansion = Expansion(axes, ((0,), (1,)), tuple(degrees_of([(0,), (1,)], [12, 2])))
    x = np.column_stack([rng.uniform(-0.5, 2.5, size=500), rng.choice([0.0, 1.0, 2.4, 4.9, 9.0], size=500)])
    moved = np.column_stack([x[:, 0].clip(0, 2), x[:, 1]])
    found = expansion.lookup()(x).T
    np.testing.assert_allclose(found, expansion.anywhere(moved), atol=1e-6)
    alone = [squares(expansion.lookup()(x[k : k + 1]).T, 1) for k in range(len(x))]
    np.testing.assert_array_equal(squares(found, 1), np.concatenate(alone))  # to the last bit, whatever the block
    assert set(axes[1].place(np.array([-1e150, 1.4, 1.5, 3.4, 3.6]))) == {0.0, 1.0, 2.0}


def test_blocks_cover_every_coefficient_once_and_noise_is_shrunk_away():
    for count in (1, 2, 3, 10, 255):
        places = [k for block in blocks(count, 1) for k in range(block.start, block.stop)]
        assert places == list(range(1, count))
    noise = np.random.default_rng(0).normal(size=400)
    signal = np.concatenate([np.full(30, 100.0), noise[30:]])
    found = factors(signal, np.ones(400))
    assert found[:20].min() > 0.99
    assert np.mean((found * signal)[60:] ** 2) < 0.1


@pytest.mark.parametrize(("strength", "count"), [(7.0, 7), (24.0, 16), (67.0, 33), (1000.0, 40)])
def test_the_number_of_functions_follows_from_public_numbers(strength, count):
    assert resolution(((0,),), 10**8, strength / 1e4) == [count]


def test_several_columns_share_the_functions():
    found = resolution(((0,), (1, 2), (3,)), 10**6, 1.0)
    assert sum(found) <= MOST + 2
    assert found[0] == found[2] < found[1]


# What a fit finds.


def test_the_curve_is_found_better_than_by_any_rival():
    errors = {"ours": [], "series": [], "kernel": []}
    for seed in range(4):
        x, y = sample(seed, 2000)
        rival = {"epsilon": 1.0, "delta": 0.01, "domain": (0, 1), "y_bound": 1.5, "random_state": seed}
        fits = (
            additive(seed),
            eptr.rivals.WaveletEstimator(**rival),
            eptr.KernelRegressor(**rival, bandwidth=0.2 * 2000**-0.2),
        )
        for name, model in zip(errors, fits, strict=True):
            errors[name].append(np.mean((model.fit(x, y).predict(GRID[:, None]) - curve(GRID)) ** 2))
    ours, *others = (np.mean(found) for found in errors.values())
    assert ours < 0.001
    assert all(ours < 0.25 * other for other in others)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_bands_hold_the_curve_and_the_estimate(epsilon):
    held = []
    for seed in range(12):
        value, low, high = additive(seed, epsilon).fit(*sample(seed, 2000)).partial_effect(0, GRID, centred=False)
        assert np.all((low <= value) & (value <= high))
        held.append(np.mean((low <= curve(GRID)) & (curve(GRID) <= high)))
    assert 0.92 < np.mean(held) < 0.99


def skewed(name, rng, n):
    x = rng.uniform(size=(n, 1))
    f = curve(x[:, 0])
    if name == "exponential errors":
        return x, f + rng.exponential(size=n) - 1.0, curve(GRID), (-4, 10)
    if name == "lognormal":
        return x, np.exp(f + 0.8 * rng.normal(size=n)), np.exp(curve(GRID) + 0.32), (0, 40)
    share = 1.0 / (1.0 + np.exp(2.7 - curve(GRID)))
    some = (rng.uniform(size=n) < np.interp(x[:, 0], GRID, share)).astype(float)
    if name == "binary":
        return x, some, share, (0, 1)
    return x, some * np.exp(0.5 + 0.7 * rng.normal(size=n)), np.exp(0.745) * share, (0, 25)


@pytest.mark.parametrize(
    ("name", "n", "epsilon"),
    [
        ("exponential errors", 2000, 1.0),  # noise rules
        ("binary", 2000, 1.0),
        ("lognormal", 2000, 4.0),  # rows beyond the last cut cannot be counted
        ("mostly zeros", 20_000, 4.0),  # they can
    ],
)
def test_bands_of_skewed_outcomes_hold(name, n, epsilon):
    held = []
    for seed in range(8):
        x, y, truth, within = skewed(name, np.random.default_rng([seed, 12]), n)
        model = additive(seed, epsilon, delta=1e-6, y_range=within).fit(x, y)
        _, low, high = model.partial_effect(0, GRID, centred=False)
        held.append(np.mean((low <= truth) & (truth <= high)))
        assert model.corrected_ == (n > 2000)
    assert np.mean(held) > 0.9


def test_a_mean_that_clipping_would_lose_is_found():
    x, y, _, within = skewed("exponential errors", np.random.default_rng(3), 4000)
    means = [additive(seed, 0.5, delta=1e-6, y_range=within).fit(x, y).summary() for seed in range(10)]
    assert np.mean([found.estimates[-1] for found in means]) == pytest.approx(np.mean(y), abs=0.1)  # medians: .3 less
    assert sum(low <= np.mean(y) <= high for ((low, high),) in (found.intervals for found in means)) >= 8


def test_what_may_be_hidden_is_not_shrunk_away_as_if_it_were_noise():
    found = []
    for seed in range(6):
        x, y, _, within = skewed("lognormal", np.random.default_rng([seed, 13]), 2000)
        found.append(additive(seed, delta=1e-6, y_range=within).fit(x, y).kept_[1])
    assert np.mean(found) > 0.4  # by all that a band counts it would be .15


def test_a_jump_is_reported_and_a_smooth_curve_is_not():
    x, y = sample(0, 20_000, lambda u: np.where(u < 0.4, -0.6, 0.6))
    jump = additive(epsilon=4.0).fit(x, y).summary()
    assert jump.rough.tolist() == [True]
    assert jump.jumps[0] == pytest.approx([0.4], abs=0.01)
    assert "jump near 0.398" in str(jump)  # the end of a cell
    smooth = additive(epsilon=4.0).fit(*sample(0, 20_000)).summary()
    assert smooth.rough.tolist() == [False]
    assert "jump" not in str(smooth)


def test_two_jumps_are_told_apart_and_a_bump_that_functions_are_too_few_for_has_none():
    x, y = sample(0, 20_000, lambda u: 0.8 * (u > 0.35) - 0.5 * (u > 0.6))
    assert additive().fit(x, y).summary().jumps[0] == pytest.approx([0.35, 0.6], abs=0.01)
    bump = [sample(seed, 500, lambda u: np.exp(-0.5 * ((u - 0.45) / 0.06) ** 2)) for seed in range(6)]
    assert sum(additive(seed).fit(*rows).rough_[0] for seed, rows in enumerate(bump)) <= 1


def test_bands_hold_beside_a_jump_that_is_seen():
    held = []
    for seed in range(8):
        place = 0.3 + 0.05 * seed
        model = additive(seed).fit(*sample(seed, 2000, lambda u, place=place: np.where(u < place, -0.5, 0.5)))
        points = place + np.linspace(-0.05, 0.05, 41)
        _, low, high = model.partial_effect(0, points, centred=False)
        truth = np.where(points < place, -0.5, 0.5)
        held.append(np.mean((low <= truth) & (truth <= high)))
    assert np.mean(held) > 0.9


@pytest.mark.parametrize("seed", range(4))
def test_where_there_are_no_rows_the_band_is_everything_and_where_they_are_it_is_not(seed):
    rng = np.random.default_rng([seed, 11])
    x = rng.normal(0.4, 0.08, size=(20_000, 1)).clip(0, 1)
    model = additive(seed).fit(x, curve(x[:, 0]) + 0.2 * rng.normal(size=len(x)))
    _, low, high = model.partial_effect(0, [0.02, 0.3, 0.4, 0.5, 0.75, 0.98])
    assert np.isinf(high - low).tolist() == [True, False, False, False, True, True]
    assert np.max((high - low)[1:4]) < 0.2


@pytest.mark.parametrize("top", [10, 100])
def test_a_column_of_whole_numbers_is_seen_at_all_of_them_and_has_no_jumps(top):
    rng = np.random.default_rng(0)
    values = np.arange(0.7 * top)
    x = rng.choice(values, size=(20_000, 1))
    model = additive(x_range=(0, top)).fit(x, np.sin(6 * x[:, 0] / top) + 0.2 * rng.normal(size=len(x)))
    _, low, high = model.partial_effect(0, values, centred=False)
    truth = np.sin(6 * values / top)
    assert np.isfinite(high - low).all()
    assert np.mean((low <= truth) & (truth <= high)) > 0.9
    assert model.summary().jumps == ([],)


def test_rows_in_a_small_part_of_the_range_are_still_resolved():
    x, y = sample(0, 20_000)
    wide = additive(epsilon=2.0, x_range=(0, 20)).fit(x, y)
    assert np.mean((wide.predict(GRID[:, None]) - curve(GRID)) ** 2) < 0.02
    here, far = too_few(wide.fitted_, 0, GRID[20:-20, None]), too_few(wide.fitted_, 0, np.linspace(5, 20, 50)[:, None])
    assert not here.any()
    assert far.mean() > 0.9


def test_a_range_of_y_that_is_a_little_too_narrow_does_no_harm():
    x, y = sample(0, 20_000, lambda u: 1.5 * u)
    narrow = additive(epsilon=4.0, y_range=(0.2, 1.3)).fit(x, y)
    value, _, _ = narrow.partial_effect(0, [0.02, 0.98], centred=False)
    np.testing.assert_allclose(value, [0.03, 1.47], atol=0.05)
    assert narrow.predict([[0.02], [0.98]]).tolist() == [0.2, 1.3]


def test_y_far_from_the_middle_of_its_range_is_better_told_than_by_a_constant():
    """Prices and waiting times: most rows at one end of a range that holds the largest."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 31])
        x = rng.uniform(size=(2000, 2))
        truth = np.exp(curve(x[:, 0]) / 2.0 + x[:, 1])
        y = truth * np.exp(0.5 * rng.normal(size=2000) - 0.125)
        model = additive(seed, delta=1e-6, y_range=(0, 300)).fit(x, y)
        found.append(np.mean((model.predict(x) - truth) ** 2) / np.mean((y.mean() - truth) ** 2))
    assert np.mean(found) < 0.6  # from the middle: 2.7


# Without a look at the size of y: .37 and .08.
@pytest.mark.parametrize(("n", "epsilon", "left"), [(300, 3.0, 0.06), (2000, 1.0, 0.01)])
def test_a_range_of_y_a_hundred_times_too_wide_does_no_harm(n, epsilon, left):
    found = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 32])
        x = rng.uniform(size=(n, 2))
        truth = np.sin(6.0 * x[:, 0]) + x[:, 1]
        model = additive(seed, epsilon, delta=1e-6, y_range=(-199.5, 200.5)).fit(x, truth + 0.3 * rng.normal(size=n))
        found.append(np.mean((model.predict(x) - truth) ** 2) / np.var(truth))
    assert np.mean(found) < left


def test_the_mean_of_y_is_exact_bounded_and_without_rows_that_are_dropped():
    rng, told = np.random.default_rng(0), []
    x, y = rng.uniform(size=(300, 1)), rng.uniform(90.0, 120.0, size=300)
    x[::3] = np.nan

    class Told:
        def noisy(self, values, contribution, share=1.0):
            told.append((values, contribution))
            return values

        def scale(self, contribution, share):
            return 1e-9

    def centre(rows):
        ends = np.zeros(1), np.ones(1)
        return release_axes(rows, ends, {}, (0.0, 100.0), Told(), Told())[-1]

    kept = np.clip(y[np.isfinite(x[:, 0])], 0.0, 100.0)
    assert centre(MemoryRows(x, y, drop_invalid=True)) == pytest.approx(50.0 + np.sum(kept - 50.0) / 300, rel=1e-12)
    assert told[-1][1] == Interval(-50.0, 50.0)
    assert centre(MemoryRows(x[1::3], np.full(100, 1e9))) == 100.0
    assert float(told[-1][0]) == 5000.0
    assert centre(MemoryRows(x[1::3], np.full(100, 50.0))) == 50.0


def surface(u, v):
    return np.sin(3 * u) * np.cos(3 * v)


@pytest.mark.parametrize("terms", ["full", [(0, 1)], [(0,), (0, 1)]])
def test_a_pair_of_columns_is_smoothed_together(terms):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(20_000, 2))
    y = surface(*X.T) + 0.2 * rng.normal(size=len(X))
    points = rng.uniform(0.05, 0.95, size=(500, 2))
    together = additive(epsilon=2.0, terms=terms).fit(X, y)
    apart = additive(epsilon=2.0).fit(X, y)
    errors = [np.mean((model.predict(points) - surface(*points.T)) ** 2) for model in (together, apart)]
    assert errors[0] < 0.003 < 0.02 < errors[1]


def test_columns_that_depend_on_each_other_do_not_make_the_passes_diverge():
    """Nor does it matter on which side of y the middle of its range lies: where few rows tell, curves stay where steps begin."""
    rng = np.random.default_rng(4)
    t = rng.uniform(size=8000)
    X = np.column_stack([np.clip(u + 0.12 * rng.normal(size=8000), 0, 1) for u in (t, 1 - t)])
    X = np.column_stack([rng.beta(2, 6, size=8000), X, rng.uniform(size=8000)])
    truth = np.sin(5 * X[:, 1]) * np.cos(4 * X[:, 2]) + np.log1p(6 * X[:, 0])
    y = truth + 0.5 * rng.normal(size=8000)
    errors = {}
    for seed in range(6):
        for within in ((-2, 4), (-3, 3)):  # the mean of y is .45
            model = additive(seed, y_range=within, terms=[(0,), (1, 2), (3,)]).fit(X[:4000], y[:4000])
            errors.setdefault(within, []).append(np.mean((model.predict(X[4000:]) - truth[4000:]) ** 2))
    above, below = (np.mean(found) / np.var(truth) for found in errors.values())
    assert above == pytest.approx(below, rel=0.05)  # from the middle: .045 and .059
    assert max(above, below) < 0.06


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(2)
    n = 20_000
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, n),
            "sex": rng.integers(0, 2, n),
            "region": rng.choice([1, 2, 3], n, p=[0.6, 0.39, 0.01]),
        }
    )
    frame["noise"] = rng.uniform(size=n)
    frame["wage"] = (
        10 + 5 * np.sin(frame["age"] / 10) + 2 * frame["sex"] - 3 * (frame["region"] == 2) + rng.normal(size=n)
    )
    settings = {"x_range": {"age": (15, 90), "noise": (0, 1)}, "y_range": (-5, 25)}
    categories = {"sex": [0, 1], "region": [1, 2, 3]}
    return additive(epsilon=2.0, categories=categories, **settings).fit(frame, "wage")


def test_levels_enter_as_plain_terms(people):
    table = people.summary()
    assert table.terms == ("s(age)", "s(noise)", "sex", "region")
    assert table.names == ("sex=1", "region=2", "region=3", "(Intercept)")
    low, high = people.conf_int(level=0.999).T
    assert np.all((low < [2.0, -3.0, 0.0, np.inf]) & ([2.0, -3.0, 0.0, -np.inf] < high))
    assert np.all((high - low)[:2] < 0.5)
    effects, _, _ = people.partial_effect("sex", [0, 1])
    assert effects[1] - effects[0] == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize(("rows", "said"), [(10, 0), (3000, 4)])
def test_a_rare_level_is_told_or_said_to_have_too_few_rows(rows, said):
    found = []
    for seed in range(4):
        rng, n = np.random.default_rng([seed, rows]), 20_000
        level = np.append(np.full(rows, 3.0), rng.choice([1.0, 2.0], size=n - rows))
        x = np.column_stack([rng.uniform(size=n), level])
        y = np.sin(5 * x[:, 0]) + 2.0 * (level == 3.0) + 0.5 * rng.normal(size=n)
        settings = {"x_range": [(0, 1), (1, 3)], "y_range": (-3, 5), "categories": {1: [1, 2, 3]}}
        found.append(eptr.AdditiveRegressor(1.0, 1e-6, random_state=seed, **settings).fit(x, y).conf_int()[1])
    low, high = np.transpose(found)
    assert np.sum(np.isfinite(high - low)) == said
    assert np.sum((low <= 2.0) & (high >= 2.0)) >= 3


def test_no_effect_is_told_from_an_effect(people):
    table = people.summary()
    age, noise, sex, region = table.p_values
    assert max(age, sex, region) < 1e-6 < 0.001 < noise
    assert table.freedom[1] < 0.6 * table.functions[1]
    assert "s(age)" in str(table)
    assert repr(table) == str(table)


def test_tests_of_no_effect_hold_their_size():
    found = [additive(seed).fit(*sample(seed, 2000, np.zeros_like)).summary().p_values[0] for seed in range(30)]
    assert np.mean(np.array(found) < 0.05) < 0.17


def test_the_model_survives_json_and_draws_a_panel_for_each_term(people):
    again = eptr.from_json(people.to_json())
    X = pd.DataFrame({"age": [30.0, 50.0], "sex": [0, 1], "region": [2, 3], "noise": [0.5, 0.5]})
    np.testing.assert_array_equal(again.predict(X), people.predict(X))
    np.testing.assert_array_equal(again.conf_int(), people.conf_int())
    figure = again.plot()
    assert len([axis for axis in figure.axes if axis.get_visible()]) == 4
    assert {"privacy", "sampling"} <= {text.get_text() for text in figure.axes[0].get_legend().get_texts()}


def test_a_surface_and_too_few_rows_are_drawn():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(3000, 3)) * [0.3, 1.0, 1.0]
    model = additive(terms=[(0,), (1, 2)]).fit(X, X[:, 1])
    figure = model.plot()
    assert "too few rows" in {text.get_text() for text in figure.axes[0].get_legend().get_texts()}
    assert len(figure.axes) == 3  # two panels and a colour bar
    assert "may not keep their level" in figure.get_supxlabel()
    assert additive(terms="full").fit(X, X[:, 1]).plot().axes


def test_a_plan_needs_no_rows_and_says_about_what_a_fit_has():
    planned = additive().plan(2000, 1).noise_scale
    found = additive().fit(*sample(0, 2000, sd=1.5 / 4.0)).noise_  # errors of a quarter of the range
    assert planned == pytest.approx(found, rel=0.4)
    assert additive().plan(10**7, 1).noise_scale < planned / 100


# What is refused.


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"x_range": None}, "x_range is missing"),
        ({"y_range": None}, "y_range is missing"),
        ({"y_range": (1, 0)}, "y_range must be"),
        ({"x_range": [(0, 1)]}, "x_range has 1 pairs"),
        ({"terms": "all"}, "terms must be"),
        ({"terms": []}, "terms must be"),
        ({"terms": [(0, 0), (1,), (2,), (3,)]}, "terms must be"),
        ({"terms": [(0,), (0,), (1,), (2,), (3,)]}, "terms must be"),
        ({"terms": [(0,), (1,), (2,), (9,)]}, "terms names 9, which is no column"),
        ({"terms": [("age",), (1,), (2,), (3,)]}, "terms names 'age'"),
        ({"terms": [(0,), (1, 2)]}, "terms leaves out 1"),
        ({"terms": "full"}, "at most 3"),
        ({"terms": [(0,), (1,), (2,), (3,)], "categories": {3: [0, 1]}}, "terms names a column that is in categories"),
        ({"categories": [3]}, "categories must be a dict"),
        ({"categories": {3: [1]}}, "at least two different numbers"),
        ({"categories": {3: [1, 1]}}, "at least two different numbers"),
        ({"categories": {3: ["a", "b"]}}, "at least two different numbers"),
        ({"categories": {7: [0, 1]}}, "categories names 7"),
        ({"strategy": "tight"}, "strategy must be one of"),
    ],
)
def test_bad_settings_get_one_sentence(settings, says):
    with pytest.raises(eptr.InputError, match=says):
        additive(**settings).fit(np.random.default_rng(0).uniform(size=(60, 4)), np.zeros(60))


def test_bad_questions_get_one_sentence(people):
    for term in (9, "income", (0, 1)):
        with pytest.raises(eptr.InputError, match="term must be"):
            people.partial_effect(term, [1.0])
    for grid in ([[1.0, 2.0]], [np.nan], 1.0):
        with pytest.raises(eptr.InputError, match="grid must be"):
            people.partial_effect("age", grid)
    with pytest.raises(eptr.InputError, match="level"):
        people.partial_effect("age", [30.0], level=2.0)


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_no_name_of_a_column_loses_a_fit_that_was_paid_for():
    """The record is written after the noise is drawn; JSON has no names that are numpy's numbers."""
    x = np.column_stack([np.linspace(-1.0, 1.0, 200), np.arange(200) % 2])
    fit = eptr.AdditiveRegressor(x_range=(-1, 1), y_range=(-1, 1), categories={np.int64(1): [0, 1]}, random_state=0)
    fit.fit(x, x[:, 0])
    assert dict(fit.release_.record.settings)["categories"] == '{"1": [0, 1]}'
    assert eptr.from_json(fit.to_json()).categories == {1: [0, 1]}


def test_a_value_has_one_place_on_its_axis():
    """One of FINE equal parts of a range, its ends for what is beyond; of levels the nearer one."""
    line = Stretched(-1.0, 1.0, np.ones(4), np.ones(4, dtype=bool))
    half = 1.0 / FINE
    found = line.place(np.array([-9.0, -1.0, -half, half, 1.0 - half, 1.0, 9.0]))
    np.testing.assert_array_equal(found, [0, 0, FINE / 2 - 1, FINE / 2, FINE - 1, FINE - 1, FINE - 1])
    levels = Levels(np.array([0.0, 1.0, 10.0]), np.ones(3) / 3, np.ones(3, dtype=bool))
    np.testing.assert_array_equal(levels.place(np.array([-5.0, 0.49, 0.5, 5.49, 5.51, 99.0])), [0, 0, 1, 1, 2, 2])


def test_a_row_that_is_dropped_adds_nothing_in_whatever_piece_it_lies(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, size=(200, 1)), rng.normal(size=200)
    x[::3] = np.nan
    axis = Stretched(-1.0, 1.0, np.ones(4), np.ones(4, dtype=bool))
    expansion = Expansion((axis,), ((0,),), tuple(degrees_of([(0,)], [3])))

    def sums():
        rows = Expanded(MemoryRows(x, y, drop_invalid=True), expansion, 0.5)
        return rows.sum(lambda f, t, keep: (f.sum(axis=0), t.sum(), np.sum(keep)))

    whole, kept = sums(), np.isfinite(x[:, 0])
    monkeypatch.setattr("eptr.estimators.additive.expansion.PIECE_NUMBERS", 1)
    for found in (whole, sums()):
        np.testing.assert_allclose(found[0], axis.functions(x[kept, 0], 3).sum(axis=0), rtol=1e-6)
        np.testing.assert_allclose(found[1:], (np.sum(y[kept] - 0.5), kept.sum()), rtol=1e-12)


@pytest.mark.parametrize("far", [9.0, -9.0])
def test_rows_beyond_a_range_are_counted(far):
    x, y = sample(0, 4000)
    x[:400], y[400:1000] = 7.0, far
    truth = np.mean((x[:, 0] > 1.0) | (np.abs(y) > 1.5))
    assert additive(epsilon=8.0).fit(x, y).fitted_.outside == pytest.approx(truth, abs=0.02)


def test_the_sum_of_y_does_not_depend_on_the_order_of_rows():
    rng, totals = np.random.default_rng(0), []
    x, y = rng.uniform(size=(500, 1)), rng.uniform(-1.0, 1.0, 500) * 10.0 ** rng.uniform(-9, 0, 500)
    for order in (np.arange(500), np.argsort(y), np.argsort(-abs(y))):
        noise = Replay(0)
        eptr.AdditiveRegressor(1.0, 1e-6, (0, 1), (-1, 1), random_state=noise).fit(x[order], y[order])
        totals.append([float(c.values) for c in noise.calls if np.ndim(c.values) == 0][1])
    assert len(set(totals)) == 1
    assert totals[0] == pytest.approx(y.sum(), abs=1e-9)


def test_an_effect_averages_to_zero_over_the_rows_where_a_range_is_wider_than_they_are():
    """A fifth of the axis is stretched evenly, rows or not, and the zero of an effect was that of the axis: bands missed it."""
    middles, held, grid = [], [], np.linspace(22, 75, 12)
    for seed in range(6):
        rng = np.random.default_rng(1000 + seed)
        age = rng.uniform(18, 80, 30_000)
        wave = lambda a: 10.0 * np.sin((a - 18.0) / 15.0)  # noqa: E731
        y = 30.0 + wave(age) + 5.0 * rng.normal(size=30_000)
        model = eptr.AdditiveRegressor(1.0, 1e-6, x_range=[(0, 110)], y_range=(-50, 200), random_state=seed)
        model.fit(age[:, None], y)
        middles.append(np.mean(model.partial_effect(0, age[:3000])[0]))
        _, low, high = model.partial_effect(0, grid)
        truth = wave(grid) - np.mean(wave(age))
        held.append((low <= truth) & (truth <= high))
    assert abs(np.mean(middles)) < 0.15
    assert np.mean(held) > 0.88


def told(draw, f, points, seeds, *, n, epsilon, centred=True, sd=1.0, **ranges):
    """Whether bands hold at points, whether they are told, and their half widths; one row for each seed."""
    held, widths, points = [], [], np.asarray(points, dtype=float)
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 51])
        x = draw(rng, n)
        y = f(x) + sd * rng.normal(size=n)
        model = eptr.AdditiveRegressor(epsilon, 1e-6, random_state=seed, **ranges).fit(x[:, None], y)
        _, low, high = model.partial_effect(0, points, centred=centred)
        truth = f(points) - centred * np.mean(f(x))
        held.append((low <= truth) & (truth <= high))
        widths.append((high - low) / 2.0)
    return np.array(held), np.isfinite(widths), np.array(widths)


@pytest.mark.parametrize(("n", "epsilon", "widest"), [(10_000, 4.0, 0.4), (30_000, 1.0, 0.4), (5000, 4.0, 4.0)])
def test_bands_hold_where_columns_go_together(n, epsilon, widest):
    """Age and years of work: a slope of one is nearly a slope of the other, and moves did not arrive where they differ."""
    held, widths, left = [], [], []
    for seed in range(10):
        rng = np.random.default_rng([seed, 50])
        x = rng.uniform(0, 10, n)
        z = (x + rng.normal(size=n)).clip(-10, 20)
        X, f = np.column_stack([x, z]), np.sin(x) + 0.3 * z
        model = eptr.AdditiveRegressor(
            epsilon, 1e-6, x_range=[(0, 10), (-10, 20)], y_range=(-10, 20), random_state=seed
        )
        model.fit(X, f + 0.5 * rng.normal(size=n))
        for j, g, wave in (
            (0, np.array([0.5, 2, 5, 8, 9.5]), np.sin),
            (1, np.array([0.0, 2, 5, 8, 10]), lambda z: 0.3 * z),
        ):
            _, low, high = model.partial_effect(j, g)
            truth = wave(g) - np.mean(wave(X[:, j]))
            held.append((low <= truth) & (truth <= high))
            widths.append(high - low)
        left.append(np.mean((model.predict(X) - f) ** 2))
    assert np.mean(held) > 0.93
    assert np.median(widths) < widest
    assert np.mean(left) < 0.01


@pytest.mark.parametrize("name", ["binary", "one to five", "mostly zeros"])
def test_an_effect_of_a_few_values_is_told_against_its_mean_over_the_rows(name):
    """They lie at the end of a cell, and the axis is stretched where they are."""
    draw, f, points, within = {
        "binary": (lambda rng, n: (rng.uniform(size=n) < 0.2) * 1.0, lambda x: 2.0 * x, [0, 1], (0, 1)),
        "one to five": (
            lambda rng, n: rng.choice(np.arange(1.0, 6.0), size=n, p=[0.1, 0.15, 0.2, 0.25, 0.3]),
            lambda x: 1.0 * x,
            np.arange(1, 6),
            (1, 5),
        ),
        "mostly zeros": (
            lambda rng, n: np.where(rng.uniform(size=n) < 0.7, 0.0, rng.uniform(0, 10, size=n)),
            lambda x: 0.5 * x,
            [0],
            (0, 10),
        ),
    }[name]
    held, finite, widths = told(draw, f, points, 12, n=5000, epsilon=4.0, x_range=[within], y_range=(-10, 20))
    assert finite.all()
    assert np.mean(held) > 0.88
    assert np.median(widths) < 0.3


def test_bands_end_where_rows_end():
    ages, waves = (lambda rng, n: rng.uniform(18, 90, size=n)), (lambda x: 5.0 * np.sin(x / 12.0))
    settings = {"n": 20_000, "epsilon": 1.0, "centred": False, "y_range": (-10, 20)}
    points = [10, 16, 17, 91, 92, 21, 40, 60, 87]
    held, finite, _ = told(ages, waves, points, 8, x_range=[(0, 110)], **settings)
    assert not finite[:, :5].any()
    assert finite[:, 5:].mean() > 0.95
    assert np.mean(held) > 0.93


@pytest.mark.parametrize(("n", "epsilon"), [(5000, 1.0), (20_000, 1.0)])
def test_no_band_is_told_in_an_empty_stretch(n, epsilon):
    def ends(rng, n):
        return np.where(rng.uniform(size=n) < 0.5, rng.uniform(0, 2, size=n), rng.uniform(8, 10, size=n))

    points = [2.5, 3, 4, 6, 7, 1, 9]
    settings = {"n": n, "epsilon": epsilon, "x_range": [(0, 10)], "y_range": (-10, 20), "centred": False}
    held, finite, _ = told(ends, lambda x: 5.0 * np.sin(x), points, 8, **settings)
    assert finite[:, :5].mean() < 0.03
    assert finite[:, 5:].all()
    assert np.mean(held) > 0.93
