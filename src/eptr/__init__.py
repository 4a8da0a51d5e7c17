"""Differentially private statistics with near non-private accuracy: propose, test, release.

Heavy packages (opendp, scikit-learn, sqlalchemy, matplotlib, typer) load on first use only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:  # what a type checker sees of the names below
    from . import datasets as datasets
    from . import rivals as rivals
    from . import stats as stats
    from .accounting.budget import Budget as Budget
    from .accounting.compose import compose as compose
    from .accounting.ledger import Ledger as Ledger
    from .accounting.release import release as release
    from .adapter import Adapter as Adapter
    from .catalogue import from_json as from_json
    from .codebook import Codebook as Codebook
    from .errors import BoundError as BoundError
    from .errors import BudgetError as BudgetError
    from .errors import DomainError as DomainError
    from .errors import EngineError as EngineError
    from .errors import EptrError as EptrError
    from .errors import EptrWarning as EptrWarning
    from .errors import InputError as InputError
    from .errors import LedgerError as LedgerError
    from .errors import NoReplyWarning as NoReplyWarning
    from .errors import NotPrivateWarning as NotPrivateWarning
    from .errors import PrivacyError as PrivacyError
    from .errors import SettingError as SettingError
    from .errors import SettingsWarning as SettingsWarning
    from .estimators.additive import AdditiveRegressor as AdditiveRegressor
    from .estimators.bayes import BayesClassifier as BayesClassifier
    from .estimators.kernel import KernelRegressor as KernelRegressor
    from .estimators.linear import LinearRegression as LinearRegression
    from .estimators.logistic import LogisticRegression as LogisticRegression
    from .estimators.preprocessing import PublicEncoder as PublicEncoder
    from .estimators.preprocessing import PublicScaler as PublicScaler
    from .privacy.claim import Release as Release
    from .privacy.gaussian import gaussian_delta as gaussian_delta
    from .privacy.gaussian import gaussian_epsilon as gaussian_epsilon
    from .privacy.gaussian import gaussian_mu as gaussian_mu
    from .privacy.ladder import ladder as ladder
    from .privacy.mechanism import Proposal as Proposal
    from .privacy.profile import privacy_profile as privacy_profile
    from .registry import registry_yaml as registry_yaml
    from .study.study import Study as Study

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
    "SettingError": "errors",
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
