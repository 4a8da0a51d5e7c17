"""Claimed bound against the worst neighbour found, for every sensitivity the estimators rely on.

``python -m tests.estimators.gaps`` prints the table in docs/sensitivities.md; the tests assert that no ratio exceeds 1.
"""

from __future__ import annotations

import math

import numpy as np
from benchmarks.tables import show

from eptr.estimators.bayes.bounds import class_sums
from eptr.estimators.bayes.bounds import paper_rule as bayes_paper
from eptr.estimators.bayes.bounds import tight_rule as bayes_tight
from eptr.estimators.bayes.shared import ClassProducts, class_products
from eptr.estimators.gradient import Bands, Curvature, Gradient, Norms, Parts, Spread
from eptr.estimators.kernel.features import KERNELS, tensor_features
from eptr.estimators.linear.bounds import moments, sharp_numerator
from eptr.estimators.linear.bounds import paper_rule as linear_paper
from eptr.estimators.linear.bounds import tight_rule as linear_tight
from eptr.estimators.linear.refined import Squares
from eptr.estimators.mapped import Mapped
from eptr.privacy.unit import Unit
from eptr.rows.memory import MemoryRows

from .worst_neighbour import worst_change


def unit(v):
    return v / max(np.linalg.norm(v), 1e-12)


def linear_gap(p, rule, rng, n=40, R=1.5, Y=2.0, R_t=1.0, c0=1.0):
    """Datasets on the threshold: all other rows free, one row replaced; both sides must be above the threshold."""
    claim = rule(n, p, R, Y, R_t, c0, 1)
    Y = min(Y, R * R_t) if rule is linear_paper else Y

    def split(z):
        A = z[: p * p].reshape(p, p)
        cross = z[p * p : p * p + p]
        old, new = z[p * p + p : p * p + 2 * p + 1], z[p * p + 2 * p + 1 :]
        return A, cross, old, new

    def change(z):
        # The other rows enter only through X'X and X'y: a positive matrix and a vector compatible with bounds.
        A, cross, old, new = split(z)
        root = math.sqrt(claim.threshold) * (np.eye(p) + 0.1 * A)
        base, cross = root @ root.T, claim.threshold * R_t * cross
        results = []
        for row in (old, new):
            x, y = R * unit(row[:p]) * min(1.0, abs(row[p])), Y * np.sign(row[p])
            gram = base + np.outer(x, x)
            if np.linalg.eigvalsh(gram)[0] < claim.threshold:
                return -1.0
            results.append((gram, cross + x * y))
        thetas = [np.linalg.solve(g, b) for g, b in results]
        thetas = [t * min(1.0, R_t / max(np.linalg.norm(t), 1e-12)) for t in thetas]
        return float(np.linalg.norm(thetas[0] - thetas[1]))

    def start(r):
        return np.concatenate([0.1 * np.abs(r.normal(size=p * p)), unit(r.normal(size=p)), r.normal(size=2 * p + 2)])

    return worst_change(change, start, 4.0, rng, moves=1500) / claim.sensitivity


def linear_lipschitz_gap(p, factor, rng, R=1.3):
    def change(z):
        x = [R * unit(v) for v in z[: 2 * p].reshape(2, p)]
        base = z[2 * p :].reshape(p, p)
        low = [np.linalg.eigvalsh(base @ base.T + np.outer(v, v))[0] for v in x]
        return abs(low[0] - low[1])

    return worst_change(change, lambda r: r.normal(size=2 * p + p * p), 3.0, rng) / (factor * R * R)


def numerator_gap(p, rng, R=1.2, Y=0.9, R_t=1.1):
    def score(row, t):
        x = R * unit(row[:p]) * min(1.0, abs(row[p]))
        return x * (Y * np.clip(row[p + 1], -1, 1) - x @ t)

    def change(z):
        t = R_t * unit(z[:p])
        rows = z[p:].reshape(2, p + 2)
        return float(np.linalg.norm(score(rows[0], t) - score(rows[1], t)))

    return worst_change(change, lambda r: r.normal(size=p + 2 * (p + 2)), 3.0, rng, starts=40) / sharp_numerator(
        R, Y, R_t, p
    )


