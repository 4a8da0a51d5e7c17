"""The command line on Parquet folders, and on Dask and Spark: one model file, whoever read the rows."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ..rows.clusters import require_java

pytestmark = pytest.mark.xdist_group("clusters")

BOUNDS = """
ignore = ["id"]
[columns.age]
min = 18
max = 90
[columns.region]
levels = ["north", "south", "west"]
[target]
min = 0
max = 100
"""


@pytest.fixture
def files(tmp_path):
    rows = [(i, 20 + i % 60, ["north", "south", "west"][i % 3], float(30 + i % 40)) for i in range(600)]
    (tmp_path / "people.csv").write_text(
        "id,age,region,score\n" + "\n".join(",".join(str(v) for v in row) for row in rows) + "\n"
    )
    (tmp_path / "people").mkdir()
    table = pa.Table.from_pylist([dict(zip(("id", "age", "region", "score"), row, strict=True)) for row in rows])
    for k, (start, size) in enumerate([(0, 200), (200, 0), (200, 400)]):
        parquet.write_table(table.slice(start, size), tmp_path / "people" / f"part-{k}.parquet", row_group_size=70)
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    (tmp_path / "labels.toml").write_text(
        BOUNDS.replace('ignore = ["id"]', 'ignore = ["id", "score"]')
        .replace('[columns.region]\nlevels = ["north", "south", "west"]\n', "")
        .replace("min = 0\nmax = 100", 'levels = ["west", "north", "south"]')
    )
    return tmp_path


MODELS = {
    "ols": ("--target", "score", "--bounds", "bounds.toml"),
    "bayes": ("--target", "region", "--bounds", "labels.toml"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_engine_writes_the_same_model(eptr, process, files, kind, dask_client):
    """Clusters of the command's own, each in its process, and one that is running already."""
    require_java()
    words = (*MODELS[kind], "--model", kind, "--seed", "3")
    sources = {"csv": ("people.csv",), "folder": ("people",)}
    if kind == "ols":
        sources["dask"] = "people", "--engine", "dask"
        sources["spark"] = "people", "--engine", "spark", "--scheduler", "local[2]"
    else:
        sources["dask"] = "people", "--engine", "dask", "--scheduler", dask_client.scheduler.address
    found = {}
    for name, source in sources.items():
        run = process if kind == "ols" and "--engine" in source else eptr
        code, _, error = run("fit", *source, *words, "--out", f"{name}.json")
        assert code == 0, error
        found[name] = json.loads((files / f"{name}.json").read_text())
    for name in sources:
        assert found[name] == found["csv"], name
    by_csv, by_folder = (eptr("predict", "csv.json", data)[1].splitlines() for data in ("people.csv", "people"))
    assert by_csv == by_folder
    assert len(by_csv) == 601


def test_errors_are_sentences_and_nothing_is_charged(eptr, files, dask_client):
    for name, change in (("mixed", {"age": [40.5]}), ("gaps", {"region": [None]})):
        (files / name).mkdir()
        good = {"id": [1], "age": [40], "region": ["north"], "score": [50.0]}
        parquet.write_table(pa.table(good), files / name / "a.parquet")
        schema = None if name == "mixed" else pa.table(good).schema
        parquet.write_table(pa.table({**good, **change}, schema=schema), files / name / "b.parquet")
    assert eptr("ledger", "create", "study", "--epsilon", "1", "--delta", "1e-6", "--checks", "9")[0] == 0
    account = "sqlite:///eptr-budget.db#study"
    for words, message in [
        (("people", "--engine", "hadoop"), "engine must be one of"),
        (("people", "--scheduler", "tcp://127.0.0.1:1"), "address of a cluster"),
        (("people.csv", "--engine", "dask"), "a cluster reads Parquet"),
        (("mixed",), "do not agree"),
        (("gaps",), "column 'region' of gaps has a level that is not declared"),
        (
            ("gaps", "--engine", "dask", "--scheduler", dask_client.scheduler.address),
            "column 'region' of gaps has a level that is not declared",
        ),
    ]:
        code, _, error = eptr("fit", *words, *MODELS["ols"], "--ledger", account)
        assert code == 2, words
        assert message in error
    kinds = [entry["kind"] for entry in json.loads(eptr("ledger", "export", "study")[1])]
    assert kinds == ["create", "check", "check"]  # a level that is not declared is an answer about the rows
