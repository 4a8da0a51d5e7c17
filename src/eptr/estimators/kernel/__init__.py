"""Kernel regression: the model, its strategies, and how far one row can move it."""

from .regressor import KernelRegressor

__all__ = ["KernelRegressor"]