def bayes_gap(rule, rng, n=11, R=2.0, p=2, classes=2, c0=5 / 11):
    claim = rule(n, R, c0, 1) if rule is bayes_paper else rule(n, classes, R, c0, 1)

    def parameters(x, y):
        sums = class_sums(MemoryRows(x, y), classes, R)
        if sums.counts.min() < claim.threshold:
            return None
        return np.append((sums.sums / sums.counts[:, None]).ravel(), claim.prior_weight * sums.counts / n)

    def change(z):
        x = z[: n * p].reshape(n, p).copy()
        y = (z[n * p : n * p + n] > 0).astype(np.int64)
        other, label = z[n * p + n : n * p + n + p], int(z[-1] > 0)
        first = parameters(x, y)
        x[0], y[0] = other, label
        second = parameters(x, y)
        return -1.0 if first is None or second is None else float(np.linalg.norm(first - second))

    def start(r):
        # The template: everybody at one pole, one row at the other; the small class on its threshold.
        pole = np.zeros(p)
        pole[0] = R
        z = np.concatenate([np.tile(-pole, n), np.ones(n), pole, [-1.0]])
        small = math.ceil(claim.threshold) + r.integers(0, 2)
        z[n * p + n - small : n * p + n] = -1.0
        z[:p] = pole
        if r.random() < 0.5:
            z[-1] = 1.0 if r.random() < 0.5 else -1.0
        return z + 0.01 * r.normal(size=z.size)

    return worst_change(change, start, 2 * R, rng, starts=60, moves=150) / claim.sensitivity


def kernel_gap(rng, F=1.0, n=6):
    """|f - f'| max(D, D') / 2F over degrees and responses."""

    def change(z):
        k, y = (z[: n + 1] + 1) / 2, F * z[n + 1 :]
        degrees, answers = [], []
        for last in (n - 1, n):
            index = [*range(n - 1), last]
            degrees.append(k[index].sum())
            answers.append((k[index] @ y[index]) / degrees[-1] if degrees[-1] > 0 else 0.0)
        return abs(answers[0] - answers[1]) * max(degrees)

    return worst_change(change, lambda r: r.uniform(-1, 1, size=2 * n + 2), 1.0, rng) / (2 * F)


def kernel_sums_gap(name, d, rng, n=50):
    """The joint release of kernel sums and degrees: half of both together moves by at most the inflation."""
    features = tensor_features(KERNELS[name], [(0.0, 1.0)] * d, [0.15] * d, 2000)

    def pair(row):
        x = np.clip((row[:d] + 1) / 2, 0, 1)[None]
        return features.sums(x, np.array([np.clip(row[d], -1, 1)]), n, None)

    def change(z):
        return float(np.linalg.norm(pair(z[: d + 1]) - pair(z[d + 1 :]))) / 2

    return worst_change(change, lambda r: r.uniform(-1, 1, size=2 * d + 2), 1.0, rng, starts=10) / features.inflation(n)


def refined_sums_gap(rng, R=2.0):
    """Class sums and counts together: v/2r and counts/2 move by at most 1."""

    def one(row):
        sums = class_sums(MemoryRows(row[None, :2], np.array([int(row[2] > 0)])), 2, R)
        return np.append(sums.sums.ravel() / (2 * R), sums.counts / 2)

    return worst_change(
        lambda z: float(np.linalg.norm(one(z[:3]) - one(z[3:]))), lambda r: r.normal(size=6) * R, 2 * R, rng
    )


def shared_gap(relation, rng, p=3):
    """Weighted counts and sums by class beside products, matrices in the coordinates (A_ii, sqrt 2 A_ij)."""
    mapped, upper = Mapped(np.zeros(p), np.ones(p), np.diag([3.0, 1.0, 0.2]), np.zeros(p)), np.triu_indices(p, 1)
    centres, reach = rng.normal(size=(2, p)), ClassProducts(1.0, p).reach(relation)

    def one(row):
        rows = MemoryRows(row[None, :p], np.array([int(row[p] > 0)]))
        counts, sums, square = class_products(rows, 2, mapped, centres, 1.5)
        return np.concatenate([counts, sums.ravel(), np.diag(square), math.sqrt(2.0) * square[upper]])

    def change(z):
        return float(np.linalg.norm(one(z[: p + 1]) - (one(z[p + 1 :]) if relation == "replace-one" else 0.0)))

    return worst_change(change, lambda r: r.normal(size=2 * p + 2) * 3, 50.0, rng, starts=8) / reach


