"""Voices: every fact is told in every voice or named as left out."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import eptr
from eptr.privacy.facts import Facts
from eptr.privacy.voices import UNTOLD, VOICES, in_short, rows_counted, share_beyond, tell

ROOT = Path(__file__).parents[2]
FACTS = Facts(
    what="mean", how="Sums were released", epsilon=1.0, delta=1e-6, mu=0.2, failure=1e-7, bet=0.55, unit="person",
    enforced="five rows of each were kept", rows_each=5, rows=1000, total=(3.0, 1e-5), total_bet=0.8, share=0.25,
    remaining=(1.0, 2e-6, 0.4), composition="mu^2 add up", ledger="ab" * 32, settings=(("bounds", "[0, 1]"),),
    bought=(("y_bound", "3"),), outside=0.02, parts=(("gaussian", "Ball", 2.0, 0.2, 10.0),), proven_in="mean.md",
    level=0.95, widths=(1.0, 2.0), biases=("Skewed errors are clipped.",), date="2026-01-01", versions=(("eptr", "1"),),
)  # fmt: skip
# Another value of every field, on facts where it matters.
CITED = replace(FACTS, basis="cited", theorem="Theorem 1")
OTHER = {
    "what": "median", "how": "Nothing", "replied": False, "private": False, "epsilon": 2.0, "delta": 1e-5, "mu": 0.3,
    "failure": 2e-7, "bet": 0.6, "unit": "household", "relation": "zero-out", "rows_each": 4, "enforced": "", "rows": 999,
    "total": (4.0, 1e-5), "total_bet": 0.9, "share": 0.5, "remaining": (0.5, 1e-6, 0.2), "composition": "they add",
    "ledger": "cd" * 32,
    "settings": (("bounds", "[0, 2]"),), "bought": (), "outside": 0.1, "parts": (("gaussian", "Ball", 2.0, 0.2, 11.0),),
    "basis": "cited", "proven_in": "other.md", "level": 0.9, "widths": (1.0, 3.0), "biases": (), "date": "2026-01-02",
    "versions": (("eptr", "2"),),
}  # fmt: skip


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("name", [f.name for f in fields(Facts)])
def test_each_fact_is_told_in_each_voice_or_named_as_left_out(name, voice):
    before, after = FACTS, OTHER.get(name)
    if name == "theorem":
        before, after = CITED, "Theorem 2"
    if name == "fault":
        before, after = replace(FACTS, private=False), "it spends twice."
    changed = tell(before, voice) != tell(replace(before, **{name: after}), voice)
    assert changed == (name not in UNTOLD[voice])
    assert UNTOLD[voice].get(name, "told")


def test_the_page_about_statements_has_every_fact_and_says_who_hears_of_it():
    text = (ROOT / "docs" / "statement.md").read_text().partition("## What NIST")[0]
    lines = re.findall(r"^\| (`.*)$", text, flags=re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    told = {
        name: dict(zip(VOICES, cell[1:4], strict=True)) for cell in cells for name in re.findall(r"`(\w+)`", cell[0])
    }
    for name in (f.name for f in fields(Facts)):
        assert told[name] == {voice: "-" if name in UNTOLD[voice] else "yes" for voice in VOICES}


def test_a_voice_that_does_not_exist_is_named():
    with pytest.raises(eptr.InputError, match="voice must be one of methods, ethics, people"):
        tell(FACTS, "law")


def test_nothing_is_claimed_of_what_is_not_known():
    bare = Facts(what="mean", epsilon=1.0, delta=1e-6, bet=0.7)
    for voice in VOICES:
        assert "None" not in tell(bare, voice)
        assert "()" not in tell(bare, voice)


@pytest.mark.parametrize("voice", VOICES)
def test_a_promise_about_rows_left_out_says_nothing_of_rows_in_their_place(voice):
    """Replacing costs two zero-outs: the bet on another row in its place is not covered at this epsilon."""
    assert "in its place" not in tell(replace(FACTS, relation="zero-out"), voice)


@pytest.mark.parametrize("voice", ["methods", "ethics"])
def test_labels_that_were_taken_from_the_rows_are_said_to_be_unprotected(voice):
    found = replace(FACTS, settings=(("classes", '"public"'),))
    assert "which labels occur" in tell(found, voice)
    assert "which labels occur" not in tell(replace(FACTS, settings=(("classes", '["a", "b"]'),)), voice)


@pytest.mark.parametrize("voice", ["methods", "people"])
def test_a_share_that_noise_explains_is_not_told_as_a_fact(voice):
    """Of 150 rows, all of them within the bounds, "about 100.0%" were said to lie beyond."""
    loud = replace(FACTS, outside=1.0, rows=150, parts=(("gaussian", "Interval", 1.0, 0.01, 100.0),))
    assert "100.0%" not in tell(loud, voice)
    assert "40.0%" in tell(replace(loud, outside=0.4, rows=5000), voice)


def test_a_share_of_rows_is_told_with_its_interval_or_not_at_all():
    """Noise of 10 on what a person's five rows move by 5: 2 standard deviations are 20 of 1,000 rows."""
    known = replace(FACTS, parts=(("gaussian", "Interval", 5.0, 0.5, 10.0), ("gaussian", "Interval", 1.0, 1.0, 1.0)))
    assert known.share_noise == pytest.approx(0.01)
    assert share_beyond(known) == "0.04 to 4 % of them"
    assert share_beyond(replace(known, outside=1.0)) == "98 to 100 % of them"
    assert share_beyond(FACTS) == "about 2.0% of them"  # an old record has no parts
    assert share_beyond(replace(known, outside=0.5, rows=75)) == "a share that noise hides"


def test_rows_that_are_dropped_may_not_count():
    dropped = replace(FACTS, rows=8000, settings=(("invalid", '"drop"'),))
    assert rows_counted(replace(FACTS, rows=8000)) == "8,000 rows"
    assert rows_counted(dropped) == "8,000 rows in the data (public; rows with missing values count as nothing)"
    assert "and rows outside of the condition count" in rows_counted(replace(dropped, what="ols y ~ x where x > 1"))


def test_people_are_told_in_plain_words_what_was_asked():
    asked = {
        "ols income ~ age*sex + region": "how income goes with age, sex and region",
        "survey: logit smoker ~ log(wage) where age > 30": "survey: how smoker goes with wage, where age > 30",
        "smooth log(`net wage`) ~ s(age) + C(sex, Treatment('M'))": "how net wage goes with age and sex",
        "ols wage ~ .": "ols wage ~ .",
        "mean income by sex": "mean income by sex",
        "ols y ~ a, ols y ~ b": "ols y ~ a, ols y ~ b",
    }
    for what, told in asked.items():
        assert f"a result ({told}) was computed" in tell(replace(FACTS, what=what), "people")
        assert f"({what})" in tell(replace(FACTS, what=what), "methods")


def test_three_sentences_say_what_is_promised_to_whom_and_why_to_believe_it():
    what, whom, why = in_short(FACTS)
    assert "(1, 1e-06)-differentially private" in what
    assert "won with probability at most 55.0 %" in what
    assert whom in tell(FACTS, "methods")
    assert why == "The guarantee is proven in the library's repository."
