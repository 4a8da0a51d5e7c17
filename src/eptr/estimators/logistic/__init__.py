"""Logistic regression, binary and multinomial."""

from .classifier import LogisticRegression

__all__ = ["LogisticRegression"]
