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


@pytest.fixture(scope="module")
def every():
    """All mutants, by file."""
    return {path: chosen(path) for path in carriers()}


@pytest.fixture(scope="module")
def keys(every):
    return {mutant.key for mutants in every.values() for mutant in mutants}


def test_every_equivalent_mutant_is_one_and_says_why(keys):
    """A line that has changed since is no longer excused."""
    for key, why in equivalents().items():
        assert key in keys
        assert why.endswith(".")


def test_nearly_every_mutant_of_this_code_stands_in_the_table_with_the_test_that_noticed_it(keys):
    """`LEFT=1 make mutants` tries those that are new: a line that carries the guarantee has changed."""
    with (ROOT / "results/mutants.csv").open(newline="") as file:
        table = {(row["file"], row["text"], row["change"]): row["noticed_by"] for row in csv.DictReader(file)}
    new = keys - set(equivalents()) - set(table)
    assert [key for key, by in table.items() if not by] == []
    assert len(new) < 0.02 * len(keys)


def test_a_mutant_is_one_change_that_compiles(every):
    for path, mutants in every.items():
        before = ast.unparse(Carrier(path).tree)
        for mutant in mutants[::25]:
            after = mutant.tree()
            compile(after, str(path), "exec")
            assert ast.unparse(after) != before, mutant


def test_the_lines_that_carry_the_guarantee_are_found(every):
    assert sum(map(len, every.values())) > 1000
    files = {path.name for path in every}
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
