"""One verb, ``sum(fn)``: a pass over the rows wherever they live, in any pieces, in any order.

A row function maps a block of rows to sums over them: ``fn(x, y, keep) -> tuple of arrays``. It is called with float64
blocks; ``keep`` is None, or marks the rows that count (the others are zeroed and must contribute zero). Where there is no
target, y is a vector of zeros: passes, workers and row functions need not know, and statistics of (x, y) are those of x.
Where persons are known, rows come in groups of ``each``, one person a group, filled up with rows that do not count, and no
block ends within a group.

A sum may also be counts by key, sparse: a structured array of a ``key`` and a ``count``, by increasing keys.

Because every sum is exact (see ``exact``), neither blocks nor threads nor machines nor the order can change a bit.

The first pass validates every row as it goes; nothing is drawn or charged before it has ended. Only partial sums
travel, as plain tuples: a worker needs nothing but numpy to send one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DomainError, InputError
from .namespace import namespace, to_numpy
from .task import Target

__all__ = ["Engine", "Partial", "Pass", "RowFunction", "Rows", "merge"]

Array = NDArray[np.float64]
RowFunction = Callable[[Any, Any, Any], tuple[Any, ...]]
# Sums, how many rows they are over, the largest |x| seen (first pass only), and what was wrong ("" if nothing): with the
# value of a row, or, if "largest" is NaN, with something public such as a column's declared type.
Partial = tuple[tuple[Array, ...] | None, int, float, str]
NOTHING: Partial = (None, 0, 0.0, "")
# Larger values are cut to this, far outside any bound, so that squares and differences stay finite.
_LARGEST = 1e150
# glibc gives what a block has freed back to the system, and fetches it again page by page for the next one, at twice the cost of
# a pass, until it has seen an array of such a size freed.
np.empty(2**21)
_ADVICE = "clean it, or pass invalid='drop' to give such rows no weight."
# One sentence for whatever is wrong with a value, so that the sentence does not tell which.
_NO_NUMBER = (
    "{} contains NaN, infinity, a missing value or text that is no number: "
    + _ADVICE[:-1]
    + " (every argument must be a "
    "number or a string that is a number: eptr.PublicEncoder encodes levels, dates must become numbers, such as days)."
)
_NO_LABEL = f"y (or by) holds a label that is not in classes (or levels), or none; declare it there, or {_ADVICE}"


class Rows(Protocol):
    """What an estimator sees of its data, wherever they live."""

    @property
    def n(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def each(self) -> int:
        """Rows come in groups of so many, each of one person; 1 where nothing is known of persons."""

    def check(self) -> None:
        """Raise if a row lies outside the domain; no pass is made if an earlier one has shown that none does."""

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        """One pass: the exact sums of ``fn`` over all rows."""


class Engine(ABC):
    """Rows in pieces; a subclass says how a :class:`Pass` gets to the pieces and the partial sums come back."""

    n: int
    n_features: int
    drop_invalid: bool
    target: Target  # "labels": y holds class codes, -1 for a label that was not declared; "none": y is zero
    classes: NDArray[Any] | None = None  # what codes stand for, where the engine knows
    names: list[str] | None = None  # of the columns of x, if they have some
    each: int = 1
    padded: bool = False  # rows that do not count fill up groups: how many come is private, and other than n

    _largest: float | None = None  # known after the first pass
    _length: int | None = None  # of padded rows, then
    on_fault: Callable[[], None] | None = None  # told when a row lies outside the domain, before anybody else is

    @abstractmethod
    def _partials(self, task: Pass) -> Iterable[Partial]:
        """``task`` applied to every piece."""

    @property
    def largest(self) -> float:
        """What no |x| exceeds, as far as the first pass has shown."""
        return math.inf if self._largest is None else self._largest

    def check(self) -> None:
        if self._largest is None:
            self.sum(_nothing)

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        first, codes = self._largest is None, self.target == "labels"
        cut = self._largest is None or self._largest > _LARGEST
        task = Pass(fn, self.drop_invalid, codes, validate=first, cut=cut)
        sums, n, largest, fault = reduce(merge, self._partials(task), NOTHING)
        if fault:
            if math.isnan(largest):
                raise InputError(fault)
            if self.on_fault is not None:
                self.on_fault()
            raise DomainError(fault)
        # Every row was finite in the first pass, and finite rows have finite sums.
        expected = self.n if not self.padded else n if self._length is None else self._length
        if n != expected or sums is None or not all(_sparse(s) or np.all(np.isfinite(s)) for s in sums):
            seen = "others" if self.padded else f"{n}, perhaps others,"
            raise InputError(
                f"X had {self.n} good rows when the fit began and {seen} in a pass over them: it changes while it "
                "is read, or can be read only once. Store the rows first, or pass them as one table."
            )
        if first:
            self._largest, self._length = largest, n
        return sums


def _nothing(x: Any, y: Any, keep: Any) -> tuple[Array, ...]:
    return ()


def merge(one: Partial, two: Partial) -> Partial:
    """Exact sums add without rounding, so the order of merging is free."""
    if one[3] or two[3]:
        return one if one[3] else two
    sums = two[0] if one[0] is None else one[0]
    if one[0] is not None and two[0] is not None:
        sums = tuple(_added(a, b) for a, b in zip(one[0], two[0], strict=True))
    return sums, one[1] + two[1], max(one[2], two[2]), ""


def _sparse(total: Any) -> bool:
    return isinstance(total, np.ndarray) and total.dtype.names is not None


def _added(one: Any, two: Any) -> Any:
    """Of arrays with a ``key`` and a ``count``, increasing in the keys: the counts, key by key."""
    if not _sparse(one):
        return np.add(one, two)
    both = np.concatenate([one, two])
    keys, where = np.unique(both["key"], return_inverse=True)
    found = np.empty(len(keys), dtype=both.dtype)
    found["key"], found["count"] = keys, np.bincount(where.ravel(), both["count"], len(keys))
    return found


@dataclass(frozen=True, slots=True)
class Pass:
    """A row function and how rows are made ready for it; goes to the rows, wherever they are."""

    fn: RowFunction
    drop_invalid: bool
    codes: bool
    validate: bool
    cut: bool

    def __call__(self, blocks: Iterable[tuple[Any, Any]]) -> Partial:
        """The partial sums over some blocks; stops at the first invalid one."""
        total = NOTHING
        try:
            for x, y in blocks:
                if total[3]:
                    break
                total = merge(total, self._block(x, y))
        except InputError as error:  # from reading a block: a sentence that may travel, without the values
            return None, 0, 0.0 if isinstance(error, DomainError) else math.nan, str(error)
        return total

    def _block(self, x: Any, y: Any) -> Partial:
        if y.shape[0] == 0:
            return NOTHING
        xp, largest, fault = namespace(x), 0.0, ""
        with np.errstate(all="ignore"):  # a warning that depends on private values would be a leak
            x = xp.ascontiguousarray(x, dtype=np.float64) if xp is np else xp.astype(x, xp.float64, copy=False)
            if not self.codes:
                y = np.asarray(y, dtype=np.float64) if xp is np else xp.astype(y, xp.float64, copy=False)
            if self.validate:
                largest, fault = self._judge(xp, x, y)
                if fault:
                    return None, 0, 0.0, fault
            keep = None
            if self.drop_invalid:
                keep = xp.all(xp.isfinite(x), axis=1) & ((y >= 0) if self.codes else xp.isfinite(y))
                x, y = xp.where(keep[:, None], x, xp.zeros_like(x)), xp.where(keep, y, xp.zeros_like(y))
            if self.cut and (self.drop_invalid or not self.validate or largest > _LARGEST):
                x = xp.clip(x, -_LARGEST, _LARGEST)
            return tuple(to_numpy(s) for s in self.fn(x, y, keep)), y.shape[0], largest, ""

    def _judge(self, xp: Any, x: Any, y: Any) -> tuple[float, str]:
        """The largest |x|, and what is wrong with the block."""
        if self.drop_invalid:
            return math.inf, ""  # rows that are dropped are not looked at: values are cut in every pass
        largest = max(float(xp.max(x)), -float(xp.min(x)))  # NaN if there is one
        if not math.isfinite(largest):
            return largest, _NO_NUMBER.format("X")
        if self.codes:
            return largest, _NO_LABEL if bool(xp.min(y) < 0) else ""
        return largest, "" if bool(xp.all(xp.isfinite(y))) else _NO_NUMBER.format("y")
