"""Private statistics of columns: each answers one question about the rows with an Estimate."""

from __future__ import annotations

from .estimate import Estimate
from .quantiles import median, quantiles

__all__ = ["Estimate", "median", "quantiles"]
