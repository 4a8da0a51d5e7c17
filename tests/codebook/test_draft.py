"""Drafts hold names, and types that a schema declares; no value."""

from __future__ import annotations

import datetime
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eptr import Codebook, InputError
from eptr.codebook import Number


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
    assert (
        text.count("the smallest and the largest value you would believe without looking?") == 1
    )  # said once, at the top
    assert text.count("# high =") == 2
    filled = text.replace("# low =", "low = 0", 1).replace("# high =", "high = 110", 1)
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
    assert text.count("# high =") == 2
    assert 'kind = "flag"' in text
    with pytest.raises(InputError, match="a query"):
        Codebook.draft(tmp_path / "people.db")


def test_a_draft_of_parquet_knows_the_declared_types(tmp_path):
    table = pa.table({"n": [1], "x": [0.5], "f": [True], "t": ["secret"], "d": [datetime.date(2000, 1, 1)]})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        text = Codebook.draft(source).to_toml()
        assert text.count("# high =") == 3
        assert 'kind = "flag"' in text
        assert text.count("# levels = []") == 1
        assert "which values can it take" in text
        assert "secret" not in text


def test_a_frame_has_names_alone_because_its_types_come_from_values():
    polars = pytest.importorskip("polars")
    frames = [pd.DataFrame({"a": [1]}), pd.DataFrame({"a": ["x"]}), {"a": [1]}, polars.DataFrame({"a": ["x"]})]
    assert len({Codebook.draft(frame).to_toml() for frame in frames}) == 1


def test_an_index_without_a_name_is_left_out_and_other_separators_are_a_sentence(tmp_path):
    path = tmp_path / "people.csv"
    pd.DataFrame({"age": [41]}).to_csv(path)
    assert list(Codebook.draft(path, header=True)) == ["age"]
    for separator in (";", "\t"):
        pd.DataFrame({"age": [41], "sex": ["F"]}).to_csv(path, sep=separator, index=False)
        with pytest.raises(InputError, match="separated by commas"):
            Codebook.draft(path, header=True)
