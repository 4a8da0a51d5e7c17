"""What a fit spends on a pair of neighbours (see `eptr.audit.replay`), and neighbours that try hard."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone

from eptr import NotPrivateWarning
from eptr.audit.neighbours import neighbours
from eptr.audit.replay import Replay

__all__ = ["Replay", "dropped", "neighbours", "spent", "two_rows"]


def spent(estimator, one, two, seed=0):
    """(mu, epsilon) that a fit on the pair of datasets spends with Gaussian and with Laplace noise."""
    noise = Replay(seed)
    model = clone(estimator).set_params(random_state=noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        clone(model).fit(*one)
        noise.rewind()
        clone(model).fit(*two)
    noise.finish()
    return noise.gaussian_loss**0.5, noise.laplace_loss


def dropped(rng, n, p, labels=0, rows=1):
    """Two datasets (X, y): in the second the first ``rows`` rows are not there. Rows that try hard: far outliers, corners."""
    (_, _), (X, y) = neighbours(rng, n, p, labels)
    direction = [rng.normal(size=p), np.ones(p), rng.choice([-1.0, 1.0], size=p)][rng.integers(3)]
    # Just inside the bound of 1.5 that most tests use: there the constant column has its full weight.
    just_inside = direction * (1.5 * (1.0 - 1e-7) / np.linalg.norm(direction))
    X[:rows] = [just_inside, just_inside, 0.1 * direction, 1e3 * direction, 1e3 * direction][rng.integers(5)]
    if not labels:
        y[:rows] = [1e3, -1e3, 0.0, rng.normal()][rng.integers(4)]
    gone = X.copy()
    gone[:rows] = np.nan
    return ((X, y), (gone, y)) if rng.integers(2) else ((gone, y), (X, y))


def two_rows(rng, n, p, labels=0):
    """Two datasets that differ in the first two rows, moved alike half of the time: that is what costs most."""
    (X, y), (other, target) = neighbours(rng, n, p, labels)
    if rng.integers(2):
        X[1], y[1], other[1], target[1] = X[0], y[0], other[0], target[0]
    else:
        _, (others, targets) = neighbours(rng, n, p, labels)
        other[1], target[1] = others[0], targets[0]
    return (X, y), (other, target)
