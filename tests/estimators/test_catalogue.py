"""What every estimator promises, for every strategy."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr.estimators.fitted import FACTS, Fitted

from ..every.test_sklearn import ESTIMATORS, TESTED, identity, target

EVERY = pytest.mark.parametrize("estimator", ESTIMATORS, ids=identity)


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


def fitted(estimator, X, y, **settings):
    return clone(estimator).set_params(**settings).fit(X, target(estimator, y))


@EVERY
def test_release_carries_the_guarantee(estimator):
    X, y = rows()
    model = fitted(estimator, X, y, epsilon=2.0, delta=1e-5)
    r = model.release_
    assert (r.epsilon, r.delta, r.neighbours, r.private) == (2.0, 1e-5, "replace-one", True)
    assert model.released_ == r.replied
    assert model.noise_ == r.noise_scale


@EVERY
@pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning")
def test_seed_warning_and_reproducibility(estimator):
    X, y = rows(400)
    with pytest.warns(eptr.NotPrivateWarning, match="not private"):
        a = fitted(estimator, X, y, random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        b = fitted(estimator, X, y, random_state=5)
        c = fitted(estimator, X, y, random_state=6)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert not a.release_.private
    if a.released_ and c.released_:
        assert not np.array_equal(np.asarray(a.release_.value), np.asarray(c.release_.value))


@pytest.mark.parametrize("estimator", TESTED, ids=identity)
def test_no_reply_warning_and_fallback(estimator):
    X, y = rows(12)
    model = clone(estimator).set_params(epsilon=0.5, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eptr.NotPrivateWarning)
        with pytest.warns(eptr.NoReplyWarning, match="no reply"):
            model.fit(X, target(estimator, y))
    assert not model.released_
    assert model.release_.value is None
    assert np.isfinite(np.asarray(model.predict(X), dtype=float)).all()
    with pytest.warns(eptr.NoReplyWarning):
        model.set_params(random_state=None).fit(X, target(estimator, y))
    assert "no reply" in model.privacy_statement()


@EVERY
def test_a_fitted_model_holds_no_training_row(estimator):
    """Marker values are planted in a row; their bytes and digits must not be found in pickle, JSON or repr."""
    X, y = rows(500)
    marker, other = 1.2345678901234, 0.98765432109876
    X[17] = marker, other
    y = y.copy()
    y[17] = 1.11122233344455
    model = fitted(estimator, X, y)
    stored, text = pickle.dumps(model), model.to_json() + repr(model) + str(vars(model))
    for secret in (marker, other, y[17], *X[3], y[3]):
        assert np.float64(secret).tobytes() not in stored
        assert np.float64(secret).tobytes()[::-1] not in stored
        assert repr(float(secret))[:12] not in text
    assert len(stored) < 80_000


@EVERY
def test_a_fit_adds_declared_facts_and_released_numbers_alone(estimator):
    X, y = rows(800)
    model = fitted(estimator, X, y)
    assert {*vars(model)} - {*model.get_params()} <= {*FACTS, "fitted_", "release_"}
    assert type(model.fitted_) is type(model)._fitted
    released = {f.name for f in fields(model.fitted_) if getattr(model.fitted_, f.name) is not None}
    assert all(getattr(model, f"{name}_") is getattr(model.fitted_, name) for name in released)
    assert not any(hasattr(model, f"{f.name}_") for f in fields(model.fitted_) if f.name not in released)
    with pytest.raises(FrozenInstanceError):
        model.fitted_.noise = 0.0
    stored = json.loads(model.to_json())
    assert {*stored["fitted"]} == {f.name for f in fields(model.fitted_)} - {f.name for f in fields(Fitted)}
    assert {*stored["facts"]} <= {*FACTS}


@EVERY
def test_json_round_trip_is_exact(estimator):
    X, y = rows()
    model = fitted(estimator, X, y)
    again = eptr.from_json(model.to_json())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.to_json() == model.to_json()
    assert json.loads(model.to_json())["schema"] == "eptr-model/2"
    assert again.release_.epsilon == model.release_.epsilon


@EVERY
def test_privacy_statement_says_what_was_promised(estimator):
    X, y = rows()
    text = fitted(estimator, X, y, epsilon=0.75, rows_per_person=2).privacy_statement()
    assert "0.75" in text
    assert "2 rows that belong to one person" in text
    assert "replacing up to 2 rows" in text
    assert "NO privacy" in fitted(estimator, X, y, random_state=0).privacy_statement()


class Book:
    def __init__(self, refuse=False):
        self.costs, self.refuse = [], refuse

    def charge(self, cost, *, private, what=""):
        if self.refuse:
            raise eptr.BudgetError("nothing left")
        self.costs.append(cost)


@EVERY
def test_one_charge_per_fit_before_any_noise(estimator):
    X, y = rows(300)
    book = Book()
    fitted(estimator, X, y, ledger=book)
    assert len(book.costs) == 1
    assert (book.costs[0].epsilon, book.costs[0].delta) == (1.0, 1e-6)
    with pytest.raises(eptr.BudgetError):
        fitted(estimator, X, y, ledger=Book(refuse=True))


@EVERY
@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (dict(epsilon=0.0), "epsilon"),
        (dict(epsilon=-1.0), "epsilon"),
        (dict(epsilon="1"), "epsilon"),
        (dict(delta=0.0), "delta"),
        (dict(delta=1.0), "delta"),
        (dict(strategy="best"), "strategy"),
        (dict(invalid="ignore"), "invalid"),
        (dict(rows_per_person=0), "rows_per_person"),
        (dict(rows_per_person=1.5), "rows_per_person"),
        (dict(c0=-1.0), "c0"),
        (dict(random_state="seed"), "random_state"),
        (dict(ledger=3), "ledger"),
        (dict(fallback="mean"), "fallback"),
    ],
)
def test_bad_settings_are_typed_errors_and_cost_nothing(estimator, settings, name):
    X, y = rows(50)
    book = Book()
    with pytest.raises(ValueError, match=name):
        fitted(estimator, X, y, **{"ledger": book, **settings})
    assert book.costs == []


@EVERY
def test_bad_rows_are_typed_errors_and_cost_nothing(estimator):
    X, y = rows(50)
    y = target(estimator, y)
    broken = X.copy()
    broken[3, 0] = np.nan
    cases = [(X[:0], y[:0]), (X[0], y), (X, y[:-1]), (broken, y), (X, None), (np.full(X.shape, "a"), y), (X, "target")]
    for bad_X, bad_y in cases:
        book = Book()
        with pytest.raises((ValueError, TypeError)):
            clone(estimator).set_params(ledger=book).fit(bad_X, bad_y)
        assert book.costs == []


@pytest.mark.parametrize("name", ["x_bound", "y_bound"])
def test_missing_bounds_say_how_to_choose_one(name):
    X, y = rows(50)
    with pytest.raises(eptr.BoundError, match=name):
        eptr.LinearRegression(**{"x_bound": 3.0, "y_bound": 3.0, name: None}).fit(X, y)
    with pytest.raises(eptr.BoundError, match=name):
        eptr.LinearRegression(**{"x_bound": 3.0, "y_bound": 3.0, name: -2.0}).fit(X, y)


HARD = {
    "more columns than rows": (np.random.default_rng(0).normal(size=(8, 30)), np.arange(8.0)),
    "one row a class": (np.eye(3), np.array([-1.0, 0.5, 1.0])),
    "collinear": (np.repeat(np.linspace(-1, 1, 60)[:, None], 3, axis=1), np.linspace(-1, 1, 60)),
    "constant columns": (np.ones((60, 2)), np.linspace(-1, 1, 60)),
    "zero columns": (np.zeros((60, 2)), np.linspace(-1, 1, 60)),
    "equal responses": (np.random.default_rng(1).normal(size=(60, 2)), np.r_[-1.0, np.full(59, 2.0)]),
    "far outside the bounds": (np.random.default_rng(2).normal(size=(60, 2)) * 1e9, np.linspace(-1e9, 1e9, 60)),
    "absurdly large": (np.random.default_rng(3).choice([-1e300, 1e300], size=(60, 2)), np.linspace(-1e300, 1e300, 60)),
    "one column": (np.random.default_rng(4).normal(size=(60, 1)), np.linspace(-1, 1, 60)),
}


@EVERY
@pytest.mark.parametrize("case", HARD)
def test_hard_data_get_a_private_answer_or_no_reply_but_never_an_error(estimator, case):
    """Warnings are errors here (but for eptr's own two): none may depend on the values."""
    X, y = HARD[case]
    model = fitted(estimator, X, y, epsilon=0.5)
    assert np.isfinite(np.asarray(model.predict(np.clip(X, -1e3, 1e3)), dtype=float)).all()


@EVERY
def test_dropped_rows_cost_nothing_and_count_for_nothing(estimator):
    X, y = rows(1500)
    dirty, labels = np.vstack([X, np.full((100, 2), np.nan)]), np.append(target(estimator, y), np.zeros(100))
    if "classes" in estimator.get_params():
        estimator = clone(estimator).set_params(classes=[0, 1])
    model = clone(estimator).set_params(invalid="drop", epsilon=4.0).fit(dirty, labels)
    assert np.isfinite(np.asarray(model.predict(X), dtype=float)).all()


@EVERY
def test_more_rows_per_person_mean_more_noise(estimator):
    X, y = rows(20_000)
    bounds = {"x_bound": 3.0} if hasattr(estimator, "x_bound") else {}
    one, ten = (fitted(estimator, X, y, epsilon=4.0, rows_per_person=k, **bounds) for k in (1, 10))
    if isinstance(estimator, eptr.LogisticRegression):  # shrunk where noise rules, and what is left of it with that
        rows_outside = [
            next(d.scale for d in fit.release_.record.draws if d.what == "Interval") for fit in (one, ten)
        ]  # the first: there is another where bands end
        assert rows_outside[1] == pytest.approx(10 * rows_outside[0])
    elif isinstance(estimator, eptr.AdditiveRegressor):  # has fewer functions then, and cuts follow what is released
        axes = [fit.release_.record.draws[0].scale for fit in (one, ten)]
        assert axes[1] == pytest.approx(10 * axes[0])
        assert ten.noise_ > 1.5 * one.noise_
    else:
        assert ten.noise_ > 3 * one.noise_


@EVERY
def test_plan_needs_no_data(estimator):
    plan = estimator.plan(n=8000, n_features=2)
    assert plan.noise_scale > 0
    assert "noise" in str(plan)
    if estimator in TESTED:
        assert plan.always_replies_from > plan.threshold > 0
    assert vars(estimator).keys() >= estimator.get_params().keys()


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e not in TESTED], ids=identity)
def test_plans_know_who_is_protected(estimator):
    def noise(**settings):
        return clone(estimator).set_params(**settings).plan(n=8000, n_features=2).noise_scale

    # Exactly, unless the noise changes what is asked: descents have another schedule where rows are few, and smooth terms
    # have fewer functions; log odds are shrunk where noise rules.
    many, one = noise(rows_per_person=5), noise()
    least = {eptr.LinearRegression: 3, eptr.AdditiveRegressor: 2, eptr.LogisticRegression: 1.05}.get(type(estimator))
    assert many > least * one if least else many == pytest.approx(5 * one)


