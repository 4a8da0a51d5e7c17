"""Artefacts: a fit that shows released numbers alone is the same on neighbours; one that shows more is named."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr.audit.artefacts import artefacts, compare_artefacts, outlines
from eptr.audit.known_bad import NoisyCounts, TalkativeCounts, WarningCounts
from eptr.audit.neighbours import neighbours

PAIRS = [neighbours(np.random.default_rng(k), 30, 2, 3) for k in range(4)]
UNDECLARED = [((np.zeros((3, 1)), np.array([0, 1, 2])), (np.zeros((3, 1)), np.array([7, 1, 2])))]


def fit(model):
    return lambda data, noise: clone(model).set_params(random_state=noise).fit(*data)


def test_an_honest_fit_is_the_same_byte_for_byte():
    found = compare_artefacts(fit(NoisyCounts(classes=(0, 1, 2))), PAIRS + UNDECLARED)
    assert not found.convicts
    assert found.compared > 20


@pytest.mark.parametrize(
    ("model", "pairs", "where"),
    [
        (TalkativeCounts(classes=(0, 1, 2)), PAIRS, "attribute seen_"),
        (WarningCounts(classes=(0, 1, 2)), UNDECLARED, "warnings"),
    ],
)
def test_a_fit_that_tells_more_is_convicted_where_it_does(model, pairs, where):
    assert compare_artefacts(fit(model), pairs).differs == where


class Raising(NoisyCounts):
    def _counts(self, y):
        if 7 in y:
            raise ValueError("seven")
        return super()._counts(y)


class Growing(NoisyCounts):
    """As many attributes as there are different labels."""

    def fit(self, X, y):
        for label in {*y.tolist()}:
            setattr(self, f"label_{label}_", None)
        return super().fit(X, y)


@pytest.mark.parametrize("model", [Raising(), Growing()], ids=["exception", "names"])
def test_exceptions_and_names_are_artefacts(model):
    assert compare_artefacts(fit(model), UNDECLARED).convicts


@pytest.mark.parametrize("strategy", ["refined", "tight", "paper"])
def test_a_strategy_that_replies_and_one_that_does_not(strategy):
    """Both happen among these pairs, and a replayed reply looks the same on either side."""
    model = eptr.BayesClassifier(4.0, 0.01, 1.0, classes=[0, 1, 2], strategy=strategy)
    pairs = [*PAIRS, neighbours(np.random.default_rng(0), 900, 2, 3)]
    replies = []

    def recorded(data, noise):
        replies.append(fit(model)(data, noise))
        return replies[-1]

    assert compare_artefacts(recorded, pairs).differs is None
    assert {m.released_ for m in replies} == ({True} if strategy == "refined" else {True, False})


def test_what_is_collected():
    X, y = PAIRS[0][0]
    with pytest.warns(eptr.NotPrivateWarning):
        model = eptr.BayesClassifier(x_bound=1.0, classes=[0, 1, 2], random_state=0).fit(X, y)
    names = set(artefacts(model))
    assert {"pickle", "repr", "to_json", "privacy_statement", "attribute means_", "attribute release_"} <= names
    assert b"exactly, from a cryptographic source" in artefacts(model)["statement of a private fit, methods"]
    assert b"float64(3, 2)" in outlines(model)["attribute means_"]
    assert outlines(model).keys() >= {"repr", "privacy_statement"}
