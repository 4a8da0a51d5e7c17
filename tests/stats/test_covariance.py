"""Covariances and correlations: the set that holds what a row adds, and matrices that are some."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr import stats
from eptr.estimators.mapped import Mapped
from eptr.rows.memory import MemoryRows
from eptr.stats.covariance import COUNT, FOURTH, MEAN, Products, _products

from ..silent import Silent
from .test_moments import points

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_products_stay_within_their_set(d, relation):
    rng = np.random.default_rng(0)
    upper = np.triu_indices(d, 1)

    def flat(v):
        matrix = np.einsum("ki,kj->kij", v, v)
        return np.concatenate([np.diagonal(matrix, axis1=1, axis2=2), math.sqrt(2.0) * matrix[:, *upper]], axis=1)

    def added(u):
        return np.concatenate([np.full((len(u), 1), COUNT), MEAN * u, flat(u), FOURTH * flat(u**2)], axis=1)

    one, two = (added(points(rng, 40_000, d)) for _ in range(2))
    moved = np.linalg.norm(one - two if relation == "replace-one" else one, axis=1).max()
    reach = Products(1.0, d, 0.0, True).reach(relation)
    assert 0.95 * reach < moved <= reach * (1.0 + 1e-12)


def test_products_are_those_of_rows_in_units_of_the_radius_within_the_unit_ball():
    x = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 3.0]
    whitened = Mapped(np.zeros(2), np.ones(2), np.diag([1.0, 1 / 3]), np.zeros(2))
    units = x @ np.diag([1.0, 1 / 3]) / 2.0
    units /= np.maximum(np.linalg.norm(units, axis=1), 1.0)[:, None]
    bounds = np.array([[-9.0, 9.0], [-20.0, 20.0]])
    found = _products(MemoryRows(x), whitened, bounds, 2.0, True, Silent(size=0.0), 1.0)
    for numbers, truth in (
        (found.mean, units.mean(axis=0)), (found.square, units.T @ units / 50), (found.fourth, (units**2).T @ units**2 / 50)
    ):  # fmt: skip
        np.testing.assert_allclose(numbers, truth, atol=1e-6)
    assert found.n == 50.0


def test_matrices_are_positive_semidefinite_and_correlations_within_one():
    rng = np.random.default_rng(0)
    for seed in range(10):
        X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
        X[:, 3] = X[:, 0]
        value = stats.covariance(X, (-100, 100), epsilon=0.5, random_state=seed).value
        assert np.linalg.eigvalsh(value)[0] >= -1e-9 * np.trace(value)
        answer = stats.correlation(X, (-100, 100), epsilon=0.5, random_state=seed)
        assert np.all(np.abs(answer.value) <= 1.0)
        assert np.all((answer.low >= -1.0) & (answer.high <= 1.0))
        np.testing.assert_array_equal(np.diag(answer.value), 1.0)


def test_a_rare_flag_does_not_drown_the_correlations_of_others():
    """Its few rows are long, but not so long that the noise of all columns is theirs."""
    errors, pairs = [], np.triu_indices(3, 1)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(20_000, 3)) + rng.normal(size=(20_000, 1)), rng.random(20_000) < 0.01])
        found = stats.correlation(X, [(-40, 40)] * 3 + [(0, 1)], epsilon=1.0, random_state=seed).value
        errors.append((found - np.corrcoef(X.T))[pairs])
    assert np.sqrt(np.mean(np.square(errors))) < 0.12


def test_intervals_of_correlations_that_noise_drowns_reach_both_ends():
    held = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = math.sqrt(0.98) * rng.normal(size=(500, 1)) + math.sqrt(0.02) * rng.normal(size=(500, 4))
        found = stats.correlation(X, (-40, 40), epsilon=0.5, random_state=seed)
        held.append(((found.low <= 0.98) & (found.high >= 0.98))[np.triu_indices(4, 1)])
    assert np.mean(held) >= 0.9


def test_flags_of_every_share_keep_their_correlations():
    """Its rows were nineteen spreads long: correlations of even flags were .065 off with 20,000 rows, and .05 with 5,000."""
    away = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=20_000)
        X = np.column_stack([(common + rng.normal(size=20_000) > cut) * 1.0 for cut in (0, 1, 2, 3)])
        found = stats.correlation(X, [(0, 1)] * 4, epsilon=1, random_state=seed)
        exact = np.corrcoef(X.T)
        assert np.mean((found.low <= exact + 1e-12) & (exact <= found.high + 1e-12)) > 0.8
        away.append((found.value - exact)[0, 1])
    assert np.sqrt(np.mean(np.square(away))) < 0.035


@pytest.mark.parametrize("unit", [1e-9, 1e6, 1e40])
def test_correlations_do_not_depend_on_units(unit):
    """Columns whose sizes differ by a million were uncorrelated to six digits, in their intervals, too."""
    rng = np.random.default_rng(0)
    same = rng.normal(size=4000)
    X = np.column_stack([50.0 + 10.0 * same + 10.0 * rng.normal(size=4000), same + rng.normal(size=4000)])
    answers = [
        stats.correlation(X * [u, 1.0], [(0.0, 200.0 * u), (-10.0, 20.0)], epsilon=2.0, random_state=0)
        for u in (1.0, unit)
    ]
    for what in ("value", "low", "high"):
        one, other = (getattr(answer, what) for answer in answers)
        np.testing.assert_allclose(one, other, atol=1e-6)
