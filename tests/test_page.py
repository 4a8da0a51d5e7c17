"""Pages: what they show is what was released, they can be read by everybody, and they can be verified."""

from __future__ import annotations

import copy
import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import eptr
from eptr import stats
from eptr.audit.artefacts import compare_artefacts
from eptr.page import page
from eptr.panel import _half, number, panel
from eptr.statement import StudyFacts
from eptr.svg import Line
from eptr.verify import EMBEDDED, verified

from .browser import browser, look

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, size=(3000, 2))
Y = X[:, 0] + RNG.normal(size=3000)
SMALL = {"epsilon": 0.5, "delta": 1e-5}
STUDY = StudyFacts(name="wages", epsilon=6.0, delta=1e-3, unit="person", codebook="a: 0 to 10")


def results():
    by = np.where(X[:, 1] > 5, "high", "low")
    found = {
        "mean": stats.mean(X, (0, 10), **SMALL),
        "mean by group": stats.mean(X, (0, 10), by=by, levels=["high", "low"], **SMALL),
        "std": stats.std(X, (0, 10), **SMALL),
        "correlation": stats.correlation(X, (0, 10), **SMALL),
        "quartiles": stats.quantiles(X[:, 0], [0.25, 0.5, 0.75], (0, 10), epsilon=0.5),
        "no intervals": stats.quantiles(X[:, 0], [0.5], (0, 10), epsilon=0.5, level=None),
        "histogram": stats.histogram(X[:, 0], list(range(11)), **SMALL),
        "table": stats.table(by, levels=["high", "low"], **SMALL),
        "ols": eptr.LinearRegression(**SMALL, x_range=(0, 10), y_range=(-5, 15)).fit(X, Y),
        "kernel": eptr.KernelRegressor(**SMALL, domain=(0, 10), y_bound=(-5, 15), bandwidth=2.0).fit(X, Y),
    }
    return [panel(result, title) for title, result in found.items()]


PANELS = results()
PAGE = page(PANELS, "Wages & more", study=STUDY, codebook=[("a", "0 to 10")], ledger=[["entry", "what"], ["1", "mean"]])


def test_ten_analyses_are_one_small_file():
    assert len(PANELS) == 10
    assert len(PAGE.encode()) < 2_000_000
    assert PAGE.count("<figure>") >= 18
    assert re.findall(r"(?:src|href|url)\s*[=(]\s*['\"]?https?:", PAGE) == []
    for words in ("Wages &amp; more", "0 to 10", "Ledger", "For the people in the data"):
        assert words in PAGE


def test_it_can_be_verified():
    checks = verified(PAGE)
    assert [check.claim for check in checks if not check.holds] == []
    assert sum("parts" in check.found for check in checks) == 10


def edited(change):
    content = json.loads(EMBEDDED.search(PAGE).group(1))
    change(content)
    return EMBEDDED.sub(lambda m: m.group(0).replace(m.group(1), json.dumps(content)), PAGE)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (PAGE.replace("(6, 0.001)-differential", "(3, 0.001)-differential"), "the page is what its record tells"),
        (edited(lambda c: c["results"][0]["facts"].update(epsilon=0.1)), "1. mean: the facts are those of the release"),
        (edited(lambda c: c["results"][1]["facts"].update(unit="dog")), "2. mean: the facts are those of the release"),
        (edited(lambda c: c["study"].update(epsilon=0.6)), "all releases together fit in the total"),
    ],
    ids=["visible", "facts", "unit", "total"],
)
def test_a_page_that_tells_something_else_is_found(text, claim):
    assert claim in [check.claim for check in verified(text) if not check.holds]


def test_no_digit_that_a_page_shows_can_be_changed_unnoticed():
    small = page(PANELS[:2], "Two", study=STUDY, codebook=[("a", "0 to 10")], ledger=[["entry", "what"], ["1", "mean"]])
    assert all(check.holds for check in verified(small))
    record = range(*EMBEDDED.search(small).span(1))
    digits = [found.start() for found in re.finditer(r"\d", small) if found.start() not in record]
    for place in np.random.default_rng(0).choice(digits, size=60, replace=False):
        other = small[:place] + str((int(small[place]) + 1) % 10) + small[place + 1 :]
        assert not all(check.holds for check in verified(other)), small[place - 60 : place + 20]


