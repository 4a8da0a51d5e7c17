"""Would the tests notice? The most dangerous mutants here, all of them in `make mutants`."""

from __future__ import annotations

import ast
import csv
import os
import subprocess
import sys

import pytest
from benchmarks.mutants.carriers import ROOT, Carrier, carriers
from benchmarks.mutants.selection import chosen, equivalents


def test_the_most_dangerous_mutants_are_noticed():
    if not hasattr(os, "fork"):
        pytest.skip("mutants live in forked processes")
    command = [sys.executable, "-m", "benchmarks.mutants", "--dangerous"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_equivalent_mutant_is_one_and_says_why():
    """A line that has changed since is no longer excused."""
    every = {mutant.key for path in carriers() for mutant in chosen(path)}
    for key, why in equivalents().items():
        assert key in every
        assert why.endswith(".")


def test_nearly_every_mutant_of_this_code_stands_in_the_table_with_the_test_that_noticed_it():
    """`LEFT=1 make mutants` tries those that are new: a line that carries the guarantee has changed."""
    with (ROOT / "results/mutants.csv").open(newline="") as file:
        table = {(row["file"], row["text"], row["change"]): row["noticed_by"] for row in csv.DictReader(file)}
    every = {mutant.key for path in carriers() for mutant in chosen(path)} - set(equivalents())
    assert [key for key, by in table.items() if not by] == []
    assert len(every - set(table)) < 0.02 * len(every)


def test_a_mutant_is_one_change_that_compiles():
    for path in carriers():
        before = ast.unparse(Carrier(path).tree)
        for mutant in chosen(path)[::25]:
            after = mutant.tree()
            compile(after, str(path), "exec")
            assert ast.unparse(after) != before, mutant


def test_the_lines_that_carry_the_guarantee_are_found():
    assert sum(len(chosen(path)) for path in carriers()) > 1000
    files = {path.name for path in carriers()}
    assert {
        "contribution.py",
        "spending.py",
        "noise.py",
        "ladder.py",
        "exact.py",
        "filter.py",
        "ledger.py",
        "ingest.py",
    } <= files
