"""Tables of databases: a draft of a codebook reads their schema and no row, and a study reads their rows value by value."""

from __future__ import annotations

import sqlite3
import uuid

import numpy as np
import pytest

import eptr
from eptr.codebook import Category, Codebook, Date, Flag, Number, Text
from eptr.errors import InputError
from eptr.rows.database import database_columns, database_types

from ..accounting.conftest import team_server  # noqa: F401

COLUMNS = "age INTEGER, wage NUMERIC(10, 2), height REAL, name VARCHAR(40), note TEXT, member BOOLEAN, born DATE, seen TIMESTAMP"
SECRET = (41, 1234.5, 1.75, "Ada", "likes 99 things", True, "1985-12-10", "2020-02-02 10:11:12")
WORDS = ["int", "double", "double", "string", "string", "bool", "date", "timestamp"]


@pytest.fixture
def sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "people.db") as database:
        database.execute(f"CREATE TABLE people ({COLUMNS}, anything, picture BLOB)")
        database.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?, 7, x'00')", SECRET)
    database.close()
    return f"sqlite:///{tmp_path}/people.db#people"


@pytest.fixture
def postgresql(team_server):  # noqa: F811
    import psycopg

    url, schema = team_server[0], f"s{uuid.uuid4().hex[:8]}"
    with psycopg.connect(url) as database:
        database.execute(f"CREATE SCHEMA {schema}")
        database.execute(f"CREATE TYPE {schema}.size AS ENUM ('small', 'large')")
        database.execute(f"CREATE TABLE {schema}.people ({COLUMNS}, shirt {schema}.size, picture BYTEA)")
        database.execute(f"INSERT INTO {schema}.people VALUES ({', '.join(['%s'] * 8)}, 'large', '')", SECRET)
    return f"{url}#{schema}.people"


def test_sqlite_has_types_as_they_were_declared(sqlite):
    assert list(database_types(sqlite).values()) == [*WORDS, "", "other"]


def test_postgresql_has_types_as_they_were_declared(postgresql):
    assert list(database_types(postgresql).values()) == [*WORDS, ["small", "large"], "other"]


@pytest.mark.parametrize("place", ["sqlite", "postgresql"])
def test_a_draft_asks_about_every_column_and_holds_no_value(place, request):
    book = Codebook.draft(request.getfixturevalue(place))
    text = book.to_toml()
    assert not [value for value in ("41", "1234", "Ada", "99", "1985", "2020") if value in text]
    assert text.count("which values can it take") == 1  # said once, and a line to fill in for each column
    assert all(f'[columns."{name}"]\n' in text for name in book.blanks)
    assert sum(line.startswith(("# low", "# levels")) for line in text.splitlines()) >= 2
    assert book["member"] == Flag()
    assert book["picture"] == Text()
    assert book.blanks[:5] == ["age", "wage", "height", "name", "note"]
    assert {"born", "seen"} < set(book.blanks)
    if place == "postgresql":  # labels that a type allows are declared, too
        assert book["shirt"] == Category(["small", "large"])


def test_a_draft_reads_no_row(sqlite, monkeypatch):
    """SQLite says which tables and columns a statement reads."""
    read, connect = set(), sqlite3.connect

    def watched(*arguments, **options):
        database = connect(*arguments, **options)
        database.set_authorizer(lambda action, *what: read.add((action, what[0])) or sqlite3.SQLITE_OK)
        return database

    monkeypatch.setattr(sqlite3.dbapi2, "connect", watched)
    Codebook.draft(sqlite)
    assert (sqlite3.SQLITE_READ, "people") not in read
    database_columns(sqlite)
    assert (sqlite3.SQLITE_READ, "people") in read


BOOK = Codebook(
    {
        "age": Number(0, 110), "wage": Number(0, 5000), "member": Flag(), "born": Date("1900-01-01", "2020-01-01"),
        "name": Category(["Ada", "Bo"]),
    }
)  # fmt: skip


@pytest.mark.parametrize("place", ["sqlite", "postgresql"])
def test_a_study_reads_values_as_a_frame_has_them(place, request):
    rows = database_columns(request.getfixturevalue(place))
    found = [BOOK.read(name, rows[name]).tolist() for name in BOOK]
    assert found == [[41.0], [1234.5], [1.0], [BOOK.read("born", ["1985-12-10"])[0]], [0.0]]


def test_a_value_that_a_type_does_not_allow_is_an_odd_value_and_no_error(tmp_path):
    with sqlite3.connect(tmp_path / "people.db") as database:
        database.execute("CREATE TABLE people (age INTEGER, born DATE)")
        database.executemany(
            "INSERT INTO people VALUES (?, ?)", [(40, "2000-01-01"), ("old", "tomorrow"), (None, None)] * 50
        )
        database.execute("INSERT INTO people VALUES (40, CAST(x'ff' AS TEXT))")
    database.close()
    book = Codebook({"age": Number(0, 100), "born": Date("1990-01-01", "2020-01-01")})
    with pytest.warns(eptr.errors.NotPrivateWarning):
        study = eptr.Study(f"sqlite:///{tmp_path}/people.db#people", book, epsilon=50.0, random_state=0)
    assert study.data.n == 151
    assert study.mean("age", where="age > 0").value[0] == pytest.approx(40, abs=8)


def test_dates_beyond_what_python_knows_are_no_error(team_server):  # noqa: F811
    import psycopg

    name = f"t{uuid.uuid4().hex[:8]}"
    with psycopg.connect(team_server[0]) as database:
        database.execute(f"CREATE TABLE {name} (born DATE, wage NUMERIC)")
        database.execute(f"INSERT INTO {name} VALUES ('infinity', 'NaN'), ('12000-01-01', 3), ('2000-01-01', 1e200)")
    rows = database_columns(f"{team_server[0]}#{name}")
    book = Codebook({"born": Date("1990-01-01", "2020-01-01"), "wage": Number(0, 10)})
    assert np.isnan(book.read("born", rows["born"])).tolist() == [True, True, False]
    assert np.isnan(book.read("wage", rows["wage"])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///{}/people.db", "what follows # is the table"),
        ("sqlite://#people", "what follows # is the table"),
        ("sqlite:///{}/nowhere.db#people", "could not be read"),
        ("sqlite:///{}/people.db#nobody", "no table 'nobody'"),
        ("postgresql://nobody@/none?host=/nowhere#people", "could not be read"),
        ("postgresql://host:port#people", "must look like"),
    ],
)
def test_what_is_no_table_is_one_sentence(url, said, sqlite, tmp_path):
    with pytest.raises(InputError, match=said):
        Codebook.draft(url.format(tmp_path))
    assert not (tmp_path / "nowhere.db").exists()
