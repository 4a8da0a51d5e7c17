"""Logistic regression ends at maximum likelihood where rows are enough, and says where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.logistic import SETTINGS, census, ours, plain
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import eptr
from eptr.estimators.logistic.likelihood import Several, Two
from eptr.estimators.logistic.look import look
from eptr.estimators.logistic.newton import CURVATURE_FINE, CURVATURE_SHARE, Newton, course
from eptr.estimators.sigmoid import decay
from eptr.estimators.whitening import whiten
from eptr.privacy.contribution import WeightedOuter
from eptr.privacy.unit import Unit
from eptr.rows.exact import product_grid
from eptr.rows.memory import MemoryRows

LIFE = {setting.name: setting for setting in SETTINGS}
RUNS, N = 5, 30_000
# Root mean square distance at epsilon 1, in robust standard errors; steps that are cut and left at that are 5 to 25 away.
FARTHEST = {
    "balanced": 0.7,
    "10 % positives": 1.0,
    "3 % positives": 1.8,
    "heavy-tailed columns": 1.3,
    "one-hot columns": 1.5,
}


@pytest.mark.parametrize("name", FARTHEST)
def test_the_fit_is_close_to_maximum_likelihood_and_its_intervals_hold_the_truth(name):
    setting, away, held = LIFE[name], [], []
    for seed in range(RUNS):
        X, y = setting.sample(N, seed)
        _, beta, errors = plain(X, y)
        model = ours(X, y, setting.bounds, 1.0, seed)
        away.append((model.fitted_.centre[0] - beta) / errors)
        low, high = model.conf_int().T
        held.append((low < setting.truth) & (setting.truth < high))
        assert np.all(high - low < 8.0 * 3.92 * errors)
        assert not model.undetermined_.any()
        assert model.corrected_
    assert np.sqrt(np.mean(np.square(away))) < FARTHEST[name]
    assert np.mean(held) >= 0.8


@pytest.mark.parametrize(("epsilon", "worse"), [(0.1, 0.2), (0.5, 0.05), (1.0, 0.02), (4.0, 0.01)])
def test_many_one_hot_columns_predict_nearly_as_well_as_without_privacy(epsilon, worse):
    setting = census(0)
    (X, y), (fresh, truth) = setting.sample(26_000, 0), setting.sample(8000, 1)
    exact = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    found = ours(X, y, setting.bounds, epsilon, 0)
    assert log_loss(truth, found.predict_proba(fresh)) < (1.0 + worse) * log_loss(truth, exact.predict_proba(fresh))


def test_steps_do_not_go_to_and_fro_where_the_curvature_is_mostly_noise():
    """A draw in which they would, and end 5 % higher."""
    setting = census(25)
    (X, y), (fresh, truth) = setting.sample(26_000, 25), setting.sample(8000, 10**6 + 25)
    exact = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    found = ours(X, y, setting.bounds, 4.0, 25)
    assert log_loss(truth, found.predict_proba(fresh)) < 1.01 * log_loss(truth, exact.predict_proba(fresh))
    assert not found.undetermined_.all()


def test_several_classes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    odds = X @ [[0.0, 1.0, -0.5], [0.0, -0.5, 0.7]] + [0.0, -1.0, 0.3]
    y = (rng.uniform(size=(N, 1)) > np.cumsum(softmax(odds, axis=1), axis=1)).sum(axis=1)
    exact = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    model = eptr.LogisticRegression(4.0, x_bound=2.2, classes=[0, 1, 2], random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_ - exact.coef_.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=0.02)
    low, high = model.conf_int().T
    truth = [1.0, -0.5, -1.0, -0.5, 0.7, 0.3]  # against the first class, the intercept last
    assert np.sum((low < truth) & (truth < high)) >= 5
    assert "log odds of 1 and of 2 (against 0)" in str(model.summary())


def test_two_classes_as_several_are_the_same_model():
    rng = np.random.default_rng(0)
    y, t = rng.integers(2, size=50).astype(float), rng.normal(size=50) * 3
    two, both = Two(0.3), Several(np.array([0.7, 0.3]))
    one, q = two.mean(t), both.mean(np.stack([np.zeros(50), t]))
    np.testing.assert_allclose(q[1], one, atol=1e-12)
    np.testing.assert_allclose(np.abs(both.residual(y, q)[0]), np.abs(two.residual(y, one)), atol=1e-12)
    np.testing.assert_allclose(sum(root[0] ** 2 for root in both.roots(q)), two.roots(one)[0] ** 2, atol=1e-12)
    for residual in ([0.1], [0.0], [-0.2]):
        sign = [-both.mix[0, 1] / abs(both.mix[0, 1]) * -residual[0]]
        assert both.information(np.array(sign)) == pytest.approx(two.information(np.array(residual)))
    assert two.information(np.zeros(1)) == pytest.approx(1.0)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.5, 0.3], [0.97, 0.01, 0.02]])
def test_the_model_without_slopes_has_unit_information(shares):
    """So lengths and shares of least squares carry over to rare classes."""
    shares = np.array(shares)
    model, covariance = Several(shares), np.diag(shares) - np.outer(shares, shares)
    np.testing.assert_allclose(model.mix @ covariance @ model.mix.T, np.eye(len(shares) - 1), atol=1e-9)
    np.testing.assert_allclose(softmax(model.start @ model.mix), shares, atol=1e-12)
    if len(shares) == 2:
        np.testing.assert_allclose(expit(Two(shares[1]).start * Two(shares[1]).mix[0]), shares[1])


def test_decay_is_exp():
    t = np.linspace(0.0, 40.0, 10_001)
    np.testing.assert_allclose(decay(t), np.exp(-t), rtol=1e-12)
    assert decay(np.array([0.0]))[0] == 1.0
    assert decay(np.array([1e300]))[0] == decay(np.array([40.0]))[0]


@pytest.mark.parametrize("mu", [0.02, 0.25, 1.0, 30.0])
@pytest.mark.parametrize("n", [50, 3000, 10**6])
@pytest.mark.parametrize("p", [1, 4, 40])
def test_shares_add_up_to_what_is_left(n, p, mu):
    plan = course(n, p, mu, 0.83)
    parts = [*plan.steps, *plan.passes, *plan.checks, plan.norms, plan.spread, plan.curvature]
    assert all(part >= 0.0 for part in parts)
    assert sum(parts) == pytest.approx(0.83, rel=1e-12)


def test_the_first_look_adds_up_rows_and_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), rng.integers(3, size=500).astype(float)
    seen = look(MemoryRows(X, y), 2.0, 1.5, 3)
    factor = np.minimum(1.0, 2.0 / np.linalg.norm(X, axis=1))
    rows = np.column_stack([X, np.full(500, 1.5)]) * factor[:, None]
    np.testing.assert_allclose(seen.gram, rows.T @ rows, rtol=1e-5)
    np.testing.assert_allclose(seen.sums, [rows[y == k].sum(axis=0) for k in range(3)], rtol=1e-5)
    np.testing.assert_array_equal(seen.counts, np.bincount(y.astype(int)))
    assert seen.outside == np.sum(factor < 1.0)


def test_the_first_look_is_exact_and_dropped_rows_are_in_none_of_it():
    X, y = np.array([[3.0, 0.0], [np.nan, 0.0], [0.0, 0.25]]), np.array([0.0, 1.0, 1.0])
    seen, some = (look(MemoryRows(X[k], y[k], drop_invalid=True), 1.0, 1000.1, 2) for k in ([0, 1, 2], [0, 2, 2]))
    grid = product_grid(3, 1000.1)
    for sums, unit in ((seen.gram, grid**2), (seen.sums, grid), (some.gram, grid**2)):
        np.testing.assert_array_equal(sums / unit, np.rint(sums / unit))
    constant = np.trunc(1000.1 / grid) * grid
    assert seen.gram[2, 2] == pytest.approx(constant**2 * (1.0 + 1 / 9), rel=1e-4)  # the first row is too long
    assert some.gram[2, 2] - seen.gram[2, 2] == constant**2
    assert seen.counts.tolist() == [1.0, 1.0]
    assert look(MemoryRows(X[:1], y[:1]), 1.0, None, 2).gram.shape == (2, 2)


def of(X, y):
    """A fit that has not begun, of two classes, with exact coordinates; and the sums it would begin with."""
    rows = MemoryRows(X, y.astype(float))
    seen = look(rows, 1e3, 1.0, 2)
    plan = course(len(X), X.shape[1] + 1, 100.0, 0.9)
    return Newton(Two(y.mean()), rows, 1e3, 1.0, whiten(seen.gram, 0.0, len(X)), None, plan, 1.0), seen.sums


def test_sums_of_the_classes_are_a_start_as_steep_as_maximum_likelihood():
    X, y = LIFE["balanced"].sample(N, 0)
    steep = np.array([1.5, -1.0, 0.5])
    y = (np.random.default_rng(0).uniform(size=N) < expit(X @ steep)).astype(int)
    newton, sums = of(X, y)
    np.testing.assert_allclose(newton.theta(newton.begun(sums, 0.0))[:3], steep, atol=0.1)


def test_a_start_of_noise_is_the_model_without_slopes():
    X = np.random.default_rng(0).normal(size=(N, 3))
    newton, sums = of(X, np.arange(N) % 50 == 0)
    np.testing.assert_allclose(newton.begun(sums, 1e3), newton.start)


@pytest.mark.parametrize(("phi", "share"), [([0.8, -0.5, 0.0], 0.5), ([0.4, 0.1, -0.6], 0.03)])
def test_expected_curvature_is_that_of_normal_rows_cut_or_not(phi, share):
    """In coordinates in which rows are normal; the last one is the constant."""
    rng, n = np.random.default_rng(0), 200_000
    X, y = rng.normal(size=(n, 2)), (np.arange(n) < share * n).astype(int)
    newton, _ = of(X, y)
    newton.whitening = whiten(n * np.eye(3), 0.0, n)
    newton.start, phi = newton.null(), np.array(phi)
    wide = np.column_stack([X, np.ones(n)])
    q = expit(wide @ newton.theta(phi))
    weight = q * (1.0 - q) / (share * (1.0 - share))
    trace = weight * np.sum(wide**2, axis=1)
    whole, cut = newton.expected(phi, 3.0)
    np.testing.assert_allclose(whole, (wide.T * weight) @ wide / n, rtol=0.03, atol=0.03)
    np.testing.assert_allclose(cut, (wide.T * weight * np.minimum(1.0, 3.0 / trace)) @ wide / n, atol=0.03)


# What cannot be answered.


def fit(X, y, epsilon=1.0, classes=(0, 1), **settings):
    return eptr.LogisticRegression(
        epsilon, 1e-6, classes=list(classes), random_state=0, **{"x_bound": 3.0} | settings
    ).fit(X, y)


def test_separated_classes_have_a_finite_answer_that_is_not_determined():
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    y = (X[:, 0] > 0).astype(int)
    model = fit(X, y, epsilon=8.0)
    assert np.all(np.isfinite(model.coef_))
    assert model.score(X, y) > 0.97
    assert model.undetermined_.all()
    assert "too few rows to say" in str(model.summary())


@pytest.mark.parametrize(
    ("slopes", "intercept"), [([3.0, -2.0, 1.0], 0.0), ([3.0, -2.0, 1.0], -6.0), ([8.0, -4.0, 2.0], 0.0)]
)
def test_steep_log_odds_are_found_or_said_to_be_undetermined(slopes, intercept):
    """Their curvature is next to none in their own direction; steps that took it for more stopped on the way."""
    rng, truth = np.random.default_rng(0), np.append(slopes, intercept)
    X = rng.normal(size=(N, 3))
    y = (rng.uniform(size=N) < expit(X @ slopes + intercept)).astype(int)
    model = fit(X, y, epsilon=4.0)
    away = (model.fitted_.centre[0] - truth) / np.sqrt(np.diag(model.covariance_))
    assert model.undetermined_.all() or np.max(np.abs(away)) < 4.0


def test_a_bound_that_is_far_too_large_has_an_answer():
    X, y = LIFE["balanced"].sample(N, 0)
    assert np.all(np.isfinite(fit(X, y, x_bound=50.0).coef_))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_a_class_without_rows_is_not_determined(epsilon):
    X = np.random.default_rng(0).normal(size=(5000, 2))
    model = fit(X, np.zeros(5000, dtype=int), epsilon)
    assert np.all(np.isfinite(model.coef_))
    assert model.undetermined_.all()
    assert model.predict_proba(X)[:, 1].mean() < 0.2


def test_a_class_of_one_per_cent_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = (rng.uniform(size=N) < expit(X[:, 0] - 5.2)).astype(int)
    model = fit(X, y, epsilon=4.0)
    assert abs(model.coef_[0, 0] - 1.0) < 0.4
    assert abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 0.002


def test_more_columns_than_rows_are_not_determined():
    rng = np.random.default_rng(0)
    with pytest.warns(eptr.SettingsWarning, match="more columns"):
        model = fit(rng.normal(size=(60, 80)), rng.integers(2, size=60), x_bound=15.0)
    assert np.all(np.isfinite(model.coef_))
    assert model.undetermined_.all()


def test_classes_are_asked_for():
    X, y = np.zeros((100, 1)), np.arange(100) % 2
    with pytest.raises(eptr.InputError, match="List the labels"):
        eptr.LogisticRegression(x_bound=1.0).fit(X, y)
    with pytest.raises(eptr.BoundError, match="twice"):
        eptr.LogisticRegression(x_bound=1.0, x_range=(0, 1), classes=[0, 1]).fit(X, y)
    with pytest.raises(eptr.BoundError, match=r"x_range \(or x_bound\) is missing\. Pass x_range, the ends"):
        eptr.LogisticRegression(classes=[0, 1]).fit(X, y)
    assert eptr.LogisticRegression(x_bound=1.0, classes="public").fit(X, y).classes_.tolist() == [0, 1]


def test_a_plan_is_of_the_size_of_what_happens():
    X, y = LIFE["balanced"].sample(N, 0)
    model = ours(X, y, LIFE["balanced"].bounds, 1.0, 0)
    planned = model.plan(N, 3)
    assert 0.3 < planned.noise_scale / model.noise_ < 3.0
    assert len(planned.standard_errors) == 4


def test_odds_ratios_are_exp_of_the_table():
    X, y = LIFE["balanced"].sample(N, 0)
    table = ours(X, y, LIFE["balanced"].bounds, 1.0, 0).summary()
    np.testing.assert_allclose(np.log(table.odds_ratios[:, 1:]), table.intervals)
    assert "Odds ratio" in str(table)
    assert "log odds of 1 (against 0)" in str(table)


def test_what_is_stored_predicts_the_same():
    X, y = LIFE["balanced"].sample(3000, 0)
    model = ours(X, y, LIFE["balanced"].bounds, 1.0, 0)
    again = eptr.from_json(model.to_json())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert str(again.summary()) == str(model.summary())


def test_the_noise_of_a_curvature_is_what_is_aimed_at():
    n, p, mu = 10**6, 8, 0.5
    plan = course(n, p, mu, 0.9)
    scale = WeightedOuter(plan.leverage, p).scale(Unit(), mu * np.sqrt(CURVATURE_SHARE))
    assert scale * np.sqrt(p) / n == pytest.approx(CURVATURE_FINE, rel=1e-6)


def test_standard_errors_of_sampling_where_noise_rules():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1.0, 1.0, size=(600, 2))
    y = (rng.uniform(size=600) < expit(x @ [1.0, -0.5])).astype(int)
    with pytest.warns(eptr.NotPrivateWarning):
        found = eptr.LogisticRegression(1.0, 1e-6, x_range=(-1, 1), classes=[0, 1], random_state=0).fit(x, y).fitted_
    assert not found.corrected
    wide = np.column_stack([x, np.ones(600)])
    mean = LogisticRegression(C=np.inf).fit(x, y).predict_proba(x)[:, 1]
    errors = np.sqrt(np.diag(np.linalg.inv(wide.T @ (wide * (mean * (1.0 - mean))[:, None]))))
    assert np.all(np.abs(np.log(found.se_sampling / errors)) < np.log(3.0))
