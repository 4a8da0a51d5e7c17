"""The front door: data, a codebook and one budget; every analysis is a share of it."""

from __future__ import annotations

from .result import Fit
from .study import Study

__all__ = ["Fit", "Study"]
