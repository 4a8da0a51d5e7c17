"""Rivals of logistic regression: exact scores, curvature within its bounds, directions no neighbour moves further, figures."""

from __future__ import annotations

import math

import array_api_strict as xp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import eptr
from eptr import rivals
from eptr.estimators.linear.problem import Problem
from eptr.estimators.sigmoid import sigmoid
from eptr.privacy.unit import Unit
from eptr.rivals.dp_newton import _direction
from eptr.rivals.log_odds import curvature, score
from eptr.rivals.objective import perturbed_delta

LOGISTIC = (rivals.ClippedDescent, rivals.DPNewton, rivals.ObjectivePerturbation)
EVERY = pytest.mark.parametrize(
    ("method", "form"), [(m, f) for m in LOGISTIC for f in m.forms], ids=lambda v: getattr(v, "__name__", v)
)


def problem(n=40, p=3):
    return Problem(eptr.Budget(1.0, 1e-6), Unit(), n, p, 1.5, 1.0, True)


def test_the_sigmoid_is_right_and_the_same_on_every_array():
    t = np.concatenate([np.linspace(-45, 45, 20_001), [0.0, -1e300, 1e300, 5e-324]])
    np.testing.assert_allclose(sigmoid(t), expit(np.clip(t, -40, 40)), rtol=1e-11)
    assert sigmoid(t).min() >= 0.0
    assert sigmoid(t).max() <= 1.0
    np.testing.assert_array_equal(np.asarray(sigmoid(xp.asarray(t))), sigmoid(t))
    np.testing.assert_array_equal(np.concatenate([sigmoid(part) for part in np.array_split(t, 17)]), sigmoid(t))


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


@pytest.mark.parametrize("eigenvalues", ["shifted", "clipped"])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_no_row_moves_a_direction_further_than_is_paid_for(eigenvalues, relation):
    rng, frame, worst = np.random.default_rng(0), problem(), 0.0
    model, steep = rivals.DPNewton(eigenvalues=eigenvalues), frame.radius**2 / 4.0
    for _ in range(400):
        p = rng.integers(1, 5)
        here, there = rng.normal(size=(2, p))
        here, there = (v * math.sqrt(steep) / np.linalg.norm(v) for v in (here, there))
        others = rng.normal(size=(p, p)) * rng.choice([0.0, 0.1, 1.0])
        gradient, least = rng.normal(size=p) + rng.choice([0.0, 5.0]) * here, steep * 10.0 ** rng.uniform(-1, 2)
        common = others @ others.T
        last = np.outer(there, there) if relation == "replace-one" else 0.0
        one, two = (_direction(common + more, gradient, least, eigenvalues) for more in (np.outer(here, here), last))
        moved = np.linalg.norm(one - two)
        worst = max(worst, moved / model._moves(np.linalg.norm(gradient), least, frame).reach(relation))
    assert 0.3 < worst <= 1.0


@pytest.mark.parametrize("mu", [0.05, 0.2, 0.5])
def test_the_profile_of_a_perturbed_objective_is_the_integral_that_it_stands_for(mu):
    e = 0.9 - 0.2
    loss = lambda y: -math.expm1(min(0.0, e - mu**2 / 2 - mu * y))  # noqa: E731
    start = (e - mu**2 / 2) / mu
    plane = quad(lambda y: loss(y) * y * math.exp(-(y**2) / 2), start, start + 40, epsabs=0)[0]
    line = quad(lambda y: loss(y) * 2 * math.exp(-(y**2) / 2) / math.sqrt(2 * math.pi), start, start + 40, epsabs=0)[0]
    assert perturbed_delta(0.9, mu, 0.2, "replace-one") == pytest.approx(plane, rel=1e-6)
    assert perturbed_delta(0.9, mu, 0.2, "zero-out") == pytest.approx(line, rel=1e-6)


@pytest.mark.parametrize("form", rivals.ObjectivePerturbation.forms)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_a_perturbed_objective_keeps_its_claim_and_wastes_little_of_it(epsilon, form):
    frame = Problem(eptr.Budget(epsilon, 1e-6), Unit(), 100, 3, 1.5, 1.0, True)
    sigma, ridge = rivals.ObjectivePerturbation(epsilon, x_bound=1.5, form=form)._calibrated(frame)
    jacobian = math.log1p(frame.radius**2 / 4.0 / ridge)
    delta = perturbed_delta(0.99 * epsilon, 2.0 * frame.radius / sigma, jacobian, "replace-one")
    assert delta <= 0.99e-6
    assert (
        form == "literature"
        or delta > 0.9e-6
        or sigma == pytest.approx(2.0 * frame.radius / math.sqrt(2.0 * (0.99 * epsilon - jacobian)))
    )


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
