"""Codebooks and studies on the command line."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

BOOK = """
[columns.age]
low = 0
high = 110
[columns.sex]
levels = ["F", "M"]
[columns.wage]
low = 0
high = 20000
"""


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    age, sex = rng.integers(18, 80, 1500), rng.choice(["F", "M"], 1500)
    wage = 100 * age + 500 * (sex == "M") + rng.normal(size=1500)
    lines = [f"{a},{s},{w:.2f}" for a, s, w in zip(age, sex, wage, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,wage", *lines]) + "\n")
    (tmp_path / "book.toml").write_text(BOOK)
    return tmp_path


def test_a_codebook_from_draft_to_check(eptr, people):
    code, _, error = eptr("codebook", "draft", "people.csv")
    assert code == 2
    assert "--header" in error
    assert eptr("codebook", "draft", "people.csv", "--header", "--out", "draft.toml")[0] == 0
    code, out, _ = eptr("codebook", "check", "draft.toml")
    assert code == 1
    assert out.count("still blank") == 3
    code, out, _ = eptr("codebook", "check", "book.toml", "--n", "1500")
    assert code == 0
    assert "noise of" in out


def test_a_study_from_fit_to_show(eptr, people):
    ledger = "sqlite:///budget.db#people"
    fit = ["fit", "people.csv", "--codebook", "book.toml", "--formula", "wage ~ age + sex", "--ledger", ledger]
    code, out, _ = eptr(*fit, "--epsilon", "1", "--total", "2")
    assert code == 0
    assert "sex[T.M]" in out
    model = (people / "model.json").read_text()
    code, _, _ = eptr(*fit, "--epsilon", "1", "--out", "again.json")  # stored, and free
    assert code == 0
    assert json.loads((people / "again.json").read_text()) == json.loads(model)
    describe = ["describe", "people.csv", "--codebook", "book.toml", "--columns", "age,sex", "--ledger", ledger]
    code, out, _ = eptr(*describe, "--epsilon", "0.5", "--where", "age > 30")
    assert code == 0
    assert "quantile 0.5" in out
    code, out, _ = eptr("study", "show", ledger)
    assert code == 0
    assert out.count("%") == 3
    assert "ols wage ~ age + sex" in out
    assert "delivered" in eptr("ledger", "history", "people", "--ledger", "sqlite:///budget.db")[1]
    code, _, error = eptr(*fit, "--epsilon", "5", "--out", "more.json")
    assert code == 2
    assert "is left" in error
    assert eptr("predict", "model.json", "people.csv", "--out", "p.csv")[0] == 0
    assert (people / "p.csv").read_text().startswith("predicted wage\n")
    code, _, error = eptr("predict", "model.json", "people.csv", "--probabilities")
    assert code == 2
    assert "predicts numbers, not probabilities" in error


def test_classes_are_predicted_by_name_or_as_probabilities(eptr, people):
    fit = ["fit", "people.csv", "--codebook", "book.toml", "--formula", "sex ~ wage", "--model", "logit"]
    assert eptr(*fit, "--out", "sex.json")[0] == 0
    head, *rows = eptr("predict", "sex.json", "people.csv")[1].splitlines()
    assert head == "predicted sex"
    assert set(rows) <= {"F", "M"}
    head, *chances = eptr("predict", "sex.json", "people.csv", "--probabilities")[1].splitlines()
    assert head == "sex = F,sex = M"
    numbers = [[float(v) for v in line.split(",")] for line in chances]
    assert [sum(line) for line in numbers] == pytest.approx([1.0] * len(rows))
    assert ["FM"[second > first] for first, second in numbers] == rows


def test_a_fit_wants_one_way_of_saying_what_is_public(eptr, people):
    for words in (
        [],
        ["--formula", "wage ~ age"],
        ["--codebook", "book.toml", "--formula", "wage ~ age", "--target", "age"],
    ):
        code, _, error = eptr("fit", "people.csv", *words)
        assert code == 2
        assert "--codebook and --formula" in error
    code, out, _ = eptr("fit", "people.csv", "--codebook", "book.toml", "--formula", "wage ~ age", "--seed", "1")
    assert code == 0
    assert "NOT private" in out
    assert "recorded nowhere" in out


def test_a_fit_of_an_unknown_model_opens_no_account(eptr, people):
    fit = ["fit", "people.csv", "--codebook", "book.toml", "--formula", "wage ~ age", "--model", "bayes"]
    code, _, error = eptr(*fit, "--ledger", "sqlite:///budget.db#people")
    assert code == 2
    assert "--model must be ols, logit or smooth" in error
    assert not (people / "budget.db").exists()


def test_a_fit_of_a_formula_writes_a_report_that_verifies(eptr, people):
    fit = ["fit", "people.csv", "--codebook", "book.toml", "--formula", "wage ~ age + sex", "--where", "age > 30"]
    code, out, _ = eptr(*fit, "--report", "told.html")
    assert code == 0
    assert "recorded nowhere" in out
    for file in ("model.json", "told.html"):
        code, out, _ = eptr("verify", file)
        assert code == 0, out
    bounds = ["fit", "people.csv", "--target", "wage", "--bounds", "book.toml", "--where", "age > 30"]
    code, _, error = eptr(*bounds, "--out", "other.json")
    assert code == 2
    assert "--formula" in error


def test_smooth_terms_are_printed(eptr, people):
    fit = ["fit", "people.csv", "--codebook", "book.toml", "--model", "smooth", "--formula", "wage ~ s(age) + sex"]
    code, out, _ = eptr(*fit)
    assert code == 0
    assert "s(age)" in out
    assert "sex[T.M]" in out


def test_a_study_that_was_opened_in_python_goes_on(eptr, people):
    import eptr as library

    settings = {"epsilon": 2.0, "delta": 1e-5, "analyses": 7, "person": "age", "rows_each": 4, "neighbours": "zero-out"}
    book, ledger = library.Codebook.from_toml(people / "book.toml"), f"sqlite:///{people}/budget.db#people"
    study = library.Study(people / "people.csv", book, ledger=ledger, **settings)
    describe = ["describe", "people.csv", "--codebook", "book.toml", "--columns", "sex", "--ledger", ledger]
    code, out, error = eptr(*describe, "--epsilon", "0.5")
    assert code == 0, error
    assert "(0.5, 1e-05)-differentially private, zero-out" in out
    assert len(study.spent) == 1
    for wrong in (["--rows-each", "2"], ["--total", "3"]):
        code, _, error = eptr(*describe, "--epsilon", "0.4", *wrong)
        assert code == 2
        assert "was opened with" in error


def test_a_table_of_a_database_from_draft_to_description(eptr, people):
    with sqlite3.connect(people / "people.db") as database:
        pd.read_csv(people / "people.csv").to_sql("people", database, index=False)
    database.close()
    code, text, _ = eptr("codebook", "draft", "sqlite:///people.db#people")
    assert code == 0
    assert "largest value" in text
    assert eptr("codebook", "draft", "sqlite:///people.db#nobody")[0] == 2
    code, text, _ = eptr("describe", "sqlite:///people.db#people", "--codebook", "book.toml", "--seed", "1")
    assert code == 0
    assert "mean" in text


def test_a_fit_of_a_formula_says_that_intervals_need_not_hold(eptr, people):
    few = (people / "people.csv").read_text().splitlines()[:301]
    (people / "few.csv").write_text("\n".join(few) + "\n")
    code, out, _ = eptr("fit", "few.csv", "--codebook", "book.toml", "--formula", "wage ~ age")
    assert code == 0
    assert "intervals may not keep their level" in out
