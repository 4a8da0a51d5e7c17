"""Intervals are told where steps have arrived: with codes among values, rare classes and long tails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import eptr
from eptr.estimators import base
from eptr.estimators.logistic.lengths import ending, knee
from eptr.estimators.logistic.likelihood import likelihood
from eptr.estimators.logistic.newton import Newton
from eptr.estimators.tail import RATIO, Tail
from eptr.privacy import spending


def found(X, y, ranges, epsilon, seed, classes=2):
    """Maximum likelihood on the same rows, ends of intervals, which are told, and the model: rows for classes but the first."""
    half = X.std(axis=0)
    best = LogisticRegression(C=np.inf, tol=1e-8, max_iter=5000).fit((X - X.mean(axis=0)) / half, y).coef_ / half
    best = best if classes == 2 else best[1:] - best[0]
    model = eptr.LogisticRegression(epsilon, 1e-6, x_range=ranges, classes=list(range(classes)), random_state=seed).fit(
        X, y
    )
    low, high = (ends.reshape(classes - 1, -1)[:, :-1] for ends in model.conf_int().T)
    return best, low, high, ~model.undetermined_[:, :-1], model


def coded(n, code, share, seed):
    rng = np.random.default_rng([seed, 7])
    age = rng.normal(40, 12, n).clip(18, 90)
    x = np.where(rng.random(n) < share, code, age)
    return x[:, None], (rng.random(n) < expit(0.1 * (age - 40))).astype(int)


def runs(draw, ranges, epsilon, seeds, classes=2):
    return [found(*draw(seed), ranges, epsilon, seed, classes) for seed in range(seeds)]


def held(fits):
    known = np.concatenate([f[3].ravel() for f in fits])
    inside = np.concatenate([((f[1] <= f[0]) & (f[0] <= f[2])).ravel() for f in fits])
    return known, inside[known]


@pytest.mark.parametrize(("epsilon", "near"), [(1.0, 0.5), (4.0, 0.1)])
def test_a_code_among_values_is_seen_whole(epsilon, near):
    """Bands ended at half of its gradients: told in all fits at epsilon 4, nineteen standard errors away in all of them."""
    fits = runs(lambda seed: coded(30_000, -99, 0.03, seed), [(-99, 110)], epsilon, 8)
    known, inside = held(fits)
    assert known.mean() > 0.4
    assert inside.all()
    assert np.median([abs(m.centre_[0, 0] / best[0, 0] - 1.0) for best, *_, m in fits]) < near


@pytest.mark.parametrize(("code", "share", "ranges"), [(-99, 0.03, [(-99, 110)]), (999, 0.02, [(0, 999)])])
def test_where_noise_rules_no_slope_of_a_column_with_a_code_is_told(code, share, ranges):
    losses = []
    for seed in range(8):
        X, y = coded(4000, code, share, seed)
        *_, known, model = found(X, y, ranges, 1.0, seed)
        assert not known.any()
        q = model.predict_proba(X)[np.arange(len(y)), y]
        losses.append(-np.mean(np.log(np.maximum(q, 1e-300))) / np.log(2.0))
    assert np.median(losses) < 1.06  # of a constant's: 1.6 for the second


def test_a_fit_that_begins_without_sums_spends_all_of_its_budget(monkeypatch):
    opened = []

    class Recorded(spending.Spending):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            opened.append(self)

    monkeypatch.setattr(base, "Spending", Recorded)
    found(*coded(30_000, -99, 0.03, 0), [(-99, 110)], 1.0, 0)
    (whole,) = opened
    kinds = [type(part.contribution).__name__ for part in whole.parts]
    assert kinds[3:6] == ["Cell", "Ball", "WeightedOuter"]  # shares, and at once a step
    assert sum(part.mu**2 for part in whole.parts) == pytest.approx(whole.cost.mu**2, rel=1e-12)


def apart(seed):
    rng = np.random.default_rng([seed, 7])
    y = rng.choice(5, 20_000, p=[0.4, 0.3, 0.2, 0.08, 0.02])
    return np.array([[0, 0], [2, 0], [0, 2], [2, 2], [-3, -3]])[y] + rng.normal(size=(20_000, 2)), y


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_a_rare_class_that_is_still_on_its_way_is_not_told_and_others_are(epsilon):
    """Half of its slopes was told, with a tenth of the errors."""
    fits = runs(apart, [(-9, 9)] * 2, epsilon, 8, classes=5)
    known = np.mean([f[3] for f in fits], axis=0)
    assert not known[3].any()
    assert (known[:3].min() if epsilon > 1.0 else known[0].min()) > (0.7 if epsilon > 1.0 else 0.0)
    assert held(fits)[1].mean() > 0.95


@pytest.mark.parametrize(("n", "epsilon"), [(10_000, 4.0), (30_000, 1.0)])
def test_a_column_of_zeros_and_a_long_tail_counts_what_bands_do_not_reach(n, epsilon):
    def draw(seed):
        rng = np.random.default_rng([seed, 7])
        x = np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(3, 1.2, n)).clip(0, 2000)
        return x[:, None], (rng.random(n) < expit(-0.5 + 0.3 * np.log1p(x))).astype(int)

    known, inside = held(runs(draw, [(0, 2000)], epsilon, 12))
    assert known.mean() > 0.5
    assert inside.mean() > 0.9


def newton(shares, coordinates=3):
    made = Newton.__new__(Newton)
    made.likelihood = likelihood(np.array(shares))
    made.columns = len(made.likelihood.mix)
    made.p = made.columns * coordinates
    return made


def test_shortening_one_class_leaves_log_odds_of_the_others_as_they_are():
    made, rng = newton([0.5, 0.3, 0.15, 0.05]), np.random.default_rng(0)
    phi = rng.normal(size=made.p)
    phi *= 1.0 / np.sort(made.each(phi))[-2]  # one of them is longer
    short = made.cut(phi, 1.0 + 1e-9)
    before, after = (made.matrix(v).T @ made.likelihood.mix for v in (phi, short))
    far = int(np.argmax(made.each(phi)))
    others = [k for k in range(4) if k != far]
    np.testing.assert_allclose(before[:, others] - before[:, others[:1]], after[:, others] - after[:, others[:1]])
    assert np.all(made.each(phi)[far] > made.each(short)[far])
    np.testing.assert_array_equal(made.cut(phi, 100.0), phi)


def test_bands_that_undo_each_other_are_not_shortened():
    made = newton([0.5, 0.5])
    bands = np.array([[0.2, 0.0, 0.0], [2.0, 0.0, 0.0], [-2.2, 0.0, 0.0]])
    kept, over = made.not_over(bands, (1.0, 4.0, 16.0), np.eye(3))
    np.testing.assert_array_equal(kept, bands)
    assert not over.any()
    assert made.not_over(abs(bands), (1.0, 4.0, 16.0), np.eye(3))[1].any()


def test_a_knee_in_lengths_is_fitted_anew():
    """A spike, a drop, and a long, flat tail: the curve has a tenth of that."""
    counts, noise = np.zeros(24), 36.0 * np.random.default_rng(6).normal(size=24)
    counts[8:19] = [17437, 11206, 505, 441, 244, 45, 30, 27, 16, 12, 7]
    tail = Tail(RATIO ** np.arange(24.0), counts + noise, 36.0)
    beyond, level = counts[12:].sum(), float(tail.edges[11])
    assert tail.beyond(level) < 0.2 * beyond
    assert 0.5 * beyond < knee(tail).beyond(level) < 1.5 * beyond
    assert ending(tail, level).excess(level) == 0.0
    smooth = Tail(tail.edges, 20_000 * np.exp(-0.2 * np.arange(24.0) ** 1.5) + noise, 36.0)
    assert knee(smooth) is smooth
