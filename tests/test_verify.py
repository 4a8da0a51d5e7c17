"""Verification: what a fit wrote holds, and whoever changes a number is found out."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import eptr
from eptr import stats
from eptr.catalogue import EVERY
from eptr.codebook import Number
from eptr.page import page
from eptr.panel import panel
from eptr.statement import StudyFacts
from eptr.study.publication import Publication
from eptr.verify import verified

X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
Y = (X[:, 0] > 0).astype(int)


def failing(text, ledger=None):
    return [check.claim for check in verified(text, ledger) if not check.holds]


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
@pytest.mark.parametrize("entrant", [e for e in EVERY if e.estimator.__name__ != "TukeyEM"], ids=lambda e: e.name)
def test_what_every_estimator_writes_holds(entrant):
    model = entrant.example(2.0, 2.0, [0, 1], epsilon=1.0, delta=0.02).fit(X, Y)
    wrong = failing(model.to_json())
    assert wrong == ([] if entrant.private else ["it is private"])


@pytest.mark.parametrize(
    "result",
    [
        lambda: stats.mean(X, (-1, 1), epsilon=1.0, delta=1e-3, neighbours="zero-out", rows_per_person=3),
        lambda: stats.covariance(X, (-1, 1), epsilon=1.0, delta=1e-3),
        lambda: stats.quantiles(X, [0.25, 0.5], (-1, 1), epsilon=1.0),
        lambda: stats.table(Y, levels=[0, 1], epsilon=1.0, delta=1e-3),
    ],
    ids=["mean", "covariance", "quantiles", "table"],
)
def test_what_statistics_release_holds(result):
    text = result().release.to_json()
    assert failing(text) == []
    assert sum("parts" in check.found for check in verified(text)) == 1


def test_what_the_mechanism_releases_holds():
    assert failing(eptr.release(eptr.Proposal([1.0], 0.1, 500), 1.0, 1e-3, slack=1.2).to_json()) == []


def model(**settings):
    return eptr.LinearRegression(1.0, 1e-3, x_bound=2.0, y_bound="private", **settings).fit(X, Y.astype(float))


PLAIN = model().to_json()


def change(*path, by):
    content = json.loads(PLAIN)
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = by(place[path[-1]])
    return json.dumps(content)


MECHANISM, CHARGED = "(1, 0.001) follows from the mechanism", "what was charged is what is claimed"
NOISE, SUM = "the noise of every part is sensitivity over cost", "the costs of the parts add up to the whole"
FIT = "the settings are those of the fit"


def half(x):
    return x / 2


@pytest.mark.parametrize(
    ("path", "by", "claims"),
    [
        (("release", "cost", "mu"), lambda x: 2 * x, [MECHANISM]),
        (("release", "cost", "mu"), half, [SUM]),
        (("release", "cost", "delta"), half, [MECHANISM, CHARGED]),
        (("release", "release", "epsilon"), half, [CHARGED, FIT]),
        (("release", "release", "neighbours"), lambda x: "zero-out", [CHARGED, FIT, NOISE]),
        (("release", "release", "rows_per_person"), lambda x: 2, [CHARGED, FIT, NOISE]),
        (("release", "release", "private"), lambda x: False, ["it is private"]),
        (("release", "record", "draws", 3, "scale"), half, [NOISE]),
        (("release", "record", "draws", 3, "sensitivity"), half, [NOISE]),
        (("release", "record", "draws", 3, "spent"), half, [NOISE]),
        (("release", "record", "draws", 3, "spent"), lambda x: 1.0, [NOISE, SUM]),
        (("release", "record", "draws", 3, "scale"), lambda x: 2 * x, [NOISE]),
        (("release", "record", "settings", 0), lambda x: ["something else", x[1]], [FIT]),
        (("settings", "coef_bound"), lambda x: None, [FIT]),
        (("settings", "x_bound"), half, [FIT]),
        (("settings", "epsilon"), half, [FIT]),
        (("settings", "y_bound"), lambda x: 1.0, [FIT]),
    ],
)
def test_a_changed_number_is_found(path, by, claims):
    assert failing(PLAIN) == []
    assert failing(change(*path, by=by)) == claims


def test_a_ledger_is_checked_with_it(tmp_path):
    ledger = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    for name in ("study", "other"):
        ledger.create(name, epsilon=2.0, delta=1e-2)
    text = model(ledger=ledger.account("study")).to_json()
    assert failing(text, f"{ledger.url}#study") == []
    assert len(verified(text, ledger.url)) == len(verified(text)) + 3
    assert failing(text, f"{ledger.url}#other") == ["the ledger is intact and holds this charge"]
    assert failing(PLAIN, ledger.url) == ["a ledger was charged"]
    content = json.loads(text)
    content["release"]["record"]["receipt"]["epsilon"] = 5.0
    assert failing(json.dumps(content), ledger.url) == ["the ledger says the same of it"]
    content["release"]["record"]["receipt"] |= {"epsilon": 2.0, "left_mu": 9.0}
    assert failing(json.dumps(content), ledger.url) == ["the ledger says the same of it"]


def test_results_of_a_study_are_those_in_its_ledger(tmp_path):
    """Who changes the record as well as the page is found out by the chain."""
    url = f"sqlite:///{tmp_path}/budget.db#people"
    study = eptr.Study({"age": X[:, 0]}, eptr.Codebook({"age": Number(-1, 1)}), epsilon=1.0, delta=1e-3, ledger=url)
    found = study.mean("age")
    fit = study.ols("I(age * 2) ~ age").to_json()
    assert failing(fit, url) == []
    assert failing(fit.replace('"formula": "I(age * 2)', '"formula": "I(2 * age)'), url) == [
        "the ledger holds this result"
    ]
    text = study.report(tmp_path / "study.html").read_text()
    assert failing(text, url) == failing(text, url.partition("#")[0]) == []
    better = replace(found, value=found.value + 1.0, low=found.low + 1.0, high=found.high + 1.0)
    publication = Publication(study.journal)
    publication.results[0] = ("mean age", better)
    assert failing(publication.page()) == []
    assert failing(publication.page(), url) == ["the results are those that the ledger holds"]


def test_a_model_of_a_study_holds_and_its_ranges_follow_from_the_codebook():
    people = {"age": X[:, 0], "wage": X[:, 1]}
    book = eptr.Codebook({"age": Number(-1, 1), "wage": Number(-1, 1)})
    text = eptr.Study(people, book, epsilon=1.0, delta=1e-3).ols("wage ~ age").to_json()
    assert failing(text) == []
    content = json.loads(text)
    content["codebook"]["columns"]["age"]["high"] = 2.0
    assert failing(json.dumps(content)) == ["the settings follow from formula and codebook"]
    content = json.loads(text)
    content["model"]["release"]["cost"]["mu"] *= 2.0
    assert len(failing(json.dumps(content))) == 1


def test_a_mu_of_a_total_is_not_believed_where_another_kind_of_release_is_on_the_page():
    x = np.random.default_rng(0).normal(size=(60, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tested = eptr.LinearRegression(0.5, 1e-7, 3.0, 9.0, strategy="tight", coef_bound=9.0).fit(x, x[:, 0])
    study = StudyFacts(epsilon=1.0, delta=1e-6, gaussian=True, mixing=0.0)
    for gaussian in (True, False):
        text = page([panel(tested)], "A study", study=replace(study, gaussian=gaussian))
        assert failing(text) == ["the total is of Gaussian releases alone"] * gaussian


@pytest.mark.parametrize("text", ["", "{}", "[1]", "<html></html>", '{"schema": "eptr-model/2"}', '{"schema": 3}'])
def test_anything_else_is_a_sentence(text):
    with pytest.raises(eptr.InputError, match="neither a model"):
        verified(text)


def test_the_command_says_what_holds(tmp_path):
    from typer.testing import CliRunner

    from eptr.cli import app

    place = tmp_path / "model.json"
    for text, code, words in ((PLAIN, 0, "6 of 6 claims hold"), (change("settings", "epsilon", by=half), 1, "FAILS")):
        place.write_text(text)
        done = CliRunner().invoke(app, ["verify", str(place)])
        assert done.exit_code == code
        assert words in done.output
