"""Answers are nearly as good as without privacy, from wide bounds, and intervals hold the truth about as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr
from eptr import rivals, stats
from eptr.stats import locate
from eptr.stats.mean import mean_weights

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
COLUMNS = {  # draws, mean, variance, bounds
    "incomes": (lambda g, n: g.lognormal(0, 1, n), np.exp(0.5), (np.e - 1) * np.e, (0, 2000)),
    "normal": (lambda g, n: g.normal(37, 1, n), 37.0, 1.0, (-100, 400)),
    "t, 3 degrees": (lambda g, n: g.standard_t(3, n), 0.0, 3.0, (-1000, 1000)),
    "uniform": (lambda g, n: g.random(n), 0.5, 1 / 12, (0, 1)),
    "share": (lambda g, n: (g.random(n) < 0.002).astype(float), 0.002, 0.002 * 0.998, (0, 1)),
}


@pytest.mark.parametrize("counted", [True, False])
def test_counts_and_squares_cost_little_or_nothing_beside_means(counted):
    """As proven: a diameter of 2, or 1.15 and 1.04 from 0; weights are multiples of 1/32, or weighted sums would round."""
    replaced, dropped = mean_weights("replace-one", counted=counted), mean_weights("zero-out", counted=counted)
    assert replaced.contribution(3, 1000).diameter == pytest.approx(2.0, abs=1e-9)
    own = math.sqrt(1.0 + 1 / 16 + 1 / 4 * counted)
    assert dropped.contribution(3, 1000).distance == pytest.approx(own, abs=1e-9)
    for weights in (replaced, dropped):
        assert all((32.0 * w).is_integer() for w in (weights.count, *weights.powers().values()))


def errors(function, name, truth, sample, runs=60, n=10_000):
    draw, *_, bounds = COLUMNS[name]
    found = []
    for seed in range(runs):
        x = draw(np.random.default_rng(seed), n)
        answer = function(x, bounds, epsilon=1.0, random_state=seed)
        found.append((answer.value - truth, sample(x) - truth, answer.low <= truth <= answer.high))
    private, plain, held = np.array(found, dtype=float).T
    return np.sqrt(np.mean(private**2) / np.mean(plain**2)), held.mean()


@pytest.mark.parametrize(("name", "most"), [("incomes", 1.35), ("normal", 1.25), ("uniform", 1.1), ("share", 1.7)])
def test_means_from_wide_bounds(name, most):
    ratio, held = errors(stats.mean, name, COLUMNS[name][1], np.mean)
    assert ratio < most
    assert held >= 0.88


@pytest.mark.parametrize("name", ["normal", "uniform"])
def test_variances_from_wide_bounds(name):
    ratio, held = errors(stats.variance, name, COLUMNS[name][2], np.var)
    assert ratio < 2.2
    assert held >= 0.88


@pytest.mark.parametrize("name", ["incomes", "t, 3 degrees"])
def test_variances_of_heavy_tails_count_what_they_cannot_see(name):
    _, held = errors(stats.variance, name, COLUMNS[name][2], np.var)
    assert held >= 0.85


HOURS = (lambda g, n: np.where(g.random(n) < 0.95, 40.0, g.normal(35, 12, n).round()), 39.75, (0, 168))


@pytest.mark.parametrize(
    ("draw", "truth", "bounds", "n", "most"),
    [
        (*HOURS, 10_000, 8.0),  # noise hides the few rows around those that are all alike: they must not be clipped
        (
            lambda g, n: g.normal(50, 10, n),
            50.0,
            (-1e5, 1e5),
            1000,
            2.0,
        ),  # thousands of times too wide, on both sides of 0
    ],
    ids=["hours", "wide"],
)
def test_what_noise_hides_is_in_the_interval(draw, truth, bounds, n, most):
    found = []
    for seed in range(60):
        x = draw(np.random.default_rng(seed), n)
        answer = stats.mean(x, bounds, epsilon=1.0, random_state=seed)
        found.append(((answer.value - truth) / (x.std() / np.sqrt(n)), answer.low <= truth <= answer.high))
    errors, held = np.array(found, dtype=float).T
    assert np.sqrt(np.mean(errors**2)) < most
    assert held.mean() >= 0.88


def test_a_skewed_column_beside_others_keeps_its_interval():
    n, truth, held = 10_000, 0.4 * np.exp(0.5), []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        incomes, gains = ((rng.random(n) < p) * rng.lognormal(0, s, n) for p, s in ((0.4, 1.0), (0.08, 1.2)))
        X = np.column_stack([rng.normal(45, 15, n), incomes, gains, rng.random(n) < 0.3])
        answer = stats.mean(X, [(0, 120), (0, 1000), (0, 500), (0, 1)], epsilon=1.0, random_state=seed)
        held.append(answer.low[1] <= truth <= answer.high[1])
    assert np.mean(held) >= 0.9


def test_what_noise_hides_of_many_columns_is_in_the_intervals():
    """Too few rows to see where they lie together: nothing may be clipped there."""
    held, spread = {"mean": [], "variance": [], "covariance": []}, (np.e - 1) * np.e
    for seed in range(40):
        X = np.random.default_rng(seed).lognormal(0, 1, size=(300, 3))
        for name, truth in (("mean", np.exp(0.5)), ("variance", spread), ("covariance", spread * np.eye(3))):
            found = getattr(stats, name)(X, (0, 1000), epsilon=1.0, random_state=seed)
            held[name].append(np.mean((found.low <= truth) & (truth <= found.high)))
    assert min(map(np.mean, held.values())) >= 0.88


def paired(ask, sample, truth, size, runs):
    """Mean distances of the private answer and of the sample's from the truth."""
    epsilon, found = eptr.gaussian_epsilon(delta=1e-6, mu=1.0), []
    for seed in range(runs):
        X = np.random.default_rng(seed).normal(size=size)
        value = ask(X, (-40, 40), epsilon=epsilon, random_state=seed).value
        found.append([np.linalg.norm(value - truth), np.linalg.norm(sample(X) - truth)])
    private, plain = np.mean(found, axis=0)
    return private / plain


