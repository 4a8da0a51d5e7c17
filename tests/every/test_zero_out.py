"""Our refined strategies where rows are dropped, and where a person has two rows: replayed, no pair costs more than mu."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import eptr

from ..replay import Replay, dropped, spent, two_rows

KERNEL = {"domain": (-1, 1), "y_bound": 2.0, "bandwidth": 0.4}
# A name, a model, the numbers of columns; and what share of mu the worst pair that was found costs, at least.
MODELS = {
    "linear": (eptr.LinearRegression(1.0, 1e-3, x_bound=1.5, y_bound=2.0), (1, 3), 0.95),
    "linear, banded": (eptr.LinearRegression(1500.0, 0.5, x_bound=1.5, y_bound=2.0), (3,), 0.9),
    "linear, warm start": (eptr.LinearRegression(4000.0, 0.5, x_bound=1.5, y_bound=2.0), (3,), 0.9),
    "linear, symmetric": (
        eptr.LinearRegression(1500.0, 0.5, x_bound=1.5, y_bound=2.0, symmetric_errors=True), (3,), 0.9
    ),
    # The first clip is the upper end of what y'y allows, and few rows in a range reach that.
    "linear, ranges": (eptr.LinearRegression(1.0, 1e-3, x_range=(-1, 2), y_range=(-1, 3)), (1, 3), 0.9),
    "linear, ranges, banded": (eptr.LinearRegression(1500.0, 0.5, x_range=(-1, 2), y_range=(-1, 3)), (3,), 0.9),
    "linear, private bounds": (eptr.LinearRegression(1.0, 1e-3, x_bound="private", y_bound="private"), (1, 3), 0.9),
    "linear, one number": (
        eptr.LinearRegression(1.0, 1e-3, x_bound=1.5, y_bound=2.0, fit_intercept=False), (1,), 0.95
    ),
    "additive": (eptr.AdditiveRegressor(1.0, 1e-3, (-1, 2), (-1, 3)), (1, 3), 0.9),
    "additive, banded": (eptr.AdditiveRegressor(1500.0, 0.5, (-1, 2), (-1, 3), terms="full"), (2,), 0.9),
    "additive, levels": (eptr.AdditiveRegressor(1.0, 1e-3, (-1, 2), (-1, 3), categories={0: [0, 1, 2]}), (2,), 0.9),
    "bayes": (eptr.BayesClassifier(1.0, 1e-3, x_bound=1.5, classes=[0, 1, 2]), (1, 3), 0.95),
    "bayes, one pass": (eptr.BayesClassifier(30.0, 0.1, x_bound=1.5, classes=[0, 1, 2]), (1, 3), 0.99),
    "bayes, private bound": (eptr.BayesClassifier(1.0, 1e-3, x_bound="private", classes=[0, 1, 2]), (3,), 0.9),
    "bayes, shared": (
        eptr.BayesClassifier(1.0, 1e-3, x_bound=1.5, classes=[0, 1, 2], covariance="shared"), (1, 3), 0.9
    ),
    "bayes, shared, ranges": (
        eptr.BayesClassifier(1.0, 1e-3, x_range=(-1, 2), classes=[0, 1, 2], covariance="shared"), (1, 3), 0.8
    ),
    "bayes, shared, private bound": (
        eptr.BayesClassifier(1.0, 1e-3, x_bound="private", classes=[0, 1, 2], covariance="shared"), (3,), 0.9
    ),
    "kernel": (eptr.KernelRegressor(1.0, 1e-3, **KERNEL), (1, 2), 0.95),
    "kernel, trend": (eptr.KernelRegressor(1.0, 1e-3, trend="linear", **KERNEL), (1, 2), 0.9),
    "kernel, private bound": (eptr.KernelRegressor(1.0, 1e-3, **KERNEL | {"y_bound": "private"}), (1,), 0.9),
}  # fmt: skip
CASES = [(name, p) for name, (_, columns, _) in MODELS.items() for p in columns]
EVERY = pytest.mark.parametrize(("name", "p"), CASES, ids=[f"{name}-{p}" for name, p in CASES])
WIDEST = pytest.mark.parametrize(("name", "p"), [(name, columns[-1]) for name, (_, columns, _) in MODELS.items()])


def worst(model, pair, trials, **settings):
    """The largest share of mu that a pair costs; half of the trials are enough where one costs all of it."""
    model, found = clone(model).set_params(**settings), 0.0
    for trial in range(trials):
        mu, epsilon = spent(model, *pair(), seed=trial)
        assert epsilon == 0.0
        found = max(found, mu / eptr.gaussian_mu(model.epsilon, model.delta))
        if 2 * trial >= trials and found > 0.999:
            break
    return found


def labels(model):
    return 3 if isinstance(model, eptr.BayesClassifier) else 0


@EVERY
def test_no_row_that_is_dropped_costs_more_than_mu(name, p):
    model, _, attained = MODELS[name]
    rng = np.random.default_rng(p)
    found = worst(
        model, lambda: dropped(rng, 12, p, labels(model)), 24, neighbours="zero-out", invalid="drop"
    )  # fmt: skip
    assert attained < found <= 1.0 + 1e-9


@WIDEST
def test_no_two_rows_of_one_person_that_are_dropped_cost_more_than_mu(name, p):
    model, _, attained = MODELS[name]
    rng = np.random.default_rng(10 + p)
    settings = {"neighbours": "zero-out", "invalid": "drop", "rows_per_person": 2}
    found = worst(model, lambda: dropped(rng, 12, p, labels(model), rows=2), 20, **settings)
    assert 0.85 * attained < found <= 1.0 + 1e-9


@WIDEST
def test_no_two_rows_of_one_person_that_are_replaced_cost_more_than_mu(name, p):
    model = MODELS[name][0]
    rng = np.random.default_rng(20 + p)
    found = worst(model, lambda: two_rows(rng, 12, p, labels(model)), 24, rows_per_person=2)
    assert 0.4 < found <= 1.0 + 1e-9


@WIDEST
def test_a_row_that_is_dropped_counts_as_one_that_is_replaced(name, p):
    """A row outside the domain is a row, too: under replace-one it may be what another row becomes."""
    model = MODELS[name][0]
    rng = np.random.default_rng(30 + p)
    found = worst(model, lambda: dropped(rng, 12, p, labels(model)), 12, invalid="drop")
    assert 0.3 < found <= 1.0 + 1e-9


@EVERY
def test_rows_that_are_all_dropped_add_nothing_to_any_sum(name, p):
    noise, n = Replay(0), 12
    model = clone(MODELS[name][0]).set_params(neighbours="zero-out", invalid="drop", random_state=noise)
    model.fit(np.full((n, p), np.nan), np.zeros(n, dtype=int))
    assert noise.calls
    assert all(np.all(call.values == 0.0) for call in noise.calls)


@pytest.mark.parametrize("columns", [{"x_bound": 1.5}, {"x_range": (-1, 2)}], ids=["bound", "ranges"])
def test_rows_that_are_dropped_add_nothing_where_a_range_does_not_hold_zero(columns):
    noise = Replay(0)
    settings = {"y_range": (10, 20), "fit_intercept": False, "invalid": "drop", "random_state": noise}
    eptr.LinearRegression(1.0, 1e-3, **columns, **settings).fit(np.full((12, 2), np.nan), np.zeros(12))
    assert noise.calls
    assert all(np.all(call.values == 0.0) for call in noise.calls)


@EVERY
def test_the_weaker_promise_draws_less_noise(name, p):
    """On the first sum, or on the estimate where less noise changes what is asked first."""
    model, (X, y) = MODELS[name][0], dropped(np.random.default_rng(0), 12, p, labels(MODELS[name][0]))[0]
    on_estimate = "ranges" in name or "trend" in name or (name.startswith("linear") and "private" not in name)
    scales = []
    for relation in ("replace-one", "zero-out"):
        noises = [Replay(seed) for seed in range(10 if on_estimate else 1)]
        settings = {"neighbours": relation, "invalid": "drop"}
        fits = [clone(model).set_params(random_state=noise, **settings).fit(X, y) for noise in noises]
        scales.append(np.median([fit.noise_ for fit in fits]) if on_estimate else noises[0].calls[0].scale)
    assert np.all(scales[1] < scales[0] * (1.0 if on_estimate else 0.8))  # what is asked follows what was released


@pytest.mark.parametrize("strategy", ["tight", "paper"])
@pytest.mark.parametrize("name", ["linear", "bayes", "kernel"])
def test_a_strategy_with_a_test_refuses_zero_out_in_a_sentence(name, strategy):
    model = clone(MODELS[name][0]).set_params(strategy=strategy, neighbours="zero-out")
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(eptr.InputError, match=f"strategy='{strategy}' is proven for neighbours='replace-one' alone"):
        model.fit(X, (X[:, 0] > 0).astype(int))
    assert not hasattr(model, "release_")


@pytest.mark.parametrize("name", ["linear", "bayes", "kernel"])
def test_the_release_says_who_is_protected(name):
    model = clone(MODELS[name][0]).set_params(neighbours="zero-out", rows_per_person=2)
    X = np.random.default_rng(0).normal(size=(60, 2))
    model.fit(X, (X[:, 0] > 0).astype(int))
    assert model.release_.neighbours == model.release_.cost.relation == "zero-out"
    assert model.release_.rows_per_person == 2
    assert model.release_.private
