"""What a row becomes is a function of that row alone: every container, every hostile value, the same bits."""

from __future__ import annotations

import datetime
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eptr
from eptr.rows.ingest import as_text, column_values, label, matrix, number, numbers
from eptr.rows.labels import Labels, sorted_labels

N = 60
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 2))
T = np.round(X @ [1.0, -0.5] + RNG.normal(size=N), 3)
CLASS = (T > 0).astype(int)
HOSTILE = {
    "None": None,
    "NaN": math.nan,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "empty": "",
    "n/a": "n/a",
    "seven": "7",
    "one": "1",
    "one and blanks": " 1.0 ",
    "question": "?",
    "bytes": b"?",
    "bytes one": b"1",
    "latin": "é".encode("latin-1"),
    "complex": 1 + 2j,
    "numpy complex": np.complex128(1 + 2j),
    "real complex": 1 + 0j,
    "list": [1],
    "dict": {"a": 1},
    "huge": 10**400,
    "endless": 10**5000,
    "minus zero": -0.0,
    "denormal": 5e-324,
    "large": 1e308,
    "long double": np.longdouble("1e4000"),
    "date": datetime.date(2020, 1, 1),
    "time": np.datetime64("2020-01-01"),
    "span": np.timedelta64(1, "D"),
    "truth": True,
    "numpy truth": np.True_,
    "decimal": Decimal("1"),
    "signal": Decimal("sNaN"),
    "fraction": Fraction(10**400, 3),
    "text truth": "True",
    "extra": 2,
    "word": "nan",
    "infinite": "inf",
    "object": object(),
    "float32": np.float32(1),
}
MERGED = {("categories", "span")}  # older pandas takes a span of one day and the number 1 for the same category
DASK_FAILS = ("latin", "endless", "signal")  # its own conversion to text raises, before any code of ours
# Quick ones: rows take the same way to all.
MODELS = {
    "classifier": eptr.rivals.NoisyStatistics(x_bound=3.0, classes=[0, 1], invalid="drop"),
    "regression": eptr.rivals.AdaSSP(x_bound=3.0, y_bound=4.0, invalid="drop"),
}


@pytest.mark.parametrize(
    ("value", "as_number", "as_label"),
    [
        (1, 1.0, 1), (1.0, 1.0, 1.0), ("1", 1.0, 1), ("1.0", 1.0, 1.0), (np.int64(1), 1.0, 1), (b"1", 1.0, 1),
        (True, 1.0, 1), ("True", 1.0, 1), (np.array(3), 3.0, 3), (2**53 + 1, 2.0**53, 2**53 + 1),
        (str(2**53 + 1), 2.0**53, 2**53 + 1), ("-1e3", -1000.0, -1000.0), (".5", 0.5, 0.5), ("yes", math.nan, "yes"),
        (" yes", math.nan, " yes"), ("1_000", math.nan, "1_000"), ("0x10", math.nan, "0x10"), ("", math.nan, None),
        ("NaN", math.nan, None), ("-inf", math.nan, None), (math.inf, math.inf, None), (None, math.nan, None),
        (10**400, math.inf, 10**400), ("(3+0j)", 3.0, 3.0), ([1], math.nan, None), (np.timedelta64(1, "ns"), math.nan, None),
        (Fraction(1, 2), 0.5, 0.5), (Decimal("0.5"), 0.5, 0.5), ("１", math.nan, "１"),  # noqa: RUF001
    ],
)  # fmt: skip
def test_one_cell(value, as_number, as_label):
    np.testing.assert_equal(number(value), as_number)
    assert label(value) == as_label
    assert type(label(value)) is type(as_label)


@pytest.mark.parametrize("name", HOSTILE)
def test_text_reads_as_the_cell_did(name):
    value = HOSTILE[name]
    text = as_text(value)
    if number(value) != math.inf:
        np.testing.assert_equal(number(text), number(value))
        assert label(text) == label(value)


@given(st.text(max_size=12) | st.floats().map(repr) | st.from_regex(r"[-+]?[0-9.eE_x ]{1,8}", fullmatch=True))
def test_arrow_reads_text_as_we_do(text):
    try:
        theirs = pa.array([text], pa.string()).cast(pa.float64())[0].as_py()
    except (pa.ArrowException, UnicodeEncodeError):
        return
    ours = number(text)
    assert ours == theirs or not (math.isfinite(ours) or math.isfinite(theirs))


