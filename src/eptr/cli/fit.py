"""``eptr fit``, ``describe`` and ``predict``, and ``plan`` before any of them."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .study import open_study
from .terminal import guarantee, pass_bars, print_table, say

__all__ = ["describe", "fit", "plan", "predict"]

Charged = Annotated[
    str | None, typer.Option("--ledger", "-l", envvar="EPTR_LEDGER", help="sqlite:///FILE#DATASET to charge.")
]
Relation = Annotated[str, typer.Option(help="What stays hidden: replace-one, or zero-out (weaker).")]
Seed = Annotated[int | None, typer.Option(help="Reproducible and NOT private; for trying things out.")]


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
    ledger: Charged = None,
    invalid: Annotated[
        str, typer.Option(help="Missing values, undeclared levels: raise an error, or drop the row.")
    ] = "raise",
    neighbours: Relation = "replace-one",
    engine: Annotated[str, typer.Option(help="Who reads a Parquet file or folder: local, dask or spark.")] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(help="A running cluster: tcp://HOST:8786 (Dask), spark://HOST:7077; else one is started."),
    ] = None,
    to: Annotated[Path, typer.Option("--out", help="Model file; the report goes beside it.")] = Path("model.json"),
    report: Annotated[Path | None, typer.Option(help="The report, if not beside the model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing model.")] = False,
    seed: Seed = None,
    total: Annotated[
        float | None,
        typer.Option(help="With a formula and a new ledger account: the epsilon of all analyses together."),
    ] = None,
    where: Annotated[str | None, typer.Option(help="With a formula: rows that count, such as 'age >= 65'.")] = None,
    person: Annotated[str | None, typer.Option(help="With a formula: the column that identifies persons.")] = None,
    rows_each: Annotated[int, typer.Option(help="With a formula: so many rows of one person count.")] = 1,
) -> None:
    """Fit privately; print the summary, write the private model as JSON and an HTML report."""
    from ..bounds import PublicBounds
    from ..files import FileModel, open_data
    from ..report import render

    page = _writable(to, report, force)
    if formula is not None or codebook is not None:
        if formula is None or codebook is None or target is not None or bounds is not None:
            raise InputError("pass --codebook and --formula together, or --bounds and --target.")
        if model not in ("ols", "logit", "smooth"):
            raise InputError(f"--model must be ols, logit or smooth with a formula, got {model!r}.")
        from ..study.publication import fit_page

        given: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "total": total, "neighbours": neighbours}
        given |= {"person": person, "rows_each": rows_each, "seed": seed, "engine": engine, "scheduler": scheduler}
        with open_study(data, codebook, ledger=ledger, **given) as study, pass_bars():
            found = getattr(study, model)(formula, epsilon=epsilon, where=where)
        to.write_text(found.to_json() + "\n")
        page.write_text(fit_page(found, study.data.n), encoding="utf-8")
        if lines := found.lines():
            print(f"{found.method}: {found.formula}{found.compared}")
            print_table(lines)
            if found.caution:
                say(" ".join(found.caution.split()), style="yellow", soft_wrap=True)
        else:
            print(found)
        guarantee(epsilon, study.delta, study.unit.relation, ledger, seed)
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
        with open_data(Path(data), engine, scheduler) as rows, pass_bars():
            fitted = FileModel.fit(rows, model, target, PublicBounds.read(bounds), Path(data).name, **settings)
    to.write_text(fitted.to_json() + "\n")
    page.write_text(render(fitted), encoding="utf-8")
    if not fitted.estimator.released_:
        say("No reply: the private test did not release this fit; the model predicts its public fallback.")
    elif lines := fitted.table():
        print_table(lines)
        say(fitted.caution(), style="yellow", soft_wrap=True)
    guarantee(epsilon, delta, neighbours, ledger, seed)
    print(f"Model: {to}    Report: {page}")


def _writable(to: Path, report: Path | None, force: bool) -> Path:
    """Where the report goes; an error before anything is charged: a result that cannot be written is a wasted budget."""
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
    return page


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
    ledger: Charged = None,
    where: Annotated[str | None, typer.Option(help="Rows that count, such as 'age >= 65'.")] = None,
    neighbours: Relation = "replace-one",
    person: Annotated[str | None, typer.Option(help="The column that identifies persons.")] = None,
    rows_each: Annotated[int, typer.Option(help="So many rows of one person count.")] = 1,
    seed: Seed = None,
) -> None:
    """Means, spreads, quartiles and counts of columns, with intervals, within one epsilon."""
    names = [name.strip() for name in columns.split(",")] if columns else None
    given: dict[str, Any] = {"delta": delta, "neighbours": neighbours, "person": person, "rows_each": rows_each}
    with (
        open_study(data, codebook, epsilon=epsilon, total=total, ledger=ledger, seed=seed, **given) as study,
        pass_bars(),
    ):
        print(study.describe(names, epsilon=epsilon, where=where))
    guarantee(epsilon, study.delta, study.unit.relation, ledger, seed)


def predict(
    model: Annotated[Path, typer.Argument(help="What `eptr fit` wrote.")],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet with the same columns; the target is ignored.")],
    to: Annotated[Path | None, typer.Option("--out", help="File to write; standard output if not given.")] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="Of a study's logit: one column for each class, instead of the likeliest."
        ),
    ] = False,
) -> None:
    """Predictions from a stored model, as CSV. Costs no privacy."""
    from ..files import FileModel, open_data, write_predictions

    if not model.exists():
        raise InputError(f"{model} does not exist.")
    text = model.read_text()
    if '"eptr-study/' in text[:100]:
        from ..study.result import Fit

        fit = Fit.from_json(text)
        if probabilities:
            heads = [f"{fit.outcome} = {word}" for word in fit.words] if fit.method == "logit" else []
            text = write_predictions(to, heads, fit.predict_proba(data).tolist())
        else:
            text = write_predictions(to, [f"predicted {fit.outcome}"], [[v] for v in fit.predict(data).tolist()])
    elif probabilities:
        raise InputError("--probabilities is for a model that `eptr fit --model logit --codebook` wrote.")
    else:
        fitted = FileModel.from_json(text)
        with open_data(data) as rows:
            text = write_predictions(
                to, [f"predicted {fitted.target}"], [[v] for v in fitted.predict(rows, data.name).tolist()]
            )
    print(text if to is None else f"wrote {to}", end="" if to is None else "\n")


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
    from ..estimators.catalogue import commanded

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
