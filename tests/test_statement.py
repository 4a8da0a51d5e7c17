"""Statements: every fact is told in every voice or named as left out, and the numbers are those of the theory."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import eptr
from eptr import stats
from eptr.catalogue import EVERY
from eptr.privacy.claim import Record
from eptr.privacy.facts import Facts, best_bet
from eptr.privacy.voices import UNTOLD, VOICES, tell
from eptr.statement import StudyFacts, combined, statement, within

ROOT = Path(__file__).parent.parent
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


# Randomised response at epsilon tells the truth with probability e^eps/(1 + e^eps); N(0, 1) against N(mu, 1) is told apart
# at mu/2; what is published in clear with probability delta wins the bet that much oftener.
@pytest.mark.parametrize(
    ("claim", "chance"),
    [
        ((math.log(3.0), 0.0), 0.75),
        ((math.log(3.0), 0.1), 0.775),
        ((800.0, 0.0), 1.0),
        ((50.0, 0.5, 1.0), 0.6914624612740131),  # Phi(.5)
        ((50.0, 0.5, 1.0, 0.01), 0.6964624612740131),
        ((0.1, 0.0, 5.0), 0.52497918747894),  # the pure claim is the better one
    ],
)
def test_the_best_bet(claim, chance):
    assert best_bet(*claim) == pytest.approx(chance, rel=1e-11)
    assert best_bet(*claim) >= chance * (1 - 1e-15)


def test_the_bet_is_no_better_than_an_attack_allows():
    """A threshold test between neighbouring sums, with the noise of a release, wins as often as is said, and not oftener."""
    mu, draws = eptr.gaussian_mu(2.0, 1e-3), np.random.default_rng(0).normal(size=200_000)
    won = (np.mean(draws < mu / 2) + np.mean(draws + mu > mu / 2)) / 2
    assert won == pytest.approx(best_bet(2.0, 1e-3, mu), abs=0.005)


def rows(n=400):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 2))
    return X, X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=n)


def linear(**settings):
    return eptr.LinearRegression(1.0, 1e-3, x_range=(-1, 1), y_range=(-2, 2), **settings).fit(*rows())


def test_a_release_keeps_what_was_drawn_fixed_bought_and_paid(tmp_path):
    ledger = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("study", epsilon=4.0, delta=1e-2)
    X, y = rows()
    model = eptr.LinearRegression(1.0, 1e-3, x_bound=2.0, y_bound="private", ledger=ledger.account("study")).fit(X, y)
    record, facts = model.release_.record, model.facts()
    assert sum(d.spent**2 for d in record.draws) == pytest.approx(model.release_.cost.mu**2, rel=1e-10)
    assert dict(record.settings)["x_bound"] == "2.0"
    assert float(dict(record.bought)["y_bound"]) == model.fitted_.y_bound
    assert record.rows == 400
    assert record.receipt.entry == ledger.head("study") == facts.ledger
    assert facts.total == (4.0, 1e-2)
    assert facts.share == pytest.approx((eptr.gaussian_mu(1.0, 1e-3) / eptr.gaussian_mu(4.0, 1e-2)) ** 2)
    left = ledger.remaining("study")
    assert facts.remaining == (left.epsilon, left.delta, left.mu)


def test_it_survives_json_and_pickle():
    model = linear()
    for again in (eptr.from_json(model.to_json()), pickle.loads(pickle.dumps(model))):
        assert again.release_.record == model.release_.record
        assert all(again.statement(voice) == model.statement(voice) for voice in VOICES)


def test_a_model_without_a_record_still_has_a_statement():
    import json

    content = json.loads(linear().to_json())
    del content["release"]["record"]
    again = eptr.from_json(json.dumps(content))
    assert again.release_.record == Record()
    assert "(1, 0.001)-differential privacy" in again.statement()


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
@pytest.mark.parametrize("entrant", EVERY, ids=lambda e: e.name)
def test_every_estimator_names_a_proof_that_exists(entrant):
    model = entrant.example(2.0, 2.0, [0, 1], epsilon=1.0, delta=1e-3)
    home = type(model.strategies.get(entrant.variant, model)).__module__
    assert (ROOT / Record.of("", "", home, {}, {}).proven_in).is_file()


def test_every_result_has_a_statement():
    x = rows()[0]
    found = [stats.mean(x, (-1, 1), epsilon=1.0, delta=1e-3), stats.median(x[:, 0], (-1, 1), epsilon=1.0)]
    found += [stats.table(np.repeat([0, 1], 200), levels=[0, 1], epsilon=1.0, delta=1e-3)]
    found += [stats.histogram(x[:, 0], [-1, 0, 1], epsilon=1.0, delta=1e-3)]
    found += [eptr.release(eptr.Proposal([1.0], 0.1, 500), 1.0, 1e-3)]
    for result in found:
        assert "differential privacy" in result.statement()
        assert "bet" in result.statement("people")
        assert (ROOT / result.facts().proven_in).is_file()
        assert result.facts().parts


@pytest.mark.parametrize("voice", VOICES)
def test_a_promise_about_rows_left_out_says_nothing_of_rows_in_their_place(voice):
    """Replacing costs two zero-outs: the bet on another row in its place is not covered at this epsilon."""
    assert "in its place" not in tell(replace(FACTS, relation="zero-out"), voice)


@pytest.mark.parametrize("voice", ["methods", "ethics"])
def test_labels_that_were_taken_from_the_rows_are_said_to_be_unprotected(voice):
    found = replace(FACTS, settings=(("classes", '"public"'),))
    assert "which labels occur" in tell(found, voice)
    assert "which labels occur" not in tell(replace(FACTS, settings=(("classes", '["a", "b"]'),)), voice)


STUDY = StudyFacts(
    name="wages",
    epsilon=3.0,
    delta=1e-5,
    remaining=(0.0, 0.0, 0.1),
    codebook="age: 0 to 110",
    unit="person",
    gaussian=True,
)


def test_a_study_that_may_admit_other_kinds_promises_its_total_alone():
    whole = combined([FACTS], replace(STUDY, gaussian=False))
    assert whole.mu is None
    assert whole.bet == best_bet(3.0, 1e-5)
    assert combined([FACTS], STUDY).bet == best_bet(3.0, 1e-5, eptr.gaussian_mu(3.0, 1e-5)) < whole.bet


def test_a_study_tells_its_releases_together():
    two = [replace(FACTS, failure=0.0), replace(FACTS, failure=0.0, what="median", settings=(("bounds", "[0, 9]"),))]
    text = statement(two, STUDY)
    whole = combined(two, STUDY)
    assert whole.mu == eptr.gaussian_mu(3.0, 1e-5)
    assert whole.share == pytest.approx(2 * (0.2 / whole.mu) ** 2)
    for words in (
        "wages: mean, median",
        "(3, 1e-05)",
        "age: 0 to 110",
        "bounds of 2 = [0, 9]",
        "2. median at (1, 1e-06)",
    ):
        assert words in text
    assert within(two[0], STUDY).share == pytest.approx((0.2 / whole.mu) ** 2)


def test_the_weakest_claim_speaks_for_the_study():
    whole = combined([FACTS, replace(FACTS, basis="not verified", theorem="nobody looked.")], STUDY)
    assert (whole.basis, whole.theorem) == ("not verified", "nobody looked.")
    assert not combined([FACTS, replace(FACTS, private=False)], STUDY).private


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "without a release"),
        ([FACTS, replace(FACTS, relation="zero-out")], "same change"),
        ([1], "int has no facts"),
    ],
)
def test_what_is_no_study(results, message):
    with pytest.raises(eptr.InputError, match=message):
        combined(results, STUDY)
