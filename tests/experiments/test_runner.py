"""Experiments: the same bytes whatever the workers and interruptions, complete tables, figures that can be drawn."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time

import pytest

from eptr import InputError
from eptr.experiments import EXPERIMENTS
from eptr.experiments.figures import draw, read_summary
from eptr.experiments.runner import run_experiment, versions

NEEDS_DATA = {"credit", "wine", "california"}
HAS_DATA = bool(os.environ.get("EPTR_DATA_HOME"))


def test_all_twelve_are_there():
    assert set(EXPERIMENTS) == {
        *("bayes-eps", "bayes-n", "bayes-imbalance", "ols-eps", "ols-n", "nw-eps", "nw-n", "nw-density", "nw-function"),
        *NEEDS_DATA,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_method_is_run_at_every_setting(name, tmp_path):
    if name in NEEDS_DATA and not HAS_DATA:
        pytest.skip("set EPTR_DATA_HOME to a folder with the datasets")
    experiment = EXPERIMENTS[name]
    summary = run_experiment(experiment, tmp_path, replications=1)
    cells = read_summary(summary)
    assert set(cells) == {(m.name, x) for m in experiment.methods for x in experiment.grid}
    draw(experiment, summary, [tmp_path / "figure.png", tmp_path / "figure.pdf"])
    assert (tmp_path / "figure.png").stat().st_size > 20_000


@pytest.mark.slow
def test_workers_do_not_matter(tmp_path):
    for workers in (1, 2):
        run_experiment(EXPERIMENTS["nw-density"], tmp_path / str(workers), replications=2, workers=workers)
    for name in ("nw-density.csv", "nw-density_summary.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.slow
def test_killing_and_resuming_gives_the_same_bytes(tmp_path):
    command = [sys.executable, "-m", "eptr", "reproduce", "ols-n", "--replications", "3", "--workers", "1", "--out"]
    run_experiment(EXPERIMENTS["ols-n"], tmp_path / "whole", replications=3)
    broken = tmp_path / "broken"
    process = subprocess.Popen([*command, str(broken)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = broken / ".ols-n.journal"
    while not (journal.exists() and "\n" in journal.read_text()):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (broken / "ols-n.csv").exists()
    with journal.open("a") as file:
        file.write('[2, [[1000.0, "non-pri')  # a torn line
    subprocess.run([*command, str(broken)], check=True, capture_output=True)
    for name in ("ols-n.csv", "ols-n_summary.csv"):
        assert (tmp_path / "whole" / name).read_bytes() == (broken / name).read_bytes()


def test_only_and_replications_are_checked(tmp_path):
    with pytest.raises(InputError, match="matches no method"):
        run_experiment(EXPERIMENTS["ols-n"], tmp_path, replications=1, only="magic")
    with pytest.raises(InputError, match="replications"):
        run_experiment(EXPERIMENTS["ols-n"], tmp_path, replications=0)


def test_only_keeps_the_reference(tmp_path):
    summary = run_experiment(EXPERIMENTS["nw-density"], tmp_path, replications=1, only="refined")
    with summary.open() as file:
        assert {row["method"] for row in csv.DictReader(file)} == {"non-private", "ePTR refined"}


def test_no_times_and_no_places_in_what_is_committed():
    assert set(versions()) == {"python", "eptr", "numpy", "scipy", "scikit-learn", "opendp"}
