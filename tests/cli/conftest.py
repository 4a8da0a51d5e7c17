"""Commands as a user runs them: in this process, or in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest

from eptr import cli


@pytest.fixture
def process(tmp_path):
    """Run a command in a process of its own, in an empty folder; returns (exit code, standard output, standard error)."""

    def run(*words):
        command, wide = [sys.executable, "-m", "eptr", *words], {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=wide)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def eptr(tmp_path, monkeypatch, capsys):
    """The same without the second that a process takes to start."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("COLUMNS", "200"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["eptr", *words])
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            try:
                code = cli.main() or 0
            except SystemExit as end:
                code = end.code or 0
        return code, *capsys.readouterr()

    return run
