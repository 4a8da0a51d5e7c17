"""What ``ledger=`` means everywhere: whoever releases charges an account under its own name."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..privacy.claim import Cost, Receipt, SupportsCharge
from .ledger import Ledger, Reservation

__all__ = ["Account", "open_account"]


class Account:
    """A ledger with the name of what is being released."""

    def __init__(self, ledger: SupportsCharge, what: str) -> None:
        self.ledger, self.what = ledger, what
        self.receipt: Receipt | None = None  # of the last charge, if the ledger gives one

    def charge(self, cost: Cost, *, private: bool, what: str = "") -> object:
        entry = self.ledger.charge(cost, private=private, what=f"{self.what} {what}".strip())
        self.receipt = self.ledger.receipt(entry) if hasattr(self.ledger, "receipt") else None
        return entry

    def check(self, cost: Cost, *, private: bool) -> None:
        """Of a ledger that can tell in advance."""
        if hasattr(self.ledger, "check"):
            self.ledger.check(cost, private=private)

    def admit_check(self) -> None:
        """Of a ledger that counts failed domain checks."""
        if hasattr(self.ledger, "admit_check"):
            self.ledger.admit_check()

    def failed_check(self, what: str = "") -> None:
        """Of a ledger that counts failed domain checks."""
        if hasattr(self.ledger, "failed_check"):
            self.ledger.failed_check(what=f"{self.what} {what}".strip())


def open_account(ledger: Any, what: str) -> Account | None:
    """What ``ledger=`` means everywhere: None, a string, a Ledger, or any object with ``charge``."""
    if ledger is None:
        return None
    if isinstance(ledger, Reservation):
        ledger = ledger.url
    if isinstance(ledger, str):
        ledger = Ledger(ledger)
    if not hasattr(ledger, "charge"):
        raise InputError(
            f"ledger must be a string such as 'sqlite:///budget.db#study', an eptr.Ledger or None, got {type(ledger).__name__}."
        )
    if isinstance(ledger, Ledger) and not ledger.dataset:
        raise InputError(f"ledger must name the dataset to charge: {ledger.url + '#study'!r}, for example.")
    return Account(ledger, what)
