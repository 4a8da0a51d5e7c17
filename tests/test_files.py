"""Files: tables as they are written, odd cells that spoil their own row alone, models of files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from eptr import InputError
from eptr.bounds import FileColumns, PublicBounds
from eptr.estimators.catalogue import COMMANDS
from eptr.files import FileModel, open_data, read_csv

from .test_report import fitted, people


@pytest.mark.parametrize("kind", COMMANDS)
def test_models_round_trip_and_ignore_other_columns(kind, tmp_path):
    model = fitted(tmp_path, kind)
    table = read_csv(tmp_path / "people.csv")
    again = FileModel.from_json(model.to_json())
    np.testing.assert_array_equal(again.predict(table, "x"), model.predict(table, "x"))
    del table[model.target]
    table["extra"] = table["age"]
    np.testing.assert_array_equal(again.predict(table, "x"), model.predict(table, "x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "empty"), ("a,b\n", "empty"), ("a,a\n1,2\n", "same name"), ("a,b\n1\n", "more or fewer")],
)
def test_tables_that_make_no_sense(text, message, tmp_path):
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_csv(tmp_path / "d.csv")


def test_parquet_is_read_like_csv(tmp_path):
    age, income, score, _ = people(500)
    parquet.write_table(pa.table({"age": age, "income": income, "score": score}), tmp_path / "d.parquet")
    with open_data(tmp_path / "d.parquet") as table:
        assert table.columns == ["age", "income", "score"]
        assert table.count() == 500
    (tmp_path / "bad.parquet").write_text("not parquet")
    with pytest.raises(InputError, match="not a Parquet"), open_data(tmp_path / "bad.parquet"):
        pass


def csv_rows(tmp_path, *lines):
    (tmp_path / "rows.csv").write_bytes(b"a,t\n" + b"\n".join(lines) + b"\n")
    return read_csv(tmp_path / "rows.csv")


def test_one_odd_cell_of_a_csv_file_spoils_its_own_row_alone(tmp_path):
    layout = FileColumns(PublicBounds({"a": (0.0, 0.1)}, (0.0, 1.0), None), "t", "rows.csv", drop=True)
    for odd in (b"\xff", b"x" * 200_000, b"1e308", b"n/a", b""):
        x, y = layout.read(csv_rows(tmp_path, b"0.05,0.5", odd + b",0.5", b"0.1,1"))
        np.testing.assert_allclose(x[[0, 2], 0], [0.0, 1.0], atol=1e-12)
        np.testing.assert_array_equal(y, [0.0, 0.0, 1.0])
        assert np.isnan(x[1, 0]) or x[1, 0] > 1e100


def test_an_open_quotation_mark_swallows_no_rows(tmp_path):
    with pytest.raises(InputError, match="quotation mark") as caught:
        csv_rows(tmp_path, b"0.05,0.5", b'"private name,0.5', b"0.1,1")
    assert caught.value.__context__ is None
