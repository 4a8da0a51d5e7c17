"""Coordinates: a Gram matrix, or its trace where the matrix would be all noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import array_api_strict as xp
import numpy as np
import pytest

import eptr
from eptr.estimators.coordinates import CLOSER_LENGTH, GRAM_SHARE, TRACE_SHARE, price
from eptr.estimators.whitening import again, whiten
from eptr.privacy.contribution import Ball, Interval, Outer
from eptr.privacy.spending import Portion
from eptr.privacy.unit import Unit


@pytest.fixture
def drawn(monkeypatch):
    """Contribution and share of whatever noise is drawn."""
    drawn, plain = [], Portion.noisy

    def noisy(self, total, contribution, share):
        drawn.append((contribution, share))
        return plain(self, total, contribution, share)

    monkeypatch.setattr(Portion, "noisy", noisy)
    return drawn


@pytest.mark.parametrize(("epsilon", "matrix"), [(1.0, False), (8.0, True)])
def test_where_a_matrix_would_be_all_noise_its_trace_is_bought(epsilon, matrix, drawn):
    X = np.random.default_rng(0).normal(size=(1000, 20))
    eptr.LinearRegression(epsilon, 1e-6, 6.7, 5.0, fit_intercept=False, random_state=0).fit(X, X[:, 0])
    first = drawn[0][0]
    assert isinstance(first, Outer if matrix else Interval)
    if not matrix:
        assert first.high == pytest.approx(6.7**2)


@dataclass
class Budget:
    mu: float

    def scale(self, contribution, share):
        return contribution.sensitivity(Unit()) / (self.mu * math.sqrt(share))


def test_the_price_follows_the_noise_of_the_matrix():
    public = SimpleNamespace(radius=5.0, numbers=10, n_features=9, x_bound=4.0)
    prices = [price(public, Budget(0.25), n, 4.0) for n in (10, 3000, 7000, 10**7)]
    assert [each.matrix for each in prices] == [False, True, True, True]
    shares = [each.share for each in prices[1:]]
    assert GRAM_SHARE[1] == shares[0] > shares[1] > shares[2] == GRAM_SHARE[0]
    assert price(public, Budget(0.25), 10, math.inf) == (GRAM_SHARE[1], True)
    assert price(public, Budget(0.25), 10, 4.0).share == TRACE_SHARE[1]
    assert price(public, Budget(0.25), 200, 0.0).share == pytest.approx((16.0 / 0.25 / (0.2 * 1800)) ** 2)


def test_a_bound_that_is_too_wide_costs_little_more_than_noise():
    """The constant is as long as the bound says: one scale for both sends steps to and fro along it."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 3))
        y = X @ np.full(3, 0.5) + rng.normal(size=2000)
        model = eptr.LinearRegression(0.5, 1e-6, 8.0, 5.0, random_state=seed).fit(X, y)
        errors.append(np.sum((model.coef_ - 0.5) ** 2))
    assert np.mean(errors) < 0.02  # .04 with one scale


def factor(n, share, seed=0):
    """Two numbers, and the levels of a factor whose first has such a share of the rows, and no column."""
    rng = np.random.default_rng(seed)
    level = rng.choice(4, size=n, p=[share, 0.5 - share, 0.3, 0.2])
    X = np.column_stack([rng.normal(size=(n, 2)), level[:, None] == np.arange(1, 4)])
    return X, 10.0 + X @ [1.0, -1.0, 2.0, 1.0, 0.0] + rng.exponential(size=n)


RANGES = {"x_range": [(-5, 5)] * 2 + [(0, 1)] * 3, "y_range": (-10, 40)}


@pytest.mark.parametrize(("share", "looks"), [(0.02, 2), (0.2, 1)])
def test_a_second_look_is_bought_where_common_columns_are_hidden(share, looks, drawn):
    """And it is of the weakest directions alone: products of what rows have there are shorter than rows."""
    X, y = factor(30_000, share)
    eptr.LinearRegression(1.0, 1e-6, **RANGES, random_state=0).fit(X, y)
    (_, paid), *others = drawn[[isinstance(c, Outer) for c, _ in drawn].index(True) :]
    again = [c for c, s in others if isinstance(c, Ball) and s == paid]
    assert len(again) == looks - 1
    usual = math.sqrt(X.shape[1] + 1)  # of one direction; all of a row has its squared length
    assert all(c.radius <= CLOSER_LENGTH[1] * usual for c in again)


