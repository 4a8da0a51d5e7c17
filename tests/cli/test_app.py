"""The command line, run as a user runs it: output, exit codes, and sentences instead of tracebacks."""

from __future__ import annotations

import pytest


def test_a_process_ends_with_the_code_of_its_command(process):
    code, out, error = process("ledger", "show")
    assert (code, out) == (2, "")
    assert error.startswith("error: ")


def test_help_names_the_commands(process):
    code, out, _ = process("--help")
    assert code == 0
    assert all(word in out for word in ("audit", "demo", "fit", "ledger", "plan", "predict", "reproduce", "verify"))


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


def test_version(eptr):
    assert eptr("--version")[1].startswith("eptr ")
