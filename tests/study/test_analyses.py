"""Analyses are the statistics that one would call by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from eptr import Codebook, stats
from eptr.codebook import Number
from eptr.errors import NotPrivateWarning

from .survey import PEOPLE, by_hand, seeded


def test_results_are_those_of_statistics_called_by_hand():
    numbers = PEOPLE[["age", "wage"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        found = seeded().mean(["age", "wage"])
        again = stats.mean(numbers, {"age": (0, 110), "wage": (1, 5000)}, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)
        found = seeded().mean("wage", by="sex")
        again = stats.mean(
            PEOPLE, {"wage": (1, 5000)}, by="sex", levels=["F", "M"], **by_hand(found, 1)
        )  # fmt: skip
        np.testing.assert_array_equal(found.value, again.value)
        found = seeded().table("sex", "member")
        frame = PEOPLE.assign(member=PEOPLE["member"].astype(int))
        again = stats.table(frame, levels={"sex": ["F", "M"], "member": [0, 1]}, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)
        found = seeded().correlation(["age", "wage"])
        again = stats.correlation(numbers, {"age": (0, 110), "wage": (1, 5000)}, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)


def test_small_shares_of_missing_values_and_of_values_beyond_the_range_are_told():
    """One in a hundred is what a codebook that is a little wrong looks like; a clip must not make it one in three thousand."""
    rng = np.random.default_rng(0)
    ages = rng.normal(50, 10, 20_000)
    ages[:200], ages[200:500] = np.nan, 1000.0
    found = seeded({"age": ages}, Codebook({"age": Number(0, 110)}), epsilon=1.0).describe("age")["age"]
    shares = found["share"]
    for k, share in enumerate((0.01, 0.015)):
        assert shares.low[k] <= share <= shares.high[k]
        assert shares.value[k] == pytest.approx(share, rel=0.5)


def test_a_description_counts_rows_that_have_no_level_and_pays_nothing_for_it():
    """Labels written otherwise than the codebook says vanished without a word."""
    odd = PEOPLE.assign(
        sex=PEOPLE["sex"].where(PEOPLE.index % 2 == 0, "m "), member=PEOPLE["member"].map({True: "yes"})
    )
    study = seeded(odd)
    found = study.describe(["sex", "member"], share=0.5).to_frame()["value"]
    assert abs(found["sex", "(no level)"] - len(PEOPLE) / 2) < 200
    assert abs(found["member", "(no level)"] - len(PEOPLE)) < 200
    assert abs(found["sex"].sum() - len(PEOPLE)) < 200
    assert sum(line.share for line in study.journal.lines()) <= 0.5
    assert seeded().describe(["sex"], share=0.5)["sex"]["count"].names == (("F", "M", "(no level)"),)
