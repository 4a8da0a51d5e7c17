from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eptr
from eptr.rows.exact import product_grid, shrink_factors, sum_grid, toward_zero
from eptr.rows.exact import project as project_units


def project(rows, radius, grid):
    return project_units(rows, shrink_factors(rows, radius), grid)


@given(n=st.integers(1, 10**12), bound=st.floats(1e-100, 1e100))
def test_grid_is_the_smallest_power_of_two_that_suffices(n, bound):
    grid = sum_grid(n, bound)
    assert math.frexp(grid)[0] == 0.5
    assert Fraction(n) * Fraction(bound) <= 2**52 * Fraction(grid)
    assert Fraction(n) * Fraction(bound) * (1 + Fraction(1, 2**50)) > 2**51 * Fraction(grid)


def test_sums_are_the_same_bits_whatever_the_order():
    rng = np.random.default_rng(0)
    n, bound = 100_003, 3.7
    values = np.clip(rng.standard_cauchy(n), -bound, bound)
    q = toward_zero(values, sum_grid(n, bound))
    expected = float(sum(map(Fraction, q.tolist())))
    for order in (slice(None), slice(None, None, -1), rng.permutation(n), np.argsort(np.abs(q))):
        assert q[order].sum() == expected
        assert sum(part.sum() for part in np.array_split(q[order], 37)) == expected
        assert np.cumsum(q[order])[-1] == expected
    assert np.max(np.abs(q - values)) <= sum_grid(n, bound)


def test_without_the_grid_order_matters():
    values = np.random.default_rng(0).standard_cauchy(100_003)
    assert values.sum() != np.cumsum(values)[-1]


def test_gram_matrices_are_the_same_bits_whatever_the_order():
    rng = np.random.default_rng(1)
    n, p, radius = 50_001, 7, 4.0
    grid = product_grid(n, radius)
    x = project(rng.normal(size=(n, p)) * 3, radius, grid) * grid
    expected = x.T @ x
    order = rng.permutation(n)
    np.testing.assert_array_equal(x[order].T @ x[order], expected)
    np.testing.assert_array_equal(sum(part.T @ part for part in np.array_split(x[order], 19)), expected)
    np.testing.assert_array_equal(np.einsum("ij,ik->jk", x, x), expected)
    assert Fraction(float(expected[0, 1])) == sum(Fraction(a) * Fraction(b) for a, b in x[:, :2].tolist())


@given(
    rows=st.lists(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3), min_size=1, max_size=5),
    radius=st.floats(1e-3, 1e6),
)
def test_projection_never_leaves_the_ball(rows, radius):
    grid = product_grid(1000, radius)
    x = project(np.array(rows), radius, grid) * grid
    for row in x.tolist():
        assert sum(Fraction(v) ** 2 for v in row) <= Fraction(radius) ** 2


def test_projection_keeps_what_is_inside_up_to_the_grid():
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, size=(1000, 3))
    grid = product_grid(1000, 2.0)
    assert np.max(np.abs(project(x, 2.0, grid) * grid - x)) <= grid
    far = project(x * 1e9, 2.0, grid) * grid
    np.testing.assert_allclose(np.linalg.norm(far, axis=1), 2.0, atol=3 * grid)


def test_rounding_is_toward_zero():
    np.testing.assert_array_equal(toward_zero(np.array([1.9, -1.9, 0.3, -0.3]), 1.0), [1.0, -1.0, 0.0, -0.0])


@pytest.mark.parametrize(("n", "bound"), [(0, 1.0), (-3, 1.0), (10, 0.0), (10, float("nan"))])
def test_bad_arguments(n, bound):
    with pytest.raises(eptr.InputError):
        sum_grid(n, bound)


def test_projection_has_the_same_bits_whether_few_or_many_rows_are_long():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(64, 3))
    rows[::7] *= 1e200
    grid = product_grid(1000, 1.0)
    together = project_units(rows, shrink_factors(rows, 1.0), grid)
    few = project_units(
        np.vstack([rows, np.zeros((2000, 3))]), shrink_factors(np.vstack([rows, np.zeros((2000, 3))]), 1.0), grid
    )[:64]
    np.testing.assert_array_equal(together, few)


@pytest.mark.parametrize("n", [10, 10**6, 10**9])
def test_rows_rounded_to_the_nearest_multiple_stay_in_the_ball(n):
    rng, radius, grid = np.random.default_rng(n), 2.0, product_grid(n, 2.0)
    rows = rng.normal(size=(300, 7)) * np.exp(rng.normal(size=(300, 1)))
    units = project_units(rows, shrink_factors(rows, radius, grid), grid, nearest=True)
    for row in units.tolist():
        assert sum(Fraction(v) ** 2 for v in row) * Fraction(grid) ** 2 <= Fraction(radius) ** 2
    inside = np.linalg.norm(rows, axis=1) < radius - grid * 3
    assert np.max(np.abs(units[inside] * grid - rows[inside])) <= 0.5 * grid
