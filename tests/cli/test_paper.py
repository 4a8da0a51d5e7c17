"""The experiments of the paper on the command line."""

from __future__ import annotations


def test_experiments_are_listed_and_unknown_ones_named(eptr):
    assert "nw-function" in eptr("reproduce", "list")[1]
    code, _, error = eptr("reproduce", "ols")
    assert code == 2
    assert "ols-eps" in error
