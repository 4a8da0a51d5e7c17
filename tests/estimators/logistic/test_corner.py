"""Sums from a corner: no two rows are farther apart than is paid for, and some are as far."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.logistic import prediction

import eptr
from eptr.audit.replay import Replay
from eptr.estimators.columns import Columns
from eptr.estimators.logistic.corner import Corner
from eptr.rows.memory import MemoryRows

P = 4


def corner(centred):
    """Columns over [-1, 1] of which so many are measured from their centre, the others from their lower end."""
    mean = np.where(np.arange(P) < centred, 0.0, -0.9)
    spread = np.where(np.arange(P) < centred, 0.1, 0.19)
    flags = np.zeros(P, bool), np.arange(P) >= centred
    return Corner.of(Columns(-np.ones(P), np.ones(P), mean, np.ones(P), flags[0], spread, 0.0, flags[1]))


class Exact:
    """Sums as they are, and what was said of them."""

    def noisy(self, values, shape, share):
        self.values, self.shape = values, shape
        return np.maximum(values, 1.0)

    def scale(self, shape, share):
        return 1.0


def added(found, row, label):
    """What one row adds, seen from the centres of its columns, and the set that is said to hold it."""
    spending, rows = Exact(), MemoryRows(row[None, :], np.array([float(label)]), drop_invalid=True)
    found.sums(rows, 2, spending, 1.0)
    return spending.values, spending.shape


@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_row_adds_to_its_class_alone(label):
    spending, rows = Exact(), MemoryRows(np.full((1, P), 0.5), np.array([float(label)]))
    corner(1).sums(rows, 3, spending, 1.0)
    assert np.flatnonzero(np.any(spending.values != 0.0, axis=1)).tolist() == [label]


@pytest.mark.parametrize("centred", [0, 1, P])
def test_no_two_rows_are_farther_apart_than_is_paid_for_and_some_are_that_far(centred):
    found, rng, apart, away = corner(centred), np.random.default_rng(0), [], []
    loose = np.arange(P) < centred
    assert np.array_equal(found.sign == 0.0, loose)
    for _ in range(400):
        kinds = rng.integers(3, size=2)
        one, two = (np.where(loose, 9.0 * s, 0.0) - found.offset for s in rng.choice([-1.0, 1.0], size=2))
        for row, kind in ((one, kinds[0]), (two, kinds[1])):
            if kind == 0:  # anything
                row[:] = rng.normal(size=P) * 10.0 ** rng.uniform(-3, 3)
            elif centred < P:  # far from the corner in one column, or just so far that nothing need be shortened
                row[rng.integers(centred, P)] += 10.0 ** rng.uniform(0, 6) if kind == 1 else rng.uniform(0.4, 0.6)
        labels = rng.integers(2, size=2)
        (a, shape), (b, _) = added(found, one, labels[0]), added(found, two, labels[1])
        apart.append(np.linalg.norm(a - b) / shape.diameter)
        away.append(np.linalg.norm(a) / shape.distance)
    assert 0.97 < max(apart) <= 1.0
    assert 0.999 < max(away) <= 1.0


def test_a_row_that_is_dropped_adds_nothing():
    values, _ = added(corner(1), np.full(P, np.nan), 1)
    assert not values.any()


def test_it_is_not_used_where_rows_are_no_shorter():
    assert corner(0).if_cheap() is not None
    assert corner(P).if_cheap() is None


def fitted(X, y, noise):
    """A loud fit that looks at the sums from a corner."""
    model = eptr.LogisticRegression(0.2, x_range=(0, 1), classes=[0, 1], random_state=noise).fit(X, y)
    assert [draw.what for draw in model.release_.record.draws].count("Shape") == 2  # with the moments of the columns
    return model


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(3000, 12)) < 0.15).astype(float)
    return X, (rng.uniform(size=3000) < 0.2 + 0.5 * X[:, 0]).astype(int)


def test_bits_are_the_same_on_other_arrays(table):
    xp, (one, two) = pytest.importorskip("array_api_strict"), (Replay(0), Replay(0))
    X, y = table
    here, there = fitted(X, y, one), fitted(xp.asarray(X), xp.asarray(y), two)
    assert all(np.array_equal(a.values, b.values) for a, b in zip(one.calls, two.calls, strict=True))
    np.testing.assert_array_equal(here.coef_, there.coef_)


def test_a_fit_costs_no_more_than_its_budget(table):
    X, y = table
    for row, label in ((np.ones(12), 1), (np.zeros(12), 1 - y[0]), (1.0 - X[0], y[0])):
        noise, other, target = Replay(0), X.copy(), y.copy()
        mu = fitted(X, y, noise).release_.cost.mu
        other[0], target[0] = row, label
        fitted(other, target, noise.rewind())
        assert 0.0 < noise.gaussian_loss <= mu**2


@pytest.mark.parametrize(("epsilon", "worst"), [(0.1, 0.2), (0.25, 0.11), (0.5, 0.05)])
def test_columns_that_tell_the_same_are_not_believed_again_and_again(epsilon, worst):
    """As in a census: what is more in log loss than without privacy."""
    more = [prediction("going together", epsilon, seed)[0][0] for seed in range(4)]
    assert np.mean(more) < worst
    assert max(more) < 2.0 * worst


def test_continuous_columns_that_go_together_do_not_end_far_from_none():
    """Sixty neighbours that follow one another: steps went to and fro, and the last ones trusted where they had ended."""
    worse = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(14_000, 60))
        for j in range(1, 60):
            X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1.0 - 0.95**2) * X[:, j]
        odds = X @ rng.normal(size=60)
        y = (rng.logistic(size=14_000) < 1.2 * odds / odds.std() - 1.0).astype(int)
        model = eptr.LogisticRegression(0.5, x_range=(-4, 4), classes=[0, 1], random_state=seed).fit(
            X[:10_000], y[:10_000]
        )
        found = model.predict_proba(X[10_000:])[:, 1]
        loss, none = (-np.mean(np.log(np.where(y[10_000:] == 1, q, 1.0 - q))) for q in (found, y[:10_000].mean()))
        worse.append(loss / none)
    assert max(worse) < 1.2
