"""A strategy is one way of spending a budget on a model: what it costs, what it will achieve, and the fit itself.

A model lists its strategies by name; one more is a file with its proof, and a line in that list.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ..accounting.budget import Budget
from ..privacy.claim import Cost
from ..privacy.mechanism import Forecast, forecast_test
from ..privacy.spending import Spending
from ..privacy.unit import RELATIONS, Unit
from ..rows.engine import Rows
from .fitted import Fitted
from .planning import Plan

__all__ = ["NoisySums", "Public", "Strategy", "Tested", "gaussian_cost"]


@dataclass(frozen=True, slots=True)
class Public:
    """What everybody may know before a row is read; models add their checked settings."""

    budget: Budget
    unit: Unit
    n: int
    n_features: int

    @property
    def each(self) -> Budget:
        """Of one test, where there may be several."""
        return self.budget

    @property
    def numbers(self) -> int:
        """How many numbers the estimate has."""
        return self.n_features

    @property
    def to_buy(self) -> list[str]:
        """Bounds that are given as "private"."""
        return []


class Strategy(Protocol):
    """What the one ``fit`` of all models asks for; ``public`` is the model's own kind of Public."""

    relations: ClassVar[tuple[str, ...]]  # neighbour relations that it is proven for
    buys_bounds: ClassVar[bool]  # whether a bound may be given as "private"
    how: str  # for a privacy statement: what was done

    @abstractmethod
    def cost(self, public: Any) -> Cost:
        """Of the whole fit."""

    @abstractmethod
    def plan(self, public: Any) -> Plan:
        """The forecast of a fit; needs no row."""

    @abstractmethod
    def fit(self, rows: Rows, public: Any, spending: Spending) -> Fitted:
        """Ask, within ``spending``, and return what was released."""


class NoisySums(Strategy):
    """Bounded sums with Gaussian noise, one after the other: never refuses."""

    relations = RELATIONS
    buys_bounds = True
    name: ClassVar[str] = "refined"
    how = (
        "Bounded sums over the rows were released with Gaussian noise in several adaptive steps, composed by "
        "Gaussian differential privacy"
    )

    def cost(self, public: Any) -> Cost:
        return gaussian_cost(public.budget)

    def plan(self, public: Any) -> Plan:
        scale = self.planned_noise(public)
        return Plan(self.name, public.n, public.n_features, "", scale, public.numbers * scale**2, 0.0, 0.0, 0.0)

    @abstractmethod
    def planned_noise(self, public: Any) -> float:
        """On each number of the estimate, from public numbers alone."""


class Tested(Strategy):
    """Propose, test, release: proven for rows that are replaced, because a test counts how many must be."""

    relations = ("replace-one",)
    buys_bounds = False
    name: ClassVar[str]  # of the test
    safety: ClassVar[str]  # the statistic that must exceed the threshold, in words

    def __init__(self) -> None:
        test = {"tight": "with the largest possible test", "paper": "published constants"}.get(self.name, self.name)
        self.how = (
            "A private test checked that the data are far from any dataset on which one row matters much (efficient "
            f"propose-test-release, {test}), and the estimate was released with Gaussian noise calibrated to its local "
            "sensitivity"
        )

    def forecast(self, public: Public) -> Forecast:
        """Of one test."""
        return forecast_test(self.name, public.each.epsilon, public.each.delta)

    def cost(self, public: Any) -> Cost:
        return self.forecast(public).cost

    def plan(self, public: Any) -> Plan:
        rule, forecast = self.rule(public), self.forecast(public)
        scale = rule.sensitivity * forecast.noise
        certain = rule.threshold + (1.0 + forecast.certain) * rule.lipschitz
        error = public.numbers * scale**2
        return Plan(
            self.name, public.n, public.n_features, self.safety, scale, error, rule.threshold, certain, public.budget.delta
        )  # fmt: skip

    @abstractmethod
    def rule(self, public: Any) -> Any:
        """Public constants: ``threshold`` and ``lipschitz`` of the safety statistic, and the ``sensitivity`` above it."""


def gaussian_cost(budget: Budget) -> Cost:
    """The whole budget as mu-GDP."""
    return Cost(budget.epsilon, budget.delta, "gaussian", budget.mu)
