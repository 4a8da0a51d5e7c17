"""Rows of persons stay together, however a table is cut into pieces."""

from __future__ import annotations

import numpy as np
import polars
import pyarrow as pa
import pytest

from eptr.codebook import Category, Codebook, Number
from eptr.errors import InputError
from eptr.study.expression import parse
from eptr.study.layout import KEPT, Frame, Layout, Pieces, open_data
from eptr.study.people import _places, bounded
from eptr.study.terms import Column, columns_of, levels_of

BOOK = Codebook({"age": Number(0, 100)})
WHO = [3, 1, None, 3, 3, 2, 1, 3, 2, None, 4]
LAYOUT = Layout(BOOK, columns_of([parse("age", BOOK)]))
GROUPS = [[0.0, 3.0], [1.0, 6.0], [5.0, 8.0], [10.0, np.nan]]  # the first two rows of 3, 1, 2 and 4


class Cut:
    """A table whose rows, in the order of persons, come in batches of some length."""

    columns = ("age", KEPT)

    def __init__(self, length, who=WHO):
        order, places = _places(who, 2, 2)
        table = pa.table({"age": order.astype(float), KEPT: places})
        self.batches = table.to_batches(max_chunksize=length)

    def count(self):
        return sum(batch.num_rows for batch in self.batches)

    def reduce(self, task, add, columns):
        return task(batch.select(columns) for batch in self.batches)


def seen(rows):
    found = []
    rows.sum(lambda x, y, keep: found.append(np.where(keep[:, None], x, np.nan)) or ())
    found = np.concatenate(found).reshape(-1, 2)
    return found[np.lexsort(np.nan_to_num(found, nan=np.inf).T[::-1])]  # threads may be done in any order


@pytest.mark.parametrize("length", [1, 2, 3, 4, 11])
def test_no_piece_cuts_a_person_in_two(length):
    rows = Pieces(Cut(length), each=2).rows(LAYOUT)
    assert (rows.n, rows.each) == (11, 2)
    whole = seen(rows)
    assert np.isnan(whole).all(axis=1).sum() == len(whole) - 4
    assert whole[~np.isnan(whole).all(axis=1)] == pytest.approx(np.array(GROUPS), nan_ok=True)


def test_memory_has_the_same_groups():
    rows = bounded(Frame({"age": np.arange(11.0), "who": WHO}), "who", 2).rows(LAYOUT)
    assert (rows.n, rows.each) == (11, 2)
    assert seen(rows) == pytest.approx(np.array(GROUPS), nan_ok=True)


def test_a_table_of_nobody_is_one_empty_group():
    for rows in (
        Pieces(Cut(3, [None] * 11), each=2).rows(LAYOUT),
        bounded(Frame({"age": np.arange(11.0), "who": [None] * 11}), "who", 2).rows(LAYOUT),
    ):
        assert np.isnan(seen(rows)).all()
        assert rows.n == 11


def test_many_rows_of_a_person_are_not_filled_up():
    """Rows for which there is room and that are not there would be read in every pass."""
    many = bounded(Frame({"age": np.arange(11.0), "who": WHO}), "who", 1000).rows(LAYOUT)
    assert (many.n, many.each) == (11, 1)
    assert np.sort(np.concatenate(seen_in(many))[:, 0]).tolist() == [0, 1, 3, 4, 5, 6, 7, 8, 10]


def seen_in(rows):
    found = []
    rows.sum(lambda x, y, keep: found.append(x[keep]) or ())
    return found


@pytest.mark.parametrize("kind", [polars.Categorical, polars.Enum(["b", "a"])])
def test_levels_of_polars_are_texts(kind):
    frame = polars.DataFrame({"sex": ["a", "b", None]}).with_columns(polars.col("sex").cast(kind))
    book = Codebook({"sex": Category(["a", "b"])})
    layout = Layout(book, (Column("b", ((levels_of("sex", book), 1),)),))
    np.testing.assert_array_equal(open_data(frame).encoded(layout)[:, 0], [0.0, 1.0, np.nan])


def test_a_lazy_frame_is_collected_by_whoever_wrote_it():
    """Errors of a query quote values."""
    query = polars.LazyFrame({"sex": ["secret"]}).with_columns(polars.col("sex").cast(polars.Int64))
    with pytest.raises(InputError, match=r"frame\.collect\(\)"):
        open_data(query)
