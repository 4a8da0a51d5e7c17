"""Kernel regression: queries and whole functions, trends, what it refuses, and where rows are too few."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr.audit.replay import Replay

from ..test_catalogue import rows


def test_kernel_settings_are_typed_errors():
    X, y = rows(50)
    for settings, name in [
        (dict(y_bound=None), "y_bound"),
        (dict(y_bound=(1, 1)), "y_bound"),
        (dict(domain=None), "domain is missing"),
        (dict(domain=(1, 0)), "domain"),
        (dict(domain=[(0, 1)] * 3), "domain"),
        (dict(bandwidth=0.0), "bandwidth"),
        (dict(bandwidth=[0.1, 0.2, 0.3]), "bandwidth"),
        (dict(kernel="box"), "kernel"),
        (dict(kernel="epanechnikov"), "positive definite"),
        (dict(trend="cubic"), "trend"),
        (dict(budget="some"), "budget"),
        (dict(queries=[[1.0, 2.0, 3.0]]), "queries"),
    ]:
        with pytest.raises(ValueError, match=name):
            eptr.KernelRegressor(**{"domain": (0, 1), "y_bound": 1.0, **settings}).fit(X, y)


@pytest.mark.parametrize("end", [-2.0, 2.0])
def test_a_response_at_an_end_of_its_range_counts_whole(end):
    noise, X = Replay(0), np.linspace(-1, 1, 50)[:, None]
    model = eptr.KernelRegressor(domain=(-1, 1), y_bound=2.0, bandwidth=0.4, random_state=noise)
    model.fit(X, np.full(50, end))
    assert float(noise.calls[0].values) == 50 * end
    sums, counts = noise.calls[-1].values
    left = np.clip((end - model.trend_[-1]) / model.residual_radius_, -1.0, 1.0)
    np.testing.assert_allclose(sums, left * counts, atol=1e-6)


@pytest.mark.parametrize("trend", [None, "linear"])
def test_y_far_from_the_middle_of_a_wide_range_is_smoothed_around_its_mean(trend):
    found = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 8])
        x = rng.uniform(size=(2000, 1))
        truth = 90.0 + np.sin(6.0 * x[:, 0])
        model = eptr.KernelRegressor(1.0, 1e-6, (0, 1), 100.0, 0.05, trend=trend, random_state=seed)
        error = model.fit(x, truth + 0.2 * rng.normal(size=2000)).predict(x) - truth
        found.append(np.mean(error**2) / np.var(truth))
    assert np.mean(found) < 0.5  # around the middle: dozens


def test_the_mean_of_y_is_without_rows_that_are_dropped():
    noise, X, y = Replay(0), np.linspace(-1, 1, 50)[:, None], np.full(50, 4.5)
    X[::2] = np.nan
    # Whatever stands for y in a row that is dropped is not in the middle of the range.
    eptr.KernelRegressor(domain=(-1, 1), y_bound=(1.0, 5.0), bandwidth=0.4, invalid="drop", random_state=noise).fit(
        X, y
    )
    assert float(noise.calls[0].values) == 25 * 1.5
    assert float(np.sum(noise.calls[1].values)) == 25


def test_kernel_queries_split_or_spend_the_budget():
    X, y = rows(4000)
    options = dict(domain=(-2, 2), y_bound=4.0, bandwidth=0.5, queries=[[0.0, 0.0], [1.0, 1.0]], strategy="tight")
    total = eptr.KernelRegressor(2.0, 1e-5, **options).fit(X, y)
    each = eptr.KernelRegressor(2.0, 1e-5, budget="each", **options).fit(X, y)
    assert (total.release_.epsilon, each.release_.epsilon) == (2.0, 4.0)
    assert each.noise_ < total.noise_
    assert each.predict([[0.9, 0.9]])[0] == each.values_[1]


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "wendland"])
def test_whole_function_kernels(kernel):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6000, 2))
    f = lambda x: np.sin(4 * x[:, 0]) * x[:, 1]  # noqa: E731
    model = eptr.KernelRegressor(4.0, 1e-3, (0, 1), y_bound=1.5, bandwidth=[0.1, 0.2], kernel=kernel, random_state=0)
    error = model.fit(X, f(X) + 0.1 * rng.normal(size=6000)).predict(X[:500]) - f(X[:500])
    assert np.mean(error**2) < 0.03


def test_many_dimensions_are_capped_not_refused():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 16))
    model = eptr.KernelRegressor(4.0, 1e-3, (0, 1), y_bound=1.0, bandwidth=0.8, random_state=0).fit(X, X[:, 0])
    assert model.sums_.size <= 40_000
    assert np.isfinite(model.predict(X)).all()


def test_trend_carries_a_line_exactly_where_smoothing_alone_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 2))
    y = 3 * X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=3000)
    grid = rng.uniform(size=(500, 2))
    options = {"domain": (0, 1), "y_bound": (-2, 3), "bandwidth": 0.1, "random_state": 0}
    fits = [eptr.KernelRegressor(1.0, 1e-3, trend=t, **options).fit(X, y) for t in (None, "linear")]
    errors = [np.mean((fit.predict(grid) - 3 * grid[:, 0] + 2 * grid[:, 1]) ** 2) for fit in fits]
    assert errors[1] < 0.3 * errors[0]


def test_dropped_rows_do_not_enter_the_trend():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(2, 3, size=(2000, 1)), rng.uniform(1, 3, size=2000)
    options = dict(domain=(2, 3), y_bound=(1, 3), bandwidth=0.2, trend="linear", random_state=0, epsilon=8.0)
    some = np.where(np.arange(2000)[:, None] < 1000, X, np.nan)
    dropped = eptr.KernelRegressor(**options, invalid="drop").fit(some, y)
    kept = eptr.KernelRegressor(**options).fit(X[:1000], y[:1000])
    points = np.linspace(2, 3, 20)[:, None]
    np.testing.assert_allclose(dropped.predict(points), kept.predict(points), atol=0.15)


@pytest.mark.parametrize("strategy", ["refined", "tight"])
def test_a_kernel_fit_is_grey_where_the_rows_are_too_few(strategy):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2)) * [0.4, 1.0]
    queries = np.array([[0.2, 0.5], [0.8, 0.5]])
    model = eptr.KernelRegressor(4.0, 1e-3, (0, 1), y_bound=1.0, bandwidth=0.1, queries=queries, strategy=strategy)
    model.set_params(random_state=0).fit(X, X[:, 0])
    assert model.too_few(queries).tolist() == [False, True]
    one = clone(model).set_params(queries=queries[:, :1]).fit(X[:, :1], X[:, 0])
    for fitted_model, axes in ((model, 2), (one, 1)):
        assert len(fitted_model.plot().figure.axes) == axes  # a map has a colour bar
