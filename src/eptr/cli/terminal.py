"""What commands print: text in the user's style, tables, the guarantee of what was made, and bars while rows are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["guarantee", "pass_bars", "print_table", "say"]


def say(what: Any, **style: Any) -> None:
    """On standard output, as wide as the terminal is now."""
    Console().print(what, **style)


def print_table(lines: list[list[str]]) -> None:
    """A header and its rows."""
    table = Table(*lines[0])
    for line in lines[1:]:
        table.add_row(*line)
    say(table)


def guarantee(epsilon: float, delta: float, neighbours: str, ledger: str | None, seed: int | None) -> None:
    """What was promised, and where it is recorded."""
    if seed is not None:
        say("[bold red]A seed was given: this fit is reproducible and protects nobody.[/]")
    print(
        f"({epsilon:g}, {delta:g})-differentially private, {neighbours} neighbours." if seed is None else "NOT private."
    )
    if ledger is None:
        print("No ledger: this is recorded nowhere; --ledger sqlite:///FILE#DATASET counts it against a budget.")


@contextmanager
def pass_bars() -> Iterator[None]:
    """One bar per pass over a file; on standard error, and gone when the fit is done."""
    from rich.progress import Progress

    from ..rows.progress import watched

    with Progress(console=Console(stderr=True), transient=True) as progress:
        passes: list[Any] = []

        def tick(done: int, total: int) -> None:
            if done == 0:
                passes.append(progress.add_task(f"pass {len(passes) + 1} over the rows", total=total))
            progress.update(passes[-1], completed=done)

        with watched(tick):
            yield
