from __future__ import annotations

import numpy as np
import polars
import pytest
import scipy.sparse

import eptr
from eptr.estimators.bayes.bounds import class_sums
from eptr.estimators.linear.bounds import moments
from eptr.rows.memory import MemoryRows


def refined(**settings):
    def fitted(rows):
        with pytest.warns(eptr.NotPrivateWarning):
            return eptr.LinearRegression(1.0, 1e-2, random_state=3, **settings).fit(rows, None).fitted_.centre

    return fitted


STATISTICS = [
    refined(x_bound=2.0, y_bound=3.0),
    refined(x_range=(-4.0, 4.0), y_range=(-3.0, 5.0)),
    lambda r: moments(r, 2.0, 3.0, 0.7).gram,
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_same_bits_whatever_the_order_and_batching(dtype, statistic):
    rng = np.random.default_rng(0)
    x, y = rng.standard_t(3, size=(301, 4)).astype(dtype), rng.standard_t(3, size=301)
    expected = statistic(MemoryRows(x, y))
    order = rng.permutation(301)
    for rows in (
        MemoryRows(x, y, block=1),
        MemoryRows(x, y, block=7),
        MemoryRows(x, y, block=150),
        MemoryRows(x[order], y[order], block=100),
        MemoryRows(np.asfortranarray(x), y),
    ):
        np.testing.assert_array_equal(statistic(rows), expected)


def test_class_sums_do_not_depend_on_order():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2001, 3)), rng.integers(0, 3, size=2001)
    expected = class_sums(MemoryRows(x, y), 3, 1.0).sums
    np.testing.assert_array_equal(class_sums(MemoryRows(x[::-1], y[::-1], block=10), 3, 1.0).sums, expected)


def test_nothing_is_copied_as_a_whole():
    x = np.zeros((1000, 3), dtype=np.float32)
    assert MemoryRows(x, np.zeros(1000)).x is x


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_outside_the_domain_raise_or_count_for_nothing(bad):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    dirty = x.copy()
    dirty[7, 1] = bad
    with pytest.raises(eptr.InputError, match="invalid='drop'"):
        MemoryRows(dirty, y).check()
    kept = np.delete(np.arange(50), 7)
    whole = moments(MemoryRows(dirty, y, drop_invalid=True), 20.0, 3.0, 1.0)
    blank = np.arange(50) == 7
    part = moments(MemoryRows(np.where(blank[:, None], 0.0, x), np.where(blank, 0.0, y)), 20.0, 3.0, None)
    np.testing.assert_array_equal(whole.gram[:2, :2], part.gram)
    assert whole.gram[2, 2] == pytest.approx(len(kept))


def test_huge_values_stay_finite_and_silent():
    x = np.array([[1e308, -1e308], [1.0, 2.0], [1e200, 0.0]])
    rows = MemoryRows(x, np.zeros(3))
    rows.check()
    assert np.all(np.isfinite(moments(rows, 2.0, 1.0, 1.0).gram))


def test_workers_share_the_blocks_and_hand_over_one_sum_each(monkeypatch):
    from eptr.rows import memory

    handed = []

    def each(task, pieces):
        handed.extend(pieces)
        return map(task, handed)

    monkeypatch.setattr(memory, "each", each)
    monkeypatch.setattr(memory, "THREADS", 3)
    x, starts = np.arange(1000.0).reshape(500, 2), []
    total, count = MemoryRows(x, block=64).sum(lambda x, y, keep: (starts.append(x[0, 0]) or x.sum(axis=0), len(x)))
    assert len(handed) == 3  # not one a block
    assert sorted(starts) == [128.0 * k for k in range(8)]
    assert (total.tolist(), int(count)) == (x.sum(axis=0).tolist(), 500)


@pytest.mark.parametrize("rows", [1, 2, 21, 60, 120])
@pytest.mark.parametrize("columns", [1, 64, 2500, 2561])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_piece_by_piece_have_the_same_bits(rows, columns, order):
    from eptr.rows.namespace import inner, product, times

    rng = np.random.default_rng(rows + columns)
    a = np.array(rng.integers(-(2**15), 2**15, size=(rows, columns)), dtype=float, order=order)
    b = rng.integers(-(2**15), 2**15, size=(3, columns)).astype(float)
    np.testing.assert_array_equal(inner(a), a @ a.T)
    np.testing.assert_array_equal(inner(b, a), b @ a.T)
    np.testing.assert_array_equal(product(b, a.T), b @ a.T)
    np.testing.assert_array_equal(times(a, b[0]), a * b[0])
    assert times(a, 2.0).ctypes.data % 64 == 0


@pytest.mark.parametrize("rows", [1, 2])
def test_a_single_long_row_is_a_product_too(rows):
    """That of one column in a large block, say: without its last row nothing is left to be cut into pieces."""
    from eptr.rows import namespace

    a = np.ones((rows, namespace._PIECE + 5))
    np.testing.assert_array_equal(namespace.inner(a), a @ a.T)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_one_column_and_a_block_of_many_rows_can_be_fitted(fit_intercept, monkeypatch):
    from eptr.rows import namespace

    monkeypatch.setattr(namespace, "_PIECE", 128)  # multiplications, fewer than rows
    x = np.random.default_rng(0).uniform(-1, 1, size=(1000, 1))
    settings = {"x_bound": 1.0, "y_bound": 1.0, "fit_intercept": fit_intercept, "random_state": 0}
    with pytest.warns(eptr.NotPrivateWarning):
        assert np.isfinite(eptr.LinearRegression(100.0, **settings).fit(x, x[:, 0]).coef_).all()


@pytest.mark.parametrize(
    ("x", "told"),
    [
        (np.zeros((0, 2)), "at least one row and one column. Found array with 0 sample"),
        (np.zeros((5, 0)), "at least one row and one column. Found array with 0 feature"),
        (np.zeros((2, 5, 2)), "a table of rows and columns. Found array with dim 3"),
        (scipy.sparse.csr_array(np.eye(5)), r"pass X\.toarray\(\)"),
        ([[1.0, 2.0], [3.0]], "as many numbers in every row"),
        ({"age": [1.0, 2.0]}, r"pandas\.DataFrame\(X\)"),
        ((row for row in [[1.0], [2.0]]), r"pandas\.DataFrame\(X\)"),
        (polars.LazyFrame({"age": [1.0, 2.0]}), r"pass X\.collect\(\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_is_one_sentence_with_a_fix(x, told):
    model = eptr.LinearRegression(x_range=(0, 5), y_range=(0, 1))
    with pytest.raises(eptr.InputError, match=f"X must .*{told}"):
        model.fit(x, np.zeros(5))


def test_measurements_are_no_labels():
    with pytest.raises(eptr.InputError, match=r"y must hold labels.*Unknown label type: continuous"):
        eptr.LogisticRegression(x_range=(0, 1), classes="public").fit(np.zeros((3, 1)), [0.5, 1.5, 2.25])
