"""The privacy filter: what fits, what does not, and that dividing the budget while watching would break the guarantee."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eptr import Budget, InputError, PrivacyError, gaussian_delta, gaussian_mu
from eptr.accounting.compose import compose
from eptr.accounting.filter import Spent, check_cost
from eptr.privacy.bounded_range import bounded_range_mu
from eptr.privacy.claim import Cost
from eptr.privacy.mechanism import forecast_test

TIGHT = forecast_test("tight", 1.0, 1e-6).cost
REFINED = Cost(1.0, 1e-6, "gaussian", gaussian_mu(1.0, 1e-6))
ADAPTIVE = Cost(1.0, 1e-6, "approximate-gaussian", gaussian_mu(1.0, 9e-7), failure=1e-7)


def ranged(epsilon, parts=1):
    """An exponential mechanism, or several."""
    return Cost(epsilon, 0.0, "bounded-range", bounded_range_mu(epsilon / parts), parts=parts)


def admitted(total, *costs):
    """How many charges fit, cycling through ``costs``."""
    spent, count = Spent(), 0
    while (after := spent.charged(costs[count % len(costs)], total)) is not None:
        spent, count = after, count + 1
    return count


@pytest.mark.parametrize(
    ("costs", "count"),
    [((TIGHT,), 3), ((REFINED,), 9), ((ADAPTIVE,), 9), ((TIGHT, REFINED), 2), ((REFINED, TIGHT), 2)],
    ids=["tight", "refined", "adaptive", "tight then refined", "refined then tight"],
)
def test_a_budget_of_three_admits_so_many(costs, count):
    # refined: 9 mu(1,1e-6)^2 has delta 7.7e-6 at epsilon 3, 10 have 2.2e-5; four fifths of 1e-5 are for them.
    assert admitted(Budget(3.0, 1e-5), *costs) == count


@pytest.mark.parametrize("cost", [TIGHT, REFINED, ADAPTIVE])
def test_one_release_may_take_the_whole_budget(cost):
    assert admitted(Budget(1.0, 1e-6), cost) == 1


@pytest.mark.parametrize(
    ("costs", "count"),
    [
        ((ranged(1.0),), 3),  # by its claim: 2 x .624^2 would be above the cap on mu^2, mu(3, 8e-6)^2 = .5058
        ((ranged(0.1),), 128),  # by its mu: .5058 / .06266^2 = 128.8, and 30 by its claim
        ((REFINED, ranged(0.1)), 16),  # 8 (.2367^2 + .06266^2) = .4797, and .5357 with one more of the first
        ((ranged(1.0), TIGHT), 3),  # claims alone: 1 + 1 + 1
    ],
)
def test_an_exponential_mechanism_counts_by_its_claim_or_by_its_mu(costs, count):
    assert admitted(Budget(3.0, 1e-5), *costs) == count


def test_a_cost_of_bounded_range_names_the_mu_of_its_parts():
    for cost in (ranged(1.0), ranged(3.0, 7), ranged(1e-3, 3)):
        check_cost(cost)
        for change in ({"mu": cost.mu * (1 - 1e-10)}, {"mu": 0.0}, {"failure": 1e-9}, {"parts": 0}, {"epsilon": 2.0}):
            if change != {"epsilon": 2.0} or cost.epsilon < 2.0:
                with pytest.raises(PrivacyError):
                    check_cost(replace(cost, **change))


def test_composed_with_sums_it_counts_by_its_mu_and_alone_by_the_better_one():
    both = compose([REFINED, ranged(0.1)])
    assert both.method == "gaussian"
    assert 1.0 < both.epsilon(1e-6) < 1.1
    assert compose([ranged(1.0)] * 2).epsilon(1e-6) == 2.0


def test_tenths_add_up():
    tenth = Cost(0.1, 1e-7, "basic", 0.0)
    assert admitted(Budget(0.3, 1e-5), tenth) == 3


@pytest.mark.parametrize("cost", [REFINED, ADAPTIVE], ids=lambda c: c.kind)
def test_no_share_of_delta_is_given_out_twice(cost):
    """From the first Gaussian release on a fifth of 1e-5 is for basic composition of everything: 1e-6 is left of it."""
    spent = Spent().charged(cost, Budget(3.0, 1e-5), 0.2)
    assert spent.gaussian + spent.failing == 1 - Fraction(0.2)
    for delta, fits in ((0.999e-6, True), (1.001e-6, False)):
        assert (spent.charged(Cost(0.1, delta, "basic", 0.0), Budget(3.0, 1e-5), 0.2) is not None) == fits


def test_what_remains_is_told_as_it_is():
    """Fresh: all of it, or four fifths of delta for Gaussians, whose squares add up; mixed: nothing for those alone."""
    total, cap = Budget(3.0, 1e-5), gaussian_mu(3.0, 8e-6)
    spent, expected = Spent(), [(3.0, 1e-5, cap)]
    expected += [(2.0, 1e-6, math.sqrt(cap**2 - REFINED.mu**2)), (1.5, 0.5e-6, 0.0), (0.0, 0.0, 0.0)]
    costs = [REFINED, Cost(0.5, 0.5e-6, "basic", 0.0), Cost(1.5, 0.5e-6, "basic", 0.0)]
    for k, wanted in enumerate(expected):
        left = spent.remaining(total, 0.2)
        assert (left.epsilon, left.delta, left.mu) == pytest.approx(wanted, rel=1e-9, abs=1e-15)
        spent = spent.charged(costs[k], total, 0.2) if k < len(costs) else spent
    assert str(spent.remaining(total, 0.2)) == "nothing is left"


def test_a_budget_for_gaussians_alone_is_not_told_as_empty():
    told = str(Spent().charged(REFINED, Budget(3.0, 1e-5), 0.0).remaining(Budget(3.0, 1e-5), 0.0))
    assert told.startswith("left: epsilon ")
    assert told.endswith("for refined (Gaussian) releases, the default; nothing for strategy 'paper' or 'tight'")
    assert "(0, 0)" not in told


kinds = st.sampled_from(["basic", "gaussian", "approximate-gaussian"])


@given(st.lists(st.tuples(kinds, st.floats(0.05, 1.5), st.floats(1e-9, 1e-5)), min_size=1, max_size=30))
def test_every_state_is_inside_one_of_the_two_regions(charges):
    """Recomputed from the list alone, in floats, with the rule as it stands in the proof."""
    total, spent = Budget(2.0, 2e-5), Spent()
    before, since = [], []
    for kind, epsilon, delta in charges:
        mu = gaussian_mu(epsilon, delta * 0.9) if kind != "basic" else 0.0
        cost = Cost(epsilon, delta, kind, mu, failure=0.1 * delta if kind == "approximate-gaussian" else 0.0)
        after = spent.charged(cost, total)
        if after is None:
            continue
        spent = after
        (since if since or kind != "basic" else before).append(cost)
    e, d = total.epsilon - sum(c.epsilon for c in before), total.delta - sum(c.delta for c in before)
    assert e > -1e-9
    assert d > -1e-15
    if since:
        g, f = float(spent.gaussian), float(spent.failing)
        region_a = sum(c.epsilon for c in since) <= e + 1e-9 and sum(c.delta for c in since) <= (1 - g - f) * d + 1e-15
        gaussian = all(c.kind != "basic" for c in since)
        region_g = (
            gaussian
            and g > 0
            and (
                gaussian_delta(e, math.sqrt(sum(c.mu**2 for c in since))) <= g * d * (1 + 1e-9)
                and sum(c.failure for c in since) <= f * d + 1e-18
            )
        )
        assert region_a or region_g


def test_totals_are_exact_and_survive_storage():
    spent = Spent()
    for _ in range(9):
        spent = spent.charged(REFINED, Budget(3.0, 1e-5))
    assert spent.squares == 9 * Fraction(REFINED.mu) ** 2
    assert Spent.from_dict(spent.to_dict()) == spent
    with pytest.raises(InputError, match="fields of this version"):
        Spent.from_dict({"squares": "0/1"})


@pytest.mark.slow
def test_dividing_the_budget_while_watching_would_break_the_guarantee():
    """Why shares are frozen: an analyst who watches the loss of Gaussian releases and then picks how to go on gets more.

    Loss = Brownian motion. Rule "delta_G(E - e; sqrt S) <= D for the final (S, e)" holds with equality for every fixed S;
    stopping when the loss is high (then one pure release of what the rule leaves) has a larger value.
    """
    rng = np.random.default_rng(0)
    total, level = 2.0, 0.01
    mu = gaussian_mu(total, level)
    steps = 40
    squares = mu**2 * np.arange(1, steps + 1) / steps
    # For each S the largest pure epsilon the naive rule would still admit.
    left = np.array([_largest_pure(total, level, math.sqrt(s)) for s in squares])
    paths = np.cumsum(mu**2 / steps / 2 + mu / math.sqrt(steps) * rng.normal(size=(40_000, steps)), axis=1)
    gain = np.maximum(0.0, 1.0 - np.exp(total - paths - left))  # the value of stopping now
    later = gain[:, -1].copy()
    for t in range(steps - 2, -1, -1):  # stop where it beats a regression of what continuing brings
        basis = np.vander(paths[:, t], 6)
        going_on = basis @ np.linalg.lstsq(basis, later, rcond=None)[0]
        later = np.where(gain[:, t] > np.maximum(going_on, 0.0), gain[:, t], later)
    error = later.std() / math.sqrt(len(later))
    assert later.mean() - 5 * error > level


def _largest_pure(total, level, mu):
    low, high = 0.0, total
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gaussian_delta(total - middle, mu) <= level else (low, middle)
    return low


@pytest.mark.parametrize(
    "cost",
    [
        Cost(math.nan, 1e-6, "basic", 0.0),
        Cost(0.0, 1e-6, "basic", 0.0),
        Cost(1.0, -1e-6, "basic", 0.0),
        Cost(1.0, 1e-6, "gaussian", 0.0),
        Cost(1.0, 1e-6, "gaussian", math.inf),
        Cost(1.0, 1e-6, "basic", 0.0, parts=0),
        Cost(1e-9, 0.0, "gaussian", 50.0),  # claims less than its mu costs
        Cost(1.0, 1e-6, "rdp", 0.0),
        Cost(1.0, 1e-6, "basic", 0.0, rows=0),
        Cost(1.0, 1e-6, "basic", 0.0, rows=1.5),
    ],
)
def test_costs_without_sense_are_refused(cost):
    with pytest.raises(PrivacyError):
        check_cost(cost)


@pytest.mark.parametrize("strategy", ["tight", "paper", "ptr"])
def test_what_mechanisms_claim_holds(strategy):
    for epsilon, delta in ((0.05, 1e-3), (1.0, 1e-6), (4.0, 1e-9)):
        check_cost(forecast_test(strategy, epsilon, delta).cost)


@pytest.mark.parametrize(
    ("strategy", "change"),
    [
        ("tight", lambda c: {"mu": c.mu * 1.06}),  # less noise than the Gaussian alone would need
        ("tight", lambda c: {"epsilon": c.epsilon * 0.9}),
        ("tight", lambda c: {"delta": c.delta * 0.1}),
        ("tight", lambda c: {"p0": c.delta * 1.01}),
        ("tight", lambda c: {"p0": None}),
        ("tight", lambda c: {"p0": 0.0}),
        ("tight", lambda c: {"delta": 0.0}),
        ("tight", lambda c: {"mu": 0.0}),
        ("tight", lambda c: {"epsilon": 1e300}),
        ("paper", lambda c: {"epsilon": 1e300, "mu": 1e200}),
        ("paper", lambda c: {"mu": c.mu * 10.0}),
        ("paper", lambda c: {"mu": 0.0}),
        ("ptr", lambda c: {"mu": c.mu * 2.0}),  # all of epsilon for the noise, as printed: 1.1e-4 instead of 1e-6
        ("ptr", lambda c: {"delta": c.delta * 0.5}),
        ("ptr", lambda c: {"delta": 0.0}),
    ],
)
def test_a_tested_cost_that_claims_less_than_it_spends_is_refused(strategy, change):
    cost = forecast_test(strategy, 1.0, 1e-6).cost
    with pytest.raises(PrivacyError, match="does not keep its claim"):
        check_cost(replace(cost, **change(cost)))


@pytest.mark.parametrize("count", [3, 7, 49])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3])
def test_many_parts_are_checked_one_by_one(count, epsilon):
    one = forecast_test("tight", epsilon, 1e-6).cost
    spent = Budget.total([Budget(epsilon, 1e-6)] * count)
    whole = replace(one, epsilon=spent.epsilon, delta=spent.delta, parts=count)
    check_cost(whole)
    with pytest.raises(PrivacyError, match="does not keep its claim"):
        check_cost(replace(whole, parts=2 * count))


def test_a_basis_must_be_known_and_a_citation_must_name_its_theorem():
    cost = Cost(1.0, 1e-6, "basic", 0.0)
    check_cost(replace(cost, basis="cited", theorem="Theorem 1 of somebody: rows are bounded."))
    check_cost(replace(cost, basis="not verified"))
    for wrong in ({"basis": "believed"}, {"basis": ""}, {"basis": "cited"}, {"basis": "cited", "theorem": "  "}):
        with pytest.raises(PrivacyError, match="basis"):
            check_cost(replace(cost, **wrong))


def test_gaussian_parts_cost_the_root_of_their_number_and_no_more_may_be_claimed():
    four = Cost(1.0, 1e-6, "gaussian", gaussian_mu(1.0, 1e-6) / 2.0, parts=4)
    check_cost(REFINED)
    check_cost(four)
    for wrong in (
        replace(four, mu=1.001 * four.mu),
        replace(REFINED, delta=0.99e-6),
        replace(ADAPTIVE, failure=1.1e-7),
    ):
        with pytest.raises(PrivacyError, match="is not"):
            check_cost(wrong)


@pytest.mark.parametrize(("change", "words"), [({"kind": "hearsay"}, "known kind"), ({"relation": "add"}, "relation")])
def test_a_cost_of_no_known_kind_or_relation_is_refused(change, words):
    with pytest.raises(PrivacyError, match=words):
        check_cost(replace(Cost(1.0, 1e-6, "basic", 0.0), **change))


def test_a_total_has_a_mu_if_nothing_but_gaussians_can_ever_be_in_it():
    def after(*costs, mixing):
        spent = Spent()
        for cost in costs:
            spent = spent.charged(cost, Budget(3.0, 1e-5), mixing)
        return spent.all_gaussian

    assert after(REFINED, REFINED, mixing=0.0)
    assert not after(REFINED, mixing=0.2)  # other kinds may follow
    assert not after(TIGHT, REFINED, mixing=0.0)
    assert not after(ADAPTIVE, mixing=0.0)
    assert not after(mixing=0.0)


@pytest.mark.parametrize("spent", [{"epsilon_before": Fraction(1)}, {"delta_before": Fraction(1, 10**6)}])
def test_what_lacks_epsilon_or_delta_buys_nothing(spent):
    """For a release of any kind; 1e-6 as a float is a little less than the fraction."""
    left = Spent(**spent).remaining(Budget(1.0, 1e-6))
    assert (left.epsilon, left.delta) == (0.0, 0.0)
