"""Noise of rivals that rest on a theorem of their own, or are as published: draw by draw, of the size that it asks for.

Nobody's contribution is named there, so no neighbour and no budget would notice noise that is too small.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr
from eptr.audit.replay import Replay
from eptr.rivals.catalogue import RIVALS

EPSILON, DELTA, X_BOUND, Y_BOUND = 2.0, 1e-3, 1.5, 2.0
COUNTS = np.array([30, 20, 10])
N, P, K = 60, 2, 3
CONSTANT = math.floor(256 * X_BOUND / math.sqrt(2.0) / 2.0) / 128.0  # X_BOUND/sqrt(2), with eight bits
R, MU = math.hypot(X_BOUND, CONSTANT), eptr.gaussian_mu(EPSILON, DELTA)


def smooth(b):
    return 2.0 * X_BOUND * np.maximum(1.0 / COUNTS, np.exp(-b * (COUNTS - 1)))


def by_class(scales):
    return np.broadcast_to(scales[:, None], (K, P))


def naive_bayes():
    """Published: half of epsilon for counts of K classes, which a replaced row moves by 2; the means' noise is scaled later."""
    return [("laplace", 2 * K / EPSILON), ("laplace", 1.0)]


def cauchy():
    """Of .9 epsilon each of two classes has a half, and each column a part of that: half for the scale, half for the place."""
    each = 0.9 * EPSILON / 2 / P
    return [("laplace", 2 / (0.1 * EPSILON)), ("cauchy", by_class(smooth(each / 2) / (each / 2)))]


def cauchy_as_published():
    each = 0.5 * EPSILON / (K * P)
    return [("laplace", 4 / EPSILON), ("cauchy", by_class(math.sqrt(2) * 2 * X_BOUND / (COUNTS + 1) / each))]


def gaussian():
    """Lemma 2.9 of Nissim, Raskhodnikova and Smith, with half of .9 epsilon and of delta for each class."""
    e, level = 0.45 * EPSILON, math.log(4.0 / DELTA)
    scales = 5.0 * math.sqrt(2.0 * level) * smooth(e / (4.0 * (P + level))) / e
    return [("laplace", 2 / (0.1 * EPSILON)), *(("gaussian", scale) for scale in scales)]


def objective(sigma, ridge):
    """The linear term; then what the minimum may miss by, for a hundredth of the budget."""
    rounding = N * R * math.sqrt(3) * (1e-11 + N * 2.0**-50)
    missed = 2.0 * (1e-7 * sigma + 2.0 * rounding) / ridge
    return [("gaussian", sigma), ("gaussian", missed / eptr.gaussian_mu(0.01 * EPSILON, 0.01 * DELTA))]


def objective_as_published():
    """Kifer, Smith and Thakurta: gradients move by 2R, curvature is R^2/4."""
    e, level = 0.99 * EPSILON, math.log(2.0 / (0.99 * DELTA))
    return objective(2.0 * R * math.sqrt(8.0 * level + 4.0 * e) / e, R**2 / 2.0 / e)


def sketch():
    """Sheffet: a least eigenvalue with noise 4 B^2/epsilon, then a sketch of normal numbers."""
    return [("laplace", 4.0 * (R**2 + Y_BOUND**2) / EPSILON), ("gaussian", 1.0)]


def functional_as_published():
    """2 (p + 1)^2 on the coefficients of a polynomial, in which products of two of the p numbers appear twice."""
    units = (R * R, R * R / 2.0, R * Y_BOUND / 2.0)
    return [("laplace", 2.0 * (P + 2) ** 2 * unit / EPSILON) for unit in units]


DRAWS = {
    "DPNB-literature": naive_bayes,
    "DPNBSS-repaired": cauchy,
    "DPNBSS-gaussian": gaussian,
    "DPNBSS-literature": cauchy_as_published,
    "ObjectivePerturbation-literature": objective_as_published,
    "DPJL-repaired": sketch,
    "DPJL-literature": sketch,
    "FunctionalMechanism-literature": functional_as_published,
    "WaveletEstimator-literature": lambda: [("laplace", 6.0 / EPSILON)],
    "TukeyEM-repaired": lambda: [("laplace", 2.0 / EPSILON)],
}


def people(labels):
    X = np.random.default_rng(0).uniform(-1, 1, size=(N, P))
    y = np.repeat(np.arange(K), COUNTS)
    return X, np.minimum(y, labels - 1) if labels else X[:, 0]


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_every_draw_has_the_size_that_its_theorem_asks_for(name):
    (entrant,) = [e for e in RIVALS if e.name == name]
    noise = Replay(0)
    classes = list(range(entrant.labels))
    entrant.example(X_BOUND, Y_BOUND, classes, epsilon=EPSILON, delta=DELTA, random_state=noise).fit(
        *people(entrant.labels)
    )
    drawn = [(call.kind, call.scale) for call in noise.calls if "bits" not in call.kind]
    assert [kind for kind, _ in drawn] == [kind for kind, _ in DRAWS[name]()]
    for (_, found), (_, scale) in zip(drawn, DRAWS[name](), strict=True):
        np.testing.assert_allclose(found, scale, rtol=2e-9)


def test_published_naive_bayes_scales_what_it_drew_by_private_sizes():
    X, y = people(K)
    noise = Replay(0)
    with pytest.warns(eptr.NotPrivateWarning):
        model = eptr.rivals.DPNB(EPSILON, x_bound=X_BOUND, form="literature", random_state=noise).fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(K)])
    scales = 2.0 * X_BOUND / ((COUNTS + 1) * EPSILON / 2 / (K * P))
    np.testing.assert_allclose((model.means_ - means) / noise.calls[1].output, by_class(scales), rtol=1e-6)
