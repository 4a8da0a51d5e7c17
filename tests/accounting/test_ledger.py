"""The ledger: exact counts, copies, processes, failures of the disk and the network, tampering, kill -9."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import eptr
from eptr import Adapter, BudgetError, InputError, Ledger, LedgerError, LinearRegression, PrivacyError
from eptr.accounting import ledger as ledger_module
from eptr.accounting import store
from eptr.accounting.account import open_account
from eptr.privacy.claim import Cost
from eptr.privacy.mechanism import forecast_test
from eptr.privacy.noise import ExactNoise

from . import postgres
from .soak import soak

COST = Cost(0.5, 1e-7, "basic", 0.0)


@pytest.fixture
def study(place, name):
    ledger = Ledger(place)
    ledger.create(name, epsilon=3.0, delta=1e-5)
    return ledger.account(name)


@pytest.fixture
def file(tmp_path):
    """A ledger in a file, for what only files can suffer."""
    path = tmp_path / "budget.db"
    Ledger(f"sqlite:///{path}").create("study", epsilon=3.0, delta=1e-5)
    return path


def data(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X @ [0.5, -0.2] + 0.1 * rng.normal(size=n)


def model(ledger, **settings):
    return LinearRegression(1.0, 1e-6, 3.0, 2.0, ledger=ledger, **settings)


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


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_seeded_releases_are_refused_unless_it_is_a_simulation(study, place, name):
    with pytest.raises(PrivacyError, match="simulation=True"):
        model(study.url, random_state=0).fit(*data())
    assert len(study.history()) == 1
    Ledger(place).create(name + "-play", epsilon=3.0, delta=1e-5, simulation=True)
    model(f"{place}#{name}-play", random_state=0).fit(*data())


def test_nothing_is_charged_for_bad_input(study):
    X, y = data()
    for bad in (dict(x_bound=None), dict(epsilon=-1.0), dict(strategy="best")):
        with pytest.raises(ValueError):
            model(study.url).set_params(**bad).fit(X, y)
    with pytest.raises(ValueError):
        model(study.url).fit(np.full_like(X, np.nan), y)
    assert [e.kind for e in study.history()] == ["create", "check"]  # bad rows are an answer, not a charge


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


# What can go wrong outside the program: a typed error, no release, nothing lost.


def refused(url, match):
    """A fit against this ledger raises LedgerError and sets nothing."""
    fit = model(url)
    with pytest.raises(LedgerError, match=match):
        fit.fit(*data())
    assert not hasattr(fit, "coef_")


def test_wrong_place(tmp_path, study):
    refused(f"sqlite:///{tmp_path}/nowhere/budget.db#study", "does not exist")
    refused(f"sqlite:///{tmp_path}/other.db#study", "does not exist")
    assert not (tmp_path / "other.db").exists()
    refused(study.url + "x", "no dataset")
    refused("postgresql://nobody@/none?host=/tmp/no-such-socket#study", "could not be used")


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("budget.db", "must look like"),
        ("sqlite://", "name a file"),
        ("mysql://host/db", "sqlite"),
        ("postgresql://me:secret@host/db#study", "password"),
        ("postgresql:///db?password=secret#study", "password"),
        ("sqlite:///a.db#study@first", "reservation"),
    ],
)
def test_strings_that_cannot_be_a_ledger(url, match):
    with pytest.raises(InputError, match=match) as caught:
        Ledger(url)
    assert "secret" not in str(caught.value)


def test_a_cost_that_claims_less_than_it_spends_is_neither_admitted_nor_charged(study):
    wrong = Cost(1e-3, 1e-9, "gaussian", 50.0)
    for ask in (study.check, study.charge):
        with pytest.raises(PrivacyError, match="is not"):
            ask(wrong, private=True)
    assert len(study.history()) == 1


def test_a_reservation_is_charged_at_the_delta_that_was_asked_for(study):
    study.reserve(study.dataset, count=4, epsilon=0.1, delta=1e-7, total_delta=5e-6)
    assert study.history()[-1].content["delta"] == 5e-6


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


def test_read_only():
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/budget.db#study"
        Ledger(url).create("study", epsilon=3.0, delta=1e-5)
        os.chmod(f"{folder}/budget.db", 0o444)
        os.chmod(folder, 0o555)
        before = os.geteuid()
        if before == 0:  # root may write anywhere, so the fit runs as somebody else
            os.seteuid(65534)
        try:
            refused(url, "readonly")
        finally:
            os.seteuid(before)
            os.chmod(folder, 0o755)
        assert len(Ledger(url).history()) == 1


def test_locked_by_somebody_else(file, monkeypatch):
    monkeypatch.setattr(store, "_PATIENCE", 0)
    other = sqlite3.connect(file)
    other.execute("BEGIN EXCLUSIVE")
    refused(f"sqlite:///{file}#study", "locked")
    other.rollback()
    other.close()
    model(f"sqlite:///{file}#study").fit(*data())


def test_corrupted_file(file):
    content = bytearray(file.read_bytes())
    content[:100] = os.urandom(100)
    file.write_bytes(content)
    refused(f"sqlite:///{file}#study", "not a database|malformed")


def test_disk_full(file):
    """A process that may not write beyond the present size: the charge fails, the file stays whole."""
    ledger = Ledger(f"sqlite:///{file}#study")
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import eptr
from eptr.privacy.claim import Cost
ledger = eptr.Ledger("sqlite:///{file}#study")
resource.setrlimit(resource.RLIMIT_FSIZE, ({file.stat().st_size}, {file.stat().st_size}))
try:
    for i in range(10_000):
        ledger.charge(Cost(2.0**-20, 1e-12, "basic", 0.0), private=True, what="x" * 500)
        print(i, flush=True)
except eptr.LedgerError as error:
    print("refused:", error)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")
    assert any(line.startswith("refused:") for line in out), out
    assert len(ledger.history()) - 1 == sum(line.isdigit() for line in out)
    ledger.verify()


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


@pytest.mark.skipif(not postgres.available(), reason="PostgreSQL's initdb and pg_ctl are not installed")
def test_lost_connection():
    with postgres.server() as (url, control):
        ledger = Ledger(url)
        ledger.create("study", epsilon=3.0, delta=1e-5)
        account = ledger.account("study")
        account.charge(COST, private=True)
        # The server dies in the middle of a charge.
        with pytest.raises(LedgerError), account._locked("study"):
            control("-w", "stop")
        refused(account.url, "could not be used")


# Tampering.


@pytest.fixture
def chain(file):
    ledger = Ledger(f"sqlite:///{file}#study")
    for _ in range(4):
        ledger.charge(COST, private=True, what="mean")
    return ledger, sqlite3.connect(file, autocommit=True) if sys.version_info >= (3, 12) else sqlite3.connect(
        file, isolation_level=None
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE eptr_entry SET content = replace(content, '0.5', '0.1') WHERE number = 2", "entry 2"),
        ("UPDATE eptr_entry SET who = 'nobody' WHERE number = 3", "entry 3"),
        ("DELETE FROM eptr_entry WHERE number = 1", "entry 1 is missing"),
        ("UPDATE eptr_entry SET content = replace(content, '3.0', '30.0') WHERE number = 0", "entry 0"),
        ("UPDATE eptr_entry SET totals = '{}' WHERE number = 2", "entry 2"),
        ("UPDATE eptr_entry SET time = 'yesterday' WHERE number = 2", "cannot be read"),
    ],
)
def test_a_changed_entry_is_named(chain, change, message):
    ledger, raw = chain
    ledger.verify()
    raw.execute(change)
    with pytest.raises(LedgerError, match=message):
        ledger.verify()


def test_a_changed_last_entry_or_budget_stops_charges(chain):
    ledger, raw = chain
    raw.execute("UPDATE eptr_entry SET content = replace(content, '3.0', '30.0') WHERE number = 0")
    with pytest.raises(LedgerError, match="entry 0"):
        ledger.charge(COST, private=True)


def test_truncation_is_found_with_a_head_kept_elsewhere(chain):
    ledger, raw = chain
    head = ledger.head()
    ledger.charge(COST, private=True)
    ledger.verify(head=head)
    raw.execute("DELETE FROM eptr_entry WHERE number >= 4")
    ledger.verify()  # a shortened chain is a chain
    with pytest.raises(LedgerError, match="shortened"):
        ledger.verify(head=head)


def test_totals_that_were_recomputed_by_a_forger_are_found(chain):
    """A forger who lowers the totals and seals the entry again still has to break the sums."""
    ledger, raw = chain
    entry = ledger.history()[2]
    forged = ledger.history()[0].next(
        entry.time, entry.who, entry.what, entry.kind, entry.content, ledger.history()[0].totals
    )
    raw.execute(
        "UPDATE eptr_entry SET totals = ?, previous = ?, hash = ? WHERE number = 1",
        (json.dumps(forged.totals), forged.previous, forged.hash),
    )
    with pytest.raises(LedgerError, match="entry 1"):
        ledger.verify()


def test_export_holds_the_whole_chain_and_no_released_value(study):
    fit = model(study.url).fit(*data())
    exported = json.loads(study.export())
    assert [e["kind"] for e in exported] == ["create", "charge"]
    assert exported[1]["content"]["mu"] == fit.release_.cost.mu
    assert str(float(fit.coef_[0]))[:8] not in study.export()


def test_datasets_are_listed_and_kept_apart(place, name):
    ledger = Ledger(place)
    for k in range(2):
        ledger.create(f"{name}-{k}", epsilon=1.0, delta=1e-6)
    ledger.account(f"{name}-0").charge(COST, private=True)
    assert {f"{name}-0", f"{name}-1"} <= set(ledger.datasets())
    assert ledger.remaining(f"{name}-0").epsilon == 0.5
    assert ledger.remaining(f"{name}-1").epsilon == 1.0
    assert ledger.total(f"{name}-1").epsilon == 1.0


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


def appended(ledger, raw, kind, content, totals=None):
    """What a forger who knows the format can append: a well-hashed entry with a content of his choice."""
    last = ledger.history()[-1]
    forged = last.next(last.time, "forger", "x", kind, content, totals or last.totals)
    row = forged.to_dict() | {"content": json.dumps(forged.content), "totals": json.dumps(forged.totals)}
    raw.execute(f"INSERT INTO eptr_entry ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


COST_FIELDS = {"epsilon": 50.0, "delta": 1e-6, "kind": "basic", "mu": 0.0, "p0": None, "failure": 0.0, "parts": 1}


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("charge", COST_FIELDS | {"private": True, "reservation": 77}, "does not exist"),
        ("charge", COST_FIELDS | {"private": False}, "not private"),
        (
            "reserve",
            COST_FIELDS | {"epsilon": 1e-6, "delta": 1e-9, "count": 1000, "each": COST_FIELDS},
            "below their price",
        ),
        ("gift", COST_FIELDS, "neither"),
        ("charge", COST_FIELDS | {"private": True, "basis": "cited", "theorem": "mine"}, "does not accept"),
        ("charge", COST_FIELDS | {"private": True, "basis": "believed", "theorem": ""}, "no sense"),
        ("charge", COST_FIELDS | {"private": True, "kind": "ladder", "mu": 90.0, "p0": 1e-7}, "no sense"),
        ("check", {"answer": "failed", "row": 7}, "no sense"),
        ("check", {}, "no sense"),
        ("charge", {}, "no sense"),
        ("charge", COST_FIELDS | {"private": True}, "totals"),
    ],
)
def test_a_well_hashed_forgery_is_still_found(chain, kind, content, message):
    ledger, raw = chain
    head = ledger.head()
    appended(ledger, raw, kind, content)
    with pytest.raises(LedgerError, match=message):
        ledger.verify(head=head)


def test_a_changed_reservation_cannot_be_drawn_on(file):
    ledger = Ledger(f"sqlite:///{file}")
    reserved = ledger.reserve("study", count=1, epsilon=0.5, delta=1e-6)
    ledger.account("study").charge(COST, private=True)
    raw = sqlite3.connect(file, isolation_level=None)
    raw.execute("""UPDATE eptr_entry SET content = replace(content, '"count": 1', '"count": 9') WHERE number = 1""")
    raw.close()
    with pytest.raises(LedgerError, match="entry 1"):
        Ledger(reserved.url).charge(forecast_test("tight", 0.5, 1e-6).cost, private=True)


# What a guarantee rests on.

CITED = Cost(0.5, 1e-7, "basic", 0.0, basis="cited", theorem="Theorem 1 of somebody: rows are bounded.")
OPEN = Cost(0.5, 1e-7, "basic", 0.0, basis="not verified", theorem="the floats")


@pytest.mark.parametrize(("accept", "admitted"), [("proven", 1), ("cited", 2), ("not verified", 3)])
def test_a_dataset_takes_the_bases_it_was_created_for(place, name, accept, admitted):
    ledger = Ledger(place)
    ledger.create(name, epsilon=3.0, delta=1e-5, accept=accept)
    account = ledger.account(name)
    for k, cost in enumerate((COST, CITED, OPEN)):
        if k < admitted:
            account.check(cost, private=True)
            entry = account.charge(cost, private=True)
            assert (entry.basis, entry.content["theorem"]) == (cost.basis, cost.theorem)
            continue
        for act in (account.check, account.charge):
            with pytest.raises(PrivacyError, match=f"accept='{cost.basis}'"):
                act(cost, private=True)
    assert [e.basis for e in account.history()] == ["", "proven", "cited", "not verified"][: 1 + admitted]
    account.verify()


def test_nothing_is_drawn_for_a_basis_that_is_not_accepted(study, place, name, monkeypatch):
    X, y = data()
    fit = eptr.rivals.DPJL(0.5, 1e-7, x_bound=3.0, y_bound=2.0, ledger=study.url)
    with monkeypatch.context() as patch:
        patch.setattr(ExactNoise, "laplace", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(PrivacyError, match="--accept 'cited'"):
            fit.fit(X, y)
    assert len(study.history()) == 1
    Ledger(place).create(name + "-cited", epsilon=3.0, delta=1e-5, accept="cited")
    fit.set_params(ledger=f"{place}#{name}-cited").fit(X, y)
    last = Ledger(place).history(name + "-cited")[-1]
    assert (last.basis, last.content["theorem"]) == (fit.release_.basis, fit.release_.theorem)
    assert "Sheffet" in fit.release_.theorem


def test_a_reservation_has_the_basis_of_its_releases(study, place, name, monkeypatch):
    def cited(*arguments):
        found = forecast_test(*arguments)
        return replace(found, cost=replace(found.cost, basis="cited", theorem="Theorem 1"))

    Ledger(place).create(name + "-cited", epsilon=3.0, delta=1e-5, accept="cited")
    with monkeypatch.context() as patch:
        patch.setattr(ledger_module, "forecast_test", lambda strategy, *budget: cited(strategy, *budget))
        with pytest.raises(PrivacyError, match="accept='cited'"):
            study.reserve(study.dataset, count=2, epsilon=0.5, delta=1e-6)
        reserved = Ledger(place).reserve(name + "-cited", count=2, epsilon=0.5, delta=1e-6)
    assert Ledger(place).history(name + "-cited")[-1].basis == "cited"
    with pytest.raises(BudgetError, match="differs"):
        Ledger(reserved.url).charge(forecast_test("tight", 0.5, 1e-6).cost, private=True)
    Ledger(reserved.url).charge(cited("tight", 0.5, 1e-6).cost, private=True)
    Ledger(place).verify(name + "-cited")


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
    with pytest.raises(BudgetError, match=r"failed domain check\(s\) are used.*invalid='drop'"):
        account.admit_check()
    assert ledger.remaining(name) == before
    entries = ledger.history(name)
    assert [e.kind for e in entries[2:]] == ["check"] * checks
    assert all(e.what == "LinearRegression domain" and e.totals == entries[1].totals for e in entries[2:])
    account.failed_check("domain")  # a fit that ran at the same time: its answer was given, so it is recorded
    account.charge(COST, private=True)
    ledger.verify(name, head=entries[-1].hash)
    assert ledger.remaining(name).epsilon == 2.0


def test_a_check_cannot_carry_totals_of_its_own(chain):
    ledger, raw = chain
    appended(ledger, raw, "check", {"answer": "failed"}, ledger.history()[1].totals)
    with pytest.raises(LedgerError, match="totals"):
        ledger.verify()


def test_a_ledger_that_only_charges_counts_no_checks():
    class Book:
        def charge(self, cost, *, private, what=""):
            return None

    account = open_account(Book(), "fit")
    account.admit_check()
    account.failed_check("domain")


def test_a_changed_number_of_checks_is_found(file):
    ledger = Ledger(f"sqlite:///{file}#study")
    raw = sqlite3.connect(file, isolation_level=None)
    raw.execute("""UPDATE eptr_entry SET content = replace(content, '"checks": 1', '"checks": 9') WHERE number = 0""")
    raw.close()
    for act in (ledger.admit_check, ledger.failed_check):
        with pytest.raises(LedgerError, match="entry 0"):
            act()


# Chains of version 0.1: see data/README.md.


@pytest.fixture
def old(place, name):
    """A ledger as version 0.1 left it, and the head that was kept elsewhere."""
    kept = json.loads((Path(__file__).parent / "data" / "chain-0.1.json").read_text())
    ledger = Ledger(place)
    ledger.create(name, epsilon=1.0, delta=1e-6)  # makes the tables
    with ledger._store.transaction() as session:
        # The name of the dataset is part of every hash; the server is shared, so an earlier test's copy goes first.
        session._run("DELETE FROM eptr_entry WHERE dataset = 'study'")
        session.add_dataset("study")
        for row in kept["entries"]:
            names = ", ".join(row)
            session._run(f"INSERT INTO eptr_entry ({names}) VALUES ({', '.join(':' + n for n in row)})", **row)
    return ledger.account("study"), kept["head"]


def test_a_chain_of_version_0_1_opens_verifies_and_is_charged(old):
    ledger, head = old
    assert ledger.head() == head
    ledger.verify(head=head)
    assert all(e.basis == "" and "basis" not in e.content for e in ledger.history())
    assert ledger.total().epsilon == 12.0
    left = ledger.remaining().epsilon
    eptr.release(eptr.Proposal([0.0], 1.0, 1e9), 0.5, 1e-6, ledger=ledger.url)
    assert ledger.remaining().epsilon == pytest.approx(left - 0.5)
    assert ledger.history()[-1].basis == "proven"
    ledger.verify(head=head)


def test_a_chain_of_version_0_1_accepts_what_is_proven_and_one_failed_check(old):
    ledger, head = old
    with pytest.raises(PrivacyError, match="accept='cited'"):
        ledger.charge(CITED, private=True)
    ledger.admit_check()
    ledger.failed_check("domain")
    with pytest.raises(BudgetError, match="are used"):
        ledger.admit_check()
    ledger.verify(head=head)


def test_a_reservation_of_version_0_1_can_be_used_up(old):
    ledger, head = old
    account = Ledger(ledger.url + "@5")
    cost = forecast_test("tight", 0.5, 1e-6).cost
    for _ in range(2):  # one of three was used
        account.charge(cost, private=True)
    with pytest.raises(BudgetError, match="all 3"):
        account.charge(cost, private=True)
    ledger.verify(head=head)


def test_a_changed_chain_of_version_0_1_is_found(old):
    ledger, head = old
    with ledger._store.transaction() as session:
        session._run(
            "UPDATE eptr_entry SET content = replace(content, '0.5', '0.4') WHERE dataset = 'study' AND number = 4"
        )
    with pytest.raises(LedgerError, match="entry 4"):
        ledger.verify(head=head)


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
def test_a_reservation_can_be_passed_as_it_is(study):
    reserved = study.reserve(study.dataset, count=2, epsilon=0.5, delta=1e-6)
    LinearRegression(0.5, 1e-6, 3.0, 2.0, strategy="tight", ledger=reserved).fit(*data())
    with pytest.raises(BudgetError, match="2 x tight"):
        LinearRegression(0.5, 1e-6, 3.0, 2.0, ledger=reserved).fit(*data())
