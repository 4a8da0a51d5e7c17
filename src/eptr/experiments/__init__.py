"""Every figure of the paper, and those it left out: simulated and real, non-private, published, rivals and ours."""

from __future__ import annotations

from . import classification, regression, smoothing
from .design import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, Experiment] = {
    e.name: e for room in (classification, regression, smoothing) for e in room.EXPERIMENTS
}
