"""Each value is read by itself, whatever holds it."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from eptr.codebook import Date, Number
from eptr.errors import BoundError

from .test_book import BOOK


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


def test_a_private_range_is_a_bound_to_be_bought():
    with pytest.raises(BoundError, match="private"):
        BOOK.usable("wage").range  # noqa: B018


def test_ends_of_a_range_are_numbers_and_not_text():
    """They were kept as they came."""
    for ends in (("16", "95"), (16, "95")):
        with pytest.raises(BoundError, match="takes numbers, not text"):
            Number(*ends)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"])
@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_no_instant_is_too_far_for_its_zone(zone, unit):
    """The last instants have no local time: pandas raised, quoting them, in the place of an answer. Others stay as they are."""
    whole = {"ns": 10**9, "us": 10**6, "s": 1}[unit]
    ordinary = np.array([0, -1, 86_399, 951_782_400, 1_700_000_000], dtype=np.int64) * whole
    ends = np.array([2**63 - 1, -(2**63) + 1, -(2**63)], dtype=np.int64)  # the last is NaT
    days = Date("1900-01-01", "2100-01-01")
    column = pd.Series(np.append(ordinary, ends).view(f"M8[{unit}]")).dt.tz_localize("UTC").dt.tz_convert(zone)
    found = days.read(column, ())
    shown = [t.tz_localize(None) for t in column[:5]]
    assert found[:5].tolist() == [float((t.normalize() - pd.Timestamp(0)).days) for t in shown]
    assert found[5] > 100_000
    assert found[6] < -100_000
    assert np.isnan(found[7])
    np.testing.assert_array_equal(days.read(pd.DatetimeIndex(column), ()), found)


def test_numbers_have_one_zero():
    """Or one over it would be infinite to either side, as another row has it."""
    for column in (["-0", "1"], np.array([-0.0, 1.0]), pd.Series(["-0", "x"]), [-0.0, 1]):
        assert not np.signbit(Number(-1, 1).read(column, ())[0])
