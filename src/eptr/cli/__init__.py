"""The command line: fits, studies, plans, ledgers, audits."""

from __future__ import annotations

import sys
from importlib.util import find_spec

if not (find_spec("typer") and find_spec("rich")):  # pragma: no cover - depends on the installation
    sys.exit("The command line needs typer and rich; install them with: pip install 'eptr[cli]'")

from .app import app, main

__all__ = ["app", "main"]
