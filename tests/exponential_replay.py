"""What exponential mechanisms spend on a pair of neighbours: the second answer is told the outputs of the first.

The log density of every draw is computed from the definition, in the public coordinates of its line.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np

from eptr.privacy import spending
from eptr.privacy.cell_line import CellLine
from eptr.privacy.joint_exponential import joint_places
from eptr.rivals import approximate_quantiles


def utility(count, wanted, ranks):
    return -sum(abs(b - a - float(w)) for a, b, w in zip([0, *ranks], [*ranks, count], wanted, strict=True))


def log_density(line, wanted, rate, places, unit):
    """Of the places, per unit of length for each of them."""
    regions, borders = line.regions(0, line.count)
    rows = [
        0.0,
        *(np.repeat(np.array(borders, dtype=object), np.diff([0, *regions, line.count])) / unit),
        line.length / unit,
    ]
    gaps, terms = np.diff(rows), []
    for ranks in combinations_with_replacement(range(line.count + 1), len(places)):
        volume = math.prod(gaps[k] ** c / math.factorial(c) for k, c in Counter(ranks).items())
        if volume > 0:
            terms.append(math.log(volume) + float(rate) * utility(line.count, wanted, ranks))
    ranks = np.searchsorted(rows[1:-1], np.array(places) / unit)
    return float(rate) * utility(line.count, wanted, ranks) - float(np.logaddexp.reduce(terms))


class ExponentialReplay:
    """Stands in for `joint_places`, wherever it is called: records one answer, and is asked for the loss of another."""

    def __init__(self, monkeypatch):
        self.told, self.loss, self.replaying = [], 0.0, False
        for module in (spending, approximate_quantiles):
            monkeypatch.setattr(module, "joint_places", self)

    def __call__(self, line, wanted, rate, noise):
        # Cells in units of their lengths, values as they are: what somebody who sees the output knows.
        unit, origin = (1 << line.digits, 0) if isinstance(line, CellLine) else (line._unit, line._origin)
        if not self.replaying:
            places = joint_places(line, wanted, rate, noise)
            self.told.append(([(p + origin) / unit for p in places], log_density(line, wanted, rate, places, unit)))
            return places
        outputs, first = self.told.pop(0)
        places = [v * unit - origin for v in outputs]
        self.loss += first - log_density(line, wanted, rate, places, unit)
        return places

    def spent(self, ask, one, two):
        """The privacy loss of what ``ask`` answers about ``one``, were it about ``two``."""
        self.told, self.loss, self.replaying = [], 0.0, False
        ask(one)
        self.replaying = True
        ask(two)
        assert not self.told
        return self.loss
