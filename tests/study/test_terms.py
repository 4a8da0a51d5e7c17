"""Levels of whole numbers, and polynomials on the declared range."""

from __future__ import annotations

import numpy as np

from .rows import ROWS, columns, names_of


def test_polynomials_are_legendres_on_the_declared_range():
    found, values = columns("poly(age, 3)")
    t = (ROWS["age"].to_numpy() - 54.0) / 36.0
    for k, value in enumerate(values, start=1):
        np.testing.assert_allclose(value, np.polynomial.legendre.Legendre.basis(k)(t), atol=1e-12)
    assert found.ranges == [(-1.0, 1.0)] * 3


def test_whole_numbers_have_levels():
    found, values = columns("C(kids)")
    assert names_of(found) == ["C(kids)[T.1]", "C(kids)[T.2]", "C(kids)[T.3]"]
    np.testing.assert_array_equal(values[1], ROWS["kids"] == 2)
