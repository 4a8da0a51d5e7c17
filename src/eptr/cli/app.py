"""All commands together, and how they end: user errors are sentences, not tracebacks."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from ..errors import EptrError
from .checks import audit, verify
from .fit import describe, fit, plan, predict
from .ledger import ledger_app
from .paper import demo, reproduce
from .study import codebook_app, study_app

__all__ = ["app", "main"]

app = typer.Typer(
    pretty_exceptions_show_locals=False,  # locals may be private rows
    help="Differentially private statistics: propose, test, release.",
    no_args_is_help=True,
    add_completion=False,
)
for command in (demo, audit, fit, describe, predict, verify, plan, reproduce):
    app.command()(command)
app.add_typer(ledger_app, name="ledger")
app.add_typer(codebook_app, name="codebook")
app.add_typer(study_app, name="study")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"eptr {version('eptr')}")
        raise typer.Exit


@app.callback()
def everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Differentially private statistics: propose, test, release."""


def main() -> None:
    """Entry point: an error of ours is a sentence on standard error and exit code 2."""
    try:
        app()
    except (EptrError, OSError) as error:
        console = Console(stderr=True)
        console.print("error:", style="bold red", end=" ")
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
