"""Who wants to know how far a pass is: a command line, a notebook. Costs nothing if nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["ticking", "watched"]

_watcher: ContextVar[Callable[[int, int], None] | None] = ContextVar("eptr progress", default=None)


@contextmanager
def watched(tick: Callable[[int, int], None]) -> Iterator[None]:
    """Inside, ``tick(done, total)`` is called with the pieces of every pass over files; ``done`` is 0 when one starts."""
    token = _watcher.set(tick)
    try:
        yield
    finally:
        _watcher.reset(token)


def ticking(results: Iterable[Any], total: int) -> Iterator[Any]:
    """The results of ``total`` pieces, one by one."""
    tick = _watcher.get()
    if tick is None:
        yield from results
        return
    tick(0, total)
    for done, result in enumerate(results, start=1):
        tick(done, total)
        yield result
