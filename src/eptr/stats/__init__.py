"""Private statistics of columns: each answers one question about the rows with an Estimate."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Estimate": "estimate",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'eptr.stats' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return list(__all__)
