"""What a fit spends on a pair of neighbours (see `eptr.audit.replay`), and neighbours that try hard."""

from __future__ import annotations

import warnings

from sklearn.base import clone

from eptr import NotPrivateWarning
from eptr.audit.neighbours import neighbours
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
