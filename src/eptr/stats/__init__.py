"""Private statistics of columns: each answers one question about the rows with an Estimate."""

from __future__ import annotations

from .estimate import Estimate
from .mean import mean
from .quantiles import median, quantiles
from .spread import std, variance

__all__ = ["Estimate", "mean", "median", "quantiles", "std", "variance"]
