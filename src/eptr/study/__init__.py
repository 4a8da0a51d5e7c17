"""The front door: data, a codebook and one budget; every analysis is a share of it."""

from __future__ import annotations

from .study import Study

__all__ = ["Study"]
