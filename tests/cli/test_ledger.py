"""Ledgers on the command line."""

from __future__ import annotations

import json

from eptr import Ledger
from eptr.privacy.claim import Cost


def test_a_ledger_from_creation_to_verification(eptr, tmp_path):
    assert eptr("ledger", "create", "study", "--epsilon", "3", "--delta", "1e-5")[0] == 0
    code, out, _ = eptr("ledger", "reserve", "study", "--count", "4", "--epsilon", "0.5", "--delta", "1e-6")
    assert code == 0
    assert "#study@1" in out
    assert "1.2" in eptr("ledger", "show")[1]
    assert "4 x tight" in eptr("ledger", "history", "study")[1]
    assert "accepts proven" in eptr("ledger", "history", "study")[1]
    assert [e["kind"] for e in json.loads(eptr("ledger", "export", "study")[1])] == ["create", "reserve"]
    assert eptr("ledger", "export", "study", "--to", "chain.json")[0] == 0
    assert json.loads((tmp_path / "chain.json").read_text())[0]["what"] == "create"
    head = eptr("ledger", "head", "study")[1].strip()
    assert len(head) == 64
    assert "all intact" in eptr("ledger", "verify", "study", "--head", head)[1]
    assert "64 hexadecimal" in eptr("ledger", "verify", "study", "--head", "abc")[2]
    code, _, error = eptr("ledger", "verify", "study", "--head", "0" * 64)
    assert code == 2
    assert "shortened" in error


def test_a_ledger_shows_bases_and_failed_checks(eptr, tmp_path):
    words = ("ledger", "create", "study", "--epsilon", "3", "--delta", "1e-5")
    code, _, error = eptr(*words, "--accept", "believed")
    assert code == 2
    assert "accept" in error
    assert eptr(*words, "--accept", "not verified", "--checks", "2")[0] == 0
    ledger = Ledger(f"sqlite:///{tmp_path}/eptr-budget.db#study")
    ledger.charge(Cost(0.5, 1e-7, "basic", 0.0, basis="cited", theorem="Theorem 1"), private=True)
    for _ in range(2):
        ledger.failed_check("LinearRegression domain")
    lines = eptr("ledger", "history", "study")[1].splitlines()
    assert sum("failed check" in line for line in lines) == 2
    assert any("basic" in line and "cited" in line for line in lines)
    assert any("accepts not verified" in line for line in lines)
    row = next(line for line in eptr("ledger", "show")[1].splitlines() if "study" in line)
    assert [cell.strip() for cell in row.strip("│ ").split("│")][3] == "1"
    assert "3 others" in eptr("ledger", "verify", "study")[1]
