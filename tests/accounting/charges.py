"""What tests charge: a cost, and a fit that is charged for."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import LedgerError, LinearRegression
from eptr.privacy.claim import Cost

COST = Cost(0.5, 1e-7, "basic", 0.0)
CITED = Cost(0.5, 1e-7, "basic", 0.0, basis="cited", theorem="Theorem 1 of somebody: rows are bounded.")


def data(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X @ [0.5, -0.2] + 0.1 * rng.normal(size=n)


def model(ledger, **settings):
    return LinearRegression(1.0, 1e-6, 3.0, 2.0, ledger=ledger, **settings)


def refused(url, match):
    """A fit against this ledger raises LedgerError and sets nothing."""
    fit = model(url)
    with pytest.raises(LedgerError, match=match):
        fit.fit(*data())
    assert not hasattr(fit, "coef_")
