"""Intervals of least squares: how they read, what widens them, and that they cover."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import eptr


def study(n, seed, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 0.4 + X @ np.linspace(1, -1, p) + rng.normal(size=n), np.append(np.linspace(1, -1, p), 0.4)


def test_summary_reads_like_lm():
    # Of 4,000 rows noise decides, in three fits of a hundred, what is said of bounds and clipping.
    X, y, _ = study(8000, 0)
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    summary = eptr.LinearRegression(1.0, 1e-5, 3.0, 5.0).fit(frame, y).summary()
    text = str(summary)
    for word in ("Estimate", "Std. Error", "Pr(>|z|)", "age", "dose", "weight", "(Intercept)", "Signif. codes"):
        assert word in text
    assert "(1, 1e-05)-differentially private" in text
    assert "provided that large errors are rare" in text
    (low, high) = re.search(r"on 8,000 rows. Beyond the bounds: (\S+) to (\S+) % of them", text).groups()
    assert float(low) <= 100.0 * summary.outside <= float(high) < 30.0
    assert repr(summary) == text
    assert summary.intervals.shape == (4, 2)
    assert "NOT PRIVATE" in str(eptr.LinearRegression(1.0, 1e-5, 3.0, 5.0, random_state=0).fit(X, y).summary())


def test_intervals_widen_with_level_and_privacy():
    X, y, _ = study(4000, 0)
    model = eptr.LinearRegression(1.0, 1e-5, 3.0, 5.0, random_state=0).fit(X, y)
    width = lambda m, level: np.diff(m.conf_int(level), axis=1).mean()  # noqa: E731
    assert width(model, 0.99) > width(model, 0.95) > width(model, 0.5)
    strict = eptr.LinearRegression(0.1, 1e-5, 3.0, 5.0, random_state=0).fit(X, y)
    assert width(strict, 0.95) > 2 * width(model, 0.95)
    with pytest.raises(eptr.InputError, match="level"):
        model.conf_int(1.5)


@pytest.mark.parametrize("settings", [{}, {"symmetric_errors": True}], ids=["least squares", "symmetric"])
@pytest.mark.parametrize(("epsilon", "near"), [(0.1, 0.6), (1.0, 0.3), (50.0, 0.1)])
def test_the_part_of_an_error_that_is_sampling_does_not_depend_on_epsilon(epsilon, near, settings):
    """It is the standard error of least squares, 1/sqrt(n) here, as far as the noise lets it be seen."""
    X, y, _ = study(20_000, 0)
    fitted = eptr.LinearRegression(epsilon, 1e-5, 3.0, 5.0, random_state=0, **settings).fit(X, y).fitted_
    assert np.all(fitted.se_sampling**2 <= np.diag(fitted.covariance))
    np.testing.assert_allclose(fitted.se_sampling, 20_000**-0.5, rtol=near)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("n", [2000, 8000])
def test_intervals_cover(n, epsilon):
    """500 runs x 4 coefficients: a standard error of half a per cent. benchmarks/coverage.py runs the whole grid."""
    hits = []
    for seed in range(500):
        X, y, truth = study(n, seed)
        low, high = eptr.LinearRegression(epsilon, 1e-2, 3.0, 5.0, random_state=seed).fit(X, y).conf_int().T
        hits.append((low <= truth) & (truth <= high))
    # Where no curvature can be released, and where a count cannot tell whether the clipping was undone, rather too wide.
    assert 0.92 < np.mean(hits) < 0.9925


def test_tested_strategies_say_why_they_have_no_intervals():
    X, y, _ = study(4000, 0)
    model = eptr.LinearRegression(4.0, 1e-2, 3.0, 5.0, coef_bound=2.0, strategy="tight").fit(X, y)
    with pytest.raises(eptr.InputError, match="refined"):
        model.summary()


@pytest.mark.parametrize(("ones", "said"), [(3, True), (1500, False)])
def test_a_table_says_that_others_may_stand_for_what_is_not_told(ones, said):
    rng, n = np.random.default_rng(0), 5000
    X = np.column_stack([rng.normal(size=n), np.arange(n) < ones])
    fit = eptr.LinearRegression(4.0, 1e-6, x_range=[(-4, 4), (0, 1)], y_range=(-8, 8), random_state=0)
    fit.fit(X, X[:, 0] + rng.normal(size=n))
    assert ("may pick up its effect" in str(fit.summary())) == said
