"""``eptr audit`` attacks every claim of the library; ``eptr verify`` recomputes those of one result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from .terminal import say

__all__ = ["audit", "verify"]


def audit(
    fast: Annotated[bool, typer.Option("--fast", help="A tenth of the runs.")] = False,
    only: Annotated[str, typer.Option("--only", help="Run the checks whose name contains this.")] = "",
    workers: Annotated[int, typer.Option(help="Processes; the verdicts do not depend on it.")] = 2,
) -> None:
    """Attack every privacy claim, and known-bad mechanisms with the same attacks. Exit code 1 if a verdict is wrong."""
    from rich.progress import Progress

    from ..audit.finding import Tally
    from ..self_audit import CHECKS, run_checks

    chosen = [check.name for check in CHECKS if only.lower() in check.name.lower()]
    if not chosen:
        raise typer.BadParameter(f"no check contains {only!r}", param_hint="--only")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        running = run_checks(chosen, 0.1 if fast else 1.0, min(workers, len(chosen)))
        findings = list(progress.track(running, total=len(chosen), description="attacking"))
    say(_findings_table(findings))
    tally = Tally.of(findings)
    say(
        f"{tally}. A measured epsilon is a lower bound that holds with 99.99 % confidence; bad mechanisms must be convicted."
    )
    if tally.undecided:
        more = " ".join(["eptr audit", *(["--only", repr(only)] if only else [])])
        advice = f"for more power: {more}" if fast else "no more power is to be had here"
        say(f"Not enough runs means that twice the claimed epsilon could have escaped; {advice}.")
    raise typer.Exit(1 if tally.wrong else 0)


def _findings_table(findings: list[Any]) -> Table:
    from rich import box
    from rich.markup import escape

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    # At 100 columns no name of a rival is cut, and the verdict is always whole.
    table.add_column("claim", min_width=30, max_width=40)
    table.add_column("attack", min_width=24)
    table.add_column("measured", max_width=max(20, Console().width - 80))
    table.add_column("verdict", min_width=17)
    for finding in findings:
        colour = "bold red" if finding.wrong else "yellow" if finding.undecided else "green"
        words = [escape(text) for text in (finding.claim, finding.attack, finding.measured)]
        table.add_row(*words, f"[{colour}]{finding.verdict}[/]")
    return table


def verify(
    file: Annotated[Path, typer.Argument(help="A model or release as JSON, or a report.")],
    ledger: Annotated[
        str | None, typer.Option("--ledger", "-l", help="sqlite:///FILE#DATASET that was charged, to check it, too.")
    ] = None,
) -> None:
    """Recompute every privacy number of a model or a report from its record. Exit code 1 if one does not hold."""
    from ..verify import verified

    if not file.exists():
        raise InputError(f"{file} does not exist.")
    checks = verified(file.read_text(encoding="utf-8"), ledger)
    for check in checks:
        print(f"{'holds' if check.holds else 'FAILS'}  {check.claim}: {check.found}")
    wrong = sum(not check.holds for check in checks)
    print(f"{len(checks) - wrong} of {len(checks)} claims hold.")
    raise typer.Exit(1 if wrong else 0)
