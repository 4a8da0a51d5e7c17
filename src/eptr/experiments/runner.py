"""Run experiments: in parallel, resumable after a kill, and with the same bytes whatever the number of workers.

A replication is one unit of work. Finished units go, one line each, to a journal; a restart reads it and goes on. The
CSV files are written from the complete journal, sorted, at the end: no order of completion can show.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError
from .design import Experiment, Record

__all__ = ["run_experiment", "versions"]

Rows = list[Record]


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    replications: int | None = None,
    workers: int = 1,
    only: str = "",
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Run what is missing, then write NAME.csv and NAME_summary.csv into ``out``; returns the summary's path."""
    count = experiment.replications if replications is None else replications
    if count < 1:
        raise InputError(f"replications must be at least 1, got {count}.")
    if only and not any(only in method.name for method in experiment.methods):
        names = ", ".join(m.name for m in experiment.methods)
        raise InputError(f"only={only!r} matches no method of {experiment.name}; its methods are: {names}.")
    out.mkdir(parents=True, exist_ok=True)
    journal = out / f".{experiment.name}{'-' + only.replace(' ', '_') if only else ''}.journal"
    done = _read(journal)
    missing = [r for r in range(count) if r not in done]
    tick(count - len(missing), count)
    with journal.open("a") as file:
        for finished, (replication, rows) in enumerate(_work(experiment.name, missing, workers, only), 1):
            done[replication] = rows
            file.write(json.dumps([replication, rows]) + "\n")
            file.flush()
            os.fsync(file.fileno())
            tick(count - len(missing) + finished, count)
    records = [(r, *row) for r in range(count) for row in done[r]]
    _write(out / f"{experiment.name}.csv", _details(experiment, records))
    summary = out / f"{experiment.name}_summary.csv"
    _write(summary, _summary(experiment, records))
    journal.unlink()
    return summary


def _read(journal: Path) -> dict[int, Rows]:
    """What an interrupted run finished; its last line may be torn."""
    found: dict[int, Rows] = {}
    if journal.exists():
        for line in journal.read_text().splitlines():
            try:
                replication, rows = json.loads(line)
            except ValueError:
                continue
            found[replication] = [(x, method, values) for x, method, values in rows]
        journal.write_text("".join(json.dumps([r, rows]) + "\n" for r, rows in found.items()))
    return found


def _work(name: str, missing: list[int], workers: int, only: str) -> Iterator[tuple[int, Rows]]:
    if workers == 1:
        yield from (_one(name, r, only) for r in missing)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(
        delayed(_one)(name, r, only) for r in missing
    )


def _one(name: str, replication: int, only: str) -> tuple[int, Rows]:
    from threadpoolctl import threadpool_limits

    from . import EXPERIMENTS

    # One thread each: the same shapes give the same bits in every worker.
    with threadpool_limits(limits=1):
        return replication, list(EXPERIMENTS[name].run(replication, lambda method: only in method))


def _details(experiment: Experiment, records: list[tuple[int, float, str, dict[str, float]]]) -> list[list[Any]]:
    measures = sorted({k for *_, values in records for k in values})
    order = {m.name: k for k, m in enumerate(experiment.methods)}
    rows = sorted(records, key=lambda r: (order[r[2]], r[1], r[0]))
    header = ["method", experiment.setting, "replication", *measures]
    return [header, *([m, x, r, *(values.get(k, "") for k in measures)] for r, x, m, values in rows)]


def _summary(experiment: Experiment, records: list[tuple[int, float, str, dict[str, float]]]) -> list[list[Any]]:
    header = ["method", "family", "private", "setting", "measure", "replications"]
    table: list[list[Any]] = [[*header, "mean", "sd", "standard_error", "q10", "median", "q90", "release_rate"]]
    cells: dict[tuple[str, float], list[dict[str, float]]] = {}
    for _, x, name, values in records:
        cells.setdefault((name, x), []).append(values)
    for method in experiment.methods:
        for x in experiment.grid:
            runs = cells.get((method.name, x), [])
            for measure in sorted({k for values in runs for k in values} - {"replied"}):
                sample = np.array([values[measure] for values in runs])
                spread = float(sample.std(ddof=1)) if len(sample) > 1 else 0.0
                numbers = [float(sample.mean()), spread, spread / len(sample) ** 0.5]
                numbers += [float(q) for q in np.quantile(sample, [0.1, 0.5, 0.9])]
                rate = float(np.mean([values["replied"] for values in runs]))
                fixed = [method.name, method.family, method.private, x, measure, len(sample)]
                table.append([*fixed, *(f"{v:.6g}" for v in (*numbers, rate))])
    return table


def _write(path: Path, rows: list[list[Any]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    temporary = path.with_suffix(".part")
    temporary.write_text(text.getvalue())
    os.replace(temporary, path)


def versions() -> dict[str, str]:
    """What made the results; no times, no places."""
    packages = ("numpy", "scipy", "scikit-learn", "opendp")
    return {"python": platform.python_version(), "eptr": __version__, **{name: version(name) for name in packages}}
