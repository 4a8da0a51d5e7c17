"""Intervals over persons: as wide as what the rows of a person have in common makes them, and a person counts once."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import eptr
from eptr.codebook import Codebook, Flag, Number
from eptr.errors import NotPrivateWarning
from eptr.estimators.gradient import Gradient, Spread
from eptr.estimators.linear.refined import Squares
from eptr.privacy.contribution import Interval, Together
from eptr.privacy.spending import Spending
from eptr.privacy.unit import Unit
from eptr.rows.memory import MemoryRows
from eptr.stats.persons import variances
from eptr.stats.tally import _alike

from ..silent import Silent

BOOK = Codebook({"x": Number(-5, 5), "z": Number(-5, 5), "y": Number(-20, 20), "ill": Flag()})


def visits(alike, persons=5000, each=3, seed=0):
    """A part of everything but z is the person's."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(persons), each))

    def shared():
        return math.sqrt(alike) * rng.normal(size=persons)[who] + math.sqrt(1.0 - alike) * rng.normal(size=len(who))

    x, z = shared(), rng.normal(size=len(who))
    y, ill = 1.0 + 0.5 * x - 0.3 * z + 1.5 * shared(), shared() < 0.6 * x - 0.3 * z
    return pd.DataFrame({"who": who, "x": x, "z": z, "y": y, "ill": ill})


def study(rows, **settings):
    with pytest.warns(NotPrivateWarning):
        return eptr.Study(rows, BOOK, random_state=0, **{"epsilon": 100.0, "person": "who", "rows_each": 3} | settings)


def over_persons(rows, influence):
    """Standard error of a mean of influences, over persons, and what it would be for independent rows."""
    sums = pd.Series(influence).groupby(rows["who"].to_numpy()).sum()
    return math.sqrt(np.sum(sums**2)) / len(rows), math.sqrt(np.sum(influence**2)) / len(rows)


@pytest.mark.parametrize("alike", [0.0, 0.7])
def test_statistics_know_what_rows_of_a_person_have_in_common(alike):
    rows = visits(alike)
    asked, y = study(rows, epsilon=1000.0), rows["y"].to_numpy()
    described = asked.describe(["y"])["y"]
    quantile, middle, centred = asked.quantiles("y", [0.5]), np.median(y), y - y.mean()
    density = math.exp(-0.5 * ((middle - 1.0) / y.std()) ** 2) / (y.std() * math.sqrt(2.0 * math.pi))
    fit = asked.logit("ill ~ x")
    right = asked.score(fit, "accuracy")
    found = {
        "mean": (asked.mean("y").se_sampling[0], centred),
        "sd": (described["sd"].se_sampling[0], (centred**2 - y.var()) / (2.0 * y.std())),
        "median": (quantile.se_sampling[0, 0], ((y <= middle) - 0.5) / density),
        "count": (asked.table("ill").se_sampling[1] / len(y), rows["ill"].to_numpy() - rows["ill"].mean()),
        "histogram": (asked.histogram("y", [-20, 0, 20]).se_sampling[0] / len(y), (y < 0) - np.mean(y < 0)),
        "accuracy": (right.se_sampling, (fit.predict(rows) == rows["ill"]) - right.value),
    }
    for name, (error, influence) in found.items():
        clustered, naive = over_persons(rows, np.asarray(influence, dtype=float))
        assert error == pytest.approx(clustered, rel=0.1), name
        if alike and name != "accuracy":
            assert error > 1.15 * naive, name


def test_the_spread_of_a_column_at_both_of_its_bounds_is_that_of_persons():
    """Every row lies on an edge of the clip, where squares are largest."""
    rows = visits(0.0)
    rows["y"] = np.where(np.random.default_rng(1).random(5000) < 0.2, 20.0, -20.0)[rows["who"]]
    centred = rows["y"].to_numpy() - rows["y"].mean()
    spread = math.sqrt(np.mean(centred**2))
    clustered, _ = over_persons(rows, (centred**2 - spread**2) / (2.0 * spread))
    assert study(rows, epsilon=3000.0).describe(["y"])["y"]["sd"].se_sampling[0] == pytest.approx(clustered, rel=0.01)


@pytest.mark.parametrize("alike", [0.0, 0.7])
@pytest.mark.parametrize("method", ["ols", "logit"])
def test_the_sandwich_of_a_model_is_that_of_persons(method, alike):
    """Against statsmodels: a naive sandwich would miss by a third of the errors of the intercept and of x."""
    rows = visits(alike)
    fit = getattr(study(rows), method)({"ols": "y ~ x + z", "logit": "ill ~ x + z"}[method])
    design = sm.add_constant(rows[["x", "z"]])
    model = sm.OLS(rows["y"], design) if method == "ols" else sm.Logit(rows["ill"].astype(float), design)
    clustered = model.fit(disp=0, cov_type="cluster", cov_kwds={"groups": rows["who"]}).bse
    found = dict(zip(["x", "z", "const"], fit.estimator.fitted_.se_sampling, strict=True))
    assert found == pytest.approx(clustered.to_dict(), rel=0.15)
    if alike:
        naive = model.fit(disp=0, cov_type="HC0").bse
        assert found["const"] > 1.25 * naive["const"]


