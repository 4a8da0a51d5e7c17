"""What a fit spends on a pair of neighbours (see `eptr.audit.replay`), and neighbours that try hard."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone

from eptr import NotPrivateWarning
from eptr.audit.replay import Replay

__all__ = ["Replay", "neighbours", "spent"]


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


def neighbours(rng, n, p, labels=0):
    """A pair of datasets that differ in one row: random, at the corners, or all rows alike."""
    kind = rng.integers(4)
    scale = [1.0, 10.0, 0.3, 1.0][kind]
    X = scale * rng.normal(size=(n, p))
    if kind == 1:
        X = np.sign(X)
    if kind == 3:
        X[:] = X[0]
    y = rng.integers(labels, size=n) if labels else 3.0 * rng.normal(size=n)
    other, target = X.copy(), y.copy()
    other[0] = [-X[0], 30.0 * rng.normal(size=p), np.zeros(p), X[0]][rng.integers(4)]
    target[0] = rng.integers(labels) if labels else [-y[0], 50.0 * rng.normal(), 0.0][rng.integers(3)]
    return (X, y), (other, target)