def test_many_means_and_covariances_beat_coinpress_without_knowing_the_scale():
    def rival(X, bounds, **settings):
        return rivals.CoinPress(steps=3, **settings).mean(X, bounds)

    ours = paired(stats.mean, lambda X: X.mean(axis=0), 0.0, (1000, 50), 15)
    assert ours < 1.2
    assert ours < paired(rival, lambda X: X.mean(axis=0), 0.0, (1000, 50), 15)
    assert paired(stats.covariance, lambda X: np.cov(X.T), np.eye(10), (3000, 10), 10) < 1.2


def test_a_code_for_missing_values_at_the_outer_end_of_a_cell_is_not_clipped():
    """One row in twenty is -9, six standard deviations below the others, where a fading tail has next to none."""
    errors, held = [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(20_000) < 0.05, -9.0, rng.normal(50, 10, size=20_000))
        found = stats.mean(x, (-10, 1000), epsilon=0.3, random_state=seed)
        errors.append(found.value - x.mean())
        held.append(found.low <= 47.05 <= found.high)
    assert np.sqrt(np.mean(np.square(errors))) < 0.17  # the error of sampling is .11
    assert np.mean(held) >= 0.88


def test_groups_have_their_own_means_and_unequal_sizes_show():
    rng = np.random.default_rng(0)
    t = rng.choice(["a", "b", "c"], size=20_000, p=[0.7, 0.29, 0.01])
    x = 10.0 * (t == "b") + rng.normal(size=20_000)
    answer = stats.mean(x, (-1000, 1000), by=t, levels=["a", "b", "c"], epsilon=2.0, random_state=0)
    truth = np.array([0.0, 10.0, 0.0])
    assert np.all((answer.low <= truth) & (truth <= answer.high))
    assert answer.se_privacy[2] > 10 * answer.se_privacy[0]


@pytest.mark.parametrize(("shares", "n", "epsilon"), [((0.3,), 2000, 0.3), ((0.5, 0.01), 10_000, 1.0)])
def test_shares_are_means_whose_intervals_hold(shares, n, epsilon):
    """All values are at the bounds: what noise hides there must not be clipped."""
    truth, held, errors = np.array(shares), [], []
    for seed in range(40):
        x = (np.random.default_rng(seed).uniform(size=(n, len(shares))) < truth).astype(float)
        found = stats.mean(x, (0, 1), epsilon=epsilon, random_state=seed)
        held.append((found.low <= truth) & (truth <= found.high))
        errors.append((found.value - truth) / np.hypot(found.se_sampling, found.se_privacy))
    assert np.all(np.mean(held, axis=0) > 0.8)
    assert np.all(abs(np.mean(errors, axis=0)) < 0.6)  # 40 errors of size 1: no bias


