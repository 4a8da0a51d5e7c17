"""Numbers that callers pass are checked once, by name, and every error of ours is one that Python knows."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from eptr import errors
from eptr.errors import (
    BoundError,
    InputError,
    meant,
    no_column,
    positive,
    probability,
    rounded_down,
    sensible,
    whole_number,
)


@pytest.mark.parametrize("value", [1, 0.5, np.float64(2.0), np.int64(3), Fraction(1, 3)])
def test_a_number_is_a_float_from_then_on(value):
    assert type(positive("epsilon", value)) is float


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, pytest.param(10**400, id="huge"), True, "1", None, 1j])
def test_what_is_no_number_above_zero_is_named(value):
    with pytest.raises(InputError, match=r"^epsilon must be a"):
        positive("epsilon", value)


@pytest.mark.parametrize(
    ("name", "value", "below", "fix"),
    [
        ("epsilon", 0, math.inf, "pass epsilon=1, for example."),
        ("delta", 0.0, 1.0, "pass delta=1e-06, for example."),
        ("share", "a", math.inf, "got str; pass share=0.2, for example."),
        ("level", 95, 1.0, "pass level=0.95, for example."),
        ("width", -1.0, math.inf, "got -1.0."),
    ],
)
def test_a_number_that_is_wrong_comes_with_one_that_is_not(name, value, below, fix):
    with pytest.raises(InputError, match=re.escape(fix) + "$"):
        positive(name, value, below=below)


def test_the_nearest_name_is_meant_or_one_of_the_first():
    assert meant("Agee", ["wage", "age", "sex"]) == "; did you mean 'age'?"
    assert meant("SEX", ["wage", "age", "Sex"]) == "; did you mean 'Sex'?"
    assert meant("k", list("abcdefg")) == ", which has 'a', 'b', 'c', 'd', 'e' and 2 more."
    assert meant("k", list("abcde")) == ", which has 'a', 'b', 'c', 'd', 'e'."
    assert meant("k", []) == ", which has none."


def test_what_may_be_asked_for_at_most_is_rounded_down():
    given = (1.0, 0.6, 0.5999, 12.399, 1e-7, 2.0 / 3.0)
    assert [rounded_down(number) for number in given] == ["1", "0.6", "0.599", "12.3", "1e-07", "0.666"]


@pytest.mark.parametrize("value", [0.0, 1.0, 1.5, math.nan])
def test_a_probability_is_neither_nothing_nor_certain(value):
    with pytest.raises(InputError, match="delta must be a number between 0 and 1, both excluded"):
        probability("delta", value)


@pytest.mark.parametrize("value", [0, 1.0, True, "2"])
def test_counts_are_whole(value):
    assert type(whole_number("rows", np.int64(1))) is int
    assert whole_number("checks", 0, 0) == 0
    with pytest.raises(InputError, match="rows must be a whole number of at least 1"):
        whole_number("rows", value)


def test_counts_fit_into_floats():
    with pytest.raises(InputError, match="rows must be a whole number of at most"):
        whole_number("rows", 2**53 + 1)


@pytest.mark.parametrize("bound", [1e-101, 1e101, math.nan])
def test_a_bound_has_a_square(bound):
    assert sensible("x_bound", 1e100) == 1e100
    with pytest.raises(BoundError, match="rescale"):
        sensible("x_bound", bound)


def test_a_missing_column_is_told_without_quoting_those_there_are():
    assert no_column("'age'", 3, "people.csv").startswith("'age' is not among the 3 columns of people.csv;")


def test_errors_about_arguments_are_value_errors():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.EptrError)]
    others = {kind.__name__ for kind in kinds if not issubclass(kind, ValueError)}
    assert others == {"EptrError", "EngineError"}
