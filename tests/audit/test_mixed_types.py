"""Mixed types: labels read through one array are convicted, labels read one by one stand."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.audit.known_bad import CommonTypeCounts, NoisyCounts, WarningCounts
from eptr.audit.mixed_types import containers, hostile_values, search_types

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(12, 2)).tolist()
FAMILIES = {(0, 1, 2): [i % 3 for i in range(12)], ("no", "yes"): [("no", "yes")[i % 2] for i in range(12)]}


@pytest.mark.parametrize("classes", FAMILIES, ids=str)
def test_labels_read_one_by_one_stand_in_every_container(classes):
    found = search_types(NoisyCounts(classes=classes), (X, FAMILIES[classes]), "target")
    assert found.faults == {}
    assert found.pairs > 5 * len(hostile_values())
    assert found.closest == pytest.approx(1.0 if classes == (0, 1, 2) else 0.7071, abs=1e-3)
    cells = search_types(NoisyCounts(classes=classes), (X, FAMILIES[classes]), "cell")
    assert cells.closest == 0.0  # it never looks at cells


def test_labels_read_through_one_array_are_convicted():
    found = search_types(CommonTypeCounts(classes=(0, 1, 2)), (X, FAMILIES[0, 1, 2]), "target")
    assert found.convicts
    assert found.closest > 3.0
    assert "times the claim" in found.faults["list"]
    assert "unhashable" in found.faults["object array"]  # an exception that depends on a value
    assert "float array" not in found.faults


def test_a_warning_that_depends_on_a_value_is_convicted():
    found = search_types(WarningCounts(classes=(0, 1, 2)), (X, FAMILIES[0, 1, 2]), "target")
    assert "a warning" in found.faults["tuple"]
    assert found.closest <= 1.0 + 1e-9


class MoreDraws(NoisyCounts):
    def fit(self, X, y):
        if any(v is None for v in y):
            super().fit(X, y)
        return super().fit(X, y)


def test_other_draws_are_convicted():
    found = search_types(MoreDraws(classes=(0, 1, 2)), (X, FAMILIES[0, 1, 2]), "target", {"list": lambda X, y: (X, y)})
    assert "other draws" in found.faults["list"]


class Refusing(NoisyCounts):
    def fit(self, X, y):
        raise TypeError(f"y is a {type(y).__name__}")


def test_refusing_a_container_is_no_fault():
    assert search_types(Refusing(), (X, FAMILIES[0, 1, 2]), "target").faults == {}


def test_containers_hold_what_they_are_given():
    y = FAMILIES[0, 1, 2]
    for name, container in containers().items():
        _, target = container(X, y)
        assert isinstance(target, str) or [int(v) for v in target] == y, name
