"""Codebooks: what values become, what files say, and one sentence for whatever is wrong."""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa
import pytest

from eptr import Codebook, InputError
from eptr.codebook import Category, Date, Flag, Number, Text

BOOK = Codebook(
    {
        "age": Number(0, 110, unit="years", integer=True),
        "sex": Category(["F", "M"]),
        "region": Category(["N", "S"], missing="level", other="level"),
        "member": Flag("yes", "no"),
        "born": Date("1900-01-01", "2020-12-31"),
        "notes": Text(),
        "wage": Number("private", price=0.05),
    },
    na_values=["?", -9],
)


def test_toml_and_dict_hold_everything(tmp_path):
    (tmp_path / "book.toml").write_text(BOOK.to_toml())
    assert Codebook.from_toml(tmp_path / "book.toml") == BOOK
    assert Codebook.from_dict(BOOK.to_dict()) == BOOK


def test_numbers_of_numpy_are_numbers(tmp_path):
    book = Codebook(
        {"a": Number(np.int64(0), np.float64(2)), "b": Category(np.array([1, 2]))}, na_values=np.array([-9])
    )
    (tmp_path / "book.toml").write_text(book.to_toml())
    assert Codebook.from_toml(tmp_path / "book.toml") == book


def test_a_bounds_file_of_old_is_read(tmp_path):
    (tmp_path / "b.toml").write_text(
        'ignore = ["id"]\n[columns.age]\nmin = 0\nmax = 110\n[columns.sex]\nlevels = ["F", "M"]\n'
    )
    assert Codebook.from_toml(tmp_path / "b.toml") == Codebook(
        {"age": Number(0, 110), "sex": Category(["F", "M"]), "id": Text()}
    )


def test_check_says_what_is_blank_and_what_a_range_costs():
    table = pa.table({"n": [1]})
    assert "still blank" in Codebook.draft(table).check()[0]
    lines = dict(line.split(": ", 1) for line in BOOK.check(n=1000))
    # 110 / (1000 mu(1, 1e-6)) = 110 / 236.7
    assert "at epsilon 1, noise of 0.465 years on a mean if only the range is used" in lines["age"]
    assert "at epsilon 0.5, noise" in BOOK.check(n=1000, epsilon=0.5)[0]
    assert "5%" in lines["wage"]
    assert lines["notes"] == "never released."


BAD = {
    "no columns": lambda: Codebook({}),
    "no dict": lambda: Codebook([("age", Number(0, 1))]),
    "no kind": lambda: Codebook({"age": (0, 110)}),
    "a name that is none": lambda: Codebook({3: Number(0, 1)}),
    "a backtick": lambda: Codebook({"a`b": Number(0, 1)}),
    "na_values as text": lambda: Codebook({"age": Number(0, 1)}, na_values="?"),
    "a level that is missing": lambda: Codebook({"sex": Category(["F", "?"])}, na_values=["?"]),
    "ends in the wrong order": lambda: Number(110, 0),
    "one end": lambda: Number(0),
    "no end": lambda: Number(),
    "no day": lambda: Date(),
    "no level": lambda: Category(),
    "an infinite end": lambda: Number(0, math.inf),
    "text for an end": lambda: Number("low", "high"),
    "private and an end": lambda: Number("private", 3),
    "a price above all": lambda: Number("private", price=2.0),
    "a unit that is none": lambda: Number(0, 1, unit=3),
    "levels as text": lambda: Category("FM"),
    "one level": lambda: Category(["F"]),
    "two levels that are one": lambda: Category([1, "1.0"]),
    "levels of two kinds": lambda: Category(["a", 1]),
    "a fate that is none": lambda: Category(["F", "M"], missing="keep"),
    "a reserved level": lambda: Category(["F", "(missing)"]),
    "a flag of one value": lambda: Flag("yes", "yes"),
    "a date that is none": lambda: Date("yesterday", "2020-01-01"),
    "dates in the wrong order": lambda: Date("2020-01-01", "1990-01-01"),
    "a column that is not there": lambda: BOOK["salary"],
    "text that is asked for": lambda: BOOK.usable("notes"),
    "a blank that is asked for": lambda: Codebook.draft({"a": [1]}).usable("a"),
    "a table without names": lambda: Codebook.draft(np.zeros((2, 2))),
    "an unknown entry": lambda: Codebook.from_dict({"columns": {"a": {"low": 0, "high": 1}}, "rows": 3}),
    "an unknown fact": lambda: Codebook.from_dict({"columns": {"a": {"low": 0, "high": 1, "colour": "red"}}}),
    "an unknown kind": lambda: Codebook.from_dict({"columns": {"a": {"kind": "colour"}}}),
    "a fact that is missing": lambda: Codebook.from_dict({"columns": {"a": {"kind": "date", "low": "1990-01-01"}}}),
    "no table of facts": lambda: Codebook.from_dict({"columns": {"a": 3}}),
    "a file that is not there": lambda: Codebook.from_toml("nowhere.toml"),
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_what_is_wrong_is_one_sentence(make):
    with pytest.raises(InputError) as caught:
        make()
    text = str(caught.value)
    assert text.count("\n") == 0
    assert len(text) > 20
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "said"), [("agee", "; did you mean 'age'?"), ("AGE", "; did you mean 'age'?"), ("x1", ", which has")]
)
def test_the_nearest_name_is_proposed_or_the_first_few_are_listed(name, said):
    with pytest.raises(InputError, match=re.escape(f"column {name!r} is not in the codebook{said}")) as caught:
        BOOK[name]
    assert str(caught.value).endswith("?" if "?" in said else "'age', 'sex', 'region', 'member', 'born' and 2 more.")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"low": 0, "hgih": 70}, "'hgih' is not an entry of a number; did you mean 'high'?"),
        ({"hgih": 70}, "'hgih' is not an entry of a column; did you mean 'high'?"),
        ({"low": 0, "high": 1, "colour": 3}, "which has 'low', 'high', 'unit', 'integer', 'price'."),
        ({"kind": "text", "levels": ["a"]}, "'levels' is not an entry of a text, which has none."),
        ({"low": 0}, ": high (or max) is missing."),
        ({"max": 3}, ": low (or min) is missing."),
        ({"kind": "category"}, ": levels is missing."),
        ({"kind": "flag", "no": "N"}, "yes is missing"),
        ({"kind": "flag", "yes": "Y"}, "no is missing"),
        ({"kind": ["number"]}, "a kind among number, flag, date, category, text."),
    ],
)
def test_an_entry_that_is_wrong_or_missing_is_named(facts, said):
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        Codebook.from_dict({"columns": {"a": facts}})
    assert str(caught.value).startswith("[columns.a]")


def test_words_of_every_language_stand_in_a_file_as_they_are(tmp_path):
    book = Codebook({"région": Category(["Île", "日本", "😀"])}, na_values=["ø"])
    assert all(word in book.to_toml() for word in ("région", "Île", "日本", "😀", "ø"))
    path = tmp_path / "book.toml"
    path.write_text(book.to_toml(), encoding="utf-8")
    assert Codebook.from_toml(path) == book
