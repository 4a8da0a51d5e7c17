"""The HTML report in a real browser, and the files behind it: offline, no console error, figures that show something."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from eptr import LinearRegression
from eptr.bounds import FileColumns, PublicBounds
from eptr.estimators.catalogue import COMMANDS, commanded
from eptr.files import FileModel, read_csv
from eptr.report import render

from .browser import browser, look

RANGES = "[columns.age]\nmin = 18\nmax = 90\n[columns.income]\nmin = 0\nmax = 200\n"
SCORE = RANGES + "[target]\nmin = 0\nmax = 100\n"
GROUP = RANGES + "[target]\nlevels = ['low', 'high']\n"


def people(n=3000):
    rng = np.random.default_rng(0)
    age, income = rng.uniform(18, 90, n), rng.uniform(0, 200, n)
    score = 20 + 0.3 * age + 0.1 * income + 5 * rng.normal(size=n)
    return age, income, score, np.where(score + 8 * rng.normal(size=n) > 45, "high", "low")


def written(folder, kind):
    age, income, score, group = people()
    target, values, bounds = (
        ("group", group, GROUP) if commanded(kind)[0].task == "classification" else ("score", score, SCORE)
    )
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "income", target])
        writer.writerows(zip(age, income, values, strict=True))
    (folder / "bounds.toml").write_text(bounds)
    return folder / "people.csv", folder / "bounds.toml", target


def fitted(folder, kind, **settings):
    data, bounds, target = written(folder, kind)
    return FileModel.fit(read_csv(data), kind, target, PublicBounds.read(bounds), "people.csv", **settings)


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_report_shows_its_figures_in_a_browser(kind, tmp_path):
    if browser() is None:
        pytest.skip("no Chromium; install your system's package of it (Debian: chromium)")
    page = tmp_path / "report.html"
    page.write_text(render(fitted(tmp_path, kind)), encoding="utf-8")
    console, figures = look(page)
    assert console == []
    assert len(figures) >= 2
    for pixels in figures:
        assert pixels.size > 30_000
        assert np.mean(np.any(pixels < 0.9, axis=2)) > 0.005  # ink
        assert len(np.unique((pixels.reshape(-1, 3) * 255).astype(int), axis=0)) > 20  # and more than one colour


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_report_is_one_file_that_works_offline(kind, tmp_path):
    text = render(fitted(tmp_path, kind))
    outside = re.findall(r"(?:src|href|url)\s*[=(]\s*['\"]?(https?:[^'\" )>]+)", text)
    assert [u for u in outside if "w3.org" not in u] == []
    assert "P(M(X)" in text
    assert "18 … 90" in text


def test_a_seeded_report_says_that_it_protects_nobody(tmp_path):
    with pytest.warns(UserWarning, match="not private"):
        model = fitted(tmp_path, "ols", random_state=0)
    assert "protects nobody" in render(model)


@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
def test_no_reply_is_reported_as_such(tmp_path):
    assert "No reply" in render(fitted(tmp_path, "ols", strategy="tight", epsilon=0.05))


def test_slopes_are_in_the_units_of_the_data(tmp_path):
    model = fitted(tmp_path, "ols", epsilon=8.0)
    age, income, constant = model.coefficients()
    assert age.value == pytest.approx(0.3, abs=0.05)
    assert income.value == pytest.approx(0.1, abs=0.02)
    assert constant.value == pytest.approx(20, abs=3.0)
    assert age.low < age.value < age.high


def test_slopes_are_in_the_units_of_the_data_without_intervals_too(tmp_path):
    model = fitted(tmp_path, "ols", epsilon=100.0, delta=1e-3, strategy="tight", c0=0.05)
    slopes = [c.value for c in model.coefficients()]
    table = {"age": np.array([20.0, 21.0, 20.0]), "income": np.array([0.0, 0.0, 1.0])}
    one, older, richer = model.predict(table, "x")
    np.testing.assert_allclose(slopes, [older - one, richer - one, one - 20.0 * slopes[0]], rtol=1e-9, atol=1e-9)
    assert all(np.isnan([c.low, c.high]).all() for c in model.coefficients())
    assert model.estimator.released_
    assert "without intervals" in render(model)


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_a_level_that_few_rows_have_is_named_and_the_others_are_as_sharp_as_without_it(tmp_path):
    rng, n = np.random.default_rng(1), 30_000
    table = {"sex": np.where(rng.random(n) < 0.5, "m", "f"), "age": rng.uniform(18, 90, n)}
    y = 10.0 * (table["sex"] == "m") + 0.3 * table["age"] + 5 * rng.normal(size=n)
    table["sex"][:10] = "x"
    common = PublicBounds({"sex": ["f", "m"], "age": (18.0, 90.0)}, (-50.0, 100.0), None)
    rare = PublicBounds({"sex": ["f", "m", "x"], "age": (18.0, 90.0)}, (-50.0, 100.0), None)
    rest = {name: column[10:] for name, column in table.items()} | {"y": y[10:]}
    few = FileModel.fit(table | {"y": y}, "ols", "y", rare, "t", random_state=0)
    none = FileModel.fit(rest, "ols", "y", common, "t", random_state=0)
    lines = {line[0]: line[1:] for line in few.table()[1:]}
    assert lines["sex=x"] == ["too few rows to say", "", ""]
    assert "sex=x" in str(few.estimator.summary())
    widths = [{c.name: c.high - c.low for c in m.coefficients()} for m in (few, none)]
    assert widths[0]["sex=m"] < 1.5 * widths[1]["sex=m"]
    assert widths[0]["age"] < 1.5 * widths[1]["age"]
    man = few.coefficients()[0]
    assert man.low < 10.0 < man.high


def test_a_model_that_an_earlier_version_fitted_to_scaled_columns_still_predicts(tmp_path):
    """Then ranges were mapped to [-1, 1] before the fit; its coefficients are shown in the units of the data."""
    data, _, _ = written(tmp_path, "ols")
    bounds = PublicBounds({"age": (18.0, 90.0), "income": (0.0, 200.0)}, (0.0, 100.0), None)
    scaled = FileColumns(bounds, "score", "people.csv", drop=False).read(read_csv(data))
    old = LinearRegression(8.0, x_bound=bounds.radius(), y_bound=1.0).fit(*scaled)
    model = FileModel.from_json(FileModel("ols", "score", 3000, bounds, old).to_json())
    one, older = model.predict({"age": np.array([30.0, 31.0]), "income": np.array([50.0, 50.0])}, "x")
    age, income, constant = model.coefficients()
    assert one == pytest.approx(constant.value + 30.0 * age.value + 50.0 * income.value)
    assert older - one == pytest.approx(age.value)
    assert age.value == pytest.approx(0.3, abs=0.05)
    assert "without intervals" in render(model)


@pytest.mark.parametrize(("relation", "words"), [("replace-one", "replaced by any other"), ("zero-out", "left out")])
def test_the_page_says_which_change_stays_hidden(relation, words):
    rows = {"a": np.linspace(0.0, 1.0, 200), "t": np.linspace(0.0, 1.0, 200)}
    bounds = PublicBounds({"a": (0.0, 1.0)}, (0.0, 1.0), None)
    page = render(FileModel.fit(rows, "ols", "t", bounds, "rows.csv", neighbours=relation))
    assert f"row were {words}" in page


def test_an_additive_model_takes_levels_of_a_file_as_plain_terms(tmp_path):
    rng = np.random.default_rng(0)
    age, sex = rng.uniform(18, 90, 3000), rng.choice(["F", "M"], 3000)
    columns = {"age": age.astype(object), "sex": sex.astype(object)}
    columns["score"] = (50 + 20 * np.sin(age / 10) + 10 * (sex == "M") + rng.normal(size=3000)).astype(object)
    (tmp_path / "bounds.toml").write_text(
        "[columns.age]\nmin = 0\nmax = 100\n[columns.sex]\nlevels = ['F', 'M']\n[target]\nmin = 0\nmax = 100\n"
    )
    bounds = PublicBounds.read(tmp_path / "bounds.toml")
    model = FileModel.fit(columns, "additive", "score", bounds, "people", epsilon=2.0)
    assert [line[0] for line in model.table()] == ["term", "s(age)", "sex=M"]
    again = FileModel.from_json(model.to_json())
    men, women = (
        again.predict({"age": np.array([40.0], dtype=object), "sex": np.array([s], dtype=object)}, "") for s in "MF"
    )
    assert men[0] - women[0] == pytest.approx(10.0, abs=2.0)
    assert "too few rows to say" in render(again)
