"""The one list of our estimators and their strategies; rivals have theirs in the same form.

JSON, the command line's plans, the audit and the common tests take their lists from here: one more estimator is one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from .bayes import BayesClassifier
from .kernel import KernelRegressor
from .linear import LinearRegression

__all__ = ["OURS", "Entrant"]


@dataclass(frozen=True, slots=True)
class Entrant:
    """An estimator in one variant: what it estimates, its guarantee, and settings of its own that it needs.

    ``sums``: whether its statistics are sums over rows, so that files and clusters can compute them.
    """

    estimator: Any
    variant: str
    task: str  # "classification", "regression" or "function"
    guarantee: str = "approximate"  # "pure", "approximate", "unverified" or "none"
    sums: bool = True
    command: str = ""  # what the command line calls it
    needs: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    takes_bounds: bool = True

    @property
    def name(self) -> str:
        return f"{self.estimator.__name__}-{self.variant}"

    @property
    def private(self) -> bool:
        return self.guarantee != "none"

    def make(self, **settings: Any) -> Any:
        """An instance of this variant."""
        return self.estimator(**{self.estimator._selector: self.variant}, **settings)

    def example(self, x_bound: float, y_bound: float, classes: Any = "public", **settings: Any) -> Any:
        """An instance for rows of norm at most ``x_bound`` and targets of at most ``y_bound``, or with these classes."""
        bounds: dict[str, Any] = {
            "classification": {"x_bound": x_bound, "classes": classes},
            "regression": {"x_bound": x_bound, "y_bound": y_bound} if self.takes_bounds else {},
            "function": {"domain": (-x_bound, x_bound), "y_bound": y_bound},
        }[self.task]
        return self.make(**bounds | dict(self.needs) | settings)


OURS = [
    *(Entrant(LinearRegression, s, "regression", command="ols") for s in LinearRegression.strategies),
    *(Entrant(BayesClassifier, s, "classification", command="bayes") for s in BayesClassifier.strategies),
    *(
        Entrant(KernelRegressor, s, "function", command="kernel", needs={"bandwidth": 0.4})
        for s in KernelRegressor.strategies
    ),
]
