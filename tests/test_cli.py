"""The command line, run as a user runs it: output, exit codes, and sentences instead of tracebacks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.fixture
def eptr(tmp_path):
    """Run a command in an empty folder; returns (exit code, standard output, standard error)."""

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "eptr", *words], capture_output=True, text=True, cwd=tmp_path, env=_wide()
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


def _wide():
    import os

    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


def test_help_names_the_commands(eptr):
    code, out, _ = eptr("--help")
    assert code == 0
    assert all(word in out for word in ("audit", "demo", "ledger"))


def test_a_ledger_from_creation_to_verification(eptr, tmp_path):
    assert eptr("ledger", "create", "study", "--epsilon", "3", "--delta", "1e-5")[0] == 0
    code, out, _ = eptr("ledger", "reserve", "study", "--count", "4", "--epsilon", "0.5", "--delta", "1e-6")
    assert code == 0
    assert "#study@1" in out
    assert "1.2" in eptr("ledger", "show")[1]
    assert "4 x tight" in eptr("ledger", "history", "study")[1]
    assert [e["kind"] for e in json.loads(eptr("ledger", "export", "study")[1])] == ["create", "reserve"]
    assert eptr("ledger", "export", "study", "--to", "chain.json")[0] == 0
    assert json.loads((tmp_path / "chain.json").read_text())[0]["what"] == "create"
    head = eptr("ledger", "head", "study")[1].strip()
    assert len(head) == 64
    assert "all intact" in eptr("ledger", "verify", "study", "--head", head)[1]
    code, _, error = eptr("ledger", "verify", "study", "--head", "0" * 64)
    assert code == 2
    assert "shortened" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ledger", "show"), "does not exist"),
        (("ledger", "create", "study", "--epsilon", "-1", "--delta", "1e-5"), "epsilon"),
        (("ledger", "create", "study", "--epsilon", "1", "--delta", "1e-5", "-l", "postgresql://a:b@c/d"), "password"),
        (("ledger", "create", "study", "--epsilon", "much", "--delta", "1e-5"), "--epsilon"),
        (("audit", "--only", "nothing like it"), "nothing like it"),
        (("ledgre",), "ledgre"),
    ],
)
def test_user_errors_are_sentences(eptr, words, message):
    code, _, error = eptr(*words)
    assert code == 2
    assert message in error


def test_the_audit_prints_a_table_and_succeeds(eptr):
    code, out, _ = eptr("audit", "--fast", "--only", "half scale")
    assert code == 0
    assert "convicted" in out
    assert "1 of 1" in out
