"""Boosted AdaSSP: its public code is convicted, and ours gains from its rounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import eptr
from eptr import rivals
from eptr.estimators.linear.problem import Problem
from eptr.privacy.unit import Unit
from eptr.rivals.boosted import _scores

from ..replay import spent


def test_the_public_code_of_boosted_adassp_is_convicted():
    """Its claim at (1, 1e-6) is mu = .24; a row beyond the bounds adds |x|^2 once and |x| tau in each of 100 rounds."""
    model = rivals.BoostedAdaSSP(1.0, 1e-6, 1.5, 2.0, fit_intercept=False, form="literature")
    X, y = np.full((2, 12, 1), 0.1), np.zeros((2, 12))
    X[0, 0], y[0, 0] = 10.0, 1e6
    X[1, 0] = 0.0
    mu, _ = spent(model, (X[0], y[0]), (X[1], y[1]))
    assert mu == pytest.approx(math.sqrt(102) / eptr.gaussian_mu(1.0, 1e-6), rel=1e-6)


def test_rounds_take_the_ridge_off_and_do_not_add_up_their_noise():
    rng, errors = np.random.default_rng(0), {1: [], 20: []}
    X = rng.normal(size=(3000, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=3000)
    for seed, rounds in itertools.product(range(12), errors):
        model = rivals.BoostedAdaSSP(1.0, 1e-6, 3.0, 4.0, rounds=rounds, fit_intercept=False, random_state=seed)
        errors[rounds].append(np.sum((model.fit(X, y).coef_ - [1.0, -1.0, 0.5, 0.0]) ** 2))
    assert np.mean(errors[20]) < 0.8 * np.mean(errors[1])


def test_a_row_beyond_the_bound_is_shortened_with_its_response_and_its_constant():
    """It says what a row of half its length says, of half the response: the line through both is the same."""
    problem = Problem(eptr.Budget(1.0, 1e-6), Unit(), 9, 2, 2.0, 9.0, True)
    theta, constant = np.array([0.3, -0.2, 0.1]), problem.constant
    for weighted, row, y in ((True, [0.0, 2.0, constant / 2], 1.5), (False, [0.0, 2.0, constant], 3.0)):
        (found,) = _scores(problem, theta, 9.0, weighted=weighted)(np.array([[0.0, 4.0]]), np.array([3.0]), None)
        np.testing.assert_allclose(found, np.array(row) * (y - row @ theta), rtol=1e-12)
