"""Tampering is found, by whoever knows the format, and chains of version 0.1 are read: see data/README.md."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

import eptr
from eptr import BudgetError, Ledger, LedgerError, PrivacyError
from eptr.privacy.mechanism import forecast_test

from .charges import CITED, COST, data, model


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
        ("charge", COST_FIELDS | {"private": True, "basis": "cited", "theorem": "mine"}, "accepts only what is"),
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


def test_a_check_cannot_carry_totals_of_its_own(chain):
    ledger, raw = chain
    appended(ledger, raw, "check", {"answer": "failed"}, ledger.history()[1].totals)
    with pytest.raises(LedgerError, match="totals"):
        ledger.verify()


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
    with pytest.raises(BudgetError, match=r"admits 1 failed .*, and 1 were answered already"):
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
