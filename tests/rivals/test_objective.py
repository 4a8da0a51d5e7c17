"""Objective perturbation: published noise is evaluated, and the profile is one where nothing is left for noise."""

from __future__ import annotations

import math

import pytest

import eptr
from eptr import rivals
from eptr.estimators.linear.problem import Problem
from eptr.privacy.gaussian import gaussian_delta
from eptr.privacy.unit import Unit
from eptr.rivals import objective
from eptr.rivals.objective import perturbed_delta


def calibrated(epsilon, **settings):
    frame = Problem(eptr.Budget(epsilon, 1e-6), Unit(), 100, 3, 2.0, 1.0, False)  # R^2/4 = 1
    return rivals.ObjectivePerturbation(epsilon, 1e-6, 2.0, **settings)._calibrated(frame)


def test_published_noise_that_did_not_keep_its_claim_would_be_refused(monkeypatch):
    monkeypatch.setattr(objective, "perturbed_delta", lambda *arguments: 1.0001e-6)
    with pytest.raises(eptr.PrivacyError, match="published noise"):
        calibrated(1.0, form="literature")


@pytest.mark.parametrize(("epsilon", "jacobian"), [(1.0, 0.3 * 0.99), (8.0, 1.0)])
def test_curvature_has_three_tenths_of_epsilon_and_one_at_most(epsilon, jacobian):
    assert math.log1p(1.0 / calibrated(epsilon)[1]) == pytest.approx(jacobian)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_the_profile_holds_down_to_half_a_square_and_is_one_below(relation):
    """At e = mu^2/2 a dropped row has twice the profile of Gaussian noise, which is at most one there."""
    for mu in (0.5, 3.0, 80.0):
        e = mu**2 / 2.0
        assert perturbed_delta(e * 0.999, mu, 0.0, relation) == 1.0
        assert perturbed_delta(e * 1.001, mu, 0.0, relation) < 1.0
    at = float(gaussian_delta(80.0**2 / 1.998, 80.0))
    assert perturbed_delta(80.0**2 / 1.998, 80.0, 0.0, "zero-out") == pytest.approx(2.0 * at)
