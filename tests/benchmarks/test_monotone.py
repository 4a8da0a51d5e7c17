"""More budget or more rows never made a fit worse: tables on which they once did (benchmarks/monotone.py has many more)."""

import numpy as np
import pytest
from benchmarks.monotone import DESIGNS, one_run

# Design, rows, budgets; the largest loss, in a constant's: what it was, and what it may be.
ONCE_WORSE = [
    ("logistic: 8 factors; 5 %", 5000, (2.0, 8.0), 17.7, 1.0),  # steps of Newton's that went to and fro
    ("logistic: everyone, 10x; 5 %", 26_000, (0.25, 8.0), 1.68, 1.0),  # the same, along a long tail
    ("linear: 3 factors; skewed", 1000, (0.25, 1.0), 180.0, 20.0),  # y far from the middle of its range
    ("linear: 15 factors; counts", 5000, (0.25,), 1300.0, 10.0),
    ("linear: 4 off centre; far", 5000, (1.0, 4.0), 1.11, 0.9),  # columns that were not seen, so others stood for them
    ("shared: rare levels; 5 %", 26_000, (0.1, 0.5), 1.36, 1.15),  # rare dummies lost their variance to shortening
]


@pytest.mark.parametrize(("name", "n", "budgets", "was", "most"), ONCE_WORSE)
def test_more_budget_is_not_worse(name, n, budgets, was, most):
    (design,) = (each for each in DESIGNS if each.name == name and n in each.sizes)
    found = np.array([one_run(design, n, seed, budgets) for seed in range(3)])
    loss = np.median(1.0 + (found[:, :, 0] - found[:, :, 1]) / found[:, :, 2], axis=0)
    assert np.max(loss) < most < was
    assert loss[-1] < 1.03 * loss[0]
