"""What a fit knows afterwards: released numbers and public settings, frozen; all that is stored or shown is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["FACTS", "Fitted"]

# What is public about the rows, on every estimator under scikit-learn's names.
FACTS = ("n_features_in_", "feature_names_in_", "classes_")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fitted:
    """Base of the fitted numbers of every model, which adds its own fields; a user reads field ``coef`` as ``coef_``.

    ``value``: what the Release shows, None after "no reply". ``noise``: the standard deviation on each of its numbers.
    Another field is None where a strategy does not release it.
    """

    value: Any
    noise: float

    @property
    def released(self) -> bool:
        """Whether there was a reply."""
        return self.value is not None
