"""Codebooks: what values become, what files say, and one sentence for whatever is wrong."""

from __future__ import annotations

import datetime
import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eptr import Codebook, InputError
from eptr.codebook import Category, Date, Flag, Number, Text
from eptr.errors import BoundError

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


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("age", [1, "2", " 3 ", None, "?", -9, "-9", "old", 200], [1, 2, 3, None, None, None, None, None, 200]),
        ("member", ["yes", "no", "?", None, "YES"], [1, 0, None, None, None]),
        (
            "born",
            ["1970-01-02", datetime.date(1969, 12, 31), None, "?", "2020-13-01", 7],
            [1, -1, None, None, None, None],
        ),
        ("sex", ["M", "F", "X", None, "?", ""], [1, 0, -1, -1, -1, -1]),
        ("region", ["S", "N", "X", None, "?", ""], [1, 0, 3, 2, 2, 2]),
    ],
)
def test_each_value_is_read_by_itself(name, values, found):
    want = np.array([math.nan if v is None else v for v in found], dtype=float)
    np.testing.assert_array_equal(BOOK.read(name, values), want)
    for value, one in zip(values, want, strict=True):  # whatever stands beside it
        np.testing.assert_array_equal(BOOK.read(name, [value]), [one])


def undecodable(text: str):
    """A text of Arrow's and one byte that is none, as some writers of Parquet leave it."""
    ends = np.array([0, len(text), len(text) + 1], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(text.encode() + b"\xff")]
    )


@pytest.mark.parametrize("odd", [pd.NaT, pd.NA, np.datetime64("NaT"), object(), b"\xff", "2020-13-01", float("inf")])
def test_no_odd_value_stops_a_date_from_being_read(odd):
    np.testing.assert_array_equal(BOOK.read("born", ["1970-01-02", odd]), [1.0, math.nan])


def test_one_odd_cell_does_not_change_how_other_dates_are_read():
    """It may change the type of the whole column: from text to bytes, from clocks of a zone to objects."""
    np.testing.assert_array_equal(BOOK.read("born", undecodable("1970-01-02")), [1.0, math.nan])
    evening = pd.Series(pd.to_datetime(["1970-01-02T23:30:00", None]).tz_localize("America/New_York"))
    beside = pd.Series([*evening.astype(object)[:1], "?"], dtype=object)
    for column in (
        evening,
        beside,
        pa.array(evening),
        evening.astype(pd.ArrowDtype(pa.timestamp("us", "America/New_York"))),
    ):
        np.testing.assert_array_equal(BOOK.read("born", column), [1.0, math.nan])
    moment = datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)
    for column in (pd.Series([moment, None]), pa.array([moment, None]), [moment, None]):
        np.testing.assert_array_equal(BOOK.read("born", column), [-1.0, math.nan])
    days = pd.Series([datetime.date(1970, 1, 2), None], dtype=pd.ArrowDtype(pa.date32()))
    np.testing.assert_array_equal(BOOK.read("born", days), [1.0, math.nan])


def test_dates_are_days_in_every_container():
    days = ["1970-01-11", None]
    for column in (
        pd.Series(pd.to_datetime(days)),
        np.array(days, dtype="datetime64[s]"),
        pa.array([datetime.date(1970, 1, 11), None]),
        pa.array([datetime.datetime(1970, 1, 11, 23), None]),
    ):
        np.testing.assert_array_equal(BOOK.read("born", column), [10.0, math.nan])


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


def test_a_draft_of_csv_holds_names_alone_and_wants_to_hear_of_a_header(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,name\n41,Ada\n")
    with pytest.raises(InputError, match="header=True"):
        Codebook.draft(path)
    text = Codebook.draft(path, header=True).to_toml()
    assert "Ada" not in text
    assert "41" not in text
    (tmp_path / "draft.toml").write_text(text)
    assert Codebook.from_toml(tmp_path / "draft.toml").blanks == ["age", "name"]
    assert text.count("what is the largest value you would believe without looking?") == 2
    filled = text.replace("# low =   #", "low = 0 #", 1).replace("# high =   #", "high = 110 #", 1)
    (tmp_path / "filled.toml").write_text(filled)
    assert Codebook.from_toml(tmp_path / "filled.toml")["age"] == Number(0, 110)


@pytest.mark.parametrize(("content", "said"), [("größe,b\n1,2\n".encode("latin-1"), "UTF-8"), (b"", "first line")])
def test_a_first_line_that_makes_no_names_is_a_sentence(content, said, tmp_path):
    (tmp_path / "people.csv").write_bytes(content)
    with pytest.raises(InputError, match=said):
        Codebook.draft(tmp_path / "people.csv", header=True)


def test_a_database_is_drafted_from_the_schema_of_a_query(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(tmp_path / "people.db") as database:
        database.execute("create table people (age integer, name varchar, member boolean, born date)")
        database.execute("insert into people values (41, 'Ada', true, '1985-12-10')")
        text = Codebook.draft(database.table("people")).to_toml()
    assert not {"Ada", "41", "1985"} & set(re.findall(r"\w+", text))
    assert text.count("largest value") == 2
    assert 'kind = "flag"' in text
    with pytest.raises(InputError, match="a query"):
        Codebook.draft(tmp_path / "people.db")


def test_a_draft_of_parquet_knows_the_declared_types(tmp_path):
    table = pa.table({"n": [1], "x": [0.5], "f": [True], "t": ["secret"], "d": [datetime.date(2000, 1, 1)]})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        text = Codebook.draft(source).to_toml()
        assert text.count("what is the largest value you would believe without looking?") == 3
        assert 'kind = "flag"' in text
        assert "which values can it take" in text
        assert "secret" not in text


def test_a_frame_has_names_alone_because_its_types_come_from_values():
    polars = pytest.importorskip("polars")
    frames = [pd.DataFrame({"a": [1]}), pd.DataFrame({"a": ["x"]}), {"a": [1]}, polars.DataFrame({"a": ["x"]})]
    assert len({Codebook.draft(frame).to_toml() for frame in frames}) == 1


def test_check_says_what_is_blank_and_what_a_range_costs():
    table = pa.table({"n": [1]})
    assert "still blank" in Codebook.draft(table).check()[0]
    lines = dict(line.split(": ", 1) for line in BOOK.check(n=1000))
    # 110 / (1000 mu(1, 1e-6)) = 110 / 236.7
    assert "noise of 0.465 years" in lines["age"]
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


def test_a_private_range_is_a_bound_to_be_bought():
    with pytest.raises(BoundError, match="private"):
        BOOK.usable("wage").range  # noqa: B018
