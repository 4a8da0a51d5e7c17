"""Functions to other processes and machines, whole: a worker that lacks eptr runs them all the same.

Everything of ours that a row function touches is pickled by value. What a worker needs is numpy, pyarrow where rows come
as Arrow, and scipy for kernels and smooth terms.
"""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

from ..errors import EngineError, EptrError

__all__ = ["engine_errors", "packed"]

_REGISTRY = Lock()  # the list of what is pickled whole is global
Asked = TypeVar("Asked", bound=Callable[..., Any])


def packed(task: Any, pickler: Any = None, *, whole: bool = True) -> bytes:
    """``task`` as bytes for ``pickle.loads``; ``pickler`` is the cloudpickle that the workers have.

    ``whole=False`` is for fitted models, which are classes with all that hangs on them: they need eptr over there.
    """
    ours = sys.modules[__name__.partition(".")[0]]
    if pickler is None:
        import cloudpickle

        pickler = cloudpickle
    if not whole:
        return bytes(pickler.dumps(task))
    with _REGISTRY:
        known = ours.__name__ in pickler.list_registry_pickle_by_value()
        if not known:
            pickler.register_pickle_by_value(ours)
        try:
            return bytes(pickler.dumps(task))
        finally:
            if not known:
                pickler.unregister_pickle_by_value(ours)


def engine_errors(engine: str) -> Callable[[Asked], Asked]:
    """Whatever a cluster raises becomes one sentence: its own text may quote rows, so only its kind is passed on."""

    def guard(ask: Asked) -> Asked:
        @wraps(ask)
        def asked(*arguments: Any, **options: Any) -> Any:
            try:
                return ask(*arguments, **options)
            except EptrError:
                raise
            except (Exception, CancelledError) as error:
                kind = type(error).__name__
            # Raised outside the handler, so that the original text is not even in the context.
            raise EngineError(
                f"{engine} failed while it read X ({kind}); its own log says why. Is the cluster alive, and do its workers see "
                "the files? Nothing was charged unless noise had been drawn already."
            )

        return asked  # type: ignore[return-value]

    return guard
