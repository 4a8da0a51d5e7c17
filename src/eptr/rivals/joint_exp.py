"""JointExp (Gillenwater, Joseph and Kulesza 2021), and the same levels one by one.  Proof: joint_exp.md."""

from __future__ import annotations

from typing import Any, Unpack

from ..docstrings import described
from ..stats.estimate import Estimate
from ..stats.question import Shared
from .value_line import AskedValues, place_values

__all__ = ["JointExp", "OneByOne"]


@described
def JointExp(x: Any, q: Any, bounds: Any, *, epsilon: float, **shared: Unpack[Shared]) -> Estimate:
    """All levels by one exponential mechanism on the intervals between sorted values; epsilon-DP, sampled exactly.

    Takes what :func:`eptr.stats.quantiles` takes, of one column in memory; it has no intervals.
    """
    asked = AskedValues("JointExp", x, q, bounds, epsilon, shared)
    found = place_values(asked.spending, asked.values(), asked.low, asked.high, asked.levels, asked.question.epsilon)
    return asked.answer(found)  # proof: joint


@described
def OneByOne(x: Any, q: Any, bounds: Any, *, epsilon: float, **shared: Unpack[Shared]) -> Estimate:
    """Each level by an exponential mechanism of its own (Smith 2011), with an equal part of epsilon, then sorted."""
    asked = AskedValues("OneByOne", x, q, bounds, epsilon, shared)
    each, values = asked.question.epsilon / len(asked.levels) * (1.0 - 1e-15), asked.values()
    found = [
        place_values(asked.spending, values, asked.low, asked.high, [level], each)[0] for level in asked.levels
    ]  # proof: one
    return asked.answer(sorted(found))
