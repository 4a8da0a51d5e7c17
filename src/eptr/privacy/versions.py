"""When a release was made and what with: ours, and those who compute and draw."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__all__ = ["made", "versions"]

_PACKAGES = ("eptr", "opendp", "numpy", "scipy")


def made() -> dict[str, Any]:
    """The day, and the versions; a time of day would tell how long a fit took."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "versions": versions()}


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Names and versions; read once in a process."""
    return *((name, _version(name)) for name in _PACKAGES), ("python", platform.python_version())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"
