"""Standardised rows times a released matrix, without rounding in the product.  Proof: mapped.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rows.namespace import like, namespace, squares, whole

__all__ = ["FAR", "Mapped"]

Array = NDArray[np.float64]
# Standardised rows are cut to this and have so many bits, so that products with a whitening matrix are exact.
FAR, BITS = 2.0**10, 26


@dataclass(frozen=True, slots=True)
class Mapped:
    """A row, standardised, moved and multiplied by a matrix, without rounding in the product. proof: bits"""

    middles: Array
    spreads: Array
    matrix: Array
    shift: Array

    def __post_init__(self) -> None:
        bits = 52 - BITS - math.ceil(math.log2(len(self.matrix)))
        grid = 2.0 ** (math.frexp(float(np.abs(self.matrix).max()))[1] - bits)
        object.__setattr__(self, "matrix", np.rint(self.matrix / grid) * grid)

    def __call__(self, x: Any) -> Any:
        xp, (middles, scale, shift, matrix) = (
            namespace(x),
            (like(v, x) for v in (self.middles, 1.0 / self.spreads, self.shift, self.matrix)),
        )
        z = (x - middles) * scale - shift
        unit = FAR * 2.0 ** (1 - BITS)
        return (whole(xp.clip(z, -FAR, FAR) * (1.0 / unit), nearest=True) * unit) @ matrix.T

    def norms(self, x: Any) -> Any:
        """|z| of every row, as a column."""
        return namespace(x).sqrt(squares(self(x), 1))[:, None]
