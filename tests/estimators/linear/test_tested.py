"""Tested least squares: the noise of a reply."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr
from eptr.audit.replay import Replay
from eptr.estimators.linear.bounds import tight_rule
from eptr.privacy.ladder import DEFAULT_SLACK
from eptr.privacy.mechanism import _plan
from eptr.privacy.rung import ladder_rung


def test_tight_and_paper_noise_follow_their_formulas():
    n, R, R_t, c0 = 8000, 4.0, 1.0, 0.5
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + rng.normal(size=n)
    options = dict(epsilon=1.0, delta=0.01, x_bound=R, y_bound=R, coef_bound=R_t, c0=c0, fit_intercept=False)
    paper = eptr.LinearRegression(**options, strategy="paper").fit(X, y)
    assert paper.noise_ == pytest.approx(4 * R * R * R_t / (c0 * n) * 2 * math.sqrt(2 * math.log(125)), rel=1e-6)
    tight = eptr.LinearRegression(**options, strategy="tight").fit(X, y)
    assert tight.noise_ == pytest.approx(2.598 * R * R * R_t / (c0 * n) * 1.05 / eptr.gaussian_mu(1.0, 0.01), rel=1e-3)
    assert paper.released_
    assert tight.released_


@pytest.mark.parametrize("size", [20, 30, 40])
def test_a_tight_fit_flips_the_coin_of_its_rung(size):
    """Rows along the axes: the smallest eigenvalue is the number of rows along one of them."""
    X, noise = np.repeat(np.eye(2), size, axis=0), Replay(0)
    settings = dict(epsilon=1.0, delta=1e-6, x_bound=1.0, y_bound=1.0, coef_bound=1.0, c0=0.05, fit_intercept=False)
    eptr.LinearRegression(**settings, strategy="tight", random_state=noise).fit(X, np.zeros(2 * size))
    rule = tight_rule(2 * size, 2, 1.0, 1.0, 1.0, 0.05, 1)
    rung = ladder_rung(float(size), rule.threshold, rule.lipschitz, rule.safety_error)
    steps = _plan("tight", 1.0, 1e-6, DEFAULT_SLACK, None).test
    assert 0 < rung < steps.top
    assert noise.calls[0].values == steps.numerator(rung) / 2**steps.bits
