"""What a study says about itself: from its ledger alone, in words that its numbers support."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import eptr
from eptr import stats
from eptr.cli import app
from eptr.codebook import Category, Number
from eptr.verify import verified

BOOK = eptr.Codebook({"age": Number(0, 110), "sex": Category(["F", "M"]), "wage": Number(0, 200)})
REGISTRY = {
    "name": "Wages", "curators": ["An office"], "description": "Wages by age and sex.", "intended_use": "Teaching",
    "region": "Nowhere", "authors": ["A. Writer"],
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    rng = np.random.default_rng(0)
    people = {"age": rng.integers(18, 80, size=4000), "sex": rng.choice(["F", "M"], size=4000)}
    people["wage"] = 20 + 0.5 * people["age"] + 10 * rng.normal(size=4000)
    place = tmp_path_factory.mktemp("study") / "budget.db"
    found = eptr.Study(people, BOOK, epsilon=4.0, analyses=8, ledger=f"sqlite:///{place}#people", protects="worker")
    found.mean("wage", by="sex")
    found.quantiles("age")
    found.describe(["age", "sex"])
    found.ols("wage ~ age + sex")
    found.logit("sex ~ wage")
    found.smooth("wage ~ s(age) + sex")
    return found


@pytest.mark.parametrize("voice", ["methods", "ethics", "people"])
def test_every_voice_tells_the_total_and_who_is_protected(study, voice):
    text = study.statement(voice)
    assert "worker" in text
    assert "4" in text or voice == "people"


def test_the_methods_voice_lists_every_release(study):
    text = study.statement()
    for number in range(1, 4):
        assert f"{number}. " in text
    assert "75.0%" in text or "75%" in text  # six of eight shares are spent


def test_a_page_verifies_and_holds_every_analysis(study, tmp_path):
    page = study.report(tmp_path / "study.html").read_text()
    for text in ("wage ~ age + sex", "sex ~ wage", "wage ~ s(age) + sex", "describe age", "share of the budget"):
        assert text in page.replace("&lt;", "<")
    checks = verified(page, study.journal.ledger.url)
    assert len(checks) > 6
    assert not [check for check in checks if not check.holds]
    assert len(page) < 2_000_000


def test_the_ledger_alone_suffices_for_the_page(study, tmp_path):
    to = tmp_path / "again.html"
    found = CliRunner().invoke(app, ["study", "report", study.journal.ledger.url, "--out", str(to)])
    assert found.exit_code == 0, found.output
    assert to.read_text() == study.report(tmp_path / "study.html").read_text()


def test_an_entry_for_the_registry_needs_what_only_people_know(study):
    assert "Gaussian" in study.registry_yaml(**REGISTRY)
    with pytest.raises(eptr.InputError, match="region"):
        study.registry_yaml(**{k: v for k, v in REGISTRY.items() if k != "region"})


def test_a_study_that_was_asked_nothing_says_so():
    empty = eptr.Study({"age": np.arange(100)}, eptr.Codebook({"age": Number(0, 110)}), epsilon=1.0)
    with pytest.raises(eptr.InputError, match="ask it something"):
        empty.statement()


AGES = {"age": np.arange(1000) % 90}


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
def test_no_mu_is_claimed_of_a_total_that_another_kind_of_release_has_entered(tmp_path):
    """An exponential mechanism at all of epsilon is no Gaussian mechanism at the mu of (epsilon, delta)."""
    place, book = f"sqlite:///{tmp_path}/budget.db", eptr.Codebook({"age": Number(0, 110)})
    pure = {"epsilon": 0.9, "invalid": "drop", "ledger": f"{place}#pure"}
    study = eptr.Study(AGES, book, epsilon=1.0, ledger=pure["ledger"])
    stats.quantiles(AGES["age"], 0.5, (0, 110), **pure)  # somebody else: whoever comes first, the other kind is refused
    with pytest.raises(eptr.BudgetError):
        study.quantiles("age", share=0.01)
    study = eptr.Study(AGES, book, epsilon=1.0, ledger=f"{place}#study")
    study.quantiles("age", share=0.01)
    assert "Gaussian differential privacy, mu" in study.statement()
    with pytest.raises(eptr.BudgetError):
        stats.quantiles(AGES["age"], 0.5, (0, 110), **pure | {"ledger": f"{place}#study"})

    study = eptr.Study(AGES, book, epsilon=1.0, ledger=f"{place}#tested")
    x = np.random.default_rng(0).normal(size=(1000, 1))
    eptr.LinearRegression(
        0.5, 1e-7, 3.0, 9.0, strategy="tight", coef_bound=9.0, invalid="drop", ledger=f"{place}#tested"
    ).fit(x, x[:, 0])
    study.mean("age", share=0.01)
    assert "Gaussian differential privacy, mu" not in study.statement()

    study = eptr.Study(AGES, book, epsilon=1.0)
    study.quantiles("age")
    study.mean("age")
    assert "Gaussian differential privacy, mu" in study.statement()


def test_a_range_that_was_bought_is_not_said_to_be_fixed_beforehand(tmp_path):
    book = eptr.Codebook({"age": Number(0, 110), "wage": Number("private")})
    wages = {**AGES, "wage": 20.0 + AGES["age"]}
    study = eptr.Study(wages, book, epsilon=2.0, ledger=f"sqlite:///{tmp_path}/budget.db#people")
    study.ols("wage ~ age")
    for voice in ("methods", "ethics"):
        assert "range of wage" in study.statement(voice)
        assert "except for what was estimated" in study.statement(voice)
    assert "range of wage" in study.registry_yaml(**REGISTRY)
    page = study.report(tmp_path / "study.html").read_text()
    assert not [check for check in verified(page, study.journal.ledger.url) if not check.holds]


def test_a_result_says_what_was_asked_who_is_protected_and_how(tmp_path):
    people = {"who": np.arange(600) // 2, "age": np.arange(600) % 90}
    book = eptr.Codebook({"age": Number(0, 110)})
    study = eptr.Study(
        people, book, epsilon=2.0, delta=1e-3, person="who", rows_each=2, protects="household",
        ledger=f"sqlite:///{tmp_path}/budget.db#homes",
    )  # fmt: skip
    for found in (study.mean("age", where="age > 30"), eptr.Study.open(study.journal.ledger, people).mean("age")):
        text = found.statement()
        assert "mean age" in text
        assert "the first 2 rows of each household count, by the column 'who'" in text
        assert "not checked" not in text
        assert "2 rows that belong to one household" in text
    assert "All releases from these data together" in study.statement()
    trusted = eptr.Study(people, book, epsilon=2.0, delta=1e-3, rows_each=2).mean("age")
    told = "declared by the analyst, not checked), which holds if no person has more than 2 rows: a person with more rows is"
    assert f"{told} protected less" in trusted.statement("ethics")
    assert (
        "holds if every person has one row" in eptr.Study(people, book, epsilon=2.0, delta=1e-3).mean("age").statement()
    )


def test_a_study_that_no_ledger_holds_claims_nothing_of_other_releases(tmp_path):
    study = eptr.Study(AGES, eptr.Codebook({"age": Number(0, 110)}), epsilon=1.0, analyses=1)
    found = study.mean("age")
    assert "No ledger was charged" in found.statement()
    for voice in ("methods", "ethics"):
        text = study.statement(voice)
        assert "of this study, which no ledger holds" in text
        assert "from these data together" not in text
        assert "Ledger entry" not in text
        assert "A ledger recorded" not in text
        assert "Left afterwards: nothing" in text
    assert "this study may ever publish" in study.statement("people")
    page = study.report(tmp_path / "study.html").read_text()
    assert not [check for check in verified(page) if not check.holds]
