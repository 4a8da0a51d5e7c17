"""Bring your own estimator: any statistic with a safety statistic becomes private.  Proof: adapter.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from .accounting.account import open_account
from .audit.falsify import Claims, Counterexample, falsify
from .errors import InputError, positive
from .privacy.adaptive import adaptive_release
from .privacy.claim import Release
from .privacy.ladder import DEFAULT_SLACK
from .privacy.mechanism import release_at_rung
from .privacy.rung import RELATIVE_GUARD, ladder_rung

__all__ = ["Adapter"]


class Adapter:
    """Turn an estimator with a safety statistic into an (epsilon, delta)-DP one (replace-one neighbours).

    Parameters
    ----------
    estimate : callable
        theta(X), a number or an array of public shape. Called only where the safety statistic allows it; it must be
        finite there (what is not counts as zero).
    safety : callable
        beta(X), one number; |beta(X) - beta(X')| <= lipschitz for every pair of neighbours. NaN counts as minus
        infinity, so it may only occur where every neighbour is below the threshold (or ``minimum``), too.
    lipschitz : float
        L, public.
    sensitivity : callable
        s(b), non-increasing: |theta(X) - theta(X')| <= s(b) whenever beta(X) >= b and beta(X') >= b.
    minimum : float, default 0
        s is defined for b > minimum only.
    safety_error, estimate_error : float, default 0
        Public bounds on the floating-point error of ``safety`` and (in norm) of ``estimate``.

    Warnings
    --------
    ``lipschitz``, ``sensitivity``, the threshold and the errors must be facts about *all* datasets, fixed
    before this one is seen. No program can check that you did not look; a constant computed from the data
    voids the guarantee.

    Examples
    --------
    The mean of incomes of whoever answered (the others are coded NaN), between 0 and 200:

    >>> import numpy as np
    >>> incomes = np.where(np.arange(4000) % 4 == 0, np.nan, 50.0)
    >>> mean = Adapter(
    ...     estimate=lambda x: np.nanmean(np.clip(x, 0, 200)),
    ...     safety=lambda x: np.sum(~np.isnan(x)),      # the number of answers: one row changes it by one
    ...     lipschitz=1,
    ...     sensitivity=lambda answers: 200 / answers,  # one row moves a mean of at least b answers by 200/b
    ... )
    >>> r = mean.release(incomes, epsilon=1.0, delta=1e-6, threshold=1000)
    >>> r.replied, round(r.noise_scale, 3)
    (True, 0.887)
    """

    def __init__(
        self,
        estimate: Callable[[Any], Any],
        safety: Callable[[Any], Any],
        lipschitz: float,
        sensitivity: Callable[[float], float],
        *,
        minimum: float = 0.0,
        safety_error: float = 0.0,
        estimate_error: float = 0.0,
    ) -> None:
        for name, function in (("estimate", estimate), ("safety", safety), ("sensitivity", sensitivity)):
            if not callable(function):
                raise InputError(f"{name} must be a function, got {type(function).__name__}.")
        for name, value in (("safety_error", safety_error), ("estimate_error", estimate_error)):
            if not (isinstance(value, (int, float)) and 0.0 <= value < math.inf):
                raise InputError(f"{name} must be a finite number of at least 0, got {value!r}.")
        self.estimate, self.safety, self.sensitivity = estimate, safety, sensitivity
        self.lipschitz = positive("lipschitz", lipschitz)
        self.minimum = float(minimum)
        self.safety_error, self.estimate_error = float(safety_error), float(estimate_error)

    def release(
        self,
        data: Any,
        epsilon: float,
        delta: float,
        threshold: float | None = None,
        *,
        slack: float = DEFAULT_SLACK,
        p0: float | None = None,
        largest_noise: float = math.inf,
        ledger: Any = None,
        random_state: Any = None,
    ) -> Release:
        """Tight ePTR at a public ``threshold`` b0, or, without one, the adaptive proposal.

        With a threshold the noise is 1.05 s(b0)/mu(epsilon, delta) and a dataset with
        beta >= b0 + K L always gets a reply. Without, a tenth of the budget finds the noise level.
        ``largest_noise`` (adaptive only): no reply rather than a useless one. ``ledger`` is a string such as
        ``"sqlite:///budget.db#study"`` or an :class:`eptr.Ledger`; it is charged before anything is drawn.
        """
        if threshold is None:
            return adaptive_release(
                lambda: self.estimate(data),
                self._beta(data) - self.safety_error,
                self.lipschitz * (1.0 + RELATIVE_GUARD) + 2.0 * self.safety_error,
                self._alpha,
                epsilon,
                delta,
                minimum=self.minimum,
                largest_noise=largest_noise,
                ledger=open_account(ledger, "Adapter"),
                random_state=random_state,
            )
        known = isinstance(threshold, Real) and not isinstance(threshold, bool)
        if not known or not self.minimum < threshold < math.inf:
            raise InputError(f"threshold must be a finite number above minimum={self.minimum:g}, got {threshold!r}.")
        alpha = self._alpha(float(threshold))
        if not 0.0 < alpha < math.inf:
            raise InputError(f"sensitivity(threshold={threshold!r}) must be a finite number above 0, got {alpha!r}.")
        return release_at_rung(
            lambda: self.estimate(data),
            ladder_rung(self._beta(data), float(threshold), self.lipschitz, self.safety_error),
            alpha,
            epsilon,
            delta,
            slack=slack,
            p0=p0,
            ledger=open_account(ledger, "Adapter"),
            random_state=random_state,
        )

    def falsify(
        self, domain: Any, trials: int = 10_000, *, sizes: Any = (1, 2, 3, 5, 10, 30), seed: int = 0
    ) -> Counterexample | None:
        """Search for two neighbours that break ``lipschitz`` or ``sensitivity``; a counter-example to print, or None.

        ``domain`` is a (low, high) pair for vectors, or a list with one pair or list of levels for each column. How hard
        the search looked is kept in ``last_search``. Finding nothing is no proof, but bad bounds rarely survive.
        """
        claims = Claims(
            self.estimate,
            self.safety,
            self.lipschitz,
            self.sensitivity,
            self.minimum,
            self.safety_error,
            self.estimate_error,
        )
        self.last_search = falsify(claims, domain, trials, sizes, seed)
        return self.last_search.counterexample

    def _beta(self, data: Any) -> float:
        beta = float(self.safety(data))
        return -math.inf if math.isnan(beta) else beta  # a statistic without a value is not safe: no reply

    def _alpha(self, bound: float) -> float:
        # Both ends of the pair may carry the estimator's rounding error. proof: error
        return float(self.sensitivity(bound)) * (1.0 + RELATIVE_GUARD) + 2.0 * self.estimate_error
