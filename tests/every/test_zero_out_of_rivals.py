"""Rivals where rows are dropped: replayed, no pair costs more than the claim; forms that are not proven for it refuse."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import eptr
from eptr.rivals.catalogue import RIVALS

from ..replay import dropped, spent

SETTINGS = {
    "classification": {"x_bound": 1.5},
    "regression": {"x_bound": 1.5, "y_bound": 2.0},
    "function": {"domain": (-1, 1), "y_bound": 2.0},
}


def settings(entrant):
    labels = {"classes": list(range(entrant.labels))} if entrant.labels else {}
    return SETTINGS[entrant.task] | dict(entrant.needs if entrant.two_classes else {}) | labels


PROVEN = [e for e in RIVALS if e.variant in e.estimator.zero_out]
OTHERS = [e for e in RIVALS if e.variant not in e.estimator.zero_out]
# What share of the budget the worst pair that was found costs, at least. A gradient is largest where a row meets the
# released coefficients, which no row does in every step of DPGD; one row is not the least and the largest for AdaSSP at once;
# DP-Newton divides by a matrix that is more than one row.
ATTAINED = {"DPGD-repaired": 0.7, "AdaSSP-repaired": 0.95, "BoostedAdaSSP-repaired": 0.9, "DPNewton-repaired": 0.6}


def name(entrant):
    return entrant.name


def worst(entrant, p, trials, **more):
    model = entrant.make(epsilon=1.0, delta=1e-3, neighbours="zero-out", invalid="drop", **settings(entrant) | more)
    rng, pure = np.random.default_rng(p), entrant.guarantee == "pure"
    labels = entrant.labels
    found = [spent(model, *dropped(rng, 12, p, labels), seed=trial) for trial in range(trials)]
    assert all((mu if pure else epsilon) == 0.0 for mu, epsilon in found)
    return max(epsilon if pure else mu / eptr.gaussian_mu(1.0, 1e-3) for mu, epsilon in found)


def test_forms_that_claim_it_are_those_with_sums():
    assert sorted(map(name, PROVEN)) == [
        "AdaSSP-repaired", "BinnedKernel-repaired", "BoostedAdaSSP-repaired", "ClippedDescent-repaired", "DPGD-clipped",
        "DPGD-repaired", "DPNB-coordinates", "DPNB-repaired", "DPNewton-repaired", "FunctionalMechanism-repaired",
        "NoisyStatistics-repaired", "ObjectivePerturbation-repaired", "WaveletEstimator-repaired",
    ]  # fmt: skip


@pytest.mark.parametrize("entrant", [e for e in PROVEN if e.noise == "added"], ids=name)
@pytest.mark.parametrize("p", [1, 3])
def test_no_row_that_is_dropped_costs_more_than_the_claim(entrant, p):
    attained = 1.0 / np.sqrt(3.0) - 0.01 if entrant.name == "DPNB-coordinates" and p == 3 else 0.999
    found = worst(entrant, p, 60)
    assert min(attained, ATTAINED.get(entrant.name, 1.0)) < found <= 1.0 + 1e-9


@pytest.mark.parametrize("basis", ["cosine", "haar"])
@pytest.mark.parametrize("density", ["estimate", "uniform"])
def test_no_row_that_is_dropped_costs_a_series_more_than_the_claim(basis, density):
    entrant = next(e for e in PROVEN if e.name == "WaveletEstimator-repaired")
    assert 0.95 < worst(entrant, 1, 40, basis=basis, density=density) <= 1.0 + 1e-9


def test_one_step_of_descent_from_zero_costs_what_a_row_and_its_response_say():
    """At zero the gradient is x y: R Y of the R (Y + R C) that is paid for."""
    entrant = next(e for e in PROVEN if e.name == "DPGD-repaired")
    settings = {"steps": 1, "fit_intercept": False}
    assert worst(entrant, 1, 40, **settings) == pytest.approx(2.0 / (2.0 + 1.5), rel=1e-6)
    # Without coefficients to speak of, the whole is attained.
    assert worst(entrant, 1, 40, coef_bound=1e-6, **settings) > 0.999


@pytest.mark.parametrize("entrant", OTHERS, ids=name)
def test_every_other_form_refuses_zero_out_in_a_sentence(entrant):
    model = entrant.make(**{} if entrant.estimator.__name__ == "TukeyEM" else settings(entrant))
    model.neighbours = "zero-out"  # some have no such parameter, and must refuse all the same
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(eptr.InputError, match=r"not proven for neighbours='zero-out'; use 'replace-one'"):
        model.fit(X, (X[:, 0] > 0).astype(int))
    assert not hasattr(model, "release_")


@pytest.mark.parametrize("entrant", PROVEN, ids=name)
def test_the_release_of_a_rival_says_who_is_protected(entrant):
    model = entrant.make(neighbours="zero-out", **settings(entrant))
    X = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))
    model.fit(X, (X[:, 0] > 0).astype(int))
    assert model.release_.neighbours == model.release_.cost.relation == "zero-out"
    assert model.release_.private


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.6, 0.7, 1.3, 2.9, 3.0, 7.7])
@pytest.mark.parametrize("entrant", [e for e in RIVALS if e.private and e.sums], ids=name)
def test_no_epsilon_is_refused_because_of_rounding(entrant, epsilon):
    X = np.random.default_rng(0).uniform(-1, 1, size=(60, 1))
    model = entrant.make(epsilon=epsilon, delta=1e-6, random_state=0, **settings(entrant))
    # A calibration that does not hold is refused as such, before anything is computed.
    refused = entrant.variant == "literature" and entrant.estimator.__name__ == "AdaSSP" and epsilon > 2.0
    with pytest.raises(eptr.PrivacyError, match="published") if refused else nullcontext():
        model.fit(X, (X[:, 0] > 0).astype(int))
