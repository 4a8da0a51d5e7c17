"""Where a curve rises as if it jumped: faster than its functions can follow.  Post-processing.

K functions show a jump as a rise of .87 of it between 1/2K before and 1/2K after, and next to nothing in the 1/K on either side
(Si(pi/2) and Si(3 pi/2)); a curve that they can follow rises nearly as much there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion

from .axes import WINDOWS, Stretched
from .basis import smooth_functions

__all__ = ["jumps"]

Array = NDArray[np.float64]
POINTS = 201
CLEAR = 4.0  # standard deviations, its own and the curve's, that a rise must stand out by
BESIDE = 0.25  # most that the mean rise on either side may be, relative to it
CELLS_WIDE = 3  # least number of cells that it is looked for in: within one, nobody knows where the rows are


def jumps(axis: Stretched, estimate: Array, variance: Array, beyond: float) -> list[float]:
    """Places on the stretched axis, from 0 to 1; none if there is none to be seen, or the band is wide enough for it.

    ``beyond``: variance that the band has for what is rougher than the functions.
    """
    count = len(estimate)
    h = 0.5 / count
    u = np.linspace(3.0 * h, 1.0 - 3.0 * h, POINTS)
    far, near = (smooth_functions(u + k * h, count) - smooth_functions(u - k * h, count) for k in (3, 1))
    rise, beside = near @ estimate, (far - near) @ estimate / 2.0
    excess = (3.0 * near - far) / 2.0
    own, others = (np.einsum("ij,jk,ik->i", f, variance, f) for f in (excess, smooth_functions(u, count)))
    doubt = np.sqrt(np.maximum(own, others + beyond))
    first, last = (axis.cell(axis.back(u + k * h)) for k in (-3, 3))
    unseen = np.append(0, np.cumsum(~binary_erosion(axis.seen, np.ones(2 * WINDOWS[0] + 1), border_value=1)))
    clear = (np.abs(rise - beside) > CLEAR * doubt) & (np.abs(beside) < BESIDE * np.abs(rise))
    found = np.flatnonzero(clear & (unseen[last + 1] == unseen[first]) & (last - first >= CELLS_WIDE))
    runs = np.split(found, np.flatnonzero(np.diff(found) > 1) + 1)
    return [float(np.mean(u[run])) for run in runs if len(run)]