def gradient_gap(ask, rng, p=3, likelihood=None, unit=None):
    """What is asked of one gradient stays within its contribution, part by part, whatever the row; a dropped one adds 0."""
    W, unit = np.linalg.qr(rng.normal(size=(p, p)))[0] * [3.0, 1.0, 0.2], unit or Unit()
    classes = getattr(likelihood, "mix", np.ones((1, 1))).shape
    theta = rng.normal(size=p if classes[1] == 1 else (p, classes[1]))
    gradient = Gradient(likelihood or Squares(-48.0, 48.0), 2.0, None, W, theta)
    reaches = [contribution.sensitivity(unit) for contribution in ask.contributions(p * classes[0])]

    def one(row):
        y = row[p : p + 1] if classes[1] == 1 else np.abs(np.rint(row[p : p + 1])) % classes[1]
        found = np.asarray(ask(gradient.block(row[None, :p], y, None), 1))
        return found if isinstance(ask, Parts) else found.reshape(len(reaches), -1)

    def change(z):
        moved = one(z[: p + 1]) - (one(z[p + 1 :]) if unit.relation == "replace-one" else 0.0)
        if isinstance(ask, Parts):  # the bands, and all that follows is one matrix
            bands = len(ask.bands.levels)
            moved = [*moved[:bands], moved[bands:]]
        return max(float(np.linalg.norm(part)) / reach for part, reach in zip(moved, reaches, strict=True))

    return worst_change(change, lambda r: r.normal(size=2 * p + 2) * 3, 50.0, rng, starts=3)


def gram_gap(rng, p=2, R=1.7):
    """X'X moves by at most sqrt 2 R^2 in Frobenius norm."""

    def one(row):
        return moments(MemoryRows(row[None, :p], np.zeros(1)), R, 1.0, None).gram

    def change(z):
        return float(np.linalg.norm(one(z[:p]) - one(z[p:])))

    return worst_change(change, lambda r: r.normal(size=2 * p), 4.0, rng, starts=6) / (math.sqrt(2) * R * R)


GAPS = {
    ("LinearRegression", "tight", "coefficients, p = 1"): lambda r: linear_gap(1, linear_tight, r),
    ("LinearRegression", "tight", "coefficients, p = 3"): lambda r: linear_gap(3, linear_tight, r),
    ("LinearRegression", "paper", "coefficients, p = 3"): lambda r: linear_gap(3, linear_paper, r),
    ("LinearRegression", "tight", "smallest eigenvalue"): lambda r: linear_lipschitz_gap(3, 1.0, r),
    ("LinearRegression", "paper", "smallest eigenvalue"): lambda r: linear_lipschitz_gap(3, 2.0, r),
    ("LinearRegression", "tight", "score diameter, p = 1"): lambda r: numerator_gap(1, r),
    ("LinearRegression", "tight", "score diameter, p = 3"): lambda r: numerator_gap(3, r),
    ("LinearRegression", "refined", "bands of gradients"): lambda r: gradient_gap(Bands((0.7, 1.4, 2.8)), r),
    ("LinearRegression", "refined", "sizes of gradients"): lambda r: gradient_gap(Norms((0.5, 1.0, 2.0)), r),
    ("LinearRegression", "refined", "curvature"): lambda r: gradient_gap(Curvature(6.0), r),
    ("LinearRegression", "refined", "spread of gradients"): lambda r: gradient_gap(Spread(1.5), r),
    ("LinearRegression", "refined", "Gram matrix"): gram_gap,
    ("BayesClassifier", "tight", "means and prior"): lambda r: bayes_gap(bayes_tight, r),
    ("BayesClassifier", "paper", "means and prior"): lambda r: bayes_gap(bayes_paper, r),
    ("BayesClassifier", "refined", "class sums and counts"): refined_sums_gap,
    ("BayesClassifier", "refined", "shared covariance, replaced row"): lambda r: shared_gap("replace-one", r),
    ("BayesClassifier", "refined", "shared covariance, dropped row"): lambda r: shared_gap("zero-out", r),
    ("KernelRegressor", "tight", "answer at a query"): kernel_gap,
    ("KernelRegressor", "paper", "answer at a query"): lambda r: 0.5 * kernel_gap(r),
    ("KernelRegressor", "refined", "sums and degrees, gaussian, d = 1"): lambda r: kernel_sums_gap("gaussian", 1, r),
    ("KernelRegressor", "refined", "sums and degrees, gaussian, d = 2"): lambda r: kernel_sums_gap("gaussian", 2, r),
    ("KernelRegressor", "refined", "sums and degrees, laplace, d = 1"): lambda r: kernel_sums_gap("laplace", 1, r),
    ("KernelRegressor", "refined", "sums and degrees, wendland, d = 2"): lambda r: kernel_sums_gap("wendland", 2, r),
}


def main():
    header = ["estimator", "strategy", "quantity", "worst neighbour found / bound"]
    rows = [[*claim, f"{gap(np.random.default_rng(0)):.3f}"] for claim, gap in GAPS.items()]
    show("Worst neighbours that a search found", header, rows, "sensitivities")


if __name__ == "__main__":
    main()
