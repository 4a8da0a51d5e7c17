"""Private statistics of columns: each answers one question about the rows with an Estimate."""

from __future__ import annotations

from .covariance import correlation, covariance
from .estimate import Estimate
from .mean import mean
from .score import score
from .spread import std, variance

__all__ = ["Estimate", "correlation", "covariance", "mean", "score", "std", "variance"]
