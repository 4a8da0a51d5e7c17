"""Objective perturbation: published noise is evaluated, and the profile is one where nothing is left for noise."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad

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
