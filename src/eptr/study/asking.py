"""How a study is asked: the same question once, each at its share, and ranges that are bought on the way."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, TypedDict, TypeVar

import numpy as np

from ..accounting.budget import Budget
from ..codebook import Codebook, Number
from ..errors import InputError, NotPrivateWarning, SettingsWarning, positive, whole_number, yes_or_no
from ..estimators.base import public_warnings
from ..privacy.unit import Unit
from .analyses import Paid, private_range
from .expression import Expression, parse
from .journal import Journal
from .layout import KEPT, Labelled, open_data
from .models import is_flag, model
from .people import bounded, enforced
from .result import Fit, restored, signed, storable
from .terms import levels_of

__all__ = ["Asking", "Spend", "names_in"]

Result = TypeVar("Result")
NO_CONDITION = "where must be text, a condition such as \"age >= 65 and sex == 'F'\"."
_ANYTHING = 4e99  # a range that holds every number that makes sense


class Spend(TypedDict, total=False):
    """What every analysis takes by name."""

    share: float  # of the study's total mu^2; 1/analyses by default
    epsilon: float  # instead of share: at the study's delta
    where: str  # rows that count, such as "age >= 65 and sex == 'F'"; the others contribute zero
    again: bool  # draw anew, and pay, what was delivered before


class Asking:
    """What a study is made of, and the one way to ask it."""

    def __init__(
        self,
        data: Any,
        book: Codebook | str | os.PathLike[str] | None = None,  # not optional; a sentence below says what is missing
        *,
        epsilon: float = math.nan,
        delta: float = 1e-6,
        ledger: Any = None,
        protects: str = "person",
        person: str | None = None,
        rows_each: int = 1,
        neighbours: str = "replace-one",
        analyses: int = 10,
        random_state: Any = None,
    ) -> None:
        if isinstance(book, (str, os.PathLike)) and os.fspath(book).endswith(".toml"):
            book = Codebook.from_toml(book)
        if not isinstance(book, Codebook):
            raise InputError(
                "book must be an eptr.Codebook or the path of a .toml file, the second argument: Study(data, 'book.toml', "
                "epsilon=1.0); Codebook.draft(data) drafts one to be filled in."
            )
        if isinstance(epsilon, float) and math.isnan(epsilon):
            raise InputError("epsilon is missing: it is the budget of all analyses together, such as epsilon=1.0.")
        if not isinstance(protects, str) or not protects.strip():
            raise InputError("protects must say who is protected, such as 'person' or 'household'.")
        total, unit = Budget(epsilon, delta), Unit(neighbours, whole_number("rows_each", rows_each))
        self.book, self.epsilon, self.delta, self.unit = book, total.epsilon, total.delta, unit
        self.analyses, self.protects, self.person = whole_number("analyses", analyses), protects, person
        self._bought: dict[str, tuple[float, float]] = {}  # ranges, by column
        self.data = open_data(data)
        book.find(self.data.columns, self.data.where)
        if KEPT in book:
            raise InputError(f"a column must not be called {KEPT!r}: a study marks rows by that name; rename it.")
        if person is not None:
            self.data = bounded(self.data, person, rows_each)
        self.settings = {
            "codebook": book.to_dict(), "rows": self.data.n, "protects": protects, "person": person, "rows_each": rows_each,
            "neighbours": neighbours, "analyses": analyses,
        }  # fmt: skip
        if isinstance(random_state, Integral) and random_state < 0:
            raise InputError(f"random_state must not be negative, got {random_state!r}.")
        self._rng = np.random.default_rng(int(random_state)) if isinstance(random_state, Integral) else random_state
        self.journal = Journal.open(ledger, total, self.settings, self.data.where, seeded=self._rng is not None)
        for text in (*public_warnings(self.data.n, 1, delta), *self.journal.elsewhere(self.data.where)):
            warnings.warn(text, SettingsWarning, stacklevel=2)
        if self._rng is not None:
            warnings.warn(
                "random_state was given: this study is reproducible and therefore not private. Use random_state=None on real "
                "data.",
                NotPrivateWarning,
                stacklevel=2,
            )

    def _fit(self, method: str, formula: str, spend: Spend) -> Fit:
        if not isinstance(formula, str):
            raise InputError("formula must be text such as 'wage ~ age + sex', with one ~.")

        def work(paid: Paid) -> Fit:
            asked = model(method, formula, self.book)
            estimator = asked.make(**paid.sums())
            estimator.fit(paid.rows(asked.x, asked.y))
            estimator.set_params(ledger=None, random_state=None)
            return Fit(method, formula, self.book, estimator)

        self._buy(self._private_names(formula))
        model(method, formula, self.book)  # what is wrong with it is said before anything is looked up
        return self._ask(method, {"formula": formula}, spend, work)

    def _ask(
        self, method: str, arguments: dict[str, Any], spend: Spend, work: Callable[[Paid], Result], about: str = ""
    ) -> Result:
        """The stored result of the same call, or a new one that is paid for; ``about``: names columns, too."""
        asked_share, where, again = (
            self._share(spend),
            spend.get("where"),
            yes_or_no("again", spend.get("again", False)),
        )
        if where is not None and not isinstance(where, str):
            raise InputError(NO_CONDITION)
        about = f"{where or ''} {about} {json.dumps(arguments, default=str, ensure_ascii=False)}"
        self._buy(self._private_names(about))
        condition = None if where is None else self._condition(where)
        asked = {key: spend[key] for key in ("share", "epsilon") if key in spend}  # type: ignore[literal-required]
        content = json.dumps([method, arguments, where, asked, self.settings], sort_keys=True, default=str)
        key = hashlib.sha256(content.encode()).hexdigest()
        if not again and (stored := self.journal.stored(key)) is not None:
            return restored(stored)  # type: ignore[no-any-return]
        share = self.journal.affordable(asked_share, fixed=method == "range")
        text = f"{method} {_told(arguments)}{f' where {where}' if where else ''}"
        call = self.journal.call(key, text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotPrivateWarning)  # said once, when the study began
            warnings.simplefilter("ignore", SettingsWarning)
            result = work(Paid(self, call, share, condition))
        bought = {
            f"range of {name}, by an analysis of its own": self._bought[name] for name in _named(self._bought, about)
        }
        kept = enforced(self.person, self.unit.rows, self.protects)
        result = signed(result, text, self.protects, kept, bought)
        self.journal.ledger.deliver(call.name, storable(result), text)
        return result

    def _share(self, spend: Spend) -> float:
        unknown = set(spend) - set(Spend.__annotations__)
        if unknown:
            raise InputError(
                f"{sorted(unknown)[0]} is not an argument here; every analysis takes share, epsilon, where and again: one group "
                "is where=\"sex == 'F'\"."
            )
        if "share" in spend and "epsilon" in spend:
            raise InputError("share and epsilon say the same thing twice: pass one of them.")
        if "epsilon" in spend:
            return self.journal.share_of(positive("epsilon", spend["epsilon"]))
        share = positive("share", spend.get("share", 1.0 / self.analyses))
        if share > 1.0:
            raise InputError(f"share must be at most 1, the whole budget, got {share:g}.")
        return share

    def _condition(self, where: str) -> Expression:
        found = parse(where, self.book)
        if not (found.truth or is_flag(found, self.book)):
            raise InputError(NO_CONDITION)
        return found

    def _names(self, columns: Any) -> list[str]:
        if columns is None:
            return [name for name, kind in self.book.columns.items() if not kind.blank and kind.kind != "text"]
        names = names_in(columns)
        for name in names:
            self.book.usable(name)
        return names

    def _expressions(self, columns: list[str]) -> list[Expression]:
        self._buy(self._private_names(" ".join(columns)))
        return [replace(parse(f"`{c}`" if c in self.book else c, self.book), text=c) for c in columns]

    def _levels(self, by: str | None) -> Labelled | None:
        if by is None:
            return None
        if not isinstance(by, str):
            raise InputError(
                "by must be the name of one column, such as 'sex'; study.table counts combinations of several."
            )
        levels = levels_of(by, self.book)
        return Labelled.of(levels, levels.called)

    def _private_names(self, text: str) -> list[str]:
        """Columns named in a text whose ranges are to be bought."""
        private = [name for name, kind in self.book.columns.items() if isinstance(kind, Number) and kind.private]
        return _named(private, text)

    def _buy(self, names: list[str]) -> None:
        """Ranges that were declared private: once, at the price that the codebook states."""
        for name in names:
            kind = self.book[name]
            assert isinstance(kind, Number)
            declared, self.book = self.book, self.book.replaced(name, replace(kind, low=-_ANYTHING, high=_ANYTHING))
            try:
                low, high = self._ask(
                    "range", {"column": name}, {"share": kind.price}, partial(private_range, name=name)
                )
                declared, self._bought[name] = declared.replaced(name, replace(kind, low=low, high=high)), (low, high)
            finally:
                self.book = declared


def _named(columns: Iterable[str], text: str) -> list[str]:
    return [name for name in columns if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def names_in(columns: Any) -> list[str]:
    """Names of columns, one by one."""
    found = [columns] if isinstance(columns, str) else list(columns) if hasattr(columns, "__iter__") else []
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) != len(found):
        raise InputError("columns must be a name, or a list of different names, of columns in the codebook.")
    return found


def _told(arguments: dict[str, Any]) -> str:
    shown = [(key, v) for key, v in arguments.items() if key not in ("level", "model") and v is not None]
    texts = ((key, ", ".join(map(str, v)) if isinstance(v, list) else str(v)) for key, v in shown)
    return " ".join(f"by {text}" if key == "by" else text for key, text in texts)
