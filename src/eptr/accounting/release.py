"""``eptr.release``: the mechanism's release, with any ledger that estimators take, a string included."""

from __future__ import annotations

from typing import Any

from ..privacy import mechanism
from ..privacy.claim import Release
from ..privacy.ladder import DEFAULT_SLACK
from ..privacy.mechanism import Proposal
from .account import open_account

__all__ = ["release"]


def release(
    proposal: Proposal,
    epsilon: float,
    delta: float,
    strategy: str = "tight",
    *,
    slack: float = DEFAULT_SLACK,
    p0: float | None = None,
    ledger: Any = None,
    random_state: Any = None,
) -> Release:
    """Test privately whether the dataset is safe; reply with Gaussian noise, or not at all.

    (epsilon, delta)-DP for replace-one neighbours, provided the Proposal's two claims hold for every dataset.

    Parameters
    ----------
    proposal : Proposal
        What to release, and the two claims that the guarantee rests on.
    epsilon, delta : float
        The guarantee of the whole release, test included.
    strategy : {"tight", "paper", "ptr"}
        "tight": the largest possible test, noise 1.05 alpha/mu(epsilon, delta). "paper": the published
        logistic test and noise; refused where its exact profile exceeds delta. "ptr": standard
        propose-test-release, repaired; ``safety`` is then the exact distance to unsafety.
    slack, p0 : float
        "tight" only: noise over that of the plain Gaussian mechanism, and the reply probability on an unsafe dataset.
    ledger : str, eptr.Ledger or None
        ``"sqlite:///budget.db#study"``, a ledger or a reservation, or any object with ``charge``; charged before anything
        is drawn.
    random_state : None, int or numpy generator
        None draws exact private noise. A seed gives fast, reproducible noise that protects nobody.

    Examples
    --------
    >>> r = release(Proposal(estimate=[1.0, 2.0], sensitivity=0.01, safety=500), epsilon=1.0, delta=1e-6)
    >>> r.replied, r.private, r.basis, round(r.noise_scale, 4)
    (True, True, 'proven', 0.0444)
    """
    account = open_account(ledger, "")
    return mechanism.release(
        proposal, epsilon, delta, strategy, slack=slack, p0=p0, ledger=account, random_state=random_state
    )
