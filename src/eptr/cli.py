"""The command line: fits, studies, plans, ledgers, audits. User errors are sentences, not tracebacks."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from .errors import EptrError, InputError

try:
    import typer
    from rich.console import Console
    from rich.table import Table
except ModuleNotFoundError:  # pragma: no cover - depends on the installation
    sys.exit("The command line needs typer and rich; install them with: pip install 'eptr[cli]'")

from .cli_ledger import ledger_app
from .cli_study import codebook_app, open_study, print_table, study_app

app = typer.Typer(
    pretty_exceptions_show_locals=False,  # locals may be private rows
    help="Differentially private statistics: propose, test, release.",
    no_args_is_help=True,
    add_completion=False,
)
app.add_typer(ledger_app, name="ledger")
app.add_typer(codebook_app, name="codebook")
app.add_typer(study_app, name="study")
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
    data: Annotated[
        str,
        typer.Argument(help="CSV with a header line, a Parquet file or folder; with a formula, sqlite:///FILE#TABLE."),
    ],
    formula: Annotated[str | None, typer.Option(help="'wage ~ age + sex', with --codebook.")] = None,
    codebook: Annotated[Path | None, typer.Option(help="TOML with public facts about the columns.")] = None,
    target: Annotated[str | None, typer.Option(help="Without a formula: the column to predict.")] = None,
    bounds: Annotated[Path | None, typer.Option(help="Without a formula: TOML with the range of every column.")] = None,
    model: Annotated[
        str,
        typer.Option(help="With a formula: ols, logit or smooth; with --target: ols, logit, bayes, kernel, additive."),
    ] = "ols",
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
    report: Annotated[Path | None, typer.Option(help="The report, if not beside the model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing model.")] = False,
    seed: Annotated[int | None, typer.Option(help="Reproducible and NOT private; for trying things out.")] = None,
    total: Annotated[
        float | None,
        typer.Option(help="With a formula and a new ledger account: the epsilon of all analyses together."),
    ] = None,
    where: Annotated[str | None, typer.Option(help="With a formula: rows that count, such as 'age >= 65'.")] = None,
    person: Annotated[str | None, typer.Option(help="With a formula: the column that identifies persons.")] = None,
    rows_each: Annotated[int, typer.Option(help="With a formula: so many rows of one person count.")] = 1,
) -> None:
    """Fit privately; print the summary, write the private model as JSON and an HTML report."""
    from .bounds import PublicBounds
    from .files import FileModel, open_data
    from .report import render

    # Before anything is charged: a result that cannot be written would be a wasted budget.
    if to.suffix != ".json":
        raise InputError(f"--out must end in .json, got {to.name!r}; the report goes beside it as .html.")
    page = report or to.with_suffix(".html")
    if page.suffix != ".html":
        raise InputError(f"--report must end in .html, got {page.name!r}.")
    for name, file in (("--out", to), ("--report", page)):
        if not file.absolute().parent.is_dir() or not os.access(file.absolute().parent, os.W_OK):
            raise InputError(f"{name}: the folder of {file} does not exist or cannot be written.")
    if to.exists() and not force:
        raise InputError(
            f"{to} exists, and a fit that was paid for is not overwritten; choose another --out, or pass --force."
        )
    if formula is not None or codebook is not None:
        if formula is None or codebook is None or target is not None or bounds is not None:
            raise InputError("pass --codebook and --formula together, or --bounds and --target.")
        if model not in ("ols", "logit", "smooth"):
            raise InputError(f"--model must be ols, logit or smooth with a formula, got {model!r}.")
        from .study.publication import fit_page

        given: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "total": total, "neighbours": neighbours}
        given |= {"person": person, "rows_each": rows_each, "seed": seed, "engine": engine, "scheduler": scheduler}
        with open_study(data, codebook, ledger=ledger, **given) as study, _pass_bars():
            found = getattr(study, model)(formula, epsilon=epsilon, where=where)
        to.write_text(found.to_json() + "\n")
        page.write_text(fit_page(found, study.data.n), encoding="utf-8")
        if lines := found.lines():
            print(f"{found.method}: {found.formula}{found.compared}")
            print_table(lines)
        else:
            print(found)
        _tell(epsilon, study.delta, study.unit.relation, ledger, seed)
        print(f"Model: {to}    Report: {page}")
        return
    if target is None or bounds is None:
        raise InputError("pass --codebook and --formula, or --bounds and --target.")
    if where is not None or person is not None or rows_each != 1 or total is not None:
        raise InputError("--where, --person, --rows-each and --total go with --codebook and --formula.")
    settings = {"epsilon": epsilon, "delta": delta, "strategy": strategy, "ledger": ledger, "random_state": seed}
    settings |= {"invalid": invalid, "neighbours": neighbours, "bandwidth": bandwidth}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warnings are said below, as sentences
        with open_data(Path(data), engine, scheduler) as rows, _pass_bars():
            fitted = FileModel.fit(rows, model, target, PublicBounds.read(bounds), Path(data).name, **settings)
    to.write_text(fitted.to_json() + "\n")
    page.write_text(render(fitted), encoding="utf-8")
    if not fitted.estimator.released_:
        out.print("No reply: the private test did not release this fit; the model predicts its public fallback.")
    elif lines := fitted.table():
        print_table(lines)
        out.print(fitted.caution(), style="yellow", soft_wrap=True)
    _tell(epsilon, delta, neighbours, ledger, seed)
    print(f"Model: {to}    Report: {page}")


def _tell(epsilon: float, delta: float, neighbours: str, ledger: str | None, seed: int | None) -> None:
    """The guarantee, and where it is recorded."""
    if seed is not None:
        out.print("[bold red]A seed was given: this fit is reproducible and protects nobody.[/]")
    print(
        f"({epsilon:g}, {delta:g})-differentially private, {neighbours} neighbours." if seed is None else "NOT private."
    )
    if ledger is None:
        print("No ledger: this is recorded nowhere; --ledger sqlite:///FILE#DATASET counts it against a budget.")


@app.command()
def describe(
    data: Annotated[
        str, typer.Argument(help="CSV (.gz) with a header line, a Parquet file or folder, or sqlite:///FILE#TABLE.")
    ],
    codebook: Annotated[Path, typer.Option(help="TOML with public facts about the columns.")],
    columns: Annotated[str, typer.Option(help="Names, separated by commas; all if not given.")] = "",
    epsilon: Annotated[float, typer.Option()] = 1.0,
    delta: Annotated[float, typer.Option()] = 1e-6,
    total: Annotated[
        float | None, typer.Option(help="A new ledger account: the epsilon of all analyses together.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", "-l", envvar="EPTR_LEDGER", help="sqlite:///FILE#DATASET to charge.")
    ] = None,
    where: Annotated[str | None, typer.Option(help="Rows that count, such as 'age >= 65'.")] = None,
    neighbours: Annotated[
        str, typer.Option(help="What stays hidden: replace-one, or zero-out (weaker).")
    ] = "replace-one",
    person: Annotated[str | None, typer.Option(help="The column that identifies persons.")] = None,
    rows_each: Annotated[int, typer.Option(help="So many rows of one person count.")] = 1,
    seed: Annotated[int | None, typer.Option(help="Reproducible and NOT private; for trying things out.")] = None,
) -> None:
    """Means, spreads, quartiles and counts of columns, with intervals, within one epsilon."""
    names = [name.strip() for name in columns.split(",")] if columns else None
    given: dict[str, Any] = {"delta": delta, "neighbours": neighbours, "person": person, "rows_each": rows_each}
    with (
        open_study(data, codebook, epsilon=epsilon, total=total, ledger=ledger, seed=seed, **given) as study,
        _pass_bars(),
    ):
        print(study.describe(names, epsilon=epsilon, where=where))
    _tell(epsilon, study.delta, study.unit.relation, ledger, seed)


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
    from .files import FileModel, open_data, write_predictions

    if not model.exists():
        raise InputError(f"{model} does not exist.")
    text = model.read_text()
    if '"eptr-study/' in text[:100]:
        from .study.result import Fit

        study_fit = Fit.from_json(text)
        text = write_predictions(to, study_fit.formula.partition("~")[0].strip(), study_fit.predict(data).tolist())
    else:
        fitted = FileModel.from_json(text)
        with open_data(data) as rows:
            text = write_predictions(to, fitted.target, fitted.predict(rows, data.name).tolist())
    print(text if to is None else f"wrote {to}", end="" if to is None else "\n")


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A model or release as JSON, or a report.")],
    ledger: Annotated[
        str | None, typer.Option("--ledger", "-l", help="sqlite:///FILE#DATASET that was charged, to check it, too.")
    ] = None,
) -> None:
    """Recompute every privacy number of a model or a report from its record. Exit code 1 if one does not hold."""
    from .verify import verified

    if not file.exists():
        raise InputError(f"{file} does not exist.")
    checks = verified(file.read_text(encoding="utf-8"), ledger)
    for check in checks:
        print(f"{'holds' if check.holds else 'FAILS'}  {check.claim}: {check.found}")
    wrong = sum(not check.holds for check in checks)
    print(f"{len(checks) - wrong} of {len(checks)} claims hold.")
    raise typer.Exit(1 if wrong else 0)


@app.command()
def plan(
    n: Annotated[int, typer.Option("--n", help="Rows.")],
    features: Annotated[int, typer.Option(help="Columns.")],
    model: Annotated[str, typer.Option(help="ols, logit, bayes, kernel or additive.")] = "ols",
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
    from .estimators.catalogue import commanded

    entrants = [entrant for entrant in commanded(model) if strategy in ("", entrant.variant)]
    if not entrants:
        raise InputError(f"--strategy must be refined, tight or paper, got {strategy!r}.")
    radius = features**0.5 if x_bound is None else x_bound
    for entrant in entrants:
        settings: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        if "bandwidth" in entrant.needs:
            settings |= {"domain": (-1, 1), "bandwidth": 0.2}
        if entrant.takes_ranges and (x_bound is None or not entrant.takes_bounds):
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
    made = to / "versions.json"
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for experiment in EXPERIMENTS.values() if name == "all" else [EXPERIMENTS[name]]:
            count = replications or (max(2, experiment.replications // 25) if fast else experiment.replications)
            task = progress.add_task(experiment.name, total=count)
            tick = lambda done, total, task=task: progress.update(task, completed=done)  # noqa: E731
            summary = run_experiment(experiment, to, replications=count, workers=workers, only=only, tick=tick)
            draw(experiment, summary, [to / f"{experiment.name}{end}" for end in (".png", ".pdf")])
            known = json.loads(made.read_text()) if made.exists() else {}
            made.write_text(json.dumps(known | {experiment.name: versions()}, indent=1) + "\n")
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
