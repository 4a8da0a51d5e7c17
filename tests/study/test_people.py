"""Who is one person: identifiers that read the same, whatever holds them."""

from __future__ import annotations

import pytest

from eptr import InputError
from eptr.study.layout import Frame
from eptr.study.people import _key, bounded


def test_identifiers_that_read_the_same_are_one_person():
    assert _key(17) == _key(17.0) == "11"
    assert _key(-3) == "-3"
    assert _key(2**70) == f"{2**70:x}"
    assert _key(1.5) == "1.5"  # none of the whole numbers beside it
    assert _key("17") == _key(17)
    assert _key("x17") == "x17"
    assert _key(None) is _key(float("nan")) is None


def test_a_column_of_persons_that_is_not_there_is_named():
    with pytest.raises(InputError, match="person='whom'"):
        bounded(Frame({"age": [1.0], "who": [3]}), "whom", 2)
