"""What moves taught of the curvature: one that clearly went too far shall not again.  Proof: descent.md, overshoot.

Post-processing of released gradients.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["Learnt"]

Array = NDArray[np.float64]
OVERSHOT = 1.3, 3.0  # curvature from which a move was too long, by so many standard deviations of its noise


class Learnt:
    """The inverse curvature in use: that of the coordinates, until a move showed another.

    ``known``: coordinates are, so a move that seems too long by chance is more likely than one that is.
    """

    def __init__(self, p: int, *, known: bool) -> None:
        self.inverse, self.known, self.overshot = np.eye(p), known, False

    def from_move(self, move: Array, first: Array, second: Array, noises: tuple[float, float], common: float) -> None:
        """From gradients before and after a move that the first led to: if it clearly went too far, it shall not again.

        ``noises``: their variances; ``common``: what of the first one's the move began with.
        """
        p, change, expected = len(move), first - second, float(move @ np.linalg.solve(self.inverse, move))
        expected = max(expected, 1e-300)  # of the gradient's change along the move, if the curvature is the one in use
        bend = (float(move @ change) - p * common) / expected
        row, doubt = move @ self.inverse, OVERSHOT[1] * math.sqrt(math.fsum(noises) * float(move @ move)) / expected
        along = float(row @ change)  # what is learnt must stay a way down
        if along > 0.0 and bend > (OVERSHOT[0] + doubt if self.known else max(OVERSHOT[0], 1.0 + doubt)):
            # Broyden's update of an inverse: learnt @ change is move afterwards.
            self.inverse = self.inverse + np.outer(move - self.inverse @ change, row) / along
            self.overshot = True
            return
        here, there = float(first @ first), float(second @ second)
        was, now = max(here - p * noises[0], noises[0]), there - p * (common + noises[1])
        blur = 4.0 * (here * noises[0] + there * noises[1]) + 2.0 * p * (noises[0] ** 2 + noises[1] ** 2)
        if now > was + OVERSHOT[1] * math.sqrt(blur):  # gradients are longer
            down = self.inverse @ second
            less = 1.0 - 1.0 / (1.0 + math.sqrt(now / was))
            self.inverse = self.inverse - less * np.outer(down, down) / float(second @ down)
            self.overshot = True
