"""What a fit asks for is checked before a row is read, and cannot be changed afterwards."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import eptr
from eptr.rows.task import Task, target_kind


def refused():
    raise AssertionError("declared labels are not looked for")


@pytest.mark.parametrize("classes", [["b", "a"], ("a", "b"), np.array(["b", "a"]), {"a": 1, "b": 2}])
def test_a_declared_label_set_is_sorted_and_not_looked_for(classes):
    assert Task("labels", classes, drop_invalid=True).label_set(refused).tolist() == ["a", "b"]


def test_a_public_label_set_is_that_of_the_labels_that_occur():
    assert Task("labels", "public").label_set(lambda: {2, 1}).tolist() == [1, 2]
    with pytest.raises(ValueError, match="continuous"):
        Task("labels", "public").label_set(lambda: [0.5, 1.5, 2.25])
    with pytest.raises(eptr.InputError, match="at least two"):
        Task("labels", "public").label_set(lambda: [1])


@pytest.mark.parametrize("target", ["numbers", "none"])
def test_other_targets_have_no_label_set(target):
    assert Task(target).label_set(refused) is None


@pytest.mark.parametrize("classes", ["private", None, 3])
def test_what_is_no_label_set_is_refused(classes):
    with pytest.raises(eptr.InputError, match="'public' or a sequence of labels"):
        Task("labels", classes)


def test_public_labels_cannot_be_dropped():
    with pytest.raises(eptr.InputError, match="none could be dropped"):
        Task("labels", "public", drop_invalid=True)


def test_a_task_is_a_fact():
    classes = ["a", "b"]
    task = Task("labels", classes)
    classes.append("c")
    assert task.classes == ("a", "b")
    with pytest.raises(FrozenInstanceError):
        task.target = "none"


def test_the_kind_of_a_target():
    assert [target_kind(None, None), target_kind("t", None), target_kind("t", [0, 1])] == ["none", "numbers", "labels"]
