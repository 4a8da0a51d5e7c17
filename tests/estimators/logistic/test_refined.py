"""Rare classes: never far worse than a constant, nothing told that was not found, and the budget spent to the end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

import eptr
from eptr.estimators.logistic.likelihood import likelihood
from eptr.estimators.logistic.refined import told, without_slopes


def rare(n, p, intercept, seed):
    """Rows, and an outcome of which the first three columns tell something."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (rng.uniform(size=n) < expit(X[:, :3] @ [1.0, -0.7, 0.5] + intercept)).astype(int)


def fitted(X, y, epsilon, seed, **settings):
    given = {"x_bound": 1.5 * np.sqrt(X.shape[1]), "classes": [0, 1]} | settings
    return eptr.LogisticRegression(epsilon, 1e-6, random_state=seed, **given).fit(X, y)


# Of the log loss of a constant: at epsilon .25 the share itself is known up to a few per cent of all rows.
@pytest.mark.parametrize(
    ("n", "p", "intercept", "epsilon", "most"),
    [
        (500, 3, -5.3, 1.0, 1.15),
        (500, 20, -5.3, 0.25, 1.6),
        (5000, 20, -5.3, 0.25, 1.15),
        (30_000, 20, -5.3, 1.0, 1.15),
    ],
)
def test_a_rare_class_is_predicted_about_as_well_as_by_a_constant(n, p, intercept, epsilon, most):
    ours, constant = [], []
    fresh, truth = rare(20_000, p, intercept, 99)
    for seed in range(6):
        X, y = rare(n, p, intercept, seed)
        ours.append(log_loss(truth, fitted(X, y, epsilon, seed).predict_proba(fresh)))
        constant.append(log_loss(truth, np.full(len(truth), max(y.mean(), 0.5 / n))))
    assert np.mean(ours) < most * np.mean(constant)


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
@pytest.mark.parametrize("bounds", [{}, {"x_bound": None, "x_range": (-4, 4)}])
def test_where_no_slope_is_sought_none_is_told_and_all_is_spent(classes, bounds):
    X, _ = rare(400, 3, -4.0, 0)
    model = fitted(X, np.zeros(len(X), int), 0.5, 0, classes=classes, **bounds)
    assert not model.coef_.any()
    assert model.undetermined_.all()
    assert "too few rows to say" in str(model.summary())
    np.testing.assert_allclose(model.predict_proba(X), np.tile(model.shares_, (len(X), 1)), atol=1e-12)
    spent = sum(draw.spent**2 for draw in model.release_.record.draws)
    np.testing.assert_allclose(spent, model.release_.cost.mu**2, rtol=1e-9)


def test_counts_are_told_between_none_and_all_rows():
    np.testing.assert_allclose(told(np.array([900.0, 100.0]), 1e-3, 1000), [900.0, 100.0], atol=1e-6)
    for noisy in ([1500.0, -400.0], [-9000.0, 9000.0], [300.0, 200.0]):
        assert np.all((told(np.array(noisy), 200.0, 1000) >= 0.0) & (told(np.array(noisy), 200.0, 1000) <= 1000.0))


def test_a_normal_cut_at_zero_has_the_mean_of_the_counts_it_tells():
    """Drawn: counts with nothing else known, their noise, and the mean of those whose released number was about that."""
    rng = np.random.default_rng(0)
    true = rng.uniform(0.0, 1000.0, 2_000_000)
    noise = rng.normal(size=(2, len(true))) * 100.0
    seen = true + (noise[0] - noise[1]) / 2.0  # both counts add up to 1000
    for at in (-50.0, 20.0, 400.0):
        near = np.abs(seen - at) < 5.0
        assert abs(np.mean(true[near]) - told(np.array([at, 1000.0 - at]), 100.0, 1000)[0]) < 2.0


def test_counts_add_up_to_all_rows_unless_more_are_missing_than_noise_explains():
    limit = 3.0 * 10.0 * np.sqrt(2.0)
    for missing, whole in [(0.99 * limit, True), (1.01 * limit, False)]:
        found = told(np.array([500.0, 500.0 - missing]), 10.0, 1000)
        assert np.sum(found) == pytest.approx(1000.0 if whole else 1000.0 - missing, rel=1e-9)


def test_a_count_near_none_is_the_mean_of_what_it_can_be():
    """Of a normal density cut at 0; knowing the total takes its share off the noise of each of two classes."""
    found = told(np.array([5.0, 995.0]), 10.0, 1000)
    at = (np.arange(2_000_000) + 0.5) / 2000.0
    density = np.exp(-(((at - 5.0) / (10.0 * np.sqrt(0.5))) ** 2) / 2.0)
    assert found[0] == pytest.approx(at @ density / np.sum(density), rel=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_without_slopes_has_the_odds_of_its_shares_and_their_errors(classes):
    shares, noise, n = np.array([0.7, 0.2, 0.1])[-classes:], 0.003, 4000
    shares = shares / np.sum(shares)
    public = eptr.LogisticRegression(1.0, 1e-6, x_bound=2.0, classes=list(range(classes)))._public(n, 2, classes)
    found = without_slopes(shares, noise, public, 0.0)
    coefficients = found.classes @ found.solution.phi.reshape(-1, 3)
    np.testing.assert_allclose(coefficients[:, -1] * public.constant, np.log(shares[1:] / shares[0]), rtol=1e-12)
    assert not coefficients[:, :2].any()
    size = np.linalg.norm(likelihood(shares).mix, 2)
    assert found.solution.noise == pytest.approx(noise * size / public.constant, rel=1e-12)
    sampling = np.eye(3 * (classes - 1)) / (n * public.constant**2)
    np.testing.assert_allclose(found.solution.sampling, sampling, rtol=1e-12)
    np.testing.assert_allclose(
        found.solution.covariance, sampling + found.solution.noise**2 * np.eye(3 * (classes - 1)), rtol=1e-12
    )
    assert found.solution.residual_square == 1.0
    assert found.undetermined.all()
