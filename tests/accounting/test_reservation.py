"""Releases that are paid for in advance."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from eptr import BudgetError, Ledger, LedgerError, LinearRegression, PrivacyError
from eptr.accounting import reservation
from eptr.privacy.mechanism import forecast_test

from .charges import COST, data


def test_reservations_compose_tightly_and_are_used_up(place, name):
    ledger = Ledger(place)
    ledger.create(name, epsilon=8.0, delta=2e-5)
    reserved = ledger.reserve(name, count=16, epsilon=1.0, delta=1e-6)
    assert reserved.epsilon <= 7.5
    one = forecast_test("tight", 1.0, 1e-6).cost
    account = Ledger(reserved.url)
    with pytest.raises(BudgetError, match="differs"):
        account.charge(forecast_test("tight", 0.5, 1e-6).cost, private=True)
    for _ in range(16):
        account.charge(one, private=True)
    with pytest.raises(BudgetError, match="all 16"):
        account.charge(one, private=True)
    with pytest.raises(BudgetError, match="does not fit"):
        ledger.reserve(name, count=16, epsilon=1.0, delta=1e-6)
    ledger.verify(name)
    with pytest.raises(LedgerError, match="no reservation"):
        Ledger(f"{place}#{name}@5").charge(one, private=True)


def test_a_reservation_is_charged_at_the_delta_that_was_asked_for(study):
    study.reserve(study.dataset, count=4, epsilon=0.1, delta=1e-7, total_delta=5e-6)
    assert study.history()[-1].content["delta"] == 5e-6


def test_a_changed_reservation_cannot_be_drawn_on(file):
    ledger = Ledger(f"sqlite:///{file}")
    reserved = ledger.reserve("study", count=1, epsilon=0.5, delta=1e-6)
    ledger.account("study").charge(COST, private=True)
    raw = sqlite3.connect(file, isolation_level=None)
    raw.execute("""UPDATE eptr_entry SET content = replace(content, '"count": 1', '"count": 9') WHERE number = 1""")
    raw.close()
    with pytest.raises(LedgerError, match="entry 1"):
        Ledger(reserved.url).charge(forecast_test("tight", 0.5, 1e-6).cost, private=True)


def test_a_reservation_has_the_basis_of_its_releases(study, place, name, monkeypatch):
    def cited(*arguments):
        found = forecast_test(*arguments)
        return replace(found, cost=replace(found.cost, basis="cited", theorem="Theorem 1"))

    Ledger(place).create(name + "-cited", epsilon=3.0, delta=1e-5, accept="cited")
    with monkeypatch.context() as patch:
        patch.setattr(reservation, "forecast_test", lambda strategy, *budget: cited(strategy, *budget))
        with pytest.raises(PrivacyError, match="accept='cited'"):
            study.reserve(study.dataset, count=2, epsilon=0.5, delta=1e-6)
        reserved = Ledger(place).reserve(name + "-cited", count=2, epsilon=0.5, delta=1e-6)
    assert Ledger(place).history(name + "-cited")[-1].basis == "cited"
    with pytest.raises(BudgetError, match="differs"):
        Ledger(reserved.url).charge(forecast_test("tight", 0.5, 1e-6).cost, private=True)
    Ledger(reserved.url).charge(cited("tight", 0.5, 1e-6).cost, private=True)
    Ledger(place).verify(name + "-cited")


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
def test_a_reservation_can_be_passed_as_it_is(study):
    reserved = study.reserve(study.dataset, count=2, epsilon=0.5, delta=1e-6)
    LinearRegression(0.5, 1e-6, 3.0, 2.0, strategy="tight", ledger=reserved).fit(*data())
    with pytest.raises(BudgetError, match="2 x tight"):
        LinearRegression(0.5, 1e-6, 3.0, 2.0, ledger=reserved).fit(*data())