def least_squares(X, y):
    """Slopes and constant without privacy, and their robust errors."""
    rows = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.inv(rows.T @ rows)
    beta = inverse @ rows.T @ y
    left = rows * (y - rows @ beta)[:, None]
    return beta, np.sqrt(np.diag(inverse @ left.T @ left @ inverse))


def test_a_factor_whose_first_level_is_rare_is_told():
    """All its other levels were said to have too few rows, because together they are all but the constant."""
    away, wide = [], []
    for seed in range(6):
        X, y = factor(30_000, 0.03, seed)
        model = eptr.LinearRegression(1.0, 1e-6, **RANGES, random_state=seed).fit(X, y)
        assert not model.undetermined_.any()
        beta, errors = least_squares(X, y)
        low, high = model.conf_int().T
        away.append(((low + high) / 2 - beta) / errors)
        wide.append((high - low) / (2 * 1.96 * errors))
    assert np.sqrt(np.mean(np.square(away))) < 2.0
    assert np.median(wide, axis=0).max() < 2.8
    assert np.mean(np.abs(away) < 1.96 * np.array(wide)) > 0.9


@pytest.mark.parametrize("count", [1, 2, 6])
def test_a_second_look_sees_what_the_first_one_floored(count):
    rng = np.random.default_rng(3)
    p, n, noise = 6, 10_000, 300.0
    vectors = np.linalg.qr(rng.normal(size=(p, p)))[0]
    true = (vectors * np.array([0.02, 0.5, 1.0, 1.0, 1.5, 2.0])) @ vectors.T * n

    def noisy(matrix):
        drawn = rng.normal(size=(p, p)) * noise / math.sqrt(2.0)
        return matrix + np.triu(drawn) + np.triu(drawn, 1).T

    first = whiten(noisy(true), noise, n)
    assert np.isinf(first.doubt[0])
    weak = first.vectors[:, :count]
    seen = weak.T @ first.matrix.T @ true @ first.matrix
    second = again(first, weak, seen + rng.normal(size=seen.shape) * noise / 4.0, noise / 4.0, n)
    one, two = (np.linalg.eigvalsh(w.matrix.T @ true @ w.matrix / n) for w in (first, second))
    assert one.min() < 0.4 < 0.6 < two.min()
    assert two.max() < 1.6
    assert np.isfinite(second.doubt).all()
    assert np.allclose(second.vectors.T @ second.vectors, np.eye(p))


def test_a_direction_that_is_nothing_is_not_seen_by_a_second_look_either():
    rng = np.random.default_rng(4)
    p, n, noise = 4, 10_000, 300.0
    true = np.diag([0.0, 1.0, 1.0, 1.0]) * n
    first = whiten(true, noise, n)
    weak = first.vectors[:, :1]
    seen = weak.T @ first.matrix.T @ true @ first.matrix + rng.normal(size=(1, p)) * noise / 4.0
    second = again(first, weak, seen, noise / 4.0, n)
    assert np.isinf(second.doubt).sum() == 1
    assert second.unknown(5, n)[0] > 0.9 > 0.1 > second.unknown(5, n)[1:].max()


