"""The audit on the command line: a table, and an exit code."""

from __future__ import annotations

import pytest

from eptr import cli


def test_the_audit_prints_a_table_and_succeeds(eptr):
    code, out, _ = eptr("audit", "--fast", "--only", "half scale")
    assert code == 0
    assert "convicted" in out
    assert "1 right, 0 not enough runs, 0 wrong" in out


GOOD, BAD = {"guilty": False}, {"guilty": True}


@pytest.mark.parametrize(
    ("found", "code", "count"),
    [
        ([GOOD | {"convicted": False}, BAD | {"convicted": True}], 0, "2 right, 0 not enough runs, 0 wrong"),
        (
            [GOOD | {"convicted": False, "enough": False}, BAD | {"convicted": False, "enough": False}],
            0,
            "0 right, 2 not",
        ),
        ([GOOD | {"convicted": True}, BAD | {"convicted": True}], 1, "1 right, 0 not enough runs, 1 wrong"),
        ([GOOD | {"convicted": True, "enough": False}], 1, "1 wrong"),  # a conviction needs no power
        ([BAD | {"convicted": False}], 1, "1 wrong"),
    ],
)
def test_the_audit_fails_for_wrong_verdicts_alone(monkeypatch, found, code, count):
    from typer.testing import CliRunner

    from eptr import self_audit
    from eptr.audit.finding import Check, Finding

    def check(k, facts):
        return Check(f"check {k}", lambda effort: Finding("claim [0, 1]", "attack", "epsilon", **facts))

    monkeypatch.setattr(self_audit, "CHECKS", [check(k, facts) for k, facts in enumerate(found)])
    done = CliRunner().invoke(cli.app, ["audit", "--fast", "--workers", "1"])
    assert done.exit_code == code
    said = " ".join(done.output.split())
    assert count in said
    assert "[0, 1]" in said
    assert ("for more power: eptr audit." in said) == ("2 not" in count)