def test_a_person_without_rows_fills_the_place_of_none():
    """Persons with one row, with two, and rows of nobody: each counts as it should."""
    rows = visits(0.7).sort_values("who", kind="stable")
    rows["who"] = np.where(np.arange(len(rows)) % 7 == 0, np.nan, rows["who"])
    known = rows.dropna()
    asked = study(rows)
    y = known["y"]
    centred = y.to_numpy() - y.mean()
    assert asked.mean("y").se_sampling[0] == pytest.approx(over_persons(known, centred)[0], rel=0.1)
    assert float(asked.histogram("y", 1).value[0]) == pytest.approx(len(known), abs=30)
    # At the middle: a row of nobody is zero, and would be a value like any other.
    edge = known["y"].quantile(0.3)
    below = (known["y"] <= edge).to_numpy()
    counted = asked.histogram("y", [-20, edge, 20]).se_sampling / len(known)
    assert counted == pytest.approx([over_persons(known, below - 0.3)[0]] * 2, rel=0.1)
    density = math.exp(-0.5 * ((edge - y.mean()) / y.std()) ** 2) / (y.std() * math.sqrt(2.0 * math.pi))
    found = asked.quantiles("y", [0.3]).se_sampling[0, 0]
    assert found == pytest.approx(over_persons(known, (below - 0.3) / density)[0], rel=0.1)


def test_a_table_of_nobody_is_no_error():
    rows = visits(0.0, persons=50).assign(who=None)
    asked = study(rows)
    assert asked.table("ill").value.sum() < 20
    assert np.isfinite(asked.mean("y").value).all()
    asked.ols("y ~ x")


def of_three():
    return Silent(size=0.0, unit=Unit("replace-one", 3))


def in_threes(x, y):
    rows = MemoryRows(x, y, drop_invalid=True)
    rows.each = 3
    return rows


NUMBERS = st.floats(-3.0, 3.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(NUMBERS, min_size=6, max_size=6),
    st.lists(NUMBERS, min_size=6, max_size=6),
    st.sampled_from(["replace-one", "zero-out"]),
)
def test_replacing_a_person_moves_every_sum_by_no_more_than_it_may(one, two, relation):
    """Three rows of two numbers each become three others, or none."""
    others = np.random.default_rng(0).normal(size=(9, 2))
    first, second = (
        np.reshape(one, (3, 2)),
        np.full((3, 2), np.nan) if relation == "zero-out" else np.reshape(two, (3, 2)),
    )
    edges, moved = np.array([-1.0, 0.0, 1.0]), []
    gradient = Gradient(Squares(-50.0, 50.0), 3.0, None, np.eye(2), np.array([0.3, -0.2]))
    for person in (first, second):
        x = np.concatenate([others, person])
        rows = in_threes(x, np.arange(12.0))
        seen, cells = of_three(), of_three()
        variances(rows, np.ones(2), lambda x, y, keep: np.where(keep[:, None], x - 0.25, 0.0), 1.5, seen)
        _alike(
            rows,
            lambda x, y: np.searchsorted(edges, x[:, 0]),
            slice(None),
            np.array([0.9, 0.0, 0.0, 0.1]),
            np.ones(4),
            cells,
        )
        spread = Spread(2.0, 3)
        (outer,) = gradient.sums(rows, spread)
        moved.append(
            [(seen.values, seen.contribution), (cells.values, cells.contribution), (outer, spread.contributions(2)[0])]
        )
    assert cells.contribution.radius == pytest.approx(3.0 * math.sqrt(2.0))  # tally.md, persons
    for (before, contribution), (after, _) in zip(*moved, strict=True):
        assert np.linalg.norm(before - after) <= contribution.sensitivity(Unit(relation, 3)) * (1.0 + 1e-12)


def test_opposite_persons_reach_what_is_paid_for():
    """Three rows far out along one axis become three along the other: sqrt 2 times nine squares of the radius."""
    moved = []
    for person in ([[9.0, 0.0]] * 3, [[0.0, 9.0]] * 3):
        seen = of_three()
        variances(in_threes(np.array(person), None), np.ones(2), lambda x, y, keep: x, 1.0, seen)
        moved.append(seen.values)
    assert np.linalg.norm(moved[0] - moved[1]) == pytest.approx(seen.contribution.sensitivity(Unit("replace-one", 3)))
    assert seen.contribution.sensitivity(Unit("replace-one", 3)) == pytest.approx(9.0 * math.sqrt(2.0))