@given(st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(list(HOSTILE.values()))))
def test_columns_are_cells_one_by_one(values):
    np.testing.assert_array_equal(numbers(values), [number(v) for v in values])
    labels = Labels(sorted_labels([0, 1, 7, 2**60, 0.5]))
    assert labels.codes(values).tolist() == [labels.code(v) for v in values]


def arrays(X, y):
    return {
        "list": (X.tolist(), list(y)),
        "tuple": (tuple(map(tuple, X.tolist())), tuple(y)),
        "objects": (X, objects(y)),
        "series of objects": (X, pd.Series(objects(y))),
        "series": (X, lambda: pd.Series(y)),
        "text": (X, lambda: pd.Series([None if v is pd.NA else as_text(v) for v in y], dtype="string")),
        "categories": (X, lambda: pd.Series(pd.Categorical(objects(y)))),
        "nullable": (X, lambda: pd.Series(pd.array([number(v) if as_text(v) else pd.NA for v in y], dtype="Float64"))),
        "polars": (X, lambda: pl.Series(list(map(as_text, y)))),
        "polars objects": (X, lambda: pl.Series(y, dtype=pl.Object)),
        "arrow": (X, lambda: pa.array(y)),
        "frame": (lambda: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "t": pd.Series(y)}), "t"),
        "text frame": (
            lambda: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "t": objects(map(as_text, y))}, dtype=str),
            "t",
        ),
        "polars frame": (lambda: pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "t": pl.Series(y, dtype=pl.Object)}), "t"),
        "arrow table": (lambda: pa.table({"a": X[:, 0], "b": X[:, 1], "t": pa.array(y)}), "t"),
        "text table": (lambda: pa.table({"a": X[:, 0], "b": X[:, 1], "t": list(map(as_text, y))}), "t"),
        "duckdb": (lambda: duck(pa.table({"a": X[:, 0], "b": X[:, 1], "t": list(map(as_text, y))})), "t"),
        "dask frame": (lambda: dask_frame(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "t": objects(y)})), "t"),
        "dask array": (lambda: dask_arrays(X, objects(y))),
    }


def objects(values):
    values = list(values)
    found = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        found[k] = value
    return found


def duck(table):
    import duckdb

    return duckdb.from_arrow(table)


def dask_frame(frame):
    import dask.dataframe as frames

    return frames.from_pandas(frame, npartitions=3)


def dask_arrays(X, y):
    import dask.array

    return dask.array.from_array(X, chunks=(17, 1)), dask.array.from_array(y, chunks=23)


CONTAINERS = list(arrays(X, CLASS))


def contained(name, X, y):
    """The rows in a container, or None if it cannot hold them."""
    made = arrays(X, y)[name]
    try:
        if callable(made):
            return made()
        return tuple(part() if callable(part) else part for part in made)
    except (TypeError, ValueError, ArithmeticError, pa.ArrowException, pl.exceptions.PolarsError, Warning):
        return None


def outputs(model, X, y):
    """Every fitted number, as bytes; a warning is an error."""
    import dask

    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eptr.NotPrivateWarning)
        warnings.simplefilter("ignore", eptr.SettingsWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="pandas|dask|polars")
        fitted = model.set_params(random_state=3).fit(X, y)
    return fitted.release_.value.tobytes()


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", MODELS)
def test_one_odd_target_changes_its_own_row_alone(kind, container):
    """As if the clean rows had come as arrays, with the odd one read by itself."""
    model, clean = MODELS[kind], CLASS if kind == "classifier" else T
    held = 0
    for name, value in HOSTILE.items():
        y = [*clean[:7].tolist(), value, *clean[8:].tolist()]
        rows = contained(container, X, y)
        if rows is None or (container, name) in MERGED or (container == "dask frame" and name in DASK_FAILS):
            continue
        held += 1
        if kind == "classifier":
            wanted = np.array([Labels(np.array([0, 1])).code(v) for v in y])
        else:
            wanted = np.array([number(v) for v in y])
        assert outputs(model, *rows) == outputs(model, X, wanted), name
    assert held >= 8


