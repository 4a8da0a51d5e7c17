"""Additive models: smooth functions of columns and of pairs of them, without a bandwidth."""

from .regressor import AdditiveRegressor

__all__ = ["AdditiveRegressor"]
