"""The same study on clusters: the same bits, and at most so many rows of a person."""

from __future__ import annotations

import numpy as np
import pytest

from .test_study import ASKED, people, seeded

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("clusters")]
ROWS = people(600)


def same(data, person):
    here, there = seeded(ROWS, person=person, rows_each=2), seeded(data, person=person, rows_each=2)
    for name in ("mean by", "table", "ols"):
        assert str(ASKED[name](here)) == str(ASKED[name](there))


@pytest.mark.parametrize("person", [None, "who"])
def test_dask(dask_client, person):
    import dask.dataframe as frames

    same(frames.from_pandas(ROWS, npartitions=2), person)


@pytest.mark.parametrize("person", [None, "who"])
def test_spark(spark, person):
    same(spark.createDataFrame(ROWS), person)


def test_dask_keeps_the_first_rows_of_every_person_wherever_they_are(dask_client):
    import dask.dataframe as frames

    scattered = ROWS.assign(who=np.arange(600) % 7)
    counted = seeded(frames.from_pandas(scattered, npartitions=3), epsilon=100.0, person="who", rows_each=3).table(
        "sex"
    )
    assert counted.value.sum() == pytest.approx(21, abs=6)
