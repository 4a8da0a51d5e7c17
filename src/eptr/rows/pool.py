"""Pieces on all cores of this machine, few at a time: memory stays bounded however many pieces there are."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

__all__ = ["THREADS", "WORKERS", "each"]


def _workers() -> int:
    """Cores to use: ``EPTR_WORKERS``, or all of this machine's, at most eight."""
    asked = os.environ.get("EPTR_WORKERS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else min(os.cpu_count() or 1, 8)


WORKERS = _workers()
# Threads wait for each other's turns at the interpreter; one more than cores keeps all cores busy meanwhile.
THREADS = WORKERS + 1 if WORKERS > 1 else 1


def each(one: Callable[[Any], Any], pieces: Iterable[Any]) -> Iterator[Any]:
    """A function of every piece, in order; the next pieces are taken while these are computed."""
    waiting: deque[Future[Any]] = deque()
    with _libraries().limit(limits=1):
        try:
            for piece in pieces:
                waiting.append(_pool(os.getpid()).submit(one, piece))
                if len(waiting) > 2 * WORKERS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool a process (a forked child must not use its parent's threads)."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix=f"eptr-{process}")


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """The loaded linear algebra libraries; finding them takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
