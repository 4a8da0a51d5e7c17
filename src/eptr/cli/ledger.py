"""``eptr ledger``: create, show, history, export, reserve, head and verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..accounting.filter import MIXING
from ..accounting.ledger import Ledger
from .terminal import say

__all__ = ["ledger_app"]

ledger_app = typer.Typer(help="Budgets that are never forgotten.", no_args_is_help=True)

Place = Annotated[str, typer.Option("--ledger", "-l", envvar="EPTR_LEDGER", help="sqlite:///FILE or postgresql://...")]
Dataset = Annotated[str, typer.Argument(help="Name of the dataset.")]
HERE = "sqlite:///eptr-budget.db"
_FREE = {"check": "failed check", "result": "delivered"}  # entries that cost no epsilon


@ledger_app.command()
def create(
    dataset: Dataset,
    epsilon: Annotated[float, typer.Option(help="Total epsilon, for good.")],
    delta: Annotated[float, typer.Option(help="Total delta, for good.")],
    place: Place = HERE,
    simulation: Annotated[
        bool, typer.Option("--simulation", help="Admit seeded releases, which protect nobody.")
    ] = False,
    mixing: Annotated[
        float, typer.Option(help="Share of delta kept for mixing kinds after a refined release.")
    ] = MIXING,
    accept: Annotated[
        str, typer.Option(help="Weakest basis of a guarantee charged here: proven, cited or 'not verified'.")
    ] = "proven",
    checks: Annotated[int, typer.Option(help="Failed checks of rows against the declared domain it admits.")] = 1,
    neighbours: Annotated[
        str, typer.Option(help="What all releases protect: replace-one or zero-out.")
    ] = "replace-one",
    rows_per_person: Annotated[int, typer.Option(help="Rows of one person that all releases protect together.")] = 1,
) -> None:
    """Open a dataset with a total budget."""
    terms = {"mixing": mixing, "accept": accept, "checks": checks, "neighbours": neighbours}
    terms |= {"simulation": simulation, "rows_per_person": rows_per_person}
    Ledger(place).create(dataset, epsilon, delta, **terms)  # type: ignore[arg-type]
    say(
        f"{dataset}: ({epsilon:g}, {delta:g}). Charge it with ledger={f'{place}#{dataset}'!r}.",
        markup=False,
        soft_wrap=True,
    )


@ledger_app.command()
def show(dataset: Annotated[str, typer.Argument(help="Only this one.")] = "", place: Place = HERE) -> None:
    """All datasets: totals, releases and what is left."""
    ledger = Ledger(place)
    table = Table("dataset", "total epsilon", "total delta", "releases", "left")
    for name in [dataset] if dataset else ledger.datasets():
        total = ledger.total(name)
        left = str(ledger.remaining(name)).removeprefix("left: ")
        releases = sum(entry.kind in ("charge", "reserve") for entry in ledger.history(name))
        table.add_row(name, f"{total.epsilon:g}", f"{total.delta:g}", str(releases), left)
    say(table)


@ledger_app.command()
def history(dataset: Dataset, place: Place = HERE) -> None:
    """Every entry of a dataset: when, who, what, at which cost, and what its guarantee rests on."""
    table = Table("entry", "time (UTC)", "who", "what", "kind", "epsilon", "delta", "mu", "basis")
    for entry in Ledger(place).history(dataset):
        cost = entry.content
        first = (str(entry.number), f"{entry.time:%Y-%m-%d %H:%M:%S}", entry.who, entry.what)
        if entry.kind in _FREE:
            table.add_row(*first, _FREE[entry.kind], "", "", "", "")
            continue
        kind = entry.kind if entry.kind != "charge" else str(cost["kind"])
        numbers = (f"{cost['epsilon']:g}", f"{cost['delta']:g}", f"{cost.get('mu') or 0.0:.4g}")
        basis = f"accepts {entry.terms.accepted[-1]}" if entry.kind == "create" else entry.basis or "unknown"
        table.add_row(*first, kind, *numbers, basis)
    say(table)


@ledger_app.command()
def export(
    dataset: Dataset,
    place: Place = HERE,
    to: Annotated[Path | None, typer.Option("--to", help="File to write; standard output if not given.")] = None,
) -> None:
    """The whole chain of a dataset as JSON."""
    text = Ledger(place).export(dataset)
    if to is None:
        print(text)
    else:
        to.write_text(text + "\n")
        say(f"wrote {to}")


@ledger_app.command()
def reserve(
    dataset: Dataset,
    count: Annotated[int, typer.Option(help="How many identical releases.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of each.")],
    delta: Annotated[float, typer.Option(help="Delta of each.")],
    strategy: Annotated[str, typer.Option(help="tight, paper or ptr.")] = "tight",
    total_delta: Annotated[float | None, typer.Option(help="Delta of all together; default COUNT times DELTA.")] = None,
    place: Place = HERE,
) -> None:
    """Pay in advance for identical releases; together they cost much less than one by one."""
    found = Ledger(place).reserve(dataset, count, epsilon, delta, strategy=strategy, total_delta=total_delta)
    say(
        f"{count} releases cost ({found.epsilon:.4g}, {found.delta:g}) together. Use ledger={found.url!r}.",
        markup=False,
        soft_wrap=True,
    )


@ledger_app.command()
def head(dataset: Dataset, place: Place = HERE) -> None:
    """The hash of the last entry. Keep it elsewhere: with it nobody can shorten the history unnoticed."""
    print(Ledger(place).head(dataset))


@ledger_app.command()
def verify(
    dataset: Dataset,
    place: Place = HERE,
    head: Annotated[str | None, typer.Option(help="A hash kept from before.")] = None,
) -> None:
    """Recompute every hash and every total; names the first broken entry, or a truncation."""
    ledger = Ledger(place)
    ledger.verify(dataset, head)
    say(f"{dataset}: the opening entry and {len(ledger.history(dataset)) - 1} others, all intact.")
