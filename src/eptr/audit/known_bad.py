"""Draws that look right and are not: an audit that does not convict them is blind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["float_lattice_point"]

Array = NDArray[np.float64]


def float_lattice_point(low: Array, high: Array, uniform: Array) -> Array:
    """A "uniform" point of a box in floats, ``uniform`` in 2**-53 {0, ..., 2**53 - 1}. **Not private**.

    The outputs lie on a lattice that the corners of the box, hence the rows, determine: one output can tell which box it
    is from. With low = -4 and high = 4 every output is a multiple of 2**-50; with other corners hardly any is.
    """
    return np.asarray(low + (high - low) * uniform)
