"""The one list of rivals and forms: it drives the checks, the audits, the neighbour tests and the comparison tables."""

from __future__ import annotations

from ..estimators.catalogue import Entrant
from ..stats.catalogue import Statistic
from .adassp import AdaSSP
from .approximate_quantiles import ApproximateQuantiles
from .binned import BinnedKernel
from .boosted import BoostedAdaSSP
from .clipped_descent import ClippedDescent
from .coinpress import CoinPress
from .dp_newton import DPNewton
from .dpgd import DPGD
from .dpjl import DPJL
from .dpnb import DPNB
from .dpnbss import DPNBSS
from .functional import FunctionalMechanism
from .joint_exp import JointExp, OneByOne
from .noisy_statistics import NoisyStatistics
from .objective import ObjectivePerturbation
from .ptr import PTR
from .tukey import TukeyEM
from .wavelet import WaveletEstimator

__all__ = ["OF_QUANTILES", "RIVALS", "RIVAL_STATISTICS"]

FEW = {"rounds": 3}  # an audit fits thousands of times

RIVALS = [
    Entrant(NoisyStatistics, "repaired", "classification", "approximate"),
    Entrant(DPNB, "repaired", "classification", "pure"),
    Entrant(DPNB, "coordinates", "classification", "pure"),
    Entrant(DPNB, "literature", "classification", "none"),
    Entrant(DPNBSS, "repaired", "classification", "unverified", noise="scaled"),
    Entrant(DPNBSS, "gaussian", "classification", "approximate", noise="scaled"),
    Entrant(DPNBSS, "literature", "classification", "none", noise="scaled"),
    Entrant(PTR, "repaired", "classification", "approximate", noise="scaled"),
    Entrant(PTR, "literature", "classification", "none", noise="scaled"),
    Entrant(ClippedDescent, "repaired", "classification", "approximate", two_classes=True, needs={"steps": 3}),
    Entrant(DPNewton, "repaired", "classification", "approximate", two_classes=True, needs={"steps": 2}),
    Entrant(DPNewton, "literature", "classification", "approximate", two_classes=True, needs={"steps": 2}),
    Entrant(ObjectivePerturbation, "repaired", "classification", "approximate", two_classes=True, noise="mixed"),
    Entrant(ObjectivePerturbation, "literature", "classification", "approximate", two_classes=True, noise="mixed"),
    Entrant(AdaSSP, "repaired", "regression", "approximate"),
    Entrant(AdaSSP, "literature", "regression", "approximate"),
    Entrant(BoostedAdaSSP, "repaired", "regression", "approximate", needs=FEW),
    Entrant(BoostedAdaSSP, "literature", "regression", "none", needs=FEW),
    Entrant(DPGD, "repaired", "regression", "approximate"),
    Entrant(DPGD, "literature", "regression", "approximate"),
    Entrant(DPGD, "clipped", "regression", "approximate"),
    Entrant(FunctionalMechanism, "repaired", "regression", "pure"),
    Entrant(FunctionalMechanism, "literature", "regression", "pure"),
    Entrant(DPJL, "repaired", "regression", "approximate", noise="mixed"),
    Entrant(DPJL, "literature", "regression", "approximate", noise="mixed"),
    Entrant(TukeyEM, "repaired", "regression", "approximate", sums=False, takes_bounds=False, noise="mixed"),
    Entrant(WaveletEstimator, "repaired", "function", "approximate"),
    Entrant(WaveletEstimator, "literature", "function", "pure"),
    Entrant(BinnedKernel, "repaired", "function", "approximate", needs={"cells": 5}),
]
# Statistics of columns, in the form of our own.
RIVAL_STATISTICS = [
    Statistic("CoinPress mean", lambda x, t, bounds, **settings: CoinPress(**settings).mean(x, bounds)),
    Statistic("CoinPress covariance", lambda x, t, bounds, **settings: CoinPress(**settings).covariance(x, bounds)),
]
# Those of stats.quantiles: they take what it takes.
OF_QUANTILES = {"JointExp": JointExp, "ApproximateQuantiles": ApproximateQuantiles, "OneByOne": OneByOne}
