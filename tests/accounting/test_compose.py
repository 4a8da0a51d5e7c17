"""Composition: against basic composition, exact Gaussians, an independent convolution, and simulation of two releases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from eptr import InputError, KernelRegressor, Proposal, compose, gaussian_delta, gaussian_epsilon, gaussian_mu, release
from eptr.accounting.compose import _pairs, _probabilities, _profile_on_grid
from eptr.privacy.claim import Cost
from eptr.privacy.gaussian import delta_on_grid
from eptr.privacy.ladder import build_ladder
from eptr.privacy.mechanism import forecast_test
from eptr.privacy.profile import LogisticTest, privacy_profile

TIGHT = forecast_test("tight", 1.0, 1e-6).cost
PAPER = forecast_test("paper", 1.0, 1e-6).cost
REFINED = Cost(1.0, 1e-6, "gaussian", gaussian_mu(1.0, 1e-6))


def test_sixteen_tight_releases_cost_less_than_half_of_basic_composition():
    assert 6.5 < compose([TIGHT] * 16).epsilon(1.6e-5) <= 7.5


def test_the_mass_at_infinite_loss_is_what_p0_pays_for():
    whole = forecast_test("tight", 1.0, 1e-6).cost
    assert whole.p0 == pytest.approx(1e-7)
    at_delta = Cost(1.0, 1e-6, "ladder", whole.mu, p0=1e-6)
    assert compose([at_delta] * 16).epsilon(1.6e-5) == pytest.approx(11.0, abs=0.1)


def test_gaussian_parts_compose_exactly():
    total = compose([REFINED] * 9)
    assert total.method == "gaussian"
    assert total.delta(3.0) == pytest.approx(gaussian_delta(3.0, 3.0 * REFINED.mu), rel=1e-8)
    assert gaussian_delta(total.epsilon(1e-5), 3.0 * REFINED.mu) <= 1e-5


def test_a_ladder_is_never_charged_as_a_gaussian_of_its_mu():
    as_gaussian = compose([Cost(1.0, 1e-6, "gaussian", TIGHT.mu)] * 16).epsilon(1.6e-5)
    assert compose([TIGHT] * 16).epsilon(1.6e-5) > as_gaussian


@pytest.mark.parametrize("cost", [TIGHT, PAPER], ids=["tight", "paper"])
def test_one_release_alone_costs_what_it_claims(cost):
    assert compose([cost]).epsilon(1e-6) <= 1.0
    assert compose([cost]).delta(1.0) <= 1e-6 * (1 + 1e-9)


def test_never_worse_than_basic_composition():
    assert compose([TIGHT] * 3).epsilon(3e-6) <= 3.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-6), (200.0, 1e-12), (1.0, 1e-20)])
def test_the_grid_profile_is_above_the_exact_one(epsilon, delta):
    """From 0 to where its ladder ends; the constant for far tails, 2e-19, is all that separates the two."""
    cost, step = forecast_test("tight", epsilon, delta).cost, 1e-3 * epsilon
    steps, grid = build_ladder(epsilon, delta, cost.mu, cost.p0), _profile_on_grid(cost, step)
    for k in np.linspace(0, len(grid) - 1, 25).astype(int):
        exact = privacy_profile(steps, cost.mu, k * step)
        assert exact * (1 - 1e-10) <= grid[k] <= exact * (1 + 1e-8) + 3e-19


def test_the_grid_profile_of_a_published_test_is_above_the_exact_one():
    grid = _profile_on_grid(PAPER, 1e-3)
    assert privacy_profile(LogisticTest(1.0, 1e-6), PAPER.mu, 0.5) <= grid[500]


def test_two_releases_on_the_worst_pair_stay_below_the_composed_curve():
    """Independent of the code: two ladder releases at a fixed pair of rungs, convolved by brute quadrature."""
    total = compose([TIGHT] * 2)
    epsilon = 1.2
    bound = total.delta(epsilon)
    x = np.linspace(-9, 9, 4001) * 1.0
    mass = np.exp(-0.5 * x**2) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
    for p, p_not, q, q_not in list(_pairs(TIGHT))[::7]:
        if p_not <= 0 or q_not <= 0:
            continue
        # Losses of one release: silence, or a Gaussian reply at distance mu.
        loss = np.append(math.log(p / q) + TIGHT.mu * x + TIGHT.mu**2 / 2, math.log(p_not / q_not))
        weight = np.append(p * mass, p_not)
        # H of two releases: sum over the first loss of weight * H_{eps - loss} of the second.
        rest = epsilon - loss
        second = np.where(
            rest < 0, 0.0, np.maximum(0.0, p_not - np.exp(np.minimum(rest, 50)) * q_not)
        ) + p * delta_on_grid(rest + math.log(q / p), TIGHT.mu)
        second = np.where(rest < 0, np.maximum(0.0, p_not - np.exp(rest) * q_not) + second, second)
        assert float(weight @ second) <= bound * (1 + 1e-6)


def test_mixtures_and_bare_claims():
    mixed = compose([TIGHT, REFINED, Cost(0.5, 1e-7, "basic", 0.0)])
    assert mixed.method == "privacy-loss distribution"
    assert mixed.epsilon(1e-5) < 2.5
    assert compose([Cost(0.5, 1e-7, "basic", 0.0)] * 2).epsilon(2e-7) == 1.0
    assert compose([Cost(0.5, 1e-7, "basic", 0.0)] * 2).epsilon(1e-8) == math.inf
    assert compose([TIGHT, Cost(5.0, 1e-7, "unheard of", 0.0)]).epsilon(2e-6) > 5.0
    failing = Cost(1.0, 1e-5, "approximate-gaussian", 0.01, failure=1e-7, parts=10)
    assert compose([failing]).delta(2.0) >= 1e-6
    approximate = Cost(1.0, 1e-6, "approximate-gaussian", 0.2, failure=1e-7)
    assert compose([approximate] * 3).delta(2.0) >= 3e-7


def test_kernel_queries_compose_as_what_they_are():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(3000, 1)), rng.uniform(-1, 1, size=3000)
    model = KernelRegressor(
        1.0,
        1e-6,
        (0, 1),
        y_bound=1.0,
        bandwidth=0.2,
        queries=np.linspace(0.2, 0.8, 8)[:, None],
        budget="each",
        strategy="tight",
    ).fit(x, y)
    assert model.release_.cost.parts == 8
    assert compose([model]).epsilon(8e-6) < 6.0 < model.release_.epsilon


def test_releases_and_estimators_are_accepted_and_others_named():
    r = release(Proposal([0.0], 1.0, 1e6), 1.0, 1e-6)
    assert compose([r]).costs == (r.cost,)
    with pytest.raises(InputError, match="at least one"):
        compose([])
    with pytest.raises(InputError, match="float"):
        compose([1.0])
    with pytest.raises(InputError, match="delta"):
        compose([r]).epsilon(0.0)


def test_the_fast_curve_is_an_upper_bound():
    for mu in (1e-4, 0.01, 0.24, 3.0):
        e = np.concatenate([-np.geomspace(1e-5, 20, 50), np.geomspace(1e-5, 20, 200)])
        exact = gaussian_delta(e, mu)
        fast = delta_on_grid(e, mu)
        keep = exact > 1e-290
        assert np.all(fast[keep] >= exact[keep])
        assert np.all(fast[keep] <= exact[keep] * (1 + 3e-9))


CLAIM = Cost(5.0, 1e-7, "unheard of", 0.0)
QUERIES = Cost(1.0, 1e-5, "approximate-gaussian", 0.1, failure=1e-7, parts=10)


def test_failures_and_bare_claims_are_taken_off_before_anything_is_composed():
    """delta less all failures is left for Gaussians of mu^2 = 2 * 10 * .01; a claim costs all that it says, beside the rest."""
    failed, mu = 2e-6, math.sqrt(0.2)
    assert compose([QUERIES] * 2).epsilon(1e-4) == pytest.approx(gaussian_epsilon(delta=1e-4 - failed, mu=mu), rel=1e-9)
    assert compose([QUERIES] * 2).delta(1.5) == pytest.approx(gaussian_delta(1.5, mu) + failed, rel=1e-9)
    alone, beside = compose([TIGHT, QUERIES]), compose([TIGHT, QUERIES, CLAIM])
    assert beside.epsilon(2e-5 + 1e-7) == pytest.approx(5.0 + alone.epsilon(2e-5), rel=1e-9)
    assert beside.delta(5.0 + 1.5) == pytest.approx(alone.delta(1.5) + 1e-7, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 1.2])
def test_a_gaussian_beside_a_ladder_costs_the_mean_of_the_ladder_s_profile_over_its_losses(epsilon):
    """E h(epsilon - L), L ~ N(mu^2/2, mu^2); both sides of a pair are alike, so h(-x) = 1 - exp(-x) (1 - h(x))."""
    step, mu, h = 1e-3, REFINED.mu, _profile_on_grid(TIGHT, 1e-3)
    losses = np.arange(-4000, 4001)
    away = round(epsilon / step) - losses
    ahead = h[np.minimum(np.abs(away), len(h) - 1)]
    both = np.where(away >= 0, ahead, 1.0 - np.exp(step * away) * (1.0 - ahead))
    exact = float(step * stats.norm.pdf(step * losses, mu**2 / 2, mu) @ both)
    assert exact * (1 - 1e-9) <= compose([TIGHT, REFINED]).delta(epsilon) <= exact * (1 + 1e-4)


@pytest.mark.parametrize("strategy", ["paper", "ptr"])
def test_published_tests_reply_as_often_in_composition_as_they_do(strategy):
    """At every eighth of a row, up to where they are certain; neighbours are seven to nine eighths apart."""
    laws = {
        "paper": stats.logistic(LogisticTest(1.0, 1e-6).midpoint, 2.0),
        "ptr": stats.laplace(2 * math.log(1e6), 2.0),
    }
    steps, apart = _probabilities(forecast_test(strategy, 1.0, 1e-6).cost)
    (*replies, last), safety = steps, np.arange(len(steps) - 1) / 8
    assert (last, apart) == ((1.0, 0.0), (7, 8, 9))
    np.testing.assert_allclose([p for p, _ in replies], laws[strategy].cdf(safety), rtol=1e-9)
    np.testing.assert_allclose([p_not for _, p_not in replies], laws[strategy].sf(safety), rtol=1e-9)
    assert replies[-1][1] < 1e-17


def test_without_the_accounting_package_costs_add_up(monkeypatch):
    monkeypatch.setattr("eptr.accounting.compose._has_accounting", lambda: False)
    assert compose([TIGHT, PAPER]).method == "basic"
    assert compose([TIGHT, PAPER]).epsilon(2e-6) == 2.0


def test_where_nothing_is_guaranteed_delta_is_one_and_epsilon_is_a_number():
    assert compose([CLAIM]).delta(4.9) == 1.0
    with pytest.raises(InputError, match="epsilon"):
        compose([CLAIM]).delta(0.0)
