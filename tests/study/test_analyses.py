"""Analyses are the statistics that one would call by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from eptr import Codebook, stats
from eptr.codebook import Flag, Number
from eptr.errors import InputError, NotPrivateWarning

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


def test_spreads_covariances_and_medians_are_those_of_statistics_called_by_hand():
    """Names that newcomers try; each costs its share, and the statement names it."""
    bounds = {"age": (0, 110), "wage": (1, 5000)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        for name in ("variance", "std"):
            study = seeded()
            found = getattr(study, name)("wage", by="sex")
            again = getattr(stats, name)(
                PEOPLE, {"wage": (1, 5000)}, by="sex", levels=["F", "M"], **by_hand(found, 1)
            )  # fmt: skip
            np.testing.assert_array_equal(found.value, again.value)
            assert f"{name} wage by sex" in study.spent[0]
        found = seeded().covariance(["age", "wage"])
        again = stats.covariance(PEOPLE[["age", "wage"]], bounds, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)
    assert found.release.private is False
    assert "covariance" in found.statement()
    median, same = seeded().median("age"), seeded().quantiles("age", [0.5])
    for number in ("value", "low", "high"):
        np.testing.assert_array_equal(getattr(median, number), getattr(same, number))
    with pytest.raises(InputError, match="covariance needs two columns"):
        seeded().covariance("age")


def test_levels_of_a_flag_have_the_words_that_the_codebook_declares():
    rng = np.random.default_rng(0)
    rows = {"smoker": rng.choice(["Yes", "No"], 2000, p=[0.2, 0.8]), "age": rng.uniform(0, 9, 2000)}
    study = seeded(rows, Codebook({"smoker": Flag("Yes", "No"), "age": Number(0, 9)}), epsilon=5.0)
    found = study.table("smoker")
    assert found.names == (("No", "Yes"),)
    assert found.value[1] < 600
    assert study.mean("age", by="smoker").names == (("No", "Yes"), ("age",))
    assert study.ols("age ~ C(smoker)").params.index[1] == "C(smoker)[T.Yes]"


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
