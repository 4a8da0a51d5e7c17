"""What a fit spends on a pair of neighbours, call by call: the second run is fed the outputs of the first.

A mechanism that adds noise to statistics, each chosen from earlier outputs, has a privacy loss that is the sum over its
calls of (|change| / scale)^2 for Gaussian and |change|_1 / scale for Laplace noise, *given the same outputs*. `Replay`
measures just that, for any estimator, without knowing its algorithm.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from eptr.estimators import base


class Replay:
    """A noise source that records one fit and replays its outputs to another."""

    private = True

    def __init__(self, seed):
        self.generator_ = np.random.default_rng(seed)
        self.calls, self.position, self.replaying = [], 0, False
        self.gaussian_loss = self.laplace_loss = 0.0

    def rewind(self):
        self.position, self.replaying = 0, True

    def _call(self, kind, values, scale, draw):
        values = np.asarray(values, dtype=float)
        if not self.replaying:
            output = values + scale * draw
            self.calls.append((kind, values.copy(), scale, output))
            return output.copy()
        first_kind, first, first_scale, output = self.calls[self.position]
        self.position += 1
        # Everything public must be the same on both sides: the kind, the shape and the scale of the noise.
        assert (first_kind, first.shape) == (kind, values.shape)
        np.testing.assert_allclose(first_scale, scale, rtol=1e-12)
        if kind == "gaussian":
            self.gaussian_loss += float(np.sum((values - first) ** 2)) / scale**2
        else:
            self.laplace_loss += float(np.sum(np.abs(values - first))) / scale
        return output.copy()

    def gaussian(self, values, scale):
        return self._call("gaussian", values, scale, self.generator_.standard_normal(np.shape(values)))

    def laplace(self, values, scale):
        return self._call("laplace", values, scale, self.generator_.laplace(size=np.shape(values)))


def spent(estimator, one, two, monkeypatch, seed=0):
    """(mu, epsilon) that a fit on the pair of datasets spends with Gaussian and with Laplace noise."""
    noise = Replay(seed)
    monkeypatch.setattr(base, "noise_source", lambda random_state: noise)
    clone(estimator).fit(*one)
    noise.rewind()
    clone(estimator).fit(*two)
    assert noise.position == len(noise.calls)
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
