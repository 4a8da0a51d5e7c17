"""What a release says of itself."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import eptr

from .test_mechanism import proposal


def test_release_fields():
    r = eptr.release(proposal(), 1.0, 1e-6)
    assert (r.epsilon, r.delta, r.neighbours, r.private, r.strategy) == (1.0, 1e-6, "replace-one", True, "tight")
    assert not r.value.flags.writeable
    with pytest.raises(AttributeError):
        r.epsilon = 0.1
    silent = eptr.release(proposal(0.0), 1.0, 1e-6)
    assert silent.value is None
    assert silent.noise_scale == r.noise_scale


def test_a_release_says_what_its_guarantee_rests_on():
    r = eptr.release(proposal(), 1.0, 1e-6)
    assert (r.basis, r.theorem) == ("proven", "")
    cited = replace(r, cost=replace(r.cost, basis="cited", theorem="Theorem 1 of somebody"))
    assert (cited.basis, cited.theorem) == ("cited", "Theorem 1 of somebody")
    content = json.loads(cited.to_json())
    assert (content["basis"], content["theorem"]) == ("cited", "Theorem 1 of somebody")
    assert (content["cost"]["basis"], content["cost"]["theorem"]) == ("cited", "Theorem 1 of somebody")