def test_private_bounds_are_bought_from_the_budget():
    X, y = rows(5000)
    model = eptr.LinearRegression(2.0, 1e-5, x_bound="private", y_bound="private", random_state=0).fit(X, y)
    assert np.all(np.diff(model.x_range_) <= 16)  # powers of two around nearly all rows
    assert 1.0 < model.y_bound_ < 6
    np.testing.assert_allclose(model.coef_, [1.0, -0.5], atol=0.1)
    classifier = eptr.BayesClassifier(2.0, 1e-5, x_bound="private", random_state=0).fit(X, y > 0)
    assert 1.5 < classifier.x_bound_ < 6
    smooth = eptr.KernelRegressor(2.0, 1e-5, domain=(-2, 2), y_bound="private", bandwidth=0.5, random_state=0).fit(X, y)
    assert 1.0 < smooth.y_radius_ < 6
    assert np.mean((smooth.predict(X) - y) ** 2) < 0.6 * np.var(y)
    with pytest.raises(eptr.InputError, match="plan"):
        smooth.plan(100, 2)
    with pytest.raises(eptr.BoundError, match="refined"):
        eptr.KernelRegressor(domain=(0, 1), y_bound="private", strategy="tight").fit(X, y)
    with pytest.raises(eptr.BoundError, match="refined"):
        eptr.LinearRegression(x_bound="private", y_bound=3.0, strategy="tight").fit(X, y)


