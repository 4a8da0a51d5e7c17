"""One relation and one unit per dataset: promises of different kinds do not add up."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eptr
from eptr.rivals import AdaSSP

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
Y = X[:, 0] + RNG.normal(size=200)


def regression(**settings):
    return eptr.LinearRegression(x_bound=3.0, y_bound=4.0, **settings)


@pytest.fixture
def ledger(tmp_path):
    return eptr.Ledger(f"sqlite:///{tmp_path}/budget.db#study")


@pytest.mark.parametrize(("here", "there"), [("replace-one", "zero-out"), ("zero-out", "replace-one")])
def test_a_dataset_counts_one_relation(here, there, ledger):
    ledger.create("study", epsilon=3.0, delta=1e-5, neighbours=here)
    with pytest.raises(eptr.PrivacyError, match=f"counts '{here}'"):
        regression(neighbours=there, ledger=ledger).fit(X, Y)
    assert len(ledger.history()) == 1
    model = regression(neighbours=here, ledger=ledger).fit(X, Y)
    assert ledger.history()[-1].content["relation"] == here
    assert model.release_.neighbours == model.release_.cost.relation == here
    assert json.loads(model.release_.to_json())["neighbours"] == here
    ledger.verify()


def test_a_forged_relation_is_found(ledger):
    ledger.create("study", epsilon=3.0, delta=1e-5)
    cost = regression(neighbours="zero-out").fit(X, Y).release_.cost
    with pytest.raises(eptr.PrivacyError):
        ledger.charge(cost, private=True)
    with pytest.raises(eptr.InputError, match="neighbours"):
        ledger.create("other", epsilon=1.0, delta=1e-6, neighbours="add-remove")


@pytest.mark.parametrize(("here", "there"), [(1, 3), (3, 1), (3, 2)])
def test_a_dataset_counts_one_unit(here, there, ledger):
    """A release about single rows would make a total about persons say less than it does, and the other way round."""
    ledger.create("study", epsilon=3.0, delta=1e-5, rows_per_person=here)
    with pytest.raises(eptr.PrivacyError, match=f"rows_per_person={here}"):
        regression(rows_per_person=there, ledger=ledger).fit(X, Y)
    if here > 1:
        with pytest.raises(eptr.PrivacyError, match="of a person's rows"):
            ledger.reserve("study", 2, 0.1, 1e-8)
    assert len(ledger.history()) == 1
    model = regression(rows_per_person=here, ledger=ledger).fit(X, Y)
    assert model.release_.cost.rows == ledger.history()[-1].content["rows"] == here
    assert eptr.from_json(model.to_json()).release_.cost == model.release_.cost
    ledger.verify()
    with pytest.raises(eptr.InputError, match="rows_per_person"):
        ledger.create("other", epsilon=1.0, delta=1e-6, rows_per_person=0)


def test_units_do_not_compose():
    with pytest.raises(eptr.InputError, match="rows_per_person"):
        eptr.compose([regression(rows_per_person=k).fit(X, Y) for k in (1, 2)])


def test_relations_do_not_compose():
    one, two = (regression(neighbours=r).fit(X, Y) for r in ("replace-one", "zero-out"))
    with pytest.raises(eptr.InputError, match="same neighbours"):
        eptr.compose([one, two])
    assert eptr.compose([two, two]).epsilon(1e-5) > 1.0


def test_the_statement_says_which_change_stays_hidden():
    assert "replacing one row" in regression().fit(X, Y).privacy_statement()
    model = regression(neighbours="zero-out", rows_per_person=2).fit(X, Y)
    assert "leaving out up to 2 rows" in model.privacy_statement()
    again = eptr.from_json(model.to_json())
    assert again.release_.neighbours == "zero-out"
    assert again.privacy_statement() == model.privacy_statement()


@pytest.mark.parametrize("strategy", ["tight", "paper"])
def test_tests_are_proven_for_replacement_alone(strategy):
    with pytest.raises(eptr.InputError, match="replace-one"):
        regression(strategy=strategy, neighbours="zero-out").fit(X, Y)


def test_rivals_say_which_forms_are_proven():
    assert AdaSSP(x_bound=3.0, y_bound=4.0, neighbours="zero-out").fit(X, Y).release_.neighbours == "zero-out"
    with pytest.raises(eptr.InputError, match="form='repaired'"):
        AdaSSP(x_bound=3.0, y_bound=4.0, form="literature", neighbours="zero-out").fit(X, Y)
    with pytest.raises(eptr.InputError, match="neighbours must be one of"):
        regression(neighbours="add-remove").fit(X, Y)


def test_a_weaker_promise_needs_less_noise():
    noise = [AdaSSP(x_bound=3.0, y_bound=4.0, neighbours=r).fit(X, Y).noise_ for r in ("replace-one", "zero-out")]
    assert noise[1] == pytest.approx(0.5 * noise[0])