@pytest.mark.parametrize(("n", "epsilon", "levels"), [(20_000, 4.0, 30), (20_000, 1.0, 20)])
def test_the_levels_of_a_long_factor_are_told_against_the_first(n, epsilon, levels):
    """What all of them have in common against it is a weak direction: they missed together, and intervals said nothing."""
    held, away = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        level = rng.choice(levels, size=n)
        X = (level[:, None] == np.arange(1, levels)).astype(float)
        y = 1.0 + 0.1 * level + rng.normal(size=n)
        rows = np.column_stack([X, np.ones(n)])
        beta, *_ = np.linalg.lstsq(rows, y, rcond=None)
        errors = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)))  # of errors of variance 1
        model = eptr.LinearRegression(epsilon, 1e-6, x_range=(0, 1), y_range=(-5, 15), random_state=seed).fit(X, y)
        assert not model.undetermined_.any()
        low, high = model.conf_int().T
        held.append((low < beta) & (beta < high))
        away.append(((low + high) / 2 - beta) / errors)
    assert np.mean(held) > 0.97
    assert np.sqrt(np.mean(np.square(away))) < 1.5


def test_a_second_look_has_the_same_bits_elsewhere():
    X, y = factor(30_000, 0.03)
    here, there = (
        eptr.LinearRegression(1.0, 1e-6, **RANGES, random_state=0).fit(*data)
        for data in ((X, y), (xp.asarray(X), xp.asarray(y)))
    )
    assert np.array_equal(np.asarray(there.coef_), here.coef_)
    assert np.array_equal(np.asarray(there.conf_int()), np.asarray(here.conf_int()))


def events(n, share, seed):
    """A factor of eight levels whose first has such a share of the rows, and a number; events that are rarest at that level."""
    rng = np.random.default_rng([seed, 79])
    level = rng.choice(8, size=n, p=[share] + [(1.0 - share) / 7.0] * 7)
    X = np.column_stack([level[:, None] == np.arange(1, 8), rng.uniform(18, 80, n)]).astype(float)
    chance = 1.0 / (1.0 + np.exp(1.0 - 0.02 * (X[:, -1] - 50.0) - 0.15 * level))
    return X, (rng.random(n) < chance).astype(int)


LEVELS = {"x_range": [(0, 1)] * 7 + [(0, 100)], "delta": 1e-6}


def test_no_cut_holds_back_the_rows_that_a_weak_direction_is_made_of():
    """Events at a rare first level lay beyond all bands, and every level was told against it: five standard errors off."""
    away, held = [], []
    for seed in range(8):
        X, y = events(30_000, 0.015, seed)
        beta, errors = least_squares(X, y)
        model = eptr.LinearRegression(1.0, **LEVELS, y_range=(0, 1), random_state=seed).fit(X, y)
        assert not model.undetermined_.any()
        low, high = model.conf_int().T
        away.append(((low + high) / 2 - beta) / errors)
        held.append((low <= beta) & (beta <= high))
    assert np.sqrt(np.mean(np.square(away))) < 2.0
    assert np.mean(held) > 0.95


@pytest.mark.parametrize(("n", "epsilon", "share"), [(30_000, 1.0, 0.015), (30_000, 1.0, 0.03), (10_000, 4.0, 0.015)])
def test_log_odds_of_levels_are_told_against_a_rare_first_one(n, epsilon, share):
    held = []
    for seed in range(8):
        X, y = events(n, share, seed)
        model = eptr.LogisticRegression(epsilon, classes=[0, 1], **LEVELS, random_state=seed).fit(X, y)
        assert not model.undetermined_.any()
        low, high = np.reshape(model.conf_int(), (-1, 2)).T
        truth = np.append(0.15 * np.arange(1, 8), [0.02, -2.0])
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) > 0.9


def test_columns_that_go_together_are_told_with_one_bound_for_all():
    held, told = [], []
    for seed in range(4):
        rng = np.random.default_rng([seed, 77])
        X = rng.normal(size=(30_000, 1)) * 0.9 + rng.standard_t(4, size=(30_000, 15)) * 0.43
        y = np.clip(X[:, 0] - X[:, 1] + rng.exponential(size=30_000), -8, 8)
        model = eptr.LinearRegression(1.0, 1e-6, x_bound=6.0, y_bound=8.0, random_state=seed).fit(X, y)
        beta, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)
        known, (low, high) = ~model.undetermined_, model.conf_int().T
        told.append(known.mean())
        held.extend(((low <= beta) & (beta <= high))[known])
    assert np.mean(told) > 0.9
    assert np.mean(held) > 0.97
