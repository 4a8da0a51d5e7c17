"""DP-Newton: what a direction may move by, form by form, and the published budget."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr
from eptr import rivals
from eptr.estimators.linear.problem import Problem
from eptr.privacy.unit import Unit
from eptr.rivals.dp_newton import _direction, concentrated

from .test_log_odds import problem as rows_and_bounds


def problem(budget):
    return Problem(budget, Unit(), 40, 3, 2.0, 1.0, False)  # R^2/4 = 1


@pytest.mark.parametrize(
    ("form", "eigenvalues", "replaced", "dropped"),
    [
        ("repaired", "shifted", 2 / 6, 1 / 6),  # twice a dropped row
        ("repaired", "clipped", math.sqrt(2) / 4, 1 / 4),  # the difference of two outer products is sqrt 2 long
        ("literature", "shifted", 2 / (2 * 3), 1 / 6),
        ("literature", "clipped", 2 / (2 * 1), 1 / 4),
    ],
)
def test_a_direction_moves_as_far_as_the_proof_says(form, eigenvalues, replaced, dropped):
    """Eigenvalues of 2 at least, of which a row adds 1; a gradient of length 3."""
    model = rivals.DPNewton(form=form, eigenvalues=eigenvalues)
    moves = model._moves(3.0, 2.0, problem(eptr.Budget(1.0, 1e-6)))
    assert (moves.diameter, moves.distance) == pytest.approx((3 * replaced, 3 * dropped), rel=1e-8)
    assert moves.diameter >= 3 * replaced
    assert moves.distance >= 3 * dropped


def test_twice_a_dropped_row_is_less_than_two_outer_products_only_if_eigenvalues_are_small():
    moves = rivals.DPNewton(eigenvalues="shifted")._moves(1.0, 1e-3, problem(eptr.Budget(1.0, 1e-6)))
    assert moves.diameter == pytest.approx(2.0 / (1e-3 * 1.001), rel=1e-6)


def test_the_published_budget_is_that_of_concentrated_privacy():
    budget = eptr.Budget(1.5, 1e-5)
    mu = rivals.DPNewton(1.5, 1e-5, x_bound=2.0, form="literature")._cost(problem(budget)).mu
    rho = mu**2 / 2.0
    assert rho == pytest.approx(concentrated(budget))
    assert rho + 2.0 * math.sqrt(rho * math.log(1e5)) == pytest.approx(1.5)


@pytest.mark.parametrize("eigenvalues", ["shifted", "clipped"])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_no_row_moves_a_direction_further_than_is_paid_for(eigenvalues, relation):
    rng, frame, worst = np.random.default_rng(0), rows_and_bounds(), 0.0
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
