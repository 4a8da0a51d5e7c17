"""The one list of our estimators and their strategies; rivals have theirs in the same form.

JSON, the command line, the report, the audit and the common tests take their lists from here: one more estimator is one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from .bayes import BayesClassifier
from .kernel import KernelRegressor
from .linear import LinearRegression
from .logistic import LogisticRegression

__all__ = ["COMMANDS", "OURS", "Entrant", "commanded"]


@dataclass(frozen=True, slots=True)
class Entrant:
    """An estimator in one variant: what it estimates, its guarantee, and all that those who list it need to know."""

    estimator: Any
    variant: str
    task: str  # "classification", "regression" or "function"
    guarantee: str = "approximate"  # "pure", "approximate", "unverified" or "none"
    sums: bool = True  # whether its statistics are sums over rows, so that files and clusters can compute them
    # "added" to statistics, of public size; "scaled" by, or after a test of, private ones; "mixed" with the rows.
    noise: str = "added"
    needs: Mapping[str, Any] = field(default_factory=dict)  # settings of its own
    exposed: Mapping[str, Any] = field(default_factory=dict)  # settings under which an attack on few rows sees most
    takes_bounds: bool = True
    takes_ranges: bool = False  # of raw columns and of y, instead of bounds
    command: str = ""  # what the command line calls it
    title: str = ""  # what a report calls it
    panel: str = ""  # what a report shows: "coefficients", "means" or "function"

    @property
    def name(self) -> str:
        return f"{self.estimator.__name__}-{self.variant}"

    @property
    def private(self) -> bool:
        return self.guarantee != "none"

    def make(self, **settings: Any) -> Any:
        """An instance of this variant."""
        return self.estimator(**{self.estimator._selector: self.variant} | settings)

    def example(self, x_bound: float, y_bound: float, classes: Any = "public", **settings: Any) -> Any:
        """An instance for rows of norm at most ``x_bound`` and targets of at most ``y_bound``, or with these classes."""
        bounds: dict[str, Any] = {
            "classification": {"x_bound": x_bound, "classes": classes},
            "regression": {"x_bound": x_bound, "y_bound": y_bound} if self.takes_bounds else {},
            "function": {"domain": (-x_bound, x_bound), "y_bound": y_bound},
        }[self.task]
        return self.make(**bounds | dict(self.needs) | settings)

    def ranged(self, x_range: Any, target: Any, **settings: Any) -> Any:
        """An instance for raw columns, with the range of y or the classes that it takes."""
        return self.make(
            x_range=x_range, **{"classes" if self.task == "classification" else "y_range": target}, **settings
        )


def _strategies(estimator: Any, task: str, **more: Any) -> list[Entrant]:
    ranges = hasattr(estimator, "x_range")
    return [
        Entrant(estimator, strategy, task, takes_ranges=ranges and strategy == "refined", **more)
        for strategy in estimator.strategies
    ]


OURS = [
    *_strategies(
        LinearRegression, "regression", command="ols", title="Least squares", panel="coefficients", exposed={"c0": 0.3}
    ),
    *_strategies(LogisticRegression, "classification", command="logistic", title="Logistic regression", panel="coefficients"),
    *_strategies(BayesClassifier, "classification", command="bayes", title="Bayes classifier", panel="means"),
    *_strategies(
        KernelRegressor, "function", command="kernel", title="Kernel regression", panel="function",
        needs={"bandwidth": 0.4}, exposed={"bandwidth": 0.05},
    ),
]  # fmt: skip


def commanded(name: str) -> list[Entrant]:
    """The strategies of what the command line calls ``name``, the default first."""
    found = [entrant for entrant in OURS if entrant.command == name]
    if not found:
        raise InputError(f"model must be one of {', '.join(COMMANDS)}, got {name!r}.")
    return found


COMMANDS = tuple(dict.fromkeys(entrant.command for entrant in OURS))
