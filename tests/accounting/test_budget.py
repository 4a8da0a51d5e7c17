from __future__ import annotations

import math

import pytest

import eptr
from eptr.accounting.budget import Budget


def test_split_composes_to_the_whole():
    budget = Budget(1.0, 1e-6)
    for shares in ([1.0], [0.1, 0.9], [0.2] * 5, [1 / 3] * 3):
        mu = math.hypot(*budget.split(shares))
        assert eptr.gaussian_delta(1.0, mu) <= 1e-6
        assert mu == pytest.approx(budget.mu, rel=1e-12)


@pytest.mark.parametrize("shares", [[], [0.5], [0.5, 0.6], [1.5, -0.5], ["a"]])
def test_bad_shares(shares):
    with pytest.raises(eptr.InputError, match="shares"):
        Budget(1.0, 1e-6).split(shares)


def test_three_tenths_cover_three_times_a_tenth():
    spent = Budget.total([Budget(0.1, 1e-6)] * 3)
    assert Budget(0.3, 3e-6).covers(spent)
    assert spent <= Budget(0.3, 3e-6)
    assert Budget(0.3, 3e-6) >= spent


@pytest.mark.parametrize("over", [Budget(1.0 + 1e-12, 1e-6), Budget(1.0, 1e-6 * (1 + 1e-9))])
def test_what_a_mechanism_does_not_keep_back_is_not_forgiven(over):
    assert not Budget(1.0, 1e-6).covers(over)


def test_the_tolerance_is_paid_by_the_calibration():
    """A release at the most forgiven budget still meets the budget itself."""
    budget = Budget(1.0, 1e-6)
    mu = eptr.gaussian_mu(1.0 * (1 + 1e-14), 1e-6 * (1 + 1e-12))
    assert eptr.gaussian_delta(1.0, mu) <= 1e-6
    assert mu == pytest.approx(budget.mu)


def test_repr_is_readable():
    assert repr(Budget(0.1 + 0.2, 1e-6)) == "Budget(epsilon=0.3, delta=1e-06)"


@pytest.mark.parametrize(
    ("epsilon", "delta", "name"), [(0, 0.1, "epsilon"), (1, 0, "delta"), (1, 1, "delta"), ("1", 0.1, "epsilon")]
)
def test_bad_budgets(epsilon, delta, name):
    with pytest.raises(eptr.InputError, match=name):
        Budget(epsilon, delta)


def test_totals():
    with pytest.raises(eptr.InputError, match="at least one"):
        Budget.total([])
    with pytest.raises(eptr.BudgetError):
        Budget.total([Budget(1, 0.5)] * 2)
    assert Budget.total([Budget(1, 0.5), Budget(2, 0.499)]).delta == pytest.approx(0.999)
