"""Where a ledger lives, and what can go wrong outside the program: a typed error, no release, nothing lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile

import pytest

from eptr import InputError, Ledger, LedgerError
from eptr.accounting import store

from . import postgres
from .charges import COST, data, model, refused


def test_wrong_place(tmp_path, study):
    refused(f"sqlite:///{tmp_path}/nowhere/budget.db#study", "does not exist")
    refused(f"sqlite:///{tmp_path}/other.db#study", "does not exist")
    assert not (tmp_path / "other.db").exists()
    refused(study.url + "x", r"no dataset '[^']+x': it has '[^']+'.*; create it")
    with pytest.raises(
        LedgerError, match=r"other\.db does not exist; check --ledger sqlite:///FILE, or create it"
    ) as caught:
        Ledger(f"sqlite:///{tmp_path}/other.db").datasets()
    assert "charge" not in str(caught.value)
    (tmp_path / "text.db").write_text("no database at all" * 99)
    with pytest.raises(LedgerError, match=r"could not be used: [^.]*\.$"):  # who reads has charged nothing
        Ledger(f"sqlite:///{tmp_path}/text.db#study").total()
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


def test_datasets_are_listed_and_kept_apart(place, name):
    ledger = Ledger(place)
    for k in range(2):
        ledger.create(f"{name}-{k}", epsilon=1.0, delta=1e-6)
    ledger.account(f"{name}-0").charge(COST, private=True)
    assert {f"{name}-0", f"{name}-1"} <= set(ledger.datasets())
    assert ledger.remaining(f"{name}-0").epsilon == 0.5
    assert ledger.remaining(f"{name}-1").epsilon == 1.0
    assert ledger.total(f"{name}-1").epsilon == 1.0
