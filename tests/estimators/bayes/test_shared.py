"""A covariance that is estimated: near linear discriminant analysis, in any units, and honest about few rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss

import eptr
from eptr.datasets import DatasetError, load_credit_default
from eptr.estimators.bayes.shared import COUNT, MEAN, _put_back, class_products
from eptr.estimators.mapped import Mapped
from eptr.rows.memory import MemoryRows


def people(n, seed=0, p=6, classes=2, wider=1.0):
    """Correlated columns in units from .01 to 1000, and ranges that are six standard deviations wide on either side.

    ``wider``: how much larger the standard deviations of the second class are.
    """
    rng = np.random.default_rng([seed, p])
    mix, units = np.eye(p) + rng.normal(size=(p, p)) / np.sqrt(p), 10.0 ** np.linspace(-2, 3, p)
    middle, centres = rng.normal(size=p), 1.5 * np.eye(p)[:classes]
    y = rng.choice(classes, p=[0.7, 0.3] if classes == 2 else None, size=n)
    X = ((rng.normal(size=(n, p)) * np.where(y == 1, wider, 1.0)[:, None] + centres[y]) @ mix.T + middle) * units
    far = 6.0 * wider * np.linalg.norm(mix, axis=1) * units
    return X, y, list(zip(middle * units - far, middle * units + far, strict=True))


def test_products_are_those_of_rows_around_the_centre_of_their_class_within_the_unit_ball():
    rng = np.random.default_rng(0)
    x, y, centres = rng.normal(size=(50, 2)), rng.integers(2, size=50), np.array([[0.0, 0.0], [1.0, -1.0]])
    units = (x - centres[y]) / 1.5
    units /= np.maximum(np.linalg.norm(units, axis=1), 1.0)[:, None]
    mapped = Mapped(np.zeros(2), np.ones(2), np.eye(2), np.zeros(2))
    counts, sums, square = class_products(MemoryRows(x, y, np.array([0, 1])), 2, mapped, centres, 1.5)
    np.testing.assert_array_equal(counts / COUNT, np.bincount(y))
    np.testing.assert_allclose(sums / MEAN, [units[y == k].sum(axis=0) for k in range(2)], atol=1e-3)
    np.testing.assert_allclose(square, units.T @ units, atol=1e-4)


def errors(X, y, test, truth, **settings):
    """Test errors of the private and of the plain fit."""
    private = eptr.BayesClassifier(covariance="shared", **settings).fit(X, y)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    return tuple(float(np.mean(model.predict(test) != truth)) for model in (private, plain))


@pytest.mark.parametrize(("classes", "wider"), [(2, 1.0), (3, 1.0), (2, 2.0)])
def test_columns_and_classes_of_unequal_variances_are_told_apart_as_without_privacy(classes, wider):
    found = []
    for seed in range(6):
        X, y, ranges = people(22_000, seed, classes=classes, wider=wider)
        train, test = slice(10_000), slice(10_000, None)
        found.append(errors(X[train], y[train], X[test], y[test], x_range=ranges, random_state=seed))
    private, plain = np.mean(found, axis=0)
    assert private < plain + 0.005
    assert plain < 0.3


def test_credit_default_is_told_as_without_privacy():
    try:
        X, y = load_credit_default(return_X_y=True)
    except DatasetError as problem:
        pytest.skip(str(problem))
    found = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:15_000], order[15_000:]
        found.append(errors(X[train], y[train], X[test], y[test], x_range=(-5, 8), random_state=seed))
    private, plain = np.mean(found, axis=0)
    assert private < plain + 0.005


def test_without_noise_to_speak_of_it_is_discriminant_analysis():
    X, y, ranges = people(30_000)
    model = eptr.BayesClassifier(1e5, 0.1, x_range=ranges, covariance="shared", random_state=0).fit(X, y)
    plain = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    spread = np.sqrt(np.diag(plain.covariance_))
    np.testing.assert_allclose(model.means_ / spread, plain.means_ / spread, atol=0.01)
    np.testing.assert_allclose(model.priors_, plain.priors_, atol=1e-3)
    np.testing.assert_allclose(
        model.covariance_ / np.outer(spread, spread), plain.covariance_ / np.outer(spread, spread), atol=0.02
    )
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=0.02)
    np.testing.assert_allclose(model.decision_function(X[:50]), plain.decision_function(X[:50]), atol=0.1)


def test_few_rows_are_answered_with_class_shares_rather_than_with_noise():
    losses = []
    for seed in range(10):
        X, y, ranges = people(250, seed, p=20)
        model = eptr.BayesClassifier(0.5, 1e-6, x_range=ranges, covariance="shared", random_state=seed).fit(X, y)
        losses.append(log_loss(y, model.predict_proba(X)))
    assert np.median(losses) < 1.5


@pytest.mark.parametrize(
    "settings", [{"x_bound": 4.0}, {"covariance": "shared", "x_range": (-6, 6)}], ids=["identity", "shared"]
)
@pytest.mark.parametrize("shares", [(0.97, 0.03), (0.7, 0.2, 0.08, 0.02)], ids=["two", "four"])
def test_rare_classes_are_not_told_by_noise(settings, shares):
    """Little worse than class shares, which are known up to noise themselves."""
    private, constant = [], []
    for seed in range(8):
        rng = np.random.default_rng([seed, len(shares)])
        y = rng.choice(len(shares), p=shares, size=5000)
        X = rng.normal(size=(5000, 8)) + rng.normal(size=(len(shares), 8))[y] / 2.0
        train, test = slice(1000), slice(1000, None)
        model = eptr.BayesClassifier(0.5, 1e-6, classes=list(range(len(shares))), random_state=seed, **settings)
        labels = range(len(shares))
        private.append(log_loss(y[test], model.fit(X[train], y[train]).predict_proba(X[test]), labels=labels))
        constant.append(log_loss(y[test], np.tile(shares, (4000, 1)), labels=labels))
    assert np.mean(private) < 1.5 * np.mean(constant)


def test_scores_are_linear_and_follow_from_the_released_parameters():
    X, y, ranges = people(3000)
    model = eptr.BayesClassifier(2.0, x_range=ranges, covariance="shared").fit(X, y)
    away = X[:100, None, :] - model.means_
    scores = np.log(model.priors_) - 0.5 * np.einsum("ikp,pq,ikq->ik", away, np.linalg.inv(model.covariance_), away)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], model.decision_function(X[:100]), rtol=1e-6, atol=1e-6)
    again = eptr.from_json(model.to_json())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert json.loads(model.to_json())["settings"]["covariance"] == "shared"
    assert np.linalg.eigvalsh(model.covariance_)[0] > 0.0


@pytest.mark.parametrize("n", [1000, 12_000])  # the second asks for the lengths of rows, too
def test_all_of_the_budget_is_spent_and_no_more(n, opened):
    X, y, ranges = people(n)
    eptr.BayesClassifier(x_range=ranges, covariance="shared").fit(X, y)
    (whole,) = opened
    assert 0.0 <= whole.remaining() < 1e-12 * whole.cost.mu**2
    assert len(whole.parts) - (4 if n < 10_000 else 5) in (0, 1, 2)  # closer looks, if a column seems to be narrow


def test_one_public_range_serves_columns_by_name_and_by_number():
    X, y, ranges = people(2000, p=3)
    frame = pd.DataFrame(X, columns=list("abc"))
    settings = {"covariance": "shared", "random_state": 3}
    by_name = eptr.BayesClassifier(x_range=dict(zip("abc", ranges, strict=True)), **settings).fit(frame, y)
    by_number = eptr.BayesClassifier(x_range=ranges, **settings).fit(X, y)
    np.testing.assert_array_equal(by_name.coef_, by_number.coef_)
    np.testing.assert_array_equal(by_name.x_range_, np.array(ranges))
    assert 0.0 <= by_name.outside_ < 0.05
    assert "shared covariance" in str(by_name.summary())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"covariance": "full", "x_bound": 3.0}, "covariance must be"),
        ({"covariance": "shared", "x_bound": 3.0, "strategy": "tight"}, "strategy='tight' needs covariance='identity'"),
        ({"x_range": (0, 1)}, "x_range is for covariance='shared'"),
        ({"covariance": "shared", "x_range": (0, 1), "x_bound": 3.0}, "say the same thing twice"),
        ({"covariance": "shared"}, r"x_range \(or x_bound\) is missing"),
        ({"covariance": "shared", "x_range": [(0, 1)] * 3}, "x_range has 3 pairs"),
    ],
)
def test_bad_settings_are_one_sentence(settings, said):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match=said):
        eptr.BayesClassifier(**settings).fit(X, X[:, 0] > 0)


def test_what_shortening_took_from_a_column_of_known_variance_is_put_back():
    matrix = np.eye(3) + 0.2  # symmetric, as a whitening is
    within = np.diag([1.0, 0.02, 1.0]) + 0.01
    values, vectors = np.linalg.eigh(matrix.T @ within @ matrix)  # in the coordinates of the looks
    root = (vectors / np.sqrt(values)) @ vectors.T
    shares, means = np.array([0.7, 0.3]), np.array([[5.0, 1.0, 0.0], [5.0, 1.2, 0.5]])
    between = np.diag(np.cov(means.T, aweights=shares, ddof=0))
    known = np.array([1.0, 0.3, 1.0])
    found = _put_back(root, matrix, means @ matrix, shares, known)
    back = np.linalg.inv(matrix)
    total = np.diag(back.T @ np.linalg.inv(found @ found) @ back) + between
    assert total[1] == pytest.approx(0.3, rel=1e-9)
