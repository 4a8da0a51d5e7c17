"""Statements: what a release keeps and tells, what nobody claims, and what a study tells of its releases together."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import eptr
from eptr import stats
from eptr.catalogue import EVERY
from eptr.privacy.claim import Record
from eptr.privacy.facts import best_bet
from eptr.privacy.voices import VOICES
from eptr.statement import StudyFacts, combined, statement, within

from .privacy.test_voices import FACTS

ROOT = Path(__file__).parent.parent


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
