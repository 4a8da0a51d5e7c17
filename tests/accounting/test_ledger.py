"""The ledger: exact counts, copies, processes, failures of the disk and the network, tampering, kill -9."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context

import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from eptr import BudgetError, InputError, Ledger, PrivacyError
from eptr.accounting import ledger as ledger_module
from eptr.privacy.claim import Cost

from .charges import COST, data, model, refused
from .soak import soak


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
@pytest.mark.parametrize(("strategy", "count"), [("tight", 3), ("refined", 9)])
def test_a_budget_of_three_admits_exactly_so_many_fits(study, strategy, count):
    for _ in range(count):
        model(study.url, strategy=strategy).fit(*data())
    before = study.head()
    with pytest.raises(BudgetError, match="left"):
        model(study.url, strategy=strategy).fit(*data())
    assert study.head() == before
    assert [e.what for e in study.history()[1:]] == [f"LinearRegression {strategy}"] * count


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning", "ignore:fits inside cross_val_score:eptr.NotPrivateWarning")
def test_cross_validation_stops_at_the_fit_that_would_overspend(study):
    with pytest.raises(BudgetError):
        cross_val_score(model(study.url, strategy="tight"), *data(), cv=5, error_score="raise")
    assert len(study.history()) == 1 + 3


def test_it_copies_clones_and_pickles_by_its_url(study):
    for copied in (copy.deepcopy(study), pickle.loads(pickle.dumps(study)), clone(model(study)).ledger):
        assert copied == study
        assert copied.head() == study.head()
    assert b"sqlite3" not in pickle.dumps(study)


def test_threads_and_processes_share_one_budget(study):
    def one(_):
        try:
            Ledger(study.url).charge(COST, private=True)
            return 1
        except BudgetError:
            return 0

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(one, range(4))) == 4
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert sum(pool.map(charge_once, [study.url] * 4)) == 2
    assert len(study.history()) == 1 + 6
    study.verify()


def charge_once(url):
    try:
        Ledger(url).charge(COST, private=True)
        return 1
    except BudgetError:
        return 0


def test_a_cost_that_claims_less_than_it_spends_is_neither_admitted_nor_charged(study):
    wrong = Cost(1e-3, 1e-9, "gaussian", 50.0)
    for ask in (study.check, study.charge):
        with pytest.raises(PrivacyError, match="is not"):
            ask(wrong, private=True)
    assert len(study.history()) == 1


def test_arguments_are_named(place, name):
    ledger = Ledger(place)
    for call, match in [
        (lambda: ledger.create("", 1.0, 1e-6), "dataset"),
        (lambda: ledger.create("a#b", 1.0, 1e-6), "dataset"),
        (lambda: ledger.create(name, -1.0, 1e-6), "epsilon"),
        (lambda: ledger.create(name, 1.0, 2.0), "delta"),
        (lambda: ledger.create(name, 1.0, 1e-6, mixing=2.0), "mixing"),
        (lambda: ledger.create(name, 1.0, 1e-6, accept="believed"), "accept"),
        (lambda: ledger.create(name, 1.0, 1e-6, checks=-1), "checks"),
        (lambda: ledger.create(name, 1.0, 1e-6, checks=True), "checks"),
        (lambda: ledger.admit_check(), "name the dataset"),
        (lambda: ledger.failed_check(), "name the dataset"),
        (lambda: ledger.charge(COST, private=True), "name the dataset"),
        (lambda: ledger.reserve(name, 0, 1.0, 1e-6), "count"),
        (lambda: ledger.reserve(name, 4, 1.0, 1e-6, total_delta=1e-8), "total_delta=1e-08 is too small"),
        (lambda: ledger.verify(name, head="abc"), "64 hexadecimal"),
        (lambda: Ledger(3), "string"),
        (lambda: model(ledger).fit(*data()), "name the dataset"),
        (lambda: model(3).fit(*data()), "ledger"),
    ]:
        with pytest.raises(InputError, match=match):
            call()
    ledger.create(name, 1.0, 1e-6, mixing=1.0)
    with pytest.raises(InputError, match="exists already"):
        ledger.create(name, 5.0, 1e-6)


def test_clock_going_backwards(study, monkeypatch):
    study.charge(COST, private=True)
    monkeypatch.setattr(ledger_module, "_now", lambda: datetime.now(UTC) - timedelta(hours=1))
    refused(study.url, "clock")
    assert len(study.history()) == 2
    # A little disagreement between machines is no reason to stop, and never puts an entry before another.
    monkeypatch.setattr(ledger_module, "_now", lambda: datetime.now(UTC) - timedelta(seconds=20))
    study.charge(COST, private=True)
    times = [e.time for e in study.history()]
    assert times == sorted(times)


@pytest.mark.slow
def test_sixteen_processes_and_twenty_kills_lose_nothing(place):
    """`make soak` is the long form."""
    entries, released, killed, _ = soak(place, charges=400, kills=20)
    assert (entries, killed) == (400, 20)
    assert released >= 380


def test_a_thread_that_dies_leaves_the_budget_consistent(study):
    def fail():
        with pytest.raises(KeyboardInterrupt), study._locked(study.dataset):
            raise KeyboardInterrupt

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    study.charge(COST, private=True)
    assert len(study.history()) == 2
