"""Expressions: no value leaves its range, and conditions hold for the rows that meet them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eptr import Codebook, InputError
from eptr.codebook import Category, Flag, Number
from eptr.study.expression import parse

from .rows import BOOK, READ, ROWS

TREES = st.recursive(
    st.sampled_from(["age", "wage", "`hours per week`", "2", "0.1"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"abs({t})"),
        inner.map(lambda t: f"exp(({t}) / 1e9)"),
        inner.map(lambda t: f"({t}) ** 2"),
        inner.map(lambda t: f"log(abs({t}) + 1)"),
    ),
    max_leaves=6,
)


@given(TREES, st.lists(st.tuples(st.floats(18, 90), st.floats(1, 1000), st.floats(0, 99)), min_size=1, max_size=5))
def test_no_value_leaves_its_range(text, rows):
    try:
        found = parse(f"age + {text}", BOOK)
    except InputError:
        return
    read = {
        name: np.array(column)
        for name, column in zip(("age", "wage", "hours per week"), zip(*rows, strict=True), strict=True)
    }
    raw = np.asarray(found.evaluate(read))
    slack = 1e-9 * (1.0 + max(abs(found.range.low), abs(found.range.high)))  # of arithmetic; the clip is exact
    assert np.all((raw >= found.range.low - slack) & (raw <= found.range.high + slack))
    assert np.all((found.values(read) >= found.range.low) & (found.values(read) <= found.range.high))


def test_values_beyond_a_range_are_moved_to_its_edge_inside_expressions():
    read = {"wage": np.array([-5.0, 0.0, 5000.0, math.nan])}
    found = parse("log(wage)", BOOK).values(read)
    np.testing.assert_allclose(found, [0.0, 0.0, math.log(1000), math.nan], atol=1e-9)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("age >= 65", lambda r: r["age"] >= 65),
        ("age > 30 and not sex == 'F'", lambda r: (r["age"] > 30) & (r["sex"] == "M")),
        ("sex != 'F' or kids == 0", lambda r: (r["sex"] == "M") | (r["kids"] == 0)),
        ("region in ['N', 'W']", lambda r: r["region"].isin(["N", "W"])),
        ("region not in ['N', '(missing)']", lambda r: ~r["region"].isin(["N", "(missing)"])),
        ("20 < age <= 40", lambda r: (r["age"] > 20) & (r["age"] <= 40)),
        ("log(wage) > 5", lambda r: np.log(r["wage"]) > 5),
        ("member and not age > 30", lambda r: (r["member"] == 1) & (r["age"] <= 30)),
    ],
)
def test_conditions(text, holds):
    found = parse(text, BOOK)
    assert found.truth
    np.testing.assert_array_equal(found.values(READ), holds(ROWS))


def test_a_missing_value_meets_no_condition():
    read = {"age": np.array([math.nan, 70.0]), "sex": np.array([0, -1])}
    for text in ("age >= 0", "not age >= 0", "age >= 0 or age < 0"):
        assert math.isnan(parse(text, BOOK).values(read)[0])
    assert math.isnan(parse("sex == 'F' or sex == 'M'", BOOK).values(read)[1])


def test_a_condition_is_one_or_zero_among_numbers():
    found = parse("(age > 30) * age + 2 * (sex == 'M')", BOOK)
    assert not found.truth
    assert (found.range.low, found.range.high) == (0.0, 92.0)
    np.testing.assert_array_equal(
        found.values(READ), np.where(ROWS["age"] > 30, ROWS["age"], 0) + 2 * (ROWS["sex"] == "M")
    )


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("`a.b` + _quoted0_", ("a.b", "_quoted0_")),
        ("_quoted0_ + `a.b`", ("_quoted0_", "a.b")),
        ("ﬁ + fi", ("ﬁ", "fi")),
        ("log(µ)", ("µ",)),
    ],
)
def test_a_name_is_the_column_of_that_name_and_no_other(text, columns):
    """Python reads two of these as one, and our placeholders are names, too."""
    book = Codebook(dict.fromkeys(("a.b", "_quoted0_", "ﬁ", "fi", "µ"), Number(1, 2)))
    assert parse(text, book).columns == columns


def test_dates_are_compared_with_days():
    read = {"born": np.array([-7305.0, 0.0, 7305.0])}  # 1950-01-01, 1970-01-01, 1990-01-01
    assert parse("born >= '1970-01-01'", BOOK).values(read).tolist() == [0.0, 1.0, 1.0]
    assert parse("'1950-01-01' < born <= '1990-01-01'", BOOK).values(read).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(InputError, match="compare it with a day"):
        parse("born >= 'yesterday'", BOOK)


def test_quotation_marks_keep_backticks():
    book = Codebook({"x": Category(["a`b`", "c"])})
    assert parse("x == 'a`b`'", book).truth


def test_what_rounding_leads_beyond_a_range_is_moved_to_its_edge():
    found = parse("2 * age", BOOK)
    low, high = found.range.low, found.range.high
    beyond = replace(found, evaluate=lambda read: np.array([np.nextafter(low, -np.inf), high * (1.0 + 1e-12), np.nan]))
    np.testing.assert_array_equal(beyond.values({}), [low, high, np.nan])


def test_a_flag_is_compared_with_how_it_is_written():
    book = Codebook({"smokes": Flag("Yes", "No")})
    read = {"smokes": np.array([1.0, 0.0, np.nan])}
    np.testing.assert_array_equal(parse("smokes == 'Yes'", book).values(read), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(parse("'No' != smokes", book).values(read), [1.0, 0.0, np.nan])
    with pytest.raises(InputError, match="is a Flag"):
        parse("smokes == 'yes'", book)