@pytest.mark.parametrize(
    "container", ["list", "objects", "frame", "series frame", "dask frame", "dask array", "text table"]
)
def test_one_odd_cell_changes_its_own_row_alone(container):
    model = MODELS["regression"]
    for name, value in HOSTILE.items():
        if container == "dask frame" and name in DASK_FAILS:
            continue
        column = [*X[:7, 0].tolist(), value, *X[8:, 0].tolist()]
        frame = {"a": objects(column), "b": X[:, 1], "t": T}
        wanted = np.column_stack([[number(v) for v in column], X[:, 1]])
        if container == "list":
            rows = [[a, b] for a, b in zip(column, X[:, 1].tolist(), strict=True)], T
        elif container == "objects":
            rows = np.column_stack([objects(column), X[:, 1].astype(object)]), T
        elif container == "frame":
            rows = pd.DataFrame(frame), "t"
        elif container == "series frame":
            try:
                rows = pd.DataFrame(frame | {"a": pd.Series(column)}), "t"
            except (OverflowError, TypeError, ValueError):
                continue
        elif container == "dask frame":
            try:
                rows = dask_frame(pd.DataFrame(frame)), "t"
            except (OverflowError, TypeError, ValueError, pa.ArrowException):
                continue
        elif container == "dask array":
            rows = dask_arrays(np.column_stack([objects(column), X[:, 1].astype(object)]), T)
        else:
            rows = pa.table({"a": list(map(as_text, column)), "b": X[:, 1], "t": T}), "t"
        assert outputs(model, *rows) == outputs(model, wanted, T), name


def test_folders_declare_no_type(tmp_path):
    """label=0, label=1 and, because of one row, label=unknown."""
    wanted = {}
    for odd in (False, True):
        y = ["unknown" if odd and k == 7 else str(v) for k, v in enumerate(CLASS)]
        for level in set(y):
            rows = [k for k, v in enumerate(y) if v == level]
            folder = tmp_path / str(odd) / f"t={level}"
            folder.mkdir(parents=True)
            parquet.write_table(pa.table({"a": X[rows, 0], "b": X[rows, 1]}), folder / "part.parquet")
        wanted[odd] = outputs(MODELS["classifier"], X, np.array([int(v) if v != "unknown" else -1 for v in y]))
        assert outputs(MODELS["classifier"], tmp_path / str(odd), "t") == wanted[odd]
    assert wanted[False] != wanted[True]


def test_a_csv_column_that_became_text_because_of_one_mark(tmp_path):
    rows = [f"{a!r},{b!r},{t}" for (a, b), t in zip(X.tolist(), CLASS.tolist(), strict=True)]
    texts = {"clean": rows, "odd": [*rows[:7], rows[7][:-1] + "?", *rows[8:]]}
    found = {}
    for name, lines in texts.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,t", *lines]) + "\n")
        frame = pd.read_csv(tmp_path / f"{name}.csv", dtype={"a": float, "b": float})
        found[name] = outputs(MODELS["classifier"], frame, "t")
    assert found["clean"] == outputs(MODELS["classifier"], X, CLASS)
    assert found["odd"] == outputs(MODELS["classifier"], X, np.where(np.arange(N) == 7, -1, CLASS))


@pytest.mark.parametrize("rows", [[1, 2], "text", [[1, 2], [3]], [[1], None], [{"a": 1}], 3, {"a": [1]}])
def test_what_is_no_table_is_refused_in_either_mode(rows):
    assert matrix(rows) is None
    for invalid in ("raise", "drop"):
        with pytest.raises((ValueError, TypeError)):
            eptr.LinearRegression(x_bound=3.0, y_bound=4.0, invalid=invalid).fit(rows, [1.0, 2.0])


@pytest.mark.parametrize(
    "column",
    [
        np.array(["1970-01-02", "NaT"], "datetime64[ns]"), pa.array([[2**62], None], pa.list_(pa.timestamp("s"))),
        pa.array([2**62, None], pa.timestamp("s")), pl.Series([[2**62], None], dtype=pl.List(pl.Datetime("us"))),
        pl.Series([2**62, None], dtype=pl.Datetime("us")),
    ],
    ids=["numpy", "arrow lists", "arrow", "polars lists", "polars"],
)  # fmt: skip
def test_dates_are_no_numbers_even_where_no_date_of_python_holds_them(column):
    np.testing.assert_array_equal(numbers(column), [math.nan, math.nan])


