"""Plain forms of the strongest competitors for least squares, for the comparison tables; seeded, not private to run.

AdaSSP (Wang 2018) with exact Gaussian calibration and replace-one sensitivities; gradient descent with per-row
clipping (Abadi et al. 2016; Cai, Wang and Zhang 2021), one fixed setting for every cell.
"""

from __future__ import annotations

import math

import numpy as np

from eptr import gaussian_mu


def ordinary(X, y, *_):
    return np.linalg.lstsq(X, y, rcond=None)[0]


def _project(X, R):
    return X * np.minimum(1.0, R / np.maximum(np.linalg.norm(X, axis=1), 1e-300))[:, None]


def adassp(X, y, R, Y, epsilon, delta, rng):
    p, mu = X.shape[1], gaussian_mu(epsilon, delta)
    X, y = _project(X, R), np.clip(y, -Y, Y)
    mu_low, mu_gram, mu_cross = (mu * math.sqrt(w) for w in (0.1, 0.45, 0.45))
    A = X.T @ X
    low = max(float(np.linalg.eigvalsh(A)[0]) + R * R / mu_low * (rng.normal() - 2.0), 0.0)
    s = math.sqrt(2.0) * R * R / mu_gram
    E = np.triu(rng.normal(size=(p, p)) * s / math.sqrt(2.0), 1)
    ridge = max(0.0, s * math.sqrt(p * math.log(2 * p * p / 0.05)) - low)
    noisy = A + E + E.T + np.diag(rng.normal(size=p) * s)
    return np.linalg.solve(noisy + ridge * np.eye(p), X.T @ y + rng.normal(size=p) * 2 * R * Y / mu_cross)


def clipped_descent(X, y, R, Y, epsilon, delta, rng, clip=5.0, steps=10, rate=0.3):
    n, p = X.shape
    mu, theta, norms = gaussian_mu(epsilon, delta), np.zeros(p), np.linalg.norm(X, axis=1)
    for _ in range(steps):
        residual = y - X @ theta
        factor = np.minimum(1.0, clip / np.maximum(norms * np.abs(residual), 1e-300))
        theta = theta + rate / n * (X.T @ (residual * factor) + rng.normal(size=p) * 2 * clip * math.sqrt(steps) / mu)
    return theta
