"""One fit, one budget: what is checked, charged and drawn comes in this order, and no part goes beyond the whole."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from eptr import InputError, LedgerError, PrivacyError, gaussian_mu
from eptr.privacy.bounded_range import bounded_range_epsilon, bounded_range_mu
from eptr.privacy.cell_line import CellLine
from eptr.privacy.claim import BASES, Cost
from eptr.privacy.contribution import Absolute, Ball, Box, Cell, Interval, LabelledBall, Outer, Shape, WeightedOuter
from eptr.privacy.ladder import build_ladder
from eptr.privacy.mechanism import Proposal, forecast_test
from eptr.privacy.noise import ExactNoise, NoiseStandIn
from eptr.privacy.profile import LaplaceTest, LogisticTest
from eptr.privacy.spending import Spending
from eptr.privacy.unit import Unit

MU = 0.7
GAUSSIAN = Cost(1.0, 1e-3, "gaussian", MU)
PURE = Cost(1.0, 0.0, "basic", 0.0)
RANGED = Cost(1.0, 0.0, "bounded-range", bounded_range_mu(0.5), parts=2)
ZERO = np.zeros(2)
LINE, MEDIAN = CellLine([3, 1, 4]), [Fraction(1, 2)]


class Noise(NoiseStandIn):
    """Tells the diary what is drawn; what comes out is what went in."""

    def __init__(self, diary):
        self.diary, self.scales, self.coins = diary, [], []

    def __deepcopy__(self, memo):
        return self

    def _draw(self, values, scale):
        self.diary.append("draw")
        self.scales.append(scale)
        return np.array(values, dtype=float)

    gaussian = laplace = cauchy = _draw

    def coin(self, numerator, bits):
        self.diary.append("draw")
        self.coins.append((numerator, bits))
        return True

    def bits(self, count):
        self.diary.append("draw")
        return 0


class Rows:
    def __init__(self, diary, fault=None):
        self.diary, self.fault = diary, fault

    def check(self):
        self.diary.append("rows")
        if self.fault is not None:
            raise self.fault

    def sum(self, fn):
        self.diary.append("pass")
        return fn()


class Account:
    def __init__(self, diary, refuses=None, fault=None):
        self.diary, self.refuses, self.fault, self.charged = diary, refuses, fault, []

    def check(self, cost, *, private):
        self.diary.append("admit")
        if self.refuses is not None:
            raise self.refuses

    def charge(self, cost, *, private, what=""):
        self.diary.append("charge")
        if self.fault is not None:
            raise self.fault
        self.charged.append((cost, private, what))


class Fit:
    """A budget with everything around it recorded in one diary."""

    def __init__(self, cost=GAUSSIAN, unit=None, rows_fault=None, refuses=None, charge_fault=None, **options):
        self.diary = []
        self.noise, self.account = Noise(self.diary), Account(self.diary, refuses, charge_fault)
        rows = Rows(self.diary, rows_fault)
        self.rows = rows
        settings = {"account": self.account, "random_state": self.noise} | options
        self.spending = Spending(cost, unit or Unit(), rows, **settings)


TESTED = forecast_test("tight", 1.0, 1e-6).cost
OWN = replace(PURE, basis="cited", theorem="somebody's")
SAFE = Proposal(0.0, 1.0, 1e6)
# Every way to noise: the cost that admits it, and how it is asked for.
WAYS = {
    "draw": (GAUSSIAN, lambda s: s.draw(ZERO, Ball(1.0), MU)),
    "noisy": (GAUSSIAN, lambda s: s.noisy(ZERO, Ball(1.0), 0.5)),
    "noisy of a portion": (GAUSSIAN, lambda s: s.within(0.5).within(0.5).noisy(ZERO, Ball(1.0))),
    "sums": (GAUSSIAN, lambda s: s.sums(s._rows, lambda: (ZERO,), Ball(1.0))),
    "laplace": (PURE, lambda s: s.laplace(ZERO, Absolute(2.0, 1.0))),
    "laplace blocks": (PURE, lambda s: s.laplace_blocks([(ZERO, 1.0), (ZERO, 2.0)], Absolute(2.0, 1.0))),
    "quantiles": (GAUSSIAN, lambda s: s.within(0.5).quantiles(LINE, MEDIAN, 0.5)),
    "place": (PURE, lambda s: s.place(LINE, MEDIAN, 1.0, total=9)),
    "place of a range": (RANGED, lambda s: s.place(LINE, MEDIAN, 0.5)),
    "test": (TESTED, lambda s: s.test(SAFE, "tight", 1.0, 1e-6)),
    "test at a rung": (TESTED, lambda s: s.test_at_rung(lambda: ZERO, 10**6, 1.0, 1.0, 1e-6)),
    "its own theorem": (OWN, lambda s: s.by_its_own_theorem().gaussian(ZERO, 1.0)),
    "idle": (GAUSSIAN, lambda s: s.idle(2)),
}
EVERY_WAY = pytest.mark.parametrize(("cost", "ask"), WAYS.values(), ids=WAYS.keys())


@EVERY_WAY
def test_rows_are_checked_then_charged_for_then_drawn(cost, ask):
    fit = Fit(cost)
    assert fit.diary == ["admit"]
    ask(fit.spending)
    order = [word for word in fit.diary if word != "pass"]
    assert order[:3] == ["admit", "rows", "charge"]
    assert set(order[3:]) == {"draw"}


@EVERY_WAY
def test_rows_that_fail_are_neither_charged_for_nor_drawn_from(cost, ask):
    fit = Fit(cost, rows_fault=InputError("a row is not finite"))
    for _ in range(2):
        with pytest.raises(InputError, match="not finite"):
            ask(fit.spending)
    assert "charge" not in fit.diary
    assert "draw" not in fit.diary


@EVERY_WAY
@pytest.mark.parametrize("fault", [LedgerError("disk full"), PrivacyError("too much"), KeyboardInterrupt()], ids=repr)
def test_nothing_is_drawn_if_the_charge_fails(cost, ask, fault):
    fit = Fit(cost, charge_fault=fault)
    for _ in range(2):  # nor is it drawn if somebody asks again
        with pytest.raises(type(fault)):
            ask(fit.spending)
    assert "draw" not in fit.diary
    assert fit.account.charged == []


@EVERY_WAY
def test_an_account_that_cannot_charge_is_a_ledger_error(cost, ask):
    fit = Fit(cost)
    fit.spending._account = object()
    with pytest.raises(LedgerError, match="nothing was drawn"):
        ask(fit.spending)
    assert "draw" not in fit.diary


@EVERY_WAY
def test_a_budget_that_is_refused_sees_no_row(cost, ask):
    diary = []
    with pytest.raises(PrivacyError, match="no budget"):
        Spending(cost, Unit(), Rows(diary), Account(diary, refuses=PrivacyError("no budget")), Noise(diary))
    assert diary == ["admit"]


@EVERY_WAY
def test_the_charge_is_the_announced_cost(cost, ask):
    fit = Fit(cost, Unit("zero-out", 2), what="refined")
    ask(fit.spending)
    assert fit.account.charged == [(replace(cost, relation="zero-out", rows=2), False, "refined")]


def test_noise_that_fails_was_paid_for():
    """The charge comes first: a crash between the two may waste budget, never privacy."""
    fit = Fit()
    fit.noise.gaussian = lambda values, scale: 1 / 0
    with pytest.raises(ZeroDivisionError):
        fit.spending.draw(ZERO, Ball(1.0), MU)
    assert fit.diary == ["admit", "rows", "charge"]
    assert fit.spending.remaining() == 0.0


def test_many_draws_are_one_check_and_one_charge():
    fit = Fit()
    for _ in range(10):
        fit.spending.noisy(ZERO, Ball(1.0), 0.1)
    assert fit.diary == ["admit", "rows", "charge"] + ["draw"] * 10
    assert len(fit.account.charged) == 1


# The filter.


def test_parts_that_add_up_to_the_whole_are_admitted():
    fit = Fit(replace(GAUSSIAN, mu=5.0))
    fit.spending.draw(ZERO, Ball(1.0), 3.0)
    fit.spending.draw(ZERO, Ball(1.0), 4.0)
    assert fit.spending.remaining() == 0.0
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.draw(ZERO, Ball(1.0), 1e-9)


@pytest.mark.parametrize("mu", [MU, 1e-3, 30.0])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("off", "admitted"), [(-1e-12, True), (-1e-9, True), (1e-9, False), (1e-12, False), (0.01, False)]
)
def test_the_sum_of_squares_is_held_at_the_boundary(mu, count, off, admitted):
    """``count`` equal parts whose squares add up to mu^2 (1 + off): only the last can be one too many."""
    fit = Fit(replace(GAUSSIAN, mu=mu))
    part = mu * math.sqrt((1.0 + off) / count)
    for _ in range(count - 1):
        fit.spending.draw(ZERO, Ball(1.0), part)
    before = list(fit.diary)
    if admitted:
        fit.spending.draw(ZERO, Ball(1.0), part)
        assert fit.spending.remaining() == pytest.approx(-off * mu * mu, rel=1e-2)
        return
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.draw(ZERO, Ball(1.0), part)
    assert fit.diary == before  # nothing was drawn, nor charged if it was the first
    assert len(fit.spending.parts) == count - 1


@pytest.mark.parametrize(
    "shares", [[1.0], [0.5, 0.5], [0.1] * 10, [1 / 3] * 3, [1 / 7] * 7, [0.2, 0.02, 0.06, 0.02, 0.7]]
)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_shares_that_add_up_to_one_are_all_admitted_and_leave_next_to_nothing(shares, depth):
    for mu in (MU, 0.1, gaussian_mu(1.0, 1e-6), math.pi):
        fit = Fit(replace(GAUSSIAN, mu=mu))
        portion = fit.spending
        for _ in range(depth):
            portion = portion.within(1.0)
        for share in shares:
            portion.noisy(ZERO, Ball(1.0), share)
        assert 0.0 <= fit.spending.remaining() <= 1e-13 * mu * mu
        with pytest.raises(PrivacyError, match="more than its budget"):
            portion.noisy(ZERO, Ball(1.0), 1e-9)


def test_a_sum_without_a_share_gets_the_least_noise_that_the_whole_budget_buys():
    """And a sum of one array comes back as that array, of two as two."""
    one, two = Fit(), Fit()
    assert np.shape(one.spending.sums(one.rows, lambda: (ZERO,), Ball(1.0))) == (2,)
    counts, sums = two.spending.sums(two.rows, lambda: (ZERO, np.zeros((2, 3))), LabelledBall(1.0))
    assert (counts.shape, sums.shape) == ((2,), (2, 3))
    assert one.noise.scales == two.noise.scales[:1] == [pytest.approx(2.0 / MU, rel=1e-12)]
    reach, pure = Absolute(2.0, 1.0), [Fit(PURE), Fit(PURE)]
    pure[0].spending.laplace(ZERO, reach)
    pure[1].spending.laplace_blocks([(ZERO, 1.0)], reach)
    assert pure[0].noise.scales == pure[1].noise.scales == [pure[0].spending.laplace_scale(reach)]
    assert pure[0].noise.scales == [pytest.approx(2.0, rel=1e-11)]


def test_idle_numbers_are_standard_and_no_row_enters_them():
    fit = Fit()
    assert np.all(fit.spending.idle((2, 3)) == np.zeros((2, 3)))  # this noise gives back what went in
    assert fit.noise.scales == [1.0]


def test_a_share_is_never_more_than_its_square_root_and_hardly_less():
    for mu in (MU, 0.1, math.pi, 1e-8, 1e8):
        spending = Fit(replace(GAUSSIAN, mu=mu)).spending
        for share in (1.0, 0.5, 1 / 3, 0.05, 1e-6):
            found = spending.share(share)
            assert found < mu * math.sqrt(share)
            assert found == pytest.approx(mu * math.sqrt(share), rel=2e-15)


def test_a_portion_cannot_draw_more_than_the_whole():
    fit = Fit()
    portion = fit.spending.within(0.25)
    with pytest.raises(PrivacyError, match="more than its budget"):
        portion.noisy(ZERO, Ball(1.0), 4.1)
    assert "draw" not in fit.diary
    for _ in range(4):
        portion.noisy(ZERO, Ball(1.0))
    before = len(fit.diary)
    for other in (portion, fit.spending.within(0.01), fit.spending):
        with pytest.raises(PrivacyError, match="more than its budget"):
            other.noisy(ZERO, Ball(1.0), 0.5)
    assert len(fit.diary) == before


def test_two_portions_draw_from_one_budget():
    fit = Fit()
    one, two = fit.spending.within(0.75), fit.spending.within(0.75)
    one.noisy(ZERO, Ball(1.0))
    with pytest.raises(PrivacyError, match="more than its budget"):
        two.noisy(ZERO, Ball(1.0))


@pytest.mark.parametrize("cost", [PURE, TESTED, OWN], ids=lambda c: c.kind)
def test_no_gaussian_part_is_admitted_beside_another_kind_of_cost(cost):
    fit = Fit(replace(cost, mu=MU))
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.draw(ZERO, Ball(1.0), 1e-6)
    assert "draw" not in fit.diary


def test_parts_are_listed_with_what_they_cost():
    fit = Fit()
    fit.spending.noisy(ZERO, Ball(1.0), 0.25)
    fit.spending.within(0.5).noisy(ZERO, Cell(), 0.5)
    assert [part.contribution for part in fit.spending.parts] == [Ball(1.0), Cell()]
    assert [part.mu for part in fit.spending.parts] == pytest.approx([MU / 2, MU / 2], rel=1e-14)


CONTRIBUTIONS = [Ball(1.5), Interval(-1.0, 3.0), Box(2), Cell(), Shape(2.0, 1.5)]


@pytest.mark.parametrize("contribution", CONTRIBUTIONS, ids=repr)
@pytest.mark.parametrize("unit", [Unit(), Unit("zero-out"), Unit("replace-one", 3), Unit("zero-out", 3)], ids=repr)
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_noise_times_mu_is_the_sensitivity(contribution, unit, share):
    fit = Fit(unit=unit)
    fit.spending.noisy(ZERO, contribution, share)
    mu = MU * math.sqrt(share)
    assert fit.noise.scales == [pytest.approx(contribution.sensitivity(unit) / mu, rel=1e-12)]
    assert fit.noise.scales[0] * mu >= contribution.sensitivity(unit)
    assert fit.spending.scale(contribution, share) == fit.noise.scales[0]


@pytest.mark.parametrize("unit", [Unit(), Unit("zero-out", 2)], ids=repr)
def test_noise_of_several_scales_is_drawn_through_the_same_budget(unit):
    fit = Fit(unit=unit)
    fit.spending.noisy(np.zeros((2, 2)), Outer(1.5, 2), 0.5)
    fit.spending.noisy((ZERO, np.zeros((2, 3))), LabelledBall(1.5), 0.5)
    mu, size = MU * math.sqrt(0.5), Outer(1.5, 2).sensitivity(unit)
    assert fit.noise.scales[:2] == pytest.approx([size / mu, size / mu / math.sqrt(2.0)], rel=1e-12)
    size = LabelledBall(1.5).sensitivity(unit)
    assert fit.noise.scales[2:] == pytest.approx([size / mu, 1.5 * size / mu], rel=1e-12)
    assert fit.spending.remaining() == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("contribution", [Shape(2.0), Absolute(2.0)], ids=repr)
def test_a_relation_that_is_not_proven_is_refused_before_anything_happens(contribution):
    laplace = isinstance(contribution, Absolute)
    fit = Fit(PURE if laplace else GAUSSIAN, Unit("zero-out"))
    with pytest.raises(InputError, match="zero-out"):
        fit.spending.laplace(ZERO, contribution) if laplace else fit.spending.noisy(ZERO, contribution)
    assert fit.diary == ["admit"]
    assert fit.spending.parts == []


# Laplace parts.


def test_laplace_parts_add_up_to_epsilon():
    reach = Absolute(2.0, 1.0)
    for shares in ([1.0], [0.1, 0.9], [0.1] * 10, [1 / 3] * 3):
        for epsilon in (1.0, 0.3, 7.7):
            fit = Fit(replace(PURE, epsilon=epsilon))
            for share in shares:
                fit.spending.laplace(ZERO, reach, share)
            assert sum(2.0 / scale for scale in fit.noise.scales) == pytest.approx(epsilon, rel=1e-11)
            before = len(fit.diary)
            with pytest.raises(PrivacyError, match="more than its budget"):
                fit.spending.laplace(ZERO, reach, 1e-6)
            assert len(fit.diary) == before


@pytest.mark.parametrize(("share", "admitted"), [(1.0, True), (1.0 - 1e-9, True), (1.0 + 1e-9, False), (2.0, False)])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_laplace_noise_is_held_at_the_boundary(share, admitted, relation):
    fit = Fit(PURE, Unit(relation, 2))
    if admitted:
        fit.spending.laplace(ZERO, Absolute(2.0, 1.5), share)
        assert fit.noise.scales[0] * share == pytest.approx(4.0 if relation == "replace-one" else 3.0, rel=1e-11)
        assert fit.noise.scales[0] == fit.spending.laplace_scale(Absolute(2.0, 1.5), share)
    else:
        with pytest.raises(PrivacyError, match="more than its budget"):
            fit.spending.laplace(ZERO, Absolute(2.0, 1.5), share)
        assert "draw" not in fit.diary
        assert "charge" not in fit.diary


def test_blocks_share_one_reach_and_are_paid_for_once():
    fit = Fit(PURE)
    fit.spending.laplace_blocks([(ZERO, 1.0), (ZERO, 4.0)], Absolute(2.0, 1.0))
    assert fit.noise.scales == pytest.approx([2.0, 8.0], rel=1e-11)
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.laplace(ZERO, Absolute(2.0, 1.0), 0.5)


@pytest.mark.parametrize("cost", [GAUSSIAN, TESTED, replace(PURE, delta=1e-6)], ids=lambda c: f"{c.kind}-{c.delta:g}")
def test_no_laplace_part_is_admitted_beside_a_cost_that_is_not_pure(cost):
    fit = Fit(cost)
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.laplace(ZERO, Absolute(2.0, 1.0), 0.5)
    assert "draw" not in fit.diary


# Quantiles.


def test_quantiles_cost_their_range_beside_noisy_sums():
    fit = Fit(replace(GAUSSIAN, mu=1.0))
    fit.spending.noisy(ZERO, Ball(1.0), 0.75)
    places = fit.spending.quantiles(LINE, MEDIAN, 0.25)
    assert places.shape == (1,)
    assert fit.spending.parts[-1].mu == pytest.approx(0.5, rel=1e-10)
    assert 0.0 <= fit.spending.remaining() < 1e-10
    before = list(fit.diary)
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.quantiles(LINE, MEDIAN, 0.01)
    assert fit.diary == before


@pytest.mark.parametrize(("cost", "epsilon"), [(PURE, 1.0), (RANGED, 0.5), (GAUSSIAN, bounded_range_epsilon(MU))])
@pytest.mark.parametrize(("off", "admitted"), [(0.0, True), (-1e-9, True), (1e-9, False), (1.0, False)])
def test_quantiles_are_held_at_the_boundary(cost, epsilon, off, admitted):
    """Parts of a range must not add up to more than its epsilon, nor their squares to more than its mu^2."""
    fit = Fit(cost)
    for _ in range(cost.parts - 1):
        fit.spending.place(LINE, MEDIAN, epsilon)
    before = list(fit.diary)
    if admitted:
        fit.spending.place(LINE, MEDIAN, epsilon * (1.0 + off))
        return
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.place(LINE, MEDIAN, epsilon * (1.0 + off))
    assert fit.diary == before


@pytest.mark.parametrize("cost", [TESTED, OWN, replace(PURE, delta=1e-6)], ids=lambda c: f"{c.kind}-{c.delta:g}")
def test_no_quantiles_are_admitted_beside_a_cost_that_does_not_name_them(cost):
    fit = Fit(cost)
    if cost is OWN:
        fit.spending.by_its_own_theorem()
    with pytest.raises(PrivacyError, match="more than its budget"):
        fit.spending.place(LINE, MEDIAN, 1e-3)
    assert "draw" not in fit.diary


@pytest.mark.parametrize(
    ("unit", "total", "sensitivity"),
    [(Unit(), None, 2), (Unit("replace-one", 2), 9, 4), (Unit("zero-out"), 9, 1), (Unit("zero-out", 3), None, 3)],
)
def test_the_rate_of_quantiles_follows_from_who_is_protected(unit, total, sensitivity, monkeypatch):
    asked = []
    monkeypatch.setattr("eptr.privacy.spending.joint_places", lambda *args: asked.append(args) or [0.0])
    Fit(PURE, unit).spending.place(LINE, MEDIAN, 0.75, total=total)
    ((_, wanted, rate, _),) = asked
    assert rate == Fraction(3, 8) / sensitivity
    assert sum(wanted) == (total or 8)


# Tests.


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("strategy", ["tight", "paper", "ptr"])
def test_a_fit_makes_as_many_tests_as_it_pays_for(parts, strategy):
    one = forecast_test(strategy, 0.5, 1e-6).cost
    fit = Fit(replace(one, epsilon=0.5 * parts, delta=1e-6 * parts, parts=parts))
    for _ in range(parts):
        fit.spending.test(SAFE, strategy, 0.5, 1e-6)
    before = len(fit.diary)
    with pytest.raises(PrivacyError, match="all the tests"):
        fit.spending.test(SAFE, strategy, 0.5, 1e-6)
    with pytest.raises(PrivacyError, match="all the tests"):
        fit.spending.test_at_rung(lambda: ZERO, 5, 1.0, 0.5, 1e-6)
    assert len(fit.diary) == before
    assert len(fit.account.charged) == 1


@pytest.mark.parametrize("cost", [GAUSSIAN, PURE, OWN], ids=lambda c: f"{c.kind}-{c.basis}")
def test_a_fit_that_pays_for_no_test_makes_none(cost):
    fit = Fit(cost)
    with pytest.raises(PrivacyError, match="all the tests"):
        fit.spending.test(SAFE, "tight", 1.0, 1e-6)
    assert fit.diary == ["admit"]


@pytest.mark.parametrize(
    ("strategy", "epsilon", "delta"),
    [
        ("tight", 2.0, 1e-6),
        ("tight", 1.0 + 1e-9, 1e-6),
        ("tight", 1.0, 1e-3),
        ("paper", 1.0, 1e-6),
        ("ptr", 1.0, 1e-6),
    ],
)
def test_a_test_that_was_not_paid_for_is_refused(strategy, epsilon, delta):
    """It may not be another one, either: a ladder of a larger epsilon has less noise than was charged."""
    fit = Fit(TESTED)
    with pytest.raises(PrivacyError, match="not one of those"):
        fit.spending.test(SAFE, strategy, epsilon, delta)
    if strategy == "tight":
        with pytest.raises(PrivacyError, match="not one of those"):
            fit.spending.test_at_rung(lambda: ZERO, 10**6, 1.0, epsilon, delta)
    assert fit.diary == ["admit"]
    assert fit.spending.test(SAFE, "tight", 1.0, 1e-6).replied  # the one that was paid for is still there


def test_tests_of_a_whole_budget_may_not_each_spend_all_of_it():
    one = forecast_test("tight", 1.0, 1e-6).cost
    fit = Fit(replace(one, parts=3))
    with pytest.raises(PrivacyError, match="not one of those"):
        fit.spending.test(SAFE, "tight", 1.0, 1e-6)
    assert fit.diary == ["admit"]


def test_shares_of_tests_survive_rounding():
    for count in (1, 3, 7, 10, 49, 97):
        one = forecast_test("paper", 1.0 / count, 1e-4 / count).cost
        fit = Fit(replace(one, epsilon=1.0, delta=1e-4, parts=count))
        for _ in range(count):
            fit.spending.test(SAFE, "paper", 1.0 / count, 1e-4 / count)


# The coin and the noise of a test, as they are asked for.


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.3, 1e-3), (8.0, 1e-9)])
def test_on_every_rung_the_coin_is_that_of_the_ladder(epsilon, delta):
    cost = forecast_test("tight", epsilon, delta).cost
    steps = build_ladder(epsilon, delta, cost.mu, 0.1 * delta)
    for rung in range(-2, steps.top + 3):
        expected = 0 if rung < 0 else steps.numerators[min(rung, steps.top)]
        fit = Fit(cost)
        fit.spending.test_at_rung(lambda: ZERO, rung, 3.0, epsilon, delta)
        assert fit.noise.coins == [(expected, steps.bits)]
        assert fit.noise.scales == [pytest.approx(3.0 / cost.mu, rel=1e-12)]
        assert fit.noise.scales[0] * cost.mu >= 3.0
        if rung >= 0:  # a safety value of so many rows, as computed
            for safety in (rung, rung - 0.5, rung - 1.0 + 1e-6, rung + 1e-9):
                fit = Fit(cost)
                fit.spending.test(Proposal(0.0, 3.0, safety), "tight", epsilon, delta)
                assert fit.noise.coins == [(expected, steps.bits)]


@pytest.mark.parametrize(("strategy", "law"), [("paper", LogisticTest), ("ptr", LaplaceTest)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.3, 1e-3)])
def test_at_every_safety_the_coin_is_that_of_the_published_test(strategy, law, epsilon, delta):
    """Published: sigmoid(eps/2 (gamma - M)) with noise 2/eps sqrt(2 log(1.25/delta)), or a Laplace test at half of epsilon."""
    cost, test = forecast_test(strategy, epsilon, delta).cost, law(epsilon, delta)
    mu = epsilon / 2 / math.sqrt(2 * math.log(1.25 / delta)) if strategy == "paper" else gaussian_mu(epsilon / 2, delta)
    for safety in (0.0, 0.5, 1.0, 7.3, 40.0, 100.0, 1e3, 1e6):
        fit = Fit(cost)
        fit.spending.test(Proposal(0.0, 3.0, safety), strategy, epsilon, delta)
        ((numerator, bits),) = fit.noise.coins
        assert Fraction(numerator, 1 << bits) <= test.exact(safety)
        assert numerator / (1 << bits) == pytest.approx(float(test(safety)), rel=1e-5)
        assert fit.noise.scales == [pytest.approx(3.0 / mu, rel=1e-12)]
        assert fit.noise.scales[0] * mu >= 3.0


# Its own theorem.


@pytest.mark.parametrize("basis", [*BASES, "", "Proven", "hearsay"])
def test_only_what_is_cited_or_not_verified_draws_by_a_theorem_of_its_own(basis):
    fit = Fit(replace(PURE, basis=basis))
    if basis in ("cited", "not verified"):
        assert fit.spending.by_its_own_theorem() is fit.noise
        assert fit.diary == ["admit", "rows", "charge"]
        assert fit.spending.close(1.0, 1.0, "own").basis == basis
        return
    with pytest.raises(PrivacyError, match="cited or not verified"):
        fit.spending.by_its_own_theorem()
    assert fit.diary == ["admit"]


# What is published.


@pytest.mark.parametrize("unit", [Unit(), Unit("zero-out"), Unit("zero-out", 3)], ids=repr)
def test_the_relation_reaches_the_release_the_cost_and_the_charge_and_rows_reach_the_noise(unit):
    fit = Fit(unit=unit)
    fit.spending.noisy(ZERO, Ball(1.0))
    release = fit.spending.close(ZERO, fit.spending.scale(Ball(1.0), 1.0), "refined")
    assert release.neighbours == release.cost.relation == fit.account.charged[0][0].relation == unit.relation
    assert fit.spending.unit == fit.spending.within(0.5).within(0.1).unit == unit
    assert release.noise_scale == fit.noise.scales[0]
    assert release.noise_scale == pytest.approx(unit.rows * (2.0 if unit.relation == "replace-one" else 1.0) / MU)
    assert (release.epsilon, release.delta, release.strategy) == (1.0, 1e-3, "refined")


@EVERY_WAY
def test_every_draw_of_a_budget_is_on_record(cost, ask):
    fit = Fit(cost)
    ask(fit.spending)
    drawn = fit.spending.close(ZERO, 1.0, "refined").record.draws
    free = ask in (WAYS["its own theorem"][1], WAYS["idle"][1])  # a theorem tells itself; idle numbers cost nothing
    assert len(drawn) == (0 if free else 1)
    assert all(draw.sensitivity > 0.0 and draw.scale > 0.0 for draw in drawn)


def test_a_release_without_a_reply_holds_no_value():
    found = Fit().spending.close(None, 1.0, "tight")
    assert found.value is None
    assert not found.replied


@pytest.mark.parametrize(
    "seed", [0, np.random.default_rng(0), np.random.RandomState(0), Noise([])], ids=lambda s: type(s).__name__
)
def test_a_seeded_budget_is_not_private_and_the_account_is_told(seed):
    fit = Fit(random_state=seed)
    fit.spending.noisy(ZERO, Ball(1.0))
    assert not fit.spending.private
    assert not fit.spending.close(ZERO, 1.0, "refined").private
    assert fit.account.charged[0][1] is False


@pytest.mark.parametrize("honest", [True, False])
def test_exact_noise_is_private_if_the_method_is(honest):
    fit = Fit(random_state=None, honest=honest)
    assert isinstance(fit.spending._noise, ExactNoise)
    fit.spending.noisy(ZERO, Ball(1.0))
    assert fit.spending.close(ZERO, 1.0, "refined").private is fit.account.charged[0][1] is honest


def test_idle_numbers_of_a_seed_start_from_its_beginning_if_asked():
    spending = Fit(random_state=3).spending
    first = spending.idle(4)
    assert not np.array_equal(first, spending.idle(4))
    assert np.array_equal(first, spending.idle(4, anew=True))


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "2", None], ids=repr)
def test_a_person_has_at_least_one_whole_row(rows):
    with pytest.raises(InputError, match="rows"):
        Unit(rows=rows)


@pytest.mark.parametrize("relation", ["", "add-remove", "Replace-one", None], ids=repr)
def test_relations_are_named(relation):
    with pytest.raises(InputError, match="neighbours must be one of"):
        Unit(relation)


def test_every_contribution_can_be_drawn():
    values = {
        LabelledBall(1.0): (ZERO, np.zeros((2, 2))),
        Outer(1.0, 2): np.zeros((2, 2)),
        WeightedOuter(1.0, 2): np.zeros((2, 2)),
    }
    for contribution in [*CONTRIBUTIONS, *values]:
        fit = Fit()
        found = fit.spending.noisy(values.get(contribution, ZERO), contribution)
        assert np.shape(found if not isinstance(found, tuple) else found[1])[-1] == 2
        assert fit.diary.count("charge") == 1


def test_a_fit_that_draws_nothing_is_checked_and_paid_for_all_the_same():
    fit = Fit()
    fit.spending.close(0.0, 1.0, "nothing")
    assert fit.diary == ["admit", "rows", "charge"]


def test_a_theorem_of_its_own_takes_the_whole_budget():
    first = Fit(OWN).spending
    first.by_its_own_theorem()
    with pytest.raises(PrivacyError, match="more than its budget"):
        first.laplace(ZERO, Absolute(1.0))
    second = Fit(OWN).spending
    second.laplace(ZERO, Absolute(1.0))
    with pytest.raises(PrivacyError, match="drawn from its budget already"):
        second.by_its_own_theorem()


def test_no_stand_in_for_noise_is_private():
    class Silent(NoiseStandIn):
        private = True

    with pytest.raises(InputError, match="private"):
        Fit(random_state=Silent())
