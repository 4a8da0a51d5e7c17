"""What every fit has in common: its check of the domain, its ledger, its public warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import eptr
from eptr.estimators import base
from eptr.estimators.base import public_warnings
from eptr.rivals import NoisyStatistics

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
T = X[:, 0] + RNG.normal(size=80)
LABELS = np.where(T > 0, "yes", "no")
HOLES = np.where(np.arange(80) == 5, np.nan, T)


@pytest.fixture
def ledger(tmp_path):
    found = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db#study")
    found.create("study", epsilon=3.0, delta=1e-5)
    return found


def regression(**settings):
    return eptr.LinearRegression(x_bound=3.0, y_bound=4.0, **settings)


def classifier(**settings):
    return eptr.BayesClassifier(x_bound=3.0, classes=["no", "yes"], **settings)


class Untouchable:
    """A column that must not be read."""

    def __len__(self):
        return 80

    def __getattr__(self, name):
        raise AssertionError(f"a row was read: {name}")

    def __iter__(self):
        raise AssertionError("a row was read")


@pytest.mark.parametrize("strategy", ["refined", "tight", "paper"])
def test_a_failed_check_is_an_answer_and_is_recorded_once(strategy, ledger):
    with pytest.raises(eptr.DomainError, match="y contains NaN"):
        regression(ledger=ledger, strategy=strategy).fit(X, HOLES)
    assert [e.kind for e in ledger.history()] == ["create", "check"]
    assert "LinearRegression" in ledger.history()[-1].what
    ledger.verify()
    # The next one is refused before a row is read, whatever the rows are.
    for rows, target in ((X, T), (X, HOLES), (Untouchable(), Untouchable())):
        with pytest.raises(eptr.BudgetError, match="invalid='drop'"):
            regression(ledger=ledger, strategy=strategy).fit(rows, target)
    assert [e.kind for e in ledger.history()] == ["create", "check"]
    regression(ledger=ledger, invalid="drop").fit(X, HOLES)
    assert [e.kind for e in ledger.history()] == ["create", "check", "charge"]


def test_is_anybody_labelled_rare_is_answered_once(ledger):
    rare = np.where(np.arange(80) == 7, "rare", LABELS)
    for model in (classifier, lambda **s: NoisyStatistics(x_bound=3.0, classes=["no", "yes"], **s)):
        with pytest.raises((eptr.DomainError, eptr.BudgetError)):
            model(ledger=ledger).fit(X, rare)
    assert [e.kind for e in ledger.history()] == ["create", "check"]


def test_files_and_columns_are_counted_too(ledger, tmp_path):
    from eptr.bounds import PublicBounds
    from eptr.files import FileModel, open_data

    pd.DataFrame({"a": X[:, 0], "t": HOLES}).to_csv(tmp_path / "rows.csv", index=False)
    bounds = PublicBounds({"a": (-3.0, 3.0)}, (-4.0, 4.0), None)
    with open_data(tmp_path / "rows.csv") as rows, pytest.raises(eptr.DomainError):
        FileModel.fit(rows, "ols", "t", bounds, "rows.csv", ledger=ledger)
    assert [e.kind for e in ledger.history()] == ["create", "check"]


@pytest.mark.parametrize("strategy", ["refined", "tight", "paper"])
def test_nothing_stays_on_an_object_whose_ledger_refused(strategy, ledger):
    model = eptr.BayesClassifier(50.0, 1e-6, x_bound=3.0, ledger=ledger, strategy=strategy)
    before = set(vars(model))
    with pytest.raises(eptr.PrivacyError):
        model.fit(X, LABELS)
    assert set(vars(model)) == before
    fine = regression(ledger=ledger).fit(X, T)
    with pytest.raises(eptr.DomainError):
        fine.fit(X, HOLES)
    assert not [name for name in vars(fine) if name.endswith("_")]


def test_nothing_of_an_earlier_fit_stays_on_an_object_that_could_not_begin_another():
    model = regression(random_state=0).fit(X, T)
    with pytest.raises(eptr.InputError, match="ledger"):
        model.set_params(ledger=3).fit(X, T)
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("n", "p", "delta", "words"),
    [
        (1000, 2, 1e-6, []),
        (1000, 2, 0.00099, []),
        (1000, 2, 0.01, ["delta = 0.01 is above 1/n"]),
        (100, 101, 1e-6, ["more columns"]),
        (49, 2, 1e-6, ["49 rows"]),
        (20, 30, 0.1, ["above 1/n", "more columns", "20 rows"]),
    ],
)
def test_public_warnings_depend_on_public_numbers_alone(n, p, delta, words):
    found = public_warnings(n, p, delta)
    assert len(found) == len(words)
    assert all(word in text for word, text in zip(words, found, strict=True))


@pytest.mark.parametrize("model", [regression(delta=0.1), classifier(delta=0.1)])
def test_settings_that_protect_nobody_get_a_warning(model):
    y = T if isinstance(model, eptr.LinearRegression) else LABELS
    with pytest.warns(eptr.SettingsWarning, match="above 1/n") as caught:
        clone(model).fit(X, y)
    assert caught[0].filename == __file__  # it points at the caller
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(delta=1e-6).fit(X, y)


def test_scores_of_model_selection_are_said_to_be_raw_once_in_a_process(monkeypatch):
    monkeypatch.setattr(base, "_SCORES_WARNED", [])
    there: dict[str, Any] = {"__name__": "sklearn.model_selection._search"}
    exec("def score(fit): return fit()\ndef search(fit): return score(fit)", there)  # two frames of theirs
    with pytest.warns(eptr.NotPrivateWarning, match=r"eptr\.stats\.score") as said:
        there["search"](lambda: [regression(random_state=0).fit(X, T) for _ in range(2)])
    assert len([w for w in said if "cross_val_score" in str(w.message)]) == 1


@pytest.mark.parametrize("name", ["fit_intercept", "symmetric_errors"])
def test_a_switch_is_true_or_false(name):
    """The text "no" would count as yes; numpy's truth values are as good as Python's."""
    with pytest.raises(eptr.InputError, match=f"{name} must be True or False, got 'no'"):
        regression(**{name: "no"}).fit(X, T)
    regression(**{name: np.True_}, random_state=0).fit(X, T)
