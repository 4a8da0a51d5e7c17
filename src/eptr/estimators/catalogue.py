"""The one list of our estimators and their strategies; rivals have theirs in the same form.

JSON, the command line, the report, the audit and the common tests take their lists from here: one more estimator is one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from .additive import AdditiveRegressor
from .bayes import BayesClassifier
from .kernel import KernelRegressor
from .linear import LinearRegression
from .logistic import LogisticRegression
from .strategy import NoisySums

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
    two_classes: bool = False  # whether it can tell no more apart
    panel: str = ""  # what a report shows: "coefficients", "means", "function" or "effects"
    form: str = ""  # what tells it from another one of the same variant

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.estimator.__name__, self.variant, self.form)))

    @property
    def labels(self) -> int:
        """How many classes an example of its rows has; 0: numbers."""
        return 0 if self.task != "classification" else 2 if self.two_classes else 3

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
            "regression": {"x_bound": x_bound, "y_bound": y_bound},
            "function": {"domain": (-x_bound, x_bound), "y_bound": y_bound},
        }[self.task]
        if not self.takes_bounds:
            bounds = {"x_range": (-x_bound, x_bound), "y_range": (-y_bound, y_bound)} if self.takes_ranges else {}
        return self.make(**bounds | dict(self.needs) | settings)

    def ranged(self, x_range: Any, target: Any, **settings: Any) -> Any:
        """An instance for raw columns, with the range of y or the classes that it takes."""
        return self.make(
            x_range=x_range,
            **{"classes" if self.task == "classification" else "y_range": target},
            **dict(self.needs) | settings,
        )


def _strategies(estimator: Any, task: str, **more: Any) -> list[Entrant]:
    ranges = hasattr(estimator, "x_range") and more.pop("takes_ranges", True)
    return [
        Entrant(
            estimator, name, task, takes_ranges=ranges and name == "refined",
            noise="added" if isinstance(strategy, NoisySums) else "scaled", **more,
        )
        for name, strategy in estimator.strategies.items()
    ]  # fmt: skip


BAYES: dict[str, Any] = {"command": "bayes", "title": "Bayes classifier", "panel": "means"}
OURS = [
    *_strategies(
        LinearRegression, "regression", command="ols", title="Least squares", panel="coefficients", exposed={"c0": 0.3}
    ),
    *_strategies(LogisticRegression, "classification", command="logit", title="Logistic regression", panel="coefficients"),
    Entrant(
        BayesClassifier, "refined", "classification", form="shared", needs={"covariance": "shared"}, takes_ranges=True, **BAYES
    ),
    *_strategies(BayesClassifier, "classification", takes_ranges=False, **BAYES),
    *_strategies(
        KernelRegressor, "function", command="kernel", title="Kernel regression", panel="function",
        needs={"bandwidth": 0.4}, exposed={"bandwidth": 0.05},
    ),
    Entrant(
        AdditiveRegressor, "refined", "function", takes_bounds=False, takes_ranges=True, command="additive",
        title="Additive model", panel="effects",
    ),
]  # fmt: skip


def commanded(name: str) -> list[Entrant]:
    """The strategies of what the command line calls ``name``, the default first; of two alike, the one for raw columns."""
    found: dict[str, Entrant] = {}
    for entrant in OURS:
        if entrant.command == name and (entrant.takes_ranges or entrant.variant not in found):
            found[entrant.variant] = entrant
    if not found:
        raise InputError(f"model must be one of {', '.join(COMMANDS)}, got {name!r}.")
    return list(found.values())


COMMANDS = tuple(dict.fromkeys(entrant.command for entrant in OURS))
