"""The middle level first, then both sides (Kaplan, Schnapp and Stemmer 2022).  Proof: approximate_quantiles.md."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Unpack

from ..docstrings import described
from ..privacy.joint_exponential import joint_places, rows_wanted
from ..stats.estimate import Estimate
from ..stats.question import Shared
from .value_line import AskedValues, ValueLine

__all__ = ["ApproximateQuantiles"]

THEOREM = (
    "Kaplan, Schnapp and Stemmer (2022), Differentially private approximate quantiles, Theorem 3.1. Values of each side of a "
    "released quantile are asked separately, so a row counts once for each depth; here with both sides that a replaced row may "
    "touch."
)


@described
def ApproximateQuantiles(x: Any, q: Any, bounds: Any, *, epsilon: float, **shared: Unpack[Shared]) -> Estimate:
    """Halving the levels: one exponential mechanism for each, and an equal part of epsilon for each depth; epsilon-DP.

    Takes what :func:`eptr.stats.quantiles` takes, of one column in memory; it has no intervals.
    """
    asked = AskedValues("ApproximateQuantiles", x, q, bounds, epsilon, shared, basis="cited", theorem=THEOREM)
    noise = asked.spending.by_its_own_theorem()
    nodes = list(_nodes(0, len(asked.levels), 0, Fraction(0), Fraction(1), asked.levels))
    each = Fraction(asked.question.epsilon) / (1 + max(depth for depth, *_ in nodes))
    replaced, rows = asked.spending.unit.relation == "replace-one", asked.spending.unit.rows
    found: dict[int, float] = {-1: asked.low, len(asked.levels): asked.high}
    for depth, first, middle, last, level in nodes:
        # Of all nodes of a depth, because a replaced row may leave one and enter another. proof: depth
        wide = max(max(other, 1 - other) for at, *_, other in nodes if at == depth)
        cost = rows * max(Fraction(4), 8 * wide) if replaced else rows * 4 * wide
        low, high = found[first - 1], found[last]
        values = asked.values()
        inside = values[(values > low) & (values <= high)] if first else values[values <= high]
        line = ValueLine(inside, low, high)
        if line.length:
            low = line.value(joint_places(line, rows_wanted([level], line.count), each / cost, noise)[0])
        found[middle] = min(max(low, found[first - 1]), high)
    return asked.answer([found[k] for k in range(len(asked.levels))])


def _nodes(
    first: int, last: int, depth: int, low: Fraction, high: Fraction, levels: list[Fraction]
) -> Iterator[tuple[int, int, int, int, Fraction]]:
    """(depth, first, middle, last, level of the middle among first..last - 1's own rows), parents before children."""
    if first < last:
        middle = (first + last) // 2
        yield depth, first, middle, last, (levels[middle] - low) / (high - low)
        yield from _nodes(first, middle, depth + 1, low, levels[middle], levels)
        yield from _nodes(middle + 1, last, depth + 1, levels[middle], high, levels)
