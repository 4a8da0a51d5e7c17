"""Rivals are citizens of scikit-learn, too: its own checks on every form, with no expected failure."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")

from sklearn.utils.estimator_checks import parametrize_with_checks

from eptr.rivals.catalogue import RIVALS


def instance(entrant, **more):
    """Few terms and cells: the checks have few rows on many columns."""
    few = {"BinnedKernel-repaired": {"cells": 2}, "WaveletEstimator-repaired": {"terms": 2}}.get(entrant.name, {})
    return entrant.example(**{"x_bound": 20.0 if entrant.task != "function" else 5.0, "y_bound": 20.0} | few | more)


@parametrize_with_checks([instance(entrant) for entrant in RIVALS])
def test_common_checks(estimator, check):
    check(estimator)
