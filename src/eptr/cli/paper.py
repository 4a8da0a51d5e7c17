"""``eptr demo`` makes the point in a minute; ``eptr reproduce`` redraws the figures of the paper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from .terminal import say

__all__ = ["demo", "reproduce"]


def demo() -> None:
    """Private estimates next to the non-private ones: a table and a figure, in about a minute."""
    from ..demo import main as run

    run()


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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ..experiments import EXPERIMENTS
    from ..experiments.figures import draw
    from ..experiments.runner import run_experiment, versions

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
    say(f"Tables and figures: {to}")
