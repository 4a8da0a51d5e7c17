"""The command line: demo, fit, predict, plan, reproduce, audit, ledger. User errors are sentences, not tracebacks."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from .errors import EptrError

try:
    import typer
    from rich.console import Console
    from rich.table import Table
except ModuleNotFoundError:  # pragma: no cover - depends on the installation
    sys.exit("The command line needs typer and rich; install them with: pip install 'eptr[cli]'")

from .cli_ledger import ledger_app

app = typer.Typer(
    pretty_exceptions_show_locals=False,  # locals may be private rows
    help="Differentially private statistics: propose, test, release.",
    no_args_is_help=True,
    add_completion=False,
)
app.add_typer(ledger_app, name="ledger")
out = Console()


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


@app.command()
def demo() -> None:
    """Private estimates next to the non-private ones: a table and a figure, in about a minute."""
    from .demo import main as run

    run()


@app.command()
def audit(
    fast: Annotated[bool, typer.Option("--fast", help="A tenth of the runs.")] = False,
    only: Annotated[str, typer.Option("--only", help="Run the checks whose name contains this.")] = "",
    workers: Annotated[int, typer.Option(help="Processes; the verdicts do not depend on it.")] = 2,
) -> None:
    """Attack every privacy claim, and known-bad mechanisms with the same attacks. Exit code 1 if a verdict is wrong."""
    from rich.progress import Progress

    from .audit.finding import Tally
    from .self_audit import CHECKS, run_checks

    chosen = [check.name for check in CHECKS if only.lower() in check.name.lower()]
    if not chosen:
        raise typer.BadParameter(f"no check contains {only!r}", param_hint="--only")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        running = run_checks(chosen, 0.1 if fast else 1.0, min(workers, len(chosen)))
        findings = list(progress.track(running, total=len(chosen), description="attacking"))
    out.print(_findings_table(findings))
    tally = Tally.of(findings)
    out.print(
        f"{tally}. A measured epsilon is a lower bound that holds with 99.99 % confidence; bad mechanisms must be convicted."
    )
    if tally.undecided:
        more = " ".join(["eptr audit", *(["--only", repr(only)] if only else [])])
        advice = f"for more power: {more}" if fast else "no more power is to be had here"
        out.print(f"Not enough runs means that twice the claimed epsilon could have escaped; {advice}.")
    raise typer.Exit(1 if tally.wrong else 0)


def _findings_table(findings: list[Any]) -> Table:
    from rich import box
    from rich.markup import escape

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    # At 100 columns no name of a rival is cut, and the verdict is always whole.
    table.add_column("claim", min_width=30, max_width=40)
    table.add_column("attack", min_width=24)
    table.add_column("measured", max_width=max(20, out.width - 80))
    table.add_column("verdict", min_width=17)
    for finding in findings:
        colour = "bold red" if finding.wrong else "yellow" if finding.undecided else "green"
        words = [escape(text) for text in (finding.claim, finding.attack, finding.measured)]
        table.add_row(*words, f"[{colour}]{finding.verdict}[/]")
    return table


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="CSV with a header line, or a Parquet file or folder.")],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    bounds: Annotated[Path, typer.Option(help="TOML with the public range of every column.")],
    model: Annotated[str, typer.Option(help="ols, logistic, bayes or kernel.")] = "ols",
    epsilon: Annotated[float, typer.Option()] = 1.0,
    delta: Annotated[float, typer.Option()] = 1e-6,
    strategy: Annotated[str, typer.Option(help="refined, tight or paper.")] = "refined",
    bandwidth: Annotated[float, typer.Option(help="kernel: as a share of each column's range.")] = 0.1,
    ledger: Annotated[
        str | None, typer.Option("--ledger", "-l", envvar="EPTR_LEDGER", help="sqlite:///FILE#DATASET to charge.")
    ] = None,
    invalid: Annotated[
        str, typer.Option(help="Missing values, undeclared levels: raise an error, or drop the row.")
    ] = "raise",
    neighbours: Annotated[
        str, typer.Option(help="What stays hidden: replace-one, or zero-out (weaker).")
    ] = "replace-one",
    engine: Annotated[str, typer.Option(help="Who reads a Parquet file or folder: local, dask or spark.")] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(help="A running cluster: tcp://HOST:8786 (Dask), spark://HOST:7077; else one is started."),
    ] = None,
    to: Annotated[Path, typer.Option("--out", help="Model file; the report goes beside it.")] = Path("model.json"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing model.")] = False,
    seed: Annotated[int | None, typer.Option(help="Reproducible and NOT private; for trying things out.")] = None,
) -> None:
    """Fit privately; print the summary, write the private model as JSON and an HTML report."""
    from .bounds import PublicBounds
    from .errors import InputError
    from .files import FileModel, open_data
    from .report import render

    # Before anything is charged: a result that cannot be written would be a wasted budget.
    if to.suffix != ".json":
        raise InputError(f"--out must end in .json, got {to.name!r}; the report goes beside it as .html.")
    if not to.absolute().parent.is_dir() or not os.access(to.absolute().parent, os.W_OK):
        raise InputError(f"--out: the folder of {to} does not exist or cannot be written.")
    if to.exists() and not force:
        raise InputError(
            f"{to} exists, and a fit that was paid for is not overwritten; choose another --out, or pass --force."
        )
    settings = {"epsilon": epsilon, "delta": delta, "strategy": strategy, "ledger": ledger, "random_state": seed}
    settings |= {"invalid": invalid, "neighbours": neighbours, "bandwidth": bandwidth}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warnings are said below, as sentences
        with open_data(data, engine, scheduler) as rows, _pass_bars():
            fitted = FileModel.fit(rows, model, target, PublicBounds.read(bounds), data.name, **settings)
    to.write_text(fitted.to_json() + "\n")
    page = to.with_suffix(".html")
    page.write_text(render(fitted), encoding="utf-8")
    if seed is not None:
        out.print("[bold red]A seed was given: this fit is reproducible and protects nobody.[/]")
    if not fitted.estimator.released_:
        out.print("No reply: the private test did not release this fit; the model predicts its public fallback.")
    elif lines := fitted.table():
        table = Table(*lines[0])
        for line in lines[1:]:
            table.add_row(*line)
        out.print(table)
        out.print(fitted.caution(), style="yellow", soft_wrap=True)
    print(
        f"({epsilon:g}, {delta:g})-differentially private, {neighbours} neighbours." if seed is None else "NOT private."
    )
    if ledger is None:
        print("No ledger: this fit is recorded nowhere; --ledger sqlite:///FILE#DATASET counts it against a budget.")
    print(f"Model: {to}    Report: {page}")


@contextmanager
def _pass_bars() -> Iterator[None]:
    """One bar per pass over a file; on standard error, and gone when the fit is done."""
    from rich.progress import Progress

    from .rows.progress import watched

    with Progress(console=Console(stderr=True), transient=True) as progress:
        passes: list[Any] = []

        def tick(done: int, total: int) -> None:
            if done == 0:
                passes.append(progress.add_task(f"pass {len(passes) + 1} over the rows", total=total))
            progress.update(passes[-1], completed=done)

        with watched(tick):
            yield


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="What `eptr fit` wrote.")],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet with the same columns; the target is ignored.")],
    to: Annotated[Path | None, typer.Option("--out", help="File to write; standard output if not given.")] = None,
) -> None:
    """Predictions from a stored model, as CSV. Costs no privacy."""
    from .errors import InputError
    from .files import FileModel, open_data, write_predictions

    if not model.exists():
        raise InputError(f"{model} does not exist.")
    fitted = FileModel.from_json(model.read_text())
    with open_data(data) as rows:
        text = write_predictions(to, fitted.target, fitted.predict(rows, data.name).tolist())
    print(text if to is None else f"wrote {to}", end="" if to is None else "\n")


@app.command()
def plan(
    n: Annotated[int, typer.Option("--n", help="Rows.")],
    features: Annotated[int, typer.Option(help="Columns.")],
    model: Annotated[str, typer.Option(help="ols, logistic, bayes or kernel.")] = "ols",
    epsilon: Annotated[float, typer.Option()] = 1.0,
    delta: Annotated[float, typer.Option()] = 1e-6,
    strategy: Annotated[str, typer.Option(help="refined, tight or paper; all three if not given.")] = "",
    x_bound: Annotated[float | None, typer.Option(help="Of a row; default: columns with range [-1, 1].")] = None,
    y_bound: Annotated[float, typer.Option()] = 1.0,
) -> None:
    """Noise and chance of a reply before any data are touched.

    For columns with range [-1, 1] and a target within Y_BOUND; FEATURES counts columns after encoding levels. The noise of a
    refined fit assumes that the columns can be told apart: a design with weak directions has more.
    """
    from .errors import InputError
    from .estimators.catalogue import commanded

    entrants = [entrant for entrant in commanded(model) if strategy in ("", entrant.variant)]
    if not entrants:
        raise InputError(f"--strategy must be refined, tight or paper, got {strategy!r}.")
    radius = features**0.5 if x_bound is None else x_bound
    for entrant in entrants:
        settings: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        if "bandwidth" in entrant.needs:
            settings |= {"domain": (-1, 1), "bandwidth": 0.2}
        if entrant.takes_ranges and x_bound is None:
            target = [0, 1] if entrant.task == "classification" else (-y_bound, y_bound)
            planned = entrant.ranged((-1, 1), target, **settings)
        else:
            planned = entrant.example(radius, y_bound, **settings)
        print(planned.plan(n, features))


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="bayes-eps, ols-eps, wine, ... or all; `list` names them.")],
    fast: Annotated[bool, typer.Option("--fast", help="A twenty-fifth of the replications.")] = False,
    replications: Annotated[
        int | None, typer.Option(help="So many replications instead of the published number.")
    ] = None,
    only: Annotated[str, typer.Option(help="Only methods whose name contains this (and the non-private line).")] = "",
    workers: Annotated[int, typer.Option(help="Processes; the results do not depend on it.")] = 2,
    to: Annotated[Path, typer.Option("--out", help="Folder for tables and figures.")] = Path("results"),
) -> None:
    """Redraw the figures of the paper: NAME.csv, NAME_summary.csv, NAME.png and NAME.pdf. Interrupted runs go on."""
    import json

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from .experiments import EXPERIMENTS
    from .experiments.figures import draw
    from .experiments.runner import run_experiment, versions

    if name == "list":
        for known in EXPERIMENTS.values():
            print(f"{known.name:<17}{known.title}; {known.replications} replications")
        return
    if name != "all" and name not in EXPERIMENTS:
        raise typer.BadParameter(
            f"no experiment {name!r}; choose from: {', '.join(EXPERIMENTS)}, all", param_hint="NAME"
        )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for experiment in EXPERIMENTS.values() if name == "all" else [EXPERIMENTS[name]]:
            count = replications or (max(2, experiment.replications // 25) if fast else experiment.replications)
            task = progress.add_task(experiment.name, total=count)
            tick = lambda done, total, task=task: progress.update(task, completed=done)  # noqa: E731
            summary = run_experiment(experiment, to, replications=count, workers=workers, only=only, tick=tick)
            draw(experiment, summary, [to / f"{experiment.name}{end}" for end in (".png", ".pdf")])
    made = {
        "command": f"eptr reproduce {name}" + (f" --replications {replications}" if replications else " --fast" * fast)
    }
    (to / "versions.json").write_text(json.dumps(made | versions(), indent=1) + "\n")
    out.print(f"Tables and figures: {to}")


def main() -> None:
    """Entry point: an error of ours is a sentence on standard error and exit code 2."""
    try:
        app()
    except (EptrError, OSError) as error:
        console = Console(stderr=True)
        console.print("error:", style="bold red", end=" ")
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
