"""Every estimator and every rival by name: what a stored model can be read as."""

from __future__ import annotations

from typing import Any

from .estimators.catalogue import OURS, Entrant
from .persistence import restored
from .rivals.catalogue import RIVALS

__all__ = ["EVERY", "Entrant", "from_json"]

EVERY = [*OURS, *RIVALS]


def from_json(text: str) -> Any:
    """The estimator that ``to_json`` wrote; it predicts, and can be fitted again.

    Parameters
    ----------
    text : str
        The JSON.

    Examples
    --------
    >>> import numpy as np, eptr
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = eptr.LinearRegression(x_bound=3.0, y_bound=3.0).fit(X, X[:, 0])
    >>> again = eptr.from_json(model.to_json())
    >>> bool(np.array_equal(again.predict(X), model.predict(X)))
    True
    """
    return restored(text, {entrant.estimator.__name__: entrant.estimator for entrant in EVERY})
