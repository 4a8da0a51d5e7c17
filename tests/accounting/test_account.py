"""What ledger= means everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import eptr
from eptr import Adapter, BudgetError, InputError, Ledger
from eptr.accounting.account import open_account

from .charges import COST, data, model


def test_every_door_takes_a_ledger(study):
    X, y = data()
    labels = (y > 0).astype(int)
    eptr.BayesClassifier(0.1, 1e-7, x_bound=3.0, ledger=study.url).fit(X, labels)
    eptr.KernelRegressor(0.1, 1e-7, domain=(-3, 3), y_bound=2.0, ledger=study).fit(X, y)
    mean = Adapter(lambda x: float(np.mean(np.clip(x, 0, 1))), len, 1.0, lambda b: 1 / b)
    mean.release(X[:, 0], 0.1, 1e-7, ledger=study.url)
    eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.1, 1e-7, ledger=study)
    eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.1, 1e-7, ledger=study.url)
    assert [e.what for e in study.history()[4:]] == ["tight", "tight"]
    with pytest.raises(InputError, match="name the dataset"):
        eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.1, 1e-7, ledger=study.url.partition("#")[0])
    with pytest.raises(InputError, match="ledger must be"):
        eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.1, 1e-7, ledger=3)
    reserved = study.reserve(study.dataset, count=1, epsilon=0.1, delta=1e-7)
    eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.1, 1e-7, ledger=reserved)
    with pytest.raises(BudgetError, match="all 1 releases"):
        eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.1, 1e-7, ledger=reserved)


def test_nothing_is_charged_for_bad_input(study):
    X, y = data()
    for bad in (dict(x_bound=None), dict(epsilon=-1.0), dict(strategy="best")):
        with pytest.raises(ValueError):
            model(study.url).set_params(**bad).fit(X, y)
    with pytest.raises(ValueError):
        model(study.url).fit(np.full_like(X, np.nan), y)
    assert [e.kind for e in study.history()] == ["create", "check"]  # bad rows are an answer, not a charge


# Failed domain checks.


@pytest.mark.parametrize("checks", [0, 1, 3])
def test_failed_domain_checks_are_counted_and_cost_nothing(place, name, checks):
    ledger = Ledger(place)
    ledger.create(name, epsilon=3.0, delta=1e-5, checks=checks)
    account = open_account(f"{place}#{name}", "LinearRegression")
    account.charge(COST, private=True)
    before = ledger.remaining(name)
    for _ in range(checks):
        account.admit_check()
        account.failed_check("domain")
    with pytest.raises(
        BudgetError, match=rf"admits {checks} failed .*, and {checks} were answered already.*invalid='drop'"
    ):
        account.admit_check()
    assert ledger.remaining(name) == before
    entries = ledger.history(name)
    assert [e.kind for e in entries[2:]] == ["check"] * checks
    assert all(e.what == "LinearRegression domain" and e.totals == entries[1].totals for e in entries[2:])
    account.failed_check("domain")  # a fit that ran at the same time: its answer was given, so it is recorded
    account.charge(COST, private=True)
    ledger.verify(name, head=entries[-1].hash)
    assert ledger.remaining(name).epsilon == 2.0


def test_a_ledger_that_only_charges_counts_no_checks():
    class Book:
        def charge(self, cost, *, private, what=""):
            return None

    account = open_account(Book(), "fit")
    account.admit_check()
    account.failed_check("domain")
