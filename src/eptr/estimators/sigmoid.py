"""exp(-t) and 1/(1 + exp(-t)) from operations that every machine rounds alike: the same bits everywhere.  Proof: sigmoid.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rows.namespace import at_most, is_foreign, namespace

__all__ = ["decay", "sigmoid"]

FARTHEST, HALVINGS = 40.0, 7  # exp(-40) is below half a unit in the last place of 1


def decay(t: Any) -> Any:
    """exp(-t) for t >= 0, in (0, 1]; what is beyond 40 counts as 40. proof: decay"""
    u = at_most(t, FARTHEST) * 2.0**-HALVINGS
    s = u * u
    even, odd = s * 30.0, s + 420.0  # in place from here on: memory costs more than arithmetic
    even += 3360.0
    even *= s
    even += 30240.0
    odd *= s
    odd += 15120.0
    odd *= u
    power = even - odd
    even += odd
    power /= even
    for _ in range(HALVINGS):
        power *= power
    return power


def sigmoid(t: Any) -> Any:
    """Of every number, between 0 and 1. proof: decay"""
    e = decay(abs(t))
    share = namespace(t).where(t > 0.0, 1.0, e) if is_foreign(t) else np.maximum(t > 0.0, e)  # e is at most 1
    e += 1.0
    share /= e
    return share
