"""Files, tables and streams: what they must not be, what is charged when they fail, and that memory stays bounded."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.dataset as datasets
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import eptr
from eptr.rows.arrow import open_arrow
from eptr.rows.labels import Labels, sorted_labels
from eptr.rows.sources import open_path
from eptr.rows.table import Columns, TableRows, _different, number_column, plain_column

from .clusters import seeded

N = 1000


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    return pa.table({"a": a, "b": b, "t": a - b + rng.normal(size=n)})


@pytest.fixture
def ledger(tmp_path):
    found = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    found.create("study", epsilon=2.0, delta=1e-5, checks=100)
    return found.account("study")


def model(ledger=None, **settings):
    return eptr.LinearRegression(x_bound=3.0, y_bound=4.0, ledger=ledger, **settings)


def with_column(rows, name, values):
    return rows.set_column(rows.schema.get_field_index(name), name, values)


def folder(path, *tables):
    path.mkdir()
    for k, rows in enumerate(tables):
        parquet.write_table(rows, path / f"part-{k}.parquet")
    return path


def bad_sources(tmp_path):
    """Everything that can be wrong with a table, and a word of the sentence that says so."""
    rows = table()
    holes = pa.array([None if i == 7 else 1.0 for i in range(N)])
    files = {
        "missing column": (folder(tmp_path / "1", rows, table(1).drop_columns("b")), "not all have the same names"),
        "type change": (
            folder(tmp_path / "2", rows, with_column(rows, "b", rows["b"].cast("float32"))),
            "do not agree",
        ),
        "text in one file": (folder(tmp_path / "3", rows, with_column(rows, "b", pa.array(["x"] * N))), "do not agree"),
        "no file": (folder(tmp_path / "4"), "without Parquet"),
        "no rows": (folder(tmp_path / "5", rows.slice(0, 0)), "no rows"),
        "nulls": (folder(tmp_path / "6", with_column(rows, "b", holes)), "missing value"),
        "nulls in the target": (folder(tmp_path / "7", with_column(rows, "t", holes)), "y contains NaN"),
        "text": (with_column(rows, "b", pa.array(["private name"] * N)), "text that is no number"),
        "dates": (with_column(rows, "b", pa.array([0] * N, pa.timestamp("s"))), "column 2 of X holds timestamp"),
        "lists": (with_column(rows, "b", pa.array([[1.0]] * N)), "column 2 of X holds list"),
        "no target": (rows.drop_columns("t"), "not among the 2 columns"),
        "only a target": (rows.select(["t"]), "at least one besides"),
        "the same name twice": (pa.table([rows["a"], rows["a"], rows["t"]], names=["a", "a", "t"]), "different names"),
        "no such file": (tmp_path / "nowhere.parquet", "does not exist"),
    }
    (tmp_path / "text.parquet").write_text("not parquet")
    (tmp_path / "empty.parquet").write_text("")
    return files | {
        "not Parquet": (tmp_path / "text.parquet", "not a Parquet"),
        "empty file": (tmp_path / "empty.parquet", "is empty"),
    }


@pytest.mark.parametrize("strategy", ["refined", "tight", "paper"])
def test_bad_tables_are_typed_errors_and_nothing_is_charged(strategy, tmp_path, ledger):
    for what, (source, message) in bad_sources(tmp_path).items():
        with pytest.raises(eptr.InputError, match=message) as caught:
            model(ledger, strategy=strategy).fit(source, "t")
        assert "private name" not in str(caught.value), what
    assert [e.kind for e in ledger.history()] == [
        "create",
        *["check"] * 3,
    ]  # nulls, twice, and text: answers about rows


def test_a_good_table_is_charged_once(tmp_path, ledger):
    model(ledger).fit(folder(tmp_path / "1", table(), table(1), table().slice(0, 0)), y="t")
    assert [e.kind for e in ledger.history()] == ["create", "charge"]


def test_an_exhausted_budget_is_refused_before_the_first_pass(tmp_path, ledger):
    class Watched(TableRows):
        passes = 0

        def sum(self, fn):
            Watched.passes += 1
            return super().sum(fn)

    rows = Watched(open_arrow(table()), Columns(["a", "b"], "t"))
    with pytest.raises(eptr.BudgetError):
        model(ledger, epsilon=5.0).fit(rows, None)
    assert Watched.passes == 0
    model(ledger, epsilon=0.5).fit(rows, None)
    assert Watched.passes > 1


def test_a_stream_that_ends_after_one_pass_is_noticed():
    class Once:
        def __init__(self):
            self.stream = table().to_reader()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.stream.__arrow_c_stream__(requested_schema)

    with pytest.raises(eptr.InputError, match="only once"):
        model().fit(Once(), "t")


def test_columns_of_every_numeric_type_are_numbers():
    rows = table()
    whole = pa.array(np.arange(N) % 7)
    kinds = {
        "int8": whole.cast("int8"), "uint64": whole.cast("uint64"), "float32": rows["a"].cast("float32"),
        "bool": whole.cast("bool"), "decimal": whole.cast(pa.decimal128(21, 2)), "float16": whole.cast("float16"),
    }  # fmt: skip
    for name, column in kinds.items():
        found = eptr.LinearRegression(x_bound=9.0, y_bound=4.0, random_state=0)
        with seeded():
            found.fit(with_column(rows, "b", column), "t")
            values = np.array([float(v) for v in column.to_pylist()])
            other = found.__class__(x_bound=9.0, y_bound=4.0, random_state=0)
            other.fit(np.column_stack([rows["a"].to_numpy(), values]), rows["t"].to_numpy())
        np.testing.assert_array_equal(found.coef_, other.coef_, err_msg=name)


def test_one_column_of_a_batch():
    cells = {"bool": [True, None], "binary": [b"1", b"x"], "large": pa.array([2**53 + 1, None])}
    batch = pa.record_batch(cells)
    np.testing.assert_array_equal(number_column(batch, "bool"), [1.0, np.nan])
    np.testing.assert_array_equal(number_column(batch, "binary"), [1.0, np.nan])
    assert Labels(sorted_labels([0, 2**53 + 1])).codes(plain_column(batch, "large")).tolist() == [1, -1]
    with pytest.raises(eptr.InputError, match="lacks a column"):
        number_column(batch, "small")


def test_labels_are_collected_from_every_batch():
    batches = [pa.record_batch({"t": [k]}) for k in range(4)]
    assert _different("t", batches) == ({0, 1, 2, 3}, "")


def test_labels_of_every_kind():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=N)
    x = rng.normal(size=N) + codes
    kinds = {
        "int": pa.array(codes * 10), "text": pa.array([["no", "yes", "maybe"][k] for k in codes]),
        "dictionary": pa.array([["no", "yes", "maybe"][k] for k in codes]).dictionary_encode(),
        "bool": pa.array(codes > 0), "float": pa.array(codes.astype(float)),
    }  # fmt: skip
    for name, labels in kinds.items():
        found = eptr.BayesClassifier(x_bound=4.0, epsilon=50.0).fit(pa.table({"x": x, "t": labels}), "t")
        wanted = np.unique(np.array(labels.to_pylist()))
        np.testing.assert_array_equal(found.classes_, wanted, err_msg=name)
        assert set(found.predict(pa.table({"x": np.linspace(-3, 5, 9)}))) <= set(wanted.tolist())
    with pytest.raises(eptr.InputError, match="not labels"):
        eptr.BayesClassifier(x_bound=4.0).fit(pa.table({"x": np.arange(2e4), "t": np.arange(20_000)}), "t")
    with pytest.raises(ValueError, match="continuous"):
        eptr.BayesClassifier(x_bound=4.0).fit(pa.table({"x": x, "t": x}), "t")
    with pytest.raises(eptr.InputError, match="not in classes"):
        eptr.BayesClassifier(x_bound=4.0, classes=["no", "yes"]).fit(pa.table({"x": x, "t": kinds["text"]}), "t")
    missing = pa.array([None, *kinds["text"].to_pylist()[1:]])
    with pytest.raises(eptr.InputError, match="or none"):
        eptr.BayesClassifier(x_bound=4.0).fit(pa.table({"x": x, "t": missing}), "t")


def test_datasets_with_filters_partitions_and_other_formats(tmp_path):
    rows = table()
    whole = datasets.dataset(folder(tmp_path / "1", rows.slice(0, 600), rows.slice(600)))
    positive = model(random_state=0, epsilon=9.0)
    with seeded():
        positive.fit(whole.filter(datasets.field("a") > 0), "t")
        wanted = model(random_state=0, epsilon=9.0).fit(rows.filter(pa.compute.greater(rows["a"], 0.0)), "t")
    np.testing.assert_array_equal(positive.coef_, wanted.coef_)
    # A column that is only in the names of folders, as Spark and Hive write it.
    split = rows.append_column("year", pa.array(np.where(np.arange(N) < 300, 2020, 2021)))
    datasets.write_dataset(split, tmp_path / "2", format="parquet", partitioning=["year"], partitioning_flavor="hive")
    found = eptr.LinearRegression(x_bound=3000.0, y_bound=4.0).fit(tmp_path / "2", "t")
    assert sorted(found.feature_names_in_) == ["a", "b", "year"]
    feather.write_feather(rows, str(tmp_path / "rows.feather"))
    assert open_arrow(tmp_path / "rows.feather").count() == N


def test_predict_says_what_is_missing(tmp_path):
    fitted = model().fit(table(), "t")
    with pytest.raises(eptr.InputError, match="'b', a column that the model was fitted with"):
        fitted.predict(table().drop_columns("b"))
    with pytest.raises(eptr.InputError, match="missing values"):
        fitted.predict(with_column(table(), "b", pa.array([None] * N, "float64")))
    with pytest.raises(eptr.InputError, match="without column names"):
        model().fit(np.ones((50, 2)), np.ones(50)).predict(table())
    with pytest.raises(eptr.InputError, match="no rows"):
        fitted.predict(table().slice(0, 0))


def test_y_must_name_a_column_of_files_and_streams(tmp_path):
    parquet.write_table(table(), tmp_path / "rows.parquet")
    for source in (datasets.dataset(tmp_path), tmp_path / "rows.parquet"):
        with pytest.raises(eptr.InputError, match="name of the target column"):
            model().fit(source, np.ones(N))


@pytest.mark.parametrize("beside", [pa.array, lambda y: pa.chunked_array([y[:300], y[300:]]), list])
def test_a_table_in_memory_may_have_its_target_beside_it(beside):
    """The same bits as with the target in it; names and label sets, too."""
    rows = table()
    parts = pa.concat_tables([rows.slice(0, 100), rows.slice(100)]).drop_columns("t")
    ranges, y = {"b": (-4, 4), "a": (-4, 4)}, rows["t"].to_pylist()
    labels = ["yes" if t > 0 else "no" for t in y]
    classifier = eptr.LogisticRegression(x_range=ranges, classes=["no", "yes"], random_state=0)
    with seeded():
        fitted = [
            eptr.LinearRegression(x_range=ranges, y_range=(-5, 5), random_state=0).fit(X, t)
            for X, t in ((rows, "t"), (parts, beside(y)))
        ]
        found = classifier.fit(parts, beside(labels))
    assert fitted[1].feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(fitted[0].release_.value, fitted[1].release_.value)
    assert found.score(parts, np.array(labels)) > 0.6
    with pytest.raises(eptr.InputError, match="one value per row"):
        model().fit(parts, beside(y[1:]))


def test_engines_are_named():
    with pytest.raises(eptr.InputError, match="engine must be one of"), open_path("x", "hadoop"):
        pass
    with pytest.raises(eptr.InputError, match="address of a cluster"), open_path("x", scheduler="tcp://x:1"):
        pass


@pytest.mark.parametrize("kind", ["path", "table", "pandas"])
def test_score_takes_the_name_of_the_target(kind, tmp_path):
    rows = table()
    parquet.write_table(rows, tmp_path / "rows.parquet")
    source = {"path": tmp_path / "rows.parquet", "table": rows, "pandas": rows.to_pandas()}[kind]
    fitted = model(epsilon=50.0).fit(source, "t")
    wanted = fitted.score(rows.select(["a", "b"]).to_pandas(), rows["t"].to_numpy())
    assert fitted.score(source, "t") == pytest.approx(wanted)
    with pytest.raises(eptr.InputError, match="columns of X"):
        fitted.score(source, "nothing")


def test_odd_label_columns():
    large = pa.array([2**53, 2**53 + 1, None] * 50)
    found = eptr.BayesClassifier(x_bound=3.0, classes=[2**53, 2**53 + 1], invalid="drop", epsilon=1e3)
    found.fit(pa.table({"x": np.ones(150), "t": large}), "t")
    np.testing.assert_allclose(found.priors_, 0.5, atol=0.1)
    for labels in (pa.array([[1]] * 9), pa.array([0] * 9, pa.timestamp("s"))):
        with pytest.raises(eptr.InputError, match="not labels"):
            eptr.BayesClassifier(x_bound=3.0).fit(pa.table({"x": np.ones(9), "t": labels}), "t")
    with pytest.raises(eptr.InputError, match=r"at least two|no rows"):
        eptr.BayesClassifier(x_bound=3.0).fit(pa.table({"x": pa.array([], "float64"), "t": pa.array([], "int64")}), "t")
    numbers = with_column(table(), "b", pa.array([1.0, 2.0] * (N // 2)).dictionary_encode())
    assert model().fit(numbers, "t").released_


def test_the_sign_of_a_zero_in_text_does_not_depend_on_its_neighbours():
    for other in ("3", "True", "none"):
        batch = pa.record_batch({"x": pa.array([other, "-0", "-0.0"])})
        assert not np.signbit(number_column(batch, "x")[1:]).any()
