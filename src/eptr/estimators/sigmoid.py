"""1/(1 + exp(-t)) from operations that every machine rounds alike: the same bits everywhere.  Proof: sigmoid.md."""

from __future__ import annotations

import math
from typing import Any

from ..rows.namespace import namespace

__all__ = ["sigmoid"]

FURTHEST, HALVINGS = 40.0, 6  # exp(-40) is below half a unit in the last place of 1
TERMS = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))


def sigmoid(t: Any) -> Any:
    """Of every number, between 0 and 1; additions, products and quotients alone, each a call of its own. proof: range"""
    xp = namespace(t)
    far = xp.clip(xp.abs(t), None, FURTHEST) * -(2.0**-HALVINGS)
    power = xp.zeros_like(far) + TERMS[0]
    for term in TERMS[
        1:
    ]:  # Taylor's series of exp at |t|/64, at most .625; all of it errs by less than 1e-11 of itself
        power = power * far
        power = power + term
    for _ in range(HALVINGS):
        power = power * power
    share = 1.0 / (power + 1.0)
    return xp.where(t < 0.0, power * share, share)
