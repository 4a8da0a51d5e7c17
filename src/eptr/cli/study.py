"""The command line of codebooks and studies: draft, check, show, and what ``fit`` and ``describe`` do with a codebook."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..accounting.ledger import Ledger
from ..codebook import Codebook
from ..errors import InputError, NotPrivateWarning
from ..rows.database import is_database

__all__ = ["DEFAULTS", "codebook_app", "open_study", "study_app"]

codebook_app = typer.Typer(help="Public facts about columns: draft a codebook, check it.", no_args_is_help=True)
study_app = typer.Typer(help="What a study has spent, delivered and has left.", no_args_is_help=True)
# Settings of a new study; where they stay as they are, one that exists has its own.
DEFAULTS: dict[str, Any] = {"delta": 1e-6, "neighbours": "replace-one", "person": None, "rows_each": 1}


@codebook_app.command()
def draft(
    data: Annotated[str, typer.Argument(help="CSV (.gz), a Parquet file or folder, or sqlite:///FILE#TABLE.")],
    header: Annotated[
        bool, typer.Option("--header", help="The first line of a CSV file holds names, not values.")
    ] = False,
    to: Annotated[Path | None, typer.Option("--out", help="File to write; standard output if not given.")] = None,
) -> None:
    """A codebook from names, and from declared types of Parquet and databases; no value is looked at. Fill in the blanks."""
    if not is_database(data) and not Path(data).exists():
        raise InputError(f"{data} does not exist.")
    if to is not None and to.exists():
        raise InputError(f"{to} exists; choose another --out.")
    book = Codebook.draft(data, header=header)
    if to is None:
        print(book.to_toml(), end="")
    else:
        to.write_text(book.to_toml(), encoding="utf-8")
        print(f"wrote {to}: {len(book.blanks)} of {len(book)} columns are for you to describe.")


@codebook_app.command()
def check(
    book: Annotated[Path, typer.Argument(help="The codebook, a TOML file.")],
    n: Annotated[int | None, typer.Option("--n", help="Rows; adds what each range costs.")] = None,
    epsilon: Annotated[float, typer.Option()] = 1.0,
    delta: Annotated[float, typer.Option()] = 1e-6,
) -> None:
    """What is missing, and what a loose range costs, from public numbers alone. Exit code 1 if there are blanks."""
    found = Codebook.from_toml(book)
    for line in found.check(n, epsilon=epsilon, delta=delta):
        print(line)
    raise typer.Exit(1 if found.blanks else 0)


@study_app.command()
def show(ledger: Annotated[str, typer.Argument(help="sqlite:///FILE#DATASET.")]) -> None:
    """Every analysis with its share of the budget, what was spent and not delivered, and what is left."""
    from ..study.journal import Journal

    journal = Journal(Ledger(ledger))
    print(f"{journal.ledger.dataset}: ({journal.total.epsilon:g}, {journal.total.delta:g}) in all")
    for line in journal.lines():
        print(line)
    print(journal.remaining(journal.settings["analyses"]))


@study_app.command()
def report(
    ledger: Annotated[str, typer.Argument(help="sqlite:///FILE#DATASET.")],
    to: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("study.html"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")] = False,
) -> None:
    """Everything that a study has delivered on one page, from its ledger alone."""
    from ..study.journal import Journal
    from ..study.publication import Publication

    if to.exists() and not force:
        raise InputError(f"{to} exists; choose another --out, or pass --force.")
    print(f"wrote {Publication(Journal(Ledger(ledger))).write(to)}; eptr verify {to} checks it.")


@contextmanager
def open_study(
    data: str,
    codebook: Path,
    *,
    epsilon: float,
    total: float | None,
    ledger: str | None,
    seed: int | None,
    engine: str = "local",
    scheduler: str | None = None,
    **settings: Any,
) -> Iterator[Any]:
    """The study that a ledger holds, or a new one of ``total``, which is this analysis alone if nothing else is said.

    Of a study that exists, settings are those it was opened with, where the command line does not say otherwise.
    """
    from ..rows.sources import open_path
    from ..study import Study
    from ..study.journal import Journal

    book, known = Codebook.from_toml(codebook), None if ledger is None else Journal.known(ledger)
    asked: dict[str, Any] = {"epsilon": total or epsilon, "analyses": 1} | DEFAULTS | settings
    if known is not None:
        held = {"epsilon": known.total.epsilon, "delta": known.total.delta} | known.settings
        given = {name: value for name, value in settings.items() if value != DEFAULTS[name]}
        given |= {} if total is None else {"epsilon": total}
        asked = {name: held[name] for name in (*asked, "protects")} | given
    if ledger is not None and known is None and total is None:
        _said(
            f"The new ledger holds epsilon {epsilon:g} in all, which this analysis uses up; --total opens it with more."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=NotPrivateWarning)  # said by the caller, as a sentence
        warnings.showwarning = _said  # type: ignore[assignment]
        with nullcontext(data) if engine == "local" else open_path(data, engine, scheduler) as table:
            yield Study(table, book, **asked, ledger=ledger, random_state=seed)


def _said(message: Any, *_: Any) -> None:
    """Warnings are sentences, too."""
    Console(stderr=True).print(str(message), style="yellow", markup=False, soft_wrap=True)