def test_float32_and_integers_are_welcome():
    X, y = rows(2000)
    model = eptr.LinearRegression(4.0, 1e-3, 3.0, 4.0, random_state=0)
    wide, narrow = model.fit(X.astype(np.float32), y).coef_, model.fit(X, y).coef_
    np.testing.assert_allclose(wide, narrow, atol=0.02)
    model.fit(np.rint(X * 10).astype(int), np.rint(y * 10).astype(int))


@EVERY
def test_a_new_fit_forgets_the_old_one(estimator):
    """A seeded fit's sums, left beside a private one, would publish the exact sums."""
    X, y = rows(300)
    model = clone(estimator).set_params(strategy="refined", random_state=0).fit(X, target(estimator, y))
    seeded = set(vars(model)) - set(model.get_params())
    model.set_params(strategy=estimator.strategy, random_state=None).fit(X, target(estimator, y))
    fresh = fitted(estimator, X, y)
    assert set(vars(model)) == set(vars(fresh))
    assert seeded
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    assert not hasattr(model, "release_")


@EVERY
def test_no_error_quotes_a_cell(estimator):
    X, y = rows(60)
    text = X.astype(object)
    text[5, 1] = "John Smith"
    labels = target(estimator, y).astype(object)
    with pytest.raises(eptr.DomainError) as caught:
        clone(estimator).fit(text, target(estimator, y))
    assert "John" not in str(caught.value) + str(caught.value.__context__)
    labels[5] = "Jane Doe"
    with pytest.raises(eptr.InputError) as caught:
        clone(estimator).fit(X, labels)
    assert "Jane" not in str(caught.value) + str(caught.value.__context__)


def test_missing_responses_are_dropped():
    X, y = rows(200)
    holes = y.astype(object)
    holes[3] = None
    assert np.isfinite(eptr.LinearRegression(x_bound=3.0, y_bound=4.0, invalid="drop").fit(X, holes).coef_).all()


@EVERY
def test_later_settings_do_not_change_what_was_promised(estimator):
    X, y = rows(300)
    model = fitted(estimator, X, y)
    before, text = model.predict(X), model.privacy_statement()
    model.set_params(rows_per_person=50, epsilon=9.0)
    model.plan(n=100, n_features=2)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.privacy_statement() == text
