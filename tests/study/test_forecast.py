"""A plan says widths from public numbers alone, and they come true."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import Codebook, InputError
from eptr.codebook import Category, Number

from .survey import people, seeded


def test_a_plan_says_widths_and_what_a_wish_would_cost():
    study = seeded(people(2000), analyses=4)
    plan = study.plan("wage ~ age + sex", width={"sex[T.M]": 400.0})
    assert set(plan.widths) == {"age", "sex[T.M]", "Intercept"}
    assert study.journal.left == 1.0
    less, enough = (study.plan("wage ~ age + sex", epsilon=x * plan.buys).widths["sex[T.M]"] for x in (0.8, 1.01))
    assert enough <= 400.0 < less
    assert "no epsilon" in str(study.plan("wage ~ age + sex", width=1e-9))
    with pytest.raises(InputError, match="terms"):
        study.plan("wage ~ age", width={"nope": 1.0})


@pytest.mark.parametrize("rows_each", [1, 3])
def test_a_plan_is_about_what_happens(rows_each):
    rng = np.random.default_rng(0)
    rows = {"region": rng.choice(["N", "S", "W"], 20_000)}
    rows["wage"] = 2000.0 + 400.0 * (rows["region"] == "S") + 300.0 * rng.normal(size=20_000)
    book = Codebook({"region": Category(["N", "S", "W"]), "wage": Number(1, 5000)})
    study = seeded(rows, book, rows_each=rows_each)
    planned = study.plan("wage ~ region", spread=300.0).widths
    found = np.ptp(study.ols("wage ~ region").conf_int(), axis=1)
    for name, width in planned.items():
        assert found[name] == pytest.approx(width, rel=0.2)


@pytest.mark.parametrize("spread", [6.0, 25.0])
def test_a_plan_knows_how_far_numbers_spread_if_it_is_told(spread):
    """The range is the same; a slope is known the better the further its column spreads."""
    rng = np.random.default_rng(1)
    rows = {"dose": 50.0 + spread * rng.normal(size=20_000).clip(-2, 2), "kids": rng.integers(0, 5, 20_000)}
    rows["wage"] = 2000.0 + 4.0 * rows["dose"] + 300.0 * rng.normal(size=20_000)
    study = seeded(rows, Codebook({"dose": Number(0, 100), "kids": Number(0, 10), "wage": Number(1, 5000)}))
    planned = study.plan("wage ~ dose + kids", spread={"wage": 300.0, "dose": spread, "kids": 1.4}).widths
    found = np.ptp(study.ols("wage ~ dose + kids").conf_int(), axis=1)
    for name in ("dose", "kids"):
        assert found[name] == pytest.approx(planned[name], rel=0.25)
    for wrong in ({"nobody": 1.0}, {"dose": -1.0}, {"dose": "wide"}):
        with pytest.raises(InputError, match="spread"):
            study.plan("wage ~ dose", spread=wrong)
