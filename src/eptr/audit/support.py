"""Outputs that the other dataset cannot give: an event of probability zero breaks every epsilon.

The attacker knows both datasets and may know how the mechanism draws: a test says which outputs a dataset can give at all.
A test that rejects outputs of its own dataset is a wrong guess about the mechanism, and convicts nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, probability
from .attack import lower_limit

__all__ = ["Impossible", "impossible"]

Array = NDArray[np.float64]
Member = Callable[[Array], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Impossible:
    """With this confidence, one dataset gives outputs that the other cannot give with at least this ``probability``."""

    probability: float
    runs: int
    confidence: float
    right_guess: bool  # whether the tests accepted every output of their own dataset

    def convicts(self, delta: float) -> bool:
        """Whether no epsilon whatever goes with this delta."""
        return self.right_guess and self.probability > delta

    def __str__(self) -> str:
        if not self.right_guess:
            return "not as guessed"
        return f"impossible: {self.probability:.1%}"


def impossible(outputs: tuple[Array, Array], possible: tuple[Member, Member], confidence: float = 0.9999) -> Impossible:
    """Count the outputs on either dataset that the other cannot give.

    Parameters
    ----------
    outputs : two arrays with one row (or number) per reply, drawn on the two datasets
    possible : two functions of such an array
        True where the dataset can give this output.

    Examples
    --------
    A mechanism that draws from {0, 2, 4, 6} on one dataset and from {0, 3, 6, 9} on the other:

    >>> rng = np.random.default_rng(0)
    >>> draws = 2.0 * rng.integers(4, size=1000), 3.0 * rng.integers(4, size=1000)
    >>> found = impossible(draws, (lambda x: x % 2 == 0, lambda x: x % 3 == 0))
    >>> found.convicts(0.01), found.probability > 0.4
    (True, True)
    """
    probability("confidence", confidence)
    if min(len(x) for x in outputs) == 0:
        raise InputError("outputs must hold at least one reply of either dataset.")
    own = all(bool(np.all(test(x))) for test, x in zip(possible, outputs, strict=True))
    # Two tries, one on either side: each gets half of what may go wrong.
    shares = [
        lower_limit(int(np.sum(~possible[1 - k](x))), len(x), 1.0 - 0.5 * (1.0 - confidence))
        for k, x in enumerate(outputs)
    ]
    return Impossible(max(shares), min(len(x) for x in outputs), confidence, own)