def test_arrays_of_numbers_come_back_as_they_are_and_wider_ones_as_doubles():
    for kind in (float, np.int32, np.float16, bool):
        assert matrix(found := np.ones((3, 2), kind)) is found
    wide = matrix(np.full((3, 2), np.longdouble("0.1")))
    assert wide.dtype == np.float64
    assert np.all(wide == 0.1)


def test_rows_are_read_whatever_holds_each():
    np.testing.assert_array_equal(matrix([pa.array([1.0, 2.0]), pa.array([3.0, None])]), [[1.0, 2.0], [3.0, math.nan]])
    for rows in ([np.ones(2), np.ones(3)], [[1.0], (2.0,), np.array(3.0)], SimpleNamespace(columns=["a"]), range(2)):
        assert matrix(rows) is None
    with pytest.raises(TypeError):
        column_values(np.float64(1.0))


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.list_(pa.int64()), pa.struct([("a", pa.int64())])])
@pytest.mark.parametrize("invalid", ["raise", "drop"])
def test_declared_types_without_a_reading_are_refused_in_either_mode(kind, invalid):
    table = pa.table({"a": pa.nulls(N, kind), "t": T})
    with pytest.raises(eptr.InputError, match="column 1 of X holds"):
        eptr.LinearRegression(x_bound=3.0, y_bound=4.0, invalid=invalid).fit(table, "t")
    table = pa.table({"a": T, "t": pa.nulls(N, kind)})
    with pytest.raises(eptr.InputError, match="not labels"):
        eptr.BayesClassifier(x_bound=3.0, classes=[0, 1], invalid=invalid).fit(table, "t")


def test_names_of_columns_are_counted_not_quoted():
    frame = pd.DataFrame([[39, " State-gov", 77516.0]], columns=["39", " State-gov", " 77516"])
    for table in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(eptr.InputError, match="y='income' is not among the 3 columns of X") as caught:
            eptr.LinearRegression(x_bound=3.0, y_bound=4.0).fit(table, "income")
        assert "State" not in str(caught.value)


class Loud(str):
    """Text whose every method of its own would tell."""

    def strip(self, *arguments):
        raise RuntimeError("private")

    def __str__(self):
        raise RuntimeError("private")


class LoudNumber(float):
    def __float__(self):
        raise SystemExit("private")


class LoudComplex(complex):
    def __complex__(self):
        warnings.warn("private")
        return 1j


class Unaskable:
    @property
    def __class__(self):
        raise RuntimeError("private")


class LoudDouble(np.float64):
    def __float__(self):
        raise SystemExit("private")


SEVENS = [Loud("7"), LoudNumber(7.0), LoudComplex(7), LoudDouble(7.0), type("Seven", (int,), {})(7)]


@pytest.mark.parametrize("value", SEVENS)
def test_a_value_has_no_say_in_how_it_is_read(value):
    assert number(value) == 7.0
    assert label(value) == 7


def test_objects_are_nothing_and_are_asked_nothing():
    assert label(Unaskable()) is None
    assert label("\ud800") is None
    assert as_text("\ud800") is None


def masked(values, place=3):
    hidden = np.zeros(np.shape(values), dtype=bool)
    hidden[place] = True
    return np.ma.array(values, mask=hidden)


def test_what_a_mask_hides_is_missing_whatever_the_others_are():
    gaps = np.where(np.arange(N) == 3, np.nan, T)
    odd = T.astype(object)
    odd[9] = "?"
    both = np.where(np.arange(N) == 9, np.nan, gaps)
    assert outputs(MODELS["regression"], X, masked(T)) == outputs(MODELS["regression"], X, gaps)
    assert outputs(MODELS["regression"], X, masked(odd)) == outputs(MODELS["regression"], X, both)
    labels = np.where(np.arange(N) == 3, -1, CLASS)
    assert outputs(MODELS["classifier"], X, masked(CLASS)) == outputs(MODELS["classifier"], X, labels)
    holes = X.copy()
    holes[3, 0] = np.nan
    for rows in (masked(X, (3, 0)), list(masked(X, (3, 0)))):
        assert outputs(MODELS["regression"], rows, T) == outputs(MODELS["regression"], holes, T)


