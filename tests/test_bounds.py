"""Bounds of files: levels become columns, and what makes no sense is a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import InputError
from eptr.bounds import PublicBounds, level_codes


def test_levels_become_columns_without_the_first(tmp_path):
    (tmp_path / "b.toml").write_text("[columns.sex]\nlevels = ['f', 'm', 'x']\n[target]\nmin = 0\nmax = 1\n")
    bounds = PublicBounds.read(tmp_path / "b.toml")
    table = {"sex": np.array(["m", "f", "?"], dtype=object)}
    assert bounds.names() == ["sex=m", "sex=x"]
    assert np.array_equal(bounds.matrix(table, "t", drop=True), [[1, 0], [0, 0], [np.nan, np.nan]], equal_nan=True)
    with pytest.raises(InputError, match=r"not declared.*in a fit"):
        bounds.matrix(table, "t")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "columns"),
        ("[columns.a]\nmin = 1\n", r"\[columns.a\]: high \(or max\) is missing"),
        ("[columns.a]\nmin = 1\nmax = 0\n", "low < high"),
        ("[columns.a]\nmin = 'x'\nmax = 0\n", "takes numbers"),
        ("[columns.a]\nlevels = ['x']\n", "two different"),
        ("columns = 3", "columns"),
        ("[columns.a]\nmin = 0\nmax = 1\n[other]\n", "unknown"),
        ("x_bound = -1\n[columns.a]\nmin = 0\nmax = 1\n", "x_bound"),
        ("= nonsense", "TOML"),
    ],
)
def test_bounds_files_that_make_no_sense(content, message, tmp_path):
    (tmp_path / "b.toml").write_text(content)
    with pytest.raises(InputError, match=message):
        PublicBounds.read(tmp_path / "b.toml")


def test_whole_numbers_beside_a_missing_one_are_the_same_levels():
    np.testing.assert_array_equal(level_codes(np.array([1.0, 2.0, np.nan, 1.5]), ["1", "2"]), [0, 1, -1, -1])
    np.testing.assert_array_equal(level_codes(np.array([1, 2, None], dtype=object), ["1", "2"]), [0, 1, -1])
