"""Labels of a classifier: declared or public, missing, odd, many."""

from __future__ import annotations

import numpy as np
import pytest

import eptr

from ..test_catalogue import rows


def test_labels():
    X, y = rows(200)
    labels = np.where(y > 0, "yes", "no")
    with pytest.raises(eptr.InputError, match="two labels"):
        eptr.BayesClassifier(x_bound=3.0).fit(X, np.zeros(200))
    with pytest.raises(eptr.InputError, match="not in classes"):
        eptr.BayesClassifier(x_bound=3.0, classes=["no", "maybe"]).fit(X, labels)
    with pytest.raises(eptr.InputError, match="classes"):
        eptr.BayesClassifier(x_bound=3.0, classes="private").fit(X, labels)
    model = eptr.BayesClassifier(x_bound=3.0, classes=["yes", "no", "absent"]).fit(X, labels)
    assert list(model.classes_) == ["absent", "no", "yes"]
    assert model.predict_proba(X).shape == (200, 3)
    missing = eptr.BayesClassifier(x_bound=3.0, classes=[0, 1], invalid="drop").fit(X, np.where(y > 2, np.nan, y > 0))
    assert list(missing.classes_) == [0, 1]
    with pytest.raises(eptr.InputError, match="list the classes"):  # every label that occurs is declared by occurring
        eptr.BayesClassifier(x_bound=3.0, invalid="drop").fit(X, labels)
    dropped = eptr.BayesClassifier(x_bound=3.0, classes=["yes", "no"], invalid="drop").fit(
        X, np.where(y > 2, "odd", labels)
    )
    assert set(dropped.predict(X)) <= {"yes", "no"}


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels_are_dropped_not_fatal(missing):
    X, y = rows(200)
    labels = np.where(y > 0, "yes", "no").astype(object)
    labels[3] = missing
    model = eptr.BayesClassifier(x_bound=3.0, classes=["no", "yes"], invalid="drop").fit(X, labels)
    assert list(model.classes_) == ["no", "yes"]


def test_declared_labels_cause_no_warning_about_their_number():
    rng = np.random.default_rng(0)
    eptr.BayesClassifier(x_bound=3.0, classes=list(range(40))).fit(rng.normal(size=(40, 2)), np.arange(40))
