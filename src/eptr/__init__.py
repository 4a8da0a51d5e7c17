"""Differentially private statistics with near non-private accuracy: propose, test, release.

Heavy packages (opendp, scikit-learn, sqlalchemy, matplotlib, typer) load on first use only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Adapter": "adapter",
    "AdditiveRegressor": "estimators.additive",
    "Budget": "accounting.budget",
    "BayesClassifier": "estimators.bayes",
    "BoundError": "errors",
    "BudgetError": "errors",
    "Codebook": "codebook",
    "DomainError": "errors",
    "EngineError": "errors",
    "EptrError": "errors",
    "EptrWarning": "errors",
    "InputError": "errors",
    "Ledger": "accounting.ledger",
    "LedgerError": "errors",
    "KernelRegressor": "estimators.kernel",
    "LinearRegression": "estimators.linear",
    "LogisticRegression": "estimators.logistic",
    "NoReplyWarning": "errors",
    "NotPrivateWarning": "errors",
    "PrivacyError": "errors",
    "Proposal": "privacy.mechanism",
    "PublicEncoder": "estimators.preprocessing",
    "PublicScaler": "estimators.preprocessing",
    "Release": "privacy.claim",
    "SettingsWarning": "errors",
    "Study": "study.study",
    "compose": "accounting.compose",
    "from_json": "catalogue",
    "gaussian_epsilon": "privacy.gaussian",
    "gaussian_delta": "privacy.gaussian",
    "gaussian_mu": "privacy.gaussian",
    "ladder": "privacy.ladder",
    "privacy_profile": "privacy.profile",
    "registry_yaml": "registry",
    "release": "accounting.release",
}

__all__ = ["__version__", *sorted(_HOME)]


# Rooms that may be entered by name: eptr.rivals.AdaSSP.
_ROOMS = ("datasets", "rivals", "stats")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'eptr' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
