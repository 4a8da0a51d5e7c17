"""Rivals of logistic regression: exact scores, curvature within its bounds, directions no neighbour moves further, figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import eptr
from eptr import rivals
from eptr.estimators.linear.problem import Problem
from eptr.privacy.unit import Unit
from eptr.rivals.log_odds import curvature, score

LOGISTIC = (rivals.ClippedDescent, rivals.DPNewton, rivals.ObjectivePerturbation)
EVERY = pytest.mark.parametrize(
    ("method", "form"), [(m, f) for m in LOGISTIC for f in m.forms], ids=lambda v: getattr(v, "__name__", v)
)


def problem(n=40, p=3):
    return Problem(eptr.Budget(1.0, 1e-6), Unit(), n, p, 1.5, 1.0, True)


@pytest.mark.parametrize("sums", [score, curvature])
def test_sums_are_exact_in_any_pieces_bounded_row_by_row_and_nothing_for_a_dropped_row(sums):
    rng, frame = np.random.default_rng(0), problem()
    x, y, theta = rng.normal(size=(40, 3)) * [1.0, 30.0, 0.01], rng.integers(2, size=40), rng.normal(size=4)
    fn = sums(frame, theta)
    whole = fn(x, y, None)[0]
    np.testing.assert_array_equal(whole, sum(fn(x[i : i + 7], y[i : i + 7], None)[0] for i in range(0, 40, 7)))
    each = [fn(x[i : i + 1], y[i : i + 1], None)[0] for i in range(40)]
    bound = frame.radius if sums is score else frame.radius**2 / 4.0
    assert 0.2 * bound < max(np.linalg.norm(one) for one in each) <= bound
    assert np.all(fn(x, y, np.zeros(40, dtype=bool))[0] == 0.0)


@pytest.mark.parametrize("sums", [score, curvature])
def test_sums_are_those_of_their_formulas(sums):
    rng, frame = np.random.default_rng(0), Problem(eptr.Budget(1.0, 1e-6), Unit(), 40, 3, 9.0, 1.0, False)
    x, y, theta = rng.normal(size=(40, 3)), rng.integers(2, size=40), rng.normal(size=3)
    q = expit(x @ theta)
    formula = x.T @ (y - q) if sums is score else (x * (q * (1.0 - q))[:, None]).T @ x
    np.testing.assert_allclose(sums(frame, theta)(x, y, None)[0], formula, atol=2e-5)  # the grid of products is coarse


def test_curvature_is_exact_where_the_grid_is_as_fine_as_it_may_be():
    """4,095 rows at the bound: of 4,096 the grid would be twice as coarse, and of one that is finer sums would round."""
    n, rng = 4095, np.random.default_rng(0)
    x, nothing = rng.uniform(0.98, 1.0 - 1e-9, size=(n, 1)), np.zeros(n)
    fn = curvature(Problem(eptr.Budget(1.0, 1e-6), Unit(), n, 1, 1.0, 1.0, False), np.zeros(1))
    rows = [fn(x[i : i + 1], nothing[:1], None)[0].item() for i in range(n)]
    assert fn(x, nothing, None)[0].item() == fn(x[::-1], nothing, None)[0].item() == math.fsum(rows)


def people(seed, n=20_000, p=5):
    rng = np.random.default_rng([seed, 77])
    X = rng.normal(size=(n + 10_000, p))
    y = (rng.random(len(X)) < expit(X @ (1.0 / np.arange(1, p + 1)) - 1.0)).astype(int)
    return X[:n], y[:n], X[n:], y[n:]


@EVERY
def test_each_comes_near_maximum_likelihood_where_noise_is_small(method, form):
    X, y, test, truth = people(0)
    plain = LogisticRegression(C=1e9).fit(X, y)
    model = method(2.0, x_bound=4.0, form=form, random_state=0).fit(X, y)
    assert log_loss(truth, model.predict_proba(test)) < 1.02 * log_loss(truth, plain.predict_proba(test))
    assert model.coef_.shape == (1, 5)
    np.testing.assert_array_equal(model.predict(test), (model.decision_function(test) > 0).astype(int))
    if method is rivals.ObjectivePerturbation:  # nothing is clipped but a few rows
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=0.1)
        np.testing.assert_allclose(model.intercept_, plain.intercept_, atol=0.1)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (rivals.ClippedDescent(x_bound=1.0, steps=0), "steps"),
        (rivals.ClippedDescent(x_bound=1.0, clip=-1.0), "clip"),
        (rivals.ClippedDescent(x_bound=1.0, step_size="fast"), "step_size"),
        (rivals.DPNewton(x_bound=1.0, eigenvalues="bent"), "eigenvalues"),
        (rivals.DPNewton(x_bound=1.0, classes=[0, 1, 2]), "Only binary classification"),
        (rivals.ObjectivePerturbation(), "x_bound is missing"),
    ],
)
def test_bad_settings_are_named(model, said):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match=said):
        model.fit(X, (X[:, 0] > 0).astype(int))
