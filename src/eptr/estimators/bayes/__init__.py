"""Gaussian classes: the model, its strategies, and how far one row can move it."""

from .classifier import BayesClassifier

__all__ = ["BayesClassifier"]
