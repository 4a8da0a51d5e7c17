"""Least squares: the model, its strategies, and how far one row can move it."""

from .regression import LinearRegression

__all__ = ["LinearRegression"]