@pytest.mark.parametrize(
    "path",
    [("lines", 0, 1), ("lines", 0, 4), ("level",), ("facts", "total_bet"), ("facts", "share"), ("facts", "widths", 0)],
    ids=str,
)
def test_no_number_of_the_record_can_be_changed_unnoticed(path):
    def change(content):
        place = content["results"][0]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] *= 1.01

    assert not all(check.holds for check in verified(edited(change)))


def test_everybody_can_read_it():
    assert PAGE.startswith("<!doctype html>\n<html lang='en'>")
    assert "prefers-color-scheme: dark" in PAGE
    assert "@media print" in PAGE
    for drawing in re.findall(r"<svg[^>]*>", PAGE):
        assert "role='img'" in drawing
        assert re.search(r"aria-label='[^']{10,}", drawing)
    assert re.findall(r"<th(?! scope)(?!ead)[^>]*>", PAGE) == []
    levels = [int(h) for h in re.findall(r"<h(\d)", PAGE)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_names_cannot_break_out():
    evil = "</script><script>alert(1)</script>'\"<b>"
    named = replace(
        PANELS[0], title=evil, lines=(Line(evil, 1.0, 0.0, 2.0, 0.5),), facts=replace(PANELS[0].facts, what=evil)
    )
    text = page([named], evil)
    assert "<script>alert" not in text
    assert "<b>" not in text
    assert text.count("</script>") == 1


def test_half_widths_at_other_budgets():
    line = Line("a", 0.0, -5.0, 5.0, 3.0)  # 25 = 9 + 16
    assert _half(line, 1.0) == 5.0
    assert _half(line, 0.0) == 3.0
    assert _half(line, 2.0) == pytest.approx(math.sqrt(9 + 4 * 16))


def test_the_page_shows_the_released_intervals():
    estimate = stats.mean(X, (0, 10), **SMALL)
    text = page([panel(estimate, "mean")], "mean")
    for value in (*estimate.value, *estimate.low, *estimate.high):
        assert f"<td>{value:.5g}</td>" in text


def mean_page(leak):
    def fit(data, noise):
        (x, _), found = data, None
        found = stats.mean(x, (0, 1), epsilon=1.0, delta=0.01, random_state=noise)
        found = copy.copy(found)
        object.__setattr__(found, "release", replace(found.release, private=True))
        return page([panel(found, f"mean {x.mean()}" if leak else "mean")], "mean").encode()

    return fit


@pytest.mark.parametrize("leak", [False, True])
def test_a_page_is_the_same_on_neighbours_if_the_noise_is(leak):
    x = RNG.random((50, 2))
    other = x.copy()
    other[0] = 1.0
    found = compare_artefacts(mean_page(leak), [((x, None), (other, None))], lambda text: {"page": text})
    assert found.differs == ("page" if leak else None)


def test_it_looks_like_something(tmp_path):
    if browser() is None:
        pytest.skip("no Chromium; install your system's package of it (Debian: chromium)")
    place = tmp_path / "page.html"
    place.write_text(page(PANELS[:2], "Two"), encoding="utf-8")
    for width in (1000, 400):
        console, figures = look(place, f"{width},4000")
        assert console == []
        assert len(figures) == 4
        for pixels in figures:
            assert pixels.shape[1] > 0.8 * min(width, 720)
            assert np.mean(np.any(pixels < 0.9, axis=2)) > 0.005


def test_thousands_are_told_apart_and_powers_of_ten_are_rare():
    shown = {
        1218.6: "1,220",
        1560.5: "1,560",
        0.0281: "0.0281",
        -0.5: "-0.5",
        123456.7: "123,000",
        0.0: "0",
        2e-9: "2e-09",
    }
    assert {value: number(value) for value in shown} == shown
    assert number(1560.51, 5) == "1,560.5"
    assert number(math.nan) == "nan"


def test_log_odds_have_odds_ratios_beside_them():
    line = Line("age", math.log(2.0), 0.0, math.log(4.0), 0.1)
    text = page([replace(PANELS[0], lines=(line, Line("x", 0.0)), odds=True)], "odds")
    assert "odds ratio</th><th scope='col'>its interval" in text
    assert "<td>2</td><td>1 to 4</td></tr>" in text
    assert "<td>1</td><td></td></tr>" in text
    assert all(check.holds for check in verified(text))
    assert "odds ratio" not in PAGE