@pytest.mark.parametrize("odd", ["?", 10**400, 1j, [1], None, b"\xff"])
@pytest.mark.parametrize("container", ["deque", "user list", "matrix", "scaled"])
def test_other_sequences_are_tables_too(container, odd):
    from collections import UserList, deque

    cells = X.astype(object)
    cells[7, 0] = odd
    wanted = X.copy()
    wanted[7, 0] = np.nan
    if container == "matrix":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            rows = np.matrix(cells) if not isinstance(odd, list) else cells
    elif container == "scaled":
        rows = eptr.PublicScaler().fit_transform(cells)
    else:
        rows = (deque if container == "deque" else UserList)(cells.tolist())
    assert outputs(MODELS["regression"], rows, T) == outputs(MODELS["regression"], wanted, T)


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_a_target_of_one_column_is_read_value_by_value():
    y = objects(T)
    y[7] = 1j
    gap = np.where(np.arange(N) == 7, np.nan, T)
    for column, wanted in ((y[:, None], gap), (pd.DataFrame({"t": y}), gap), (T.astype(complex)[:, None], T)):
        with pytest.warns(match="column-vector"):
            found = MODELS["regression"].set_params(random_state=3).fit(X, column)
        assert found.release_.value.tobytes() == outputs(MODELS["regression"], X, wanted)


def test_text_that_is_no_text_is_nothing():
    """Bytes that are no UTF-8, in an Arrow column that says it holds text."""
    raw = [str(v).encode() for v in CLASS]
    raw[7] = b"ssn 123-45 \xff"
    text = pa.Array.from_buffers(pa.string(), N, pa.array(raw, pa.binary()).buffers())
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "t": text})
    wanted = np.where(np.arange(N) == 7, -1, CLASS)
    assert outputs(MODELS["classifier"], table, "t") == outputs(MODELS["classifier"], X, wanted)
    numbers_too = np.where(np.arange(N) == 7, np.nan, CLASS)
    assert outputs(MODELS["regression"], table, "t") == outputs(MODELS["regression"], X, numbers_too)


def test_dates_beyond_python_are_nothing():
    days = pa.array([5] * (N - 1) + [2**31 - 1], pa.int32()).view(pa.date32())
    for column in (days, pd.Series(days, dtype=pd.ArrowDtype(pa.date32())), pl.Series([None] * N, dtype=pl.Date)):
        assert np.isnan(numbers(column)).all()


def test_an_error_of_the_engine_quotes_nothing():
    import duckdb

    frame = pd.DataFrame({"a": X[:, 0], "t": ["private name", *map(str, T[1:])]})  # noqa: F841
    rows = duckdb.sql("select a, cast(t as double) as t from frame")
    with pytest.raises(eptr.EptrError) as caught:
        eptr.LinearRegression(x_bound=3.0, y_bound=4.0).fit(rows, "t")
    shown = [caught.value, caught.value.__context__, caught.value.__cause__]
    assert "private name" not in "".join(map(repr, shown))


def test_an_engine_and_the_estimator_must_agree_about_odd_rows():
    from eptr.rows.memory import MemoryRows

    with pytest.raises(eptr.InputError, match="drop_invalid"):
        eptr.LinearRegression(x_bound=3.0, y_bound=4.0, invalid="drop").fit(MemoryRows(X, T), None)


def test_scores_quote_nothing():
    model = eptr.LinearRegression(x_bound=3.0, y_bound=4.0).fit(X, T)
    with pytest.raises(ValueError, match="NaN") as caught:
        model.score(X, ["private name", *T[1:]])
    assert "private" not in str(caught.value) + str(caught.value.__context__)


def test_zero_has_one_sign_whatever_is_read():
    assert not np.signbit(number("-0.0"))
    assert not np.signbit(number(-0.0))
    for column in ([-0.0, 1.0], ["-0.0", "x"], ["-0", "1"]):
        assert not np.signbit(numbers(column)[0])
