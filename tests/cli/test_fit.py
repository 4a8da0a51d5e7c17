"""Fits, predictions and plans on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

PEOPLE = "age,income,score\n" + "\n".join(f"{20 + i % 60},{i % 200},{30 + i % 40}" for i in range(400)) + "\n"
BOUNDS = "[columns.age]\nmin = 18\nmax = 90\n[columns.income]\nmin = 0\nmax = 200\n[target]\nmin = 0\nmax = 100\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    return tmp_path


def test_fit_writes_a_model_and_a_report_and_predict_reads_it(eptr, files):
    code, out, _ = eptr("fit", "people.csv", "--target", "score", "--bounds", "bounds.toml", "--out", "m.json")
    assert code == 0
    assert "income" in out
    assert "(1, 1e-06)-differentially private" in out
    assert "recorded nowhere" in out
    assert (files / "m.html").read_text().startswith("<!doctype html>")
    code, out, _ = eptr("predict", "m.json", "people.csv")
    assert code == 0
    assert len(out.splitlines()) == 401
    assert eptr("predict", "m.json", "people.csv", "--out", "p.csv")[0] == 0
    assert (files / "p.csv").read_text().startswith("predicted score")


def test_a_report_can_go_elsewhere_and_be_verified(eptr, files):
    words = ("fit", "people.csv", "--target", "score", "--bounds", "bounds.toml")
    assert "must end in .html" in eptr(*words, "--report", "r.txt")[2]
    assert "--report: the folder" in eptr(*words, "--report", "nowhere/r.html")[2]
    assert eptr(*words, "--report", "r.html")[0] == 0
    assert not (files / "model.html").exists()
    code, out, _ = eptr("verify", "r.html")
    assert code == 0
    assert "FAILS" not in out
    (files / "r.html").write_text(
        (files / "r.html").read_text().replace("(1, 1e-06)-differential", "(0.1, 1e-06)-differential")
    )
    code, out, _ = eptr("verify", "r.html")
    assert code == 1
    assert "FAILS  the page is what its record tells" in out
    assert eptr("verify", "nothing.json")[0] == 2


def test_fit_charges_a_ledger(eptr, files):
    eptr("ledger", "create", "study", "--epsilon", "1", "--delta", "1e-6")
    words = (
        "fit",
        "people.csv",
        "--target",
        "score",
        "--bounds",
        "bounds.toml",
        "--ledger",
        "sqlite:///eptr-budget.db#study",
    )
    assert eptr(*words, "--out", "nowhere/m.json")[0] == 2  # before anything is charged
    code, out, _ = eptr(*words)
    assert code == 0
    assert "recorded nowhere" not in out
    code, _, error = eptr(*words, "--force")
    assert code == 2
    assert "does not fit" in error


def test_plan_needs_no_data(eptr):
    code, out, _ = eptr("plan", "--n", "5000", "--features", "5")
    assert code == 0
    assert all(word in out for word in ("refined", "tight", "paper"))
    assert eptr("plan", "--n", "5000", "--features", "5", "--model", "lasso")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.csv", "--target", "score", "--bounds", "bounds.toml"), "nowhere.csv does not exist"),
        (("people.csv", "--target", "weight", "--bounds", "bounds.toml"), "target 'weight' is not among the 3 columns"),
        (("people.csv", "--target", "score", "--bounds", "none.toml"), "none.toml does not exist"),
        (("people.csv", "--target", "score", "--bounds", "short.toml"), "the first of them 'income'; describe it"),
        (("people.csv", "--target", "score", "--bounds", "bounds.toml", "--model", "bayes"), "levels"),
        (("people.csv", "--target", "score", "--bounds", "bounds.toml", "--model", "tree"), "'tree'"),
        (("people.csv", "--target", "score", "--bounds", "bounds.toml", "--epsilon", "0"), "epsilon"),
        (
            ("text.csv", "--target", "score", "--bounds", "bounds.toml"),
            "column 'age' of text.csv has missing values, or text",
        ),
        (("empty.csv", "--target", "score", "--bounds", "bounds.toml"), "empty"),
        (("people.csv", "--target", "score", "--bounds", "bounds.toml", "--out", "m.html"), "must end in .json"),
        (("people.csv", "--target", "score", "--bounds", "bounds.toml", "--out", "short.toml"), "must end in .json"),
        (("gaps.csv", "--target", "score", "--bounds", "bounds.toml"), "column 'age' of gaps.csv has missing values"),
        (("people.xlsx", "--target", "score", "--bounds", "bounds.toml"), ".csv or .parquet"),
    ],
)
def test_files_that_do_not_fit_are_sentences(eptr, files, words, message):
    (files / "short.toml").write_text(BOUNDS.replace("[columns.income]\nmin = 0\nmax = 200\n", ""))
    (files / "text.csv").write_text("age,income,score\nelderly,1,2\n")
    (files / "gaps.csv").write_text(PEOPLE + ",3,40\n")
    (files / "empty.csv").write_text("")
    (files / "people.xlsx").write_text("")
    code, _, error = eptr("fit", *words)
    assert code == 2
    assert message in error
    assert "elderly" not in error


def test_rows_with_gaps_can_be_dropped_and_models_are_not_overwritten(eptr, files):
    (files / "gaps.csv").write_text(PEOPLE + ",3,40\n")
    words = ("fit", "gaps.csv", "--target", "score", "--bounds", "bounds.toml", "--invalid", "drop")
    assert eptr(*words)[0] == 0
    code, _, error = eptr(*words)
    assert code == 2
    assert "--force" in error
    code, _, error = eptr("predict", "model.json", "gaps.csv")
    assert code == 2
    assert "missing values" in error


def test_predict_without_a_model_is_a_sentence(eptr, files):
    assert eptr("predict", "none.json", "people.csv")[0] == 2
    (files / "other.json").write_text("{}")
    code, _, error = eptr("predict", "other.json", "people.csv")
    assert code == 2
    assert "not a model" in error


def test_classes_are_told_apart_on_raw_columns_of_very_different_widths(eptr, tmp_path):
    """As in a census: ages, hours, a sampling weight, gains that are mostly zero within a range of 100,000, and a level."""
    rng, n = np.random.default_rng(0), 8000
    age, hours = rng.uniform(17, 90, n), np.clip(rng.normal(40, 12, n), 1, 99)
    weight, gain = rng.lognormal(12, 0.5, n), np.where(rng.random(n) < 0.08, rng.lognormal(8.5, 1, n), 0.0)
    married = rng.random(n) < 0.45
    score = -2.6 + 0.02 * (age - 38) + 0.05 * (hours - 40) + 2.2 * married + 1e-4 * gain
    rich = rng.random(n) < 1 / (1 + np.exp(-score))
    lines = [
        f"{a:.0f},{h:.0f},{w:.0f},{g:.0f},{'yes' if m else 'no'},{'more' if r else 'less'}"
        for a, h, w, g, m, r in zip(age, hours, weight, gain, married, rich, strict=True)
    ]
    (tmp_path / "census.csv").write_text("\n".join(["age,hours,weight,gain,married,income", *lines]) + "\n")
    ranges = {"age": (17, 90), "hours": (1, 99), "weight": (10_000, 1_500_000), "gain": (0, 100_000)}
    text = [f"[columns.{name}]\nmin = {low}\nmax = {high}" for name, (low, high) in ranges.items()]
    text += ['[columns.married]\nlevels = ["no", "yes"]', '[target]\nlevels = ["less", "more"]']
    (tmp_path / "census.toml").write_text("\n".join(text))
    code, out, _ = eptr(
        "fit", "census.csv", "--target", "income", "--bounds", "census.toml", "--model", "bayes", "--seed", "1"
    )
    assert code == 0
    assert "spread within" in out
    predicted = np.array(eptr("predict", "model.json", "census.csv")[1].split("\n")[1:-1]) == "more"
    plain = np.mean(
        rich == LinearDiscriminantAnalysis().fit(X := np.column_stack([age, hours, gain, married]), rich).predict(X)
    )
    assert 0.1 < predicted.mean() < 0.5
    assert np.mean(predicted == rich) > plain - 0.01