@pytest.mark.parametrize(
    ("statistic", "most"), [(stats.mean, 100.0), (stats.variance, 5000.0), (stats.std, 5000.0**0.5)]
)
def test_of_a_group_that_noise_hides_nothing_is_said(statistic, most):
    """Five rows at one end; a level that no row has."""
    t = np.repeat(["a", "b"], [4995, 5])
    x = np.where(t == "b", 95.0, np.random.default_rng(0).normal(50, 5, size=5000))
    found = statistic(x, (0, 100), by=t, levels=["a", "b", "none"], epsilon=1.0, random_state=0)
    assert found.high[0] - found.low[0] < 0.2 * most
    np.testing.assert_allclose([found.low[1:], found.high[1:]], [[0.0] * 2, [most] * 2])


NARROW = {
    "days of a month": (lambda g, n: g.integers(19_600, 19_631, n), (-25_567, 47_482)),
    "one unit of a hundred thousand": (lambda g, n: g.uniform(16_900, 16_901, n), (0, 101_400)),
    "air pressure": (lambda g, n: g.normal(1013, 0.8, n), (0, 2000)),
    "a month of seconds": (lambda g, n: g.uniform(1.7e9, 1.7026e9, n), (0, 4e9)),
}


@pytest.mark.parametrize("name", NARROW)
def test_narrow_values_far_from_zero_are_found(name):
    """Five looks left intervals up to 26,000 times as wide as those without privacy: all values were in one cell."""
    draw, bounds = NARROW[name]
    for seed in range(25):
        x = draw(np.random.default_rng(seed), 5000)
        found = stats.mean(x, bounds, epsilon=1.0, random_state=seed)
        plain = 2.0 * 1.96 * x.std() / np.sqrt(5000)
        assert found.high - found.low < 1.5 * plain
        assert abs(found.value - x.mean()) < plain


def looks_at(monkeypatch, x, bounds, **asked):
    """Shares that looks at columns cost."""
    spent, look = [], locate.look_at_columns
    monkeypatch.setattr(locate, "look_at_columns", lambda *a: spent.append(a[-1]) or look(*a))
    stats.mean(x, bounds, epsilon=4.0, random_state=0, **asked)
    return spent


def test_a_value_that_most_share_is_not_looked_at_ever_more_closely(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(10_000) < 0.6, 40.0, rng.integers(1, 70, 10_000))
    assert len(looks_at(monkeypatch, x, (0, 168))) == 5 + 1


def test_looks_leave_most_for_the_mean_of_a_column_and_a_fifth_for_those_of_two(monkeypatch):
    """Constants are the hardest to find: every look finds them in one cell."""
    x = np.full(10_000, 2020.123)
    assert sum(looks_at(monkeypatch, x, (0, 1e9))) <= 12 * 0.02 + 0.2 + 1e-12
    monkeypatch.undo()
    assert sum(looks_at(monkeypatch, np.column_stack([x, x + 1e6]), (0, 1e9))) < 0.81


@pytest.mark.parametrize(
    ("draw", "bounds"),
    [
        (lambda g, n: g.integers(1995, 2024, n), (0, 10_000)),
        (lambda g, n: g.random(n) < 0.5, (0, 100)),
        (lambda g, n: g.choice([5.0, 6.0, 7.0], n, p=[0.2, 0.4, 0.4]), (0, 1000)),
    ],
)
def test_two_cells_that_hold_everything_are_clipped_on_both_sides(draw, bounds):
    """Of half the coins and some of the years one side went to its bound: noise decides which of two cells is the fuller."""
    wide = 0
    for seed in range(60):
        x = draw(np.random.default_rng(1000 + seed), 500)
        found = stats.mean(x, bounds, epsilon=8.0, random_state=seed)
        wide += found.high - found.low > 2.0 * 2.0 * 1.96 * x.std() / np.sqrt(500)
    assert wide <= 1


def test_rows_that_are_missing_from_two_full_cells_are_somewhere():
    """A tenth of the rows, too thin to stand out, in a long tail: intervals held its mean eight times of ten."""
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(500) < 0.9, rng.integers(10, 12, 500), rng.exponential(40, 500))
        found = stats.mean(x, (0, 1000), epsilon=8.0, random_state=seed)
        held += found.low <= 0.9 * 10.5 + 4.0 <= found.high
    assert held >= 85