def test_lines_are_in_units_of_the_radius():
    """Rows that are as long as they may be count as they are."""
    seen = of_three()
    variances(in_threes(np.array([[1.5, 0.0]] * 3), None), np.ones(2), lambda x, y, keep: x, 1.5, seen)
    assert seen.values == pytest.approx([9.0, 0.0], rel=1e-6)


@pytest.mark.parametrize("ask", [lambda s: s.mean("y"), lambda s: s.table("ill"), lambda s: s.histogram("y", 4)])
def test_what_persons_cost_and_the_rest_add_up(ask, opened):
    ask(study(visits(0.0, persons=200)))
    (whole,) = opened
    assert sum(part.mu**2 for part in whole.parts) == pytest.approx(whole.cost.mu**2, rel=1e-12)
    assert [part for part in whole.parts if isinstance(part.contribution, Together)]


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0.0, 0.7])
def test_intervals_of_persons_hold_and_are_no_wider_than_they_must(alike):
    """40 times three rows of each of 2,000 persons. 160 intervals: 2 % is a standard error or so.

    Intervals for independent rows would hold in fewer than 80 % of all cases where rows are alike.
    """
    truth, found = {"Intercept": 1.0, "x": 0.5, "z": -0.3}, {"Intercept": [], "x": [], "z": [], "mean": []}
    for seed in range(40):
        asked = study(visits(alike, persons=2000, seed=seed), epsilon=30.0, analyses=2)
        fit, mean = asked.ols("y ~ x + z"), asked.mean("y")
        ends = fit.conf_int()
        for term, value in truth.items():
            found[term].append((fit.params[term], ends.low[term] <= value <= ends.high[term], np.ptp(ends.loc[term])))
        found["mean"].append((mean.value[0], mean.low[0] <= 1.0 <= mean.high[0], mean.high[0] - mean.low[0]))
    numbers = np.array(list(found.values()), dtype=float)
    assert 0.92 <= numbers[:, :, 1].mean() <= 0.985
    # Widths against 3.92 standard deviations over the runs; for independent rows the bound would be 1.7.
    assert np.mean(numbers[:, :, 2].mean(axis=1) / (3.92 * numbers[:, :, 0].std(axis=1))) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("rows_each", [1, 400])
def test_no_interval_leaves_what_is_possible(rows_each):
    """A claim of many rows makes intervals wide, not absurd."""
    asked = study(visits(0.0, persons=100).clip(lower=0.0), person=None, rows_each=rows_each, epsilon=500.0)
    mean, quantile, correlation, count = (
        asked.mean(["x", "y"]), asked.quantiles("y", [0.5, 0.99]), asked.correlation(["x", "z"]), asked.table("ill")
    )  # fmt: skip
    score = asked.score(asked.logit("ill ~ x"), "accuracy")
    spread = asked.describe(["y"])["y"]["sd"]
    for found, low, high in (
        (mean, [-5, -20], [5, 20]), (quantile, -20, 20), (correlation, -1, 1), (count, 0, 300), (score, 0, 1), (spread, 0, 40),
    ):  # fmt: skip
        assert np.all(
            (low <= found.low) & (found.low <= found.value) & (found.value <= found.high) & (found.high <= high)
        )


def test_quantiles_of_a_study_release_how_many_rows_count_and_how_persons_fall_around_them(monkeypatch):
    """The exact sums behind both, by hand: rows without a person or a value count in neither."""
    rows = visits(0.7, persons=200).sort_values("who", kind="stable").reset_index(drop=True)
    rows.loc[::7, "who"] = np.nan
    rows.loc[::5, "y"] = np.nan
    drawn, draw = [], Spending.draw

    def noted(self, values, contribution, mu):
        drawn.append((np.array(values, dtype=float), contribution))
        return draw(self, values, contribution, mu)

    monkeypatch.setattr(Spending, "draw", noted)
    q = np.array([0.1, 0.3])
    found = study(rows).quantiles("y", q)
    (count, one), (squares, together) = drawn
    known = rows.dropna(subset=["who", "y"])
    assert (count, one) == (len(known), Interval(0.0, 1.0))
    around = (known["y"].to_numpy()[:, None] <= found.value[0]) - q
    by_hand = sum((around[known["who"] == who].sum(axis=0)) ** 2 for who in known["who"].unique())
    np.testing.assert_allclose(squares, by_hand / np.sum(np.maximum(q, 1.0 - q) ** 2), rtol=1e-4)
    assert isinstance(together, Together)
