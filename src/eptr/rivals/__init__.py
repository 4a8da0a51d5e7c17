"""Every published competitor, in its strongest honest form, behind the interface of our own estimators."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "AdaSSP": "adassp",
    "BinnedKernel": "binned",
    "BoostedAdaSSP": "boosted",
    "CoinPress": "coinpress",
    "DPGD": "dpgd",
    "DPJL": "dpjl",
    "DPNB": "dpnb",
    "DPNBSS": "dpnbss",
    "FunctionalMechanism": "functional",
    "NoisyStatistics": "noisy_statistics",
    "PTR": "ptr",
    "TukeyEM": "tukey",
    "WaveletEstimator": "wavelet",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'eptr.rivals' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return list(__all__)
