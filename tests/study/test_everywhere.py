"""The same study on clusters: the same bits, and at most so many rows of a person."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import eptr
from eptr.codebook import Number

from .survey import ASKED, people, seeded

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("clusters")]
ROWS = people(600)


ANALYSES = {None: ["mean by"], "who": ["mean by", "table", "ols"]}  # rows of a codebook alone are as anybody's


def same(data, person):
    # So much budget that a fit adds up the rows of persons, where it knows them.
    here, there = (seeded(rows, person=person, rows_each=2, epsilon=400.0) for rows in (ROWS, data))
    for name in ANALYSES[person]:
        assert str(ASKED[name](here)) == str(ASKED[name](there))


@pytest.mark.parametrize("person", ANALYSES)
def test_dask(dask_client, person):
    import dask.dataframe as frames

    same(frames.from_pandas(ROWS, npartitions=2), person)


@pytest.mark.parametrize("person", ANALYSES)
def test_spark(spark, person, tmp_path):
    ROWS.to_parquet(tmp_path / "rows.parquet")  # PySpark does not know every pandas
    same(spark.read.parquet(str(tmp_path / "rows.parquet")), person)


def test_dask_keeps_the_first_rows_of_every_person_wherever_they_are(dask_client):
    import dask.dataframe as frames

    scattered = ROWS.assign(who=np.arange(600) % 7)
    counted = seeded(frames.from_pandas(scattered, npartitions=3), epsilon=100.0, person="who", rows_each=3).table(
        "sex"
    )
    assert counted.value.sum() == pytest.approx(21, abs=6)


# One person in six spellings, nobody in two, and somebody else.
SPELT = pd.DataFrame({"who": ["7", "7.0", "007", "+7", "7e0", "70e-1", "", "nan", "8"] * 7, "age": np.arange(63.0)})


def test_dask_reads_identifiers_as_memory_does(dask_client):
    import dask.dataframe as frames

    for data in (SPELT, frames.from_pandas(SPELT, npartitions=5)):
        assert count_of(data) == 2.0


def test_spark_reads_identifiers_as_memory_does(spark):
    assert (
        count_of(spark.createDataFrame(list(SPELT.itertuples(index=False, name=None)), ["who", "age"]).repartition(5))
        == 2.0
    )


def count_of(data):
    """Rows that count, where one of each person does."""
    study = seeded(data, eptr.Codebook({"age": Number(0, 100)}), epsilon=1e6, person="who")
    return round(float(study.histogram("age", 1).value[0]), 2)
