"""What somebody with a type checker writes; the comments are what mypy must say of it."""

import numpy as np

import eptr
from eptr import stats

rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 2)), rng.normal(size=500)

model: eptr.LinearRegression = eptr.LinearRegression(epsilon=1.0, x_bound=3.0, y_bound=3.0).fit(X, y)
total: float = eptr.gaussian_mu(1.0, 1e-6)
answer: stats.Estimate = stats.mean(y, (-5, 5), epsilon=1.0)
release: eptr.Release = eptr.release(eptr.Proposal([0.0], sensitivity=1.0, safety=9.0), epsilon=1.0, delta=1e-6)
eptr.gaussian_mu(1.0, delt=1e-6)  # type: ignore[call-arg]
wrong: str = eptr.gaussian_mu(1.0, 1e-6)  # type: ignore[assignment]
