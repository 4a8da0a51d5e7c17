"""Rivals are citizens of scikit-learn, too: its own checks on every form, with no expected failure."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")

from sklearn.utils.estimator_checks import parametrize_with_checks

from eptr.rivals.catalogue import RIVALS

SETTINGS = {
    "classification": {"x_bound": 20.0, "classes": "public"},
    "regression": {"x_bound": 20.0, "y_bound": 20.0},
    "function": {"domain": (-5, 5), "y_bound": 20.0},
}


def instance(entrant, **more):
    settings = {} if entrant.rival.__name__ == "TukeyEM" else SETTINGS[entrant.task]
    if entrant.rival.__name__ == "BinnedKernel":
        settings = settings | {"cells": 2}
    if entrant.rival.__name__ == "WaveletEstimator" and entrant.form == "repaired":
        settings = settings | {"terms": 2}
    return entrant.make(**settings | more)


@parametrize_with_checks([instance(entrant) for entrant in RIVALS])
def test_common_checks(estimator, check):
    check(estimator)
