"""Every published competitor, in its strongest honest form, behind the interface of our own estimators."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "AdaSSP": "adassp",
    "ApproximateQuantiles": "approximate_quantiles",
    "BinnedKernel": "binned",
    "BoostedAdaSSP": "boosted",
    "ClippedDescent": "clipped_descent",
    "CoinPress": "coinpress",
    "DPGD": "dpgd",
    "DPJL": "dpjl",
    "DPNB": "dpnb",
    "DPNBSS": "dpnbss",
    "DPNewton": "dp_newton",
    "FunctionalMechanism": "functional",
    "JointExp": "joint_exp",
    "NoisyStatistics": "noisy_statistics",
    "ObjectivePerturbation": "objective",
    "OneByOne": "joint_exp",
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
