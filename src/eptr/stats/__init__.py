"""Private statistics of columns: each answers one question about the rows with an Estimate."""

from __future__ import annotations

from .covariance import correlation, covariance
from .estimate import Estimate
from .histogram import histogram
from .mean import mean
from .quantiles import median, quantiles
from .score import score
from .spread import std, variance
from .table import table

__all__ = [
    "Estimate",
    "correlation",
    "covariance",
    "histogram",
    "mean",
    "median",
    "quantiles",
    "score",
    "std",
    "table",
    "variance",
]
