"""Running one method again prints what running all of them would."""

from benchmarks import reproduction
from eptr.experiments import EXPERIMENTS
from eptr.experiments.runner import run_experiment


def test_a_method_run_again_has_the_rows_of_a_run_of_all(tmp_path, monkeypatch):
    experiment = EXPERIMENTS["bayes-imbalance"]
    monkeypatch.setattr(reproduction, "FOLDER", tmp_path)
    monkeypatch.setattr(reproduction, "ASIDE", tmp_path / "aside")
    summary = run_experiment(experiment, tmp_path, replications=1)
    told = summary.read_text()
    header, *lines = reproduction.read(summary)
    mean = header.index("mean")
    older = [[*line[:mean], "7", *line[mean + 1 :]] if line[0] == "ePTR refined" else line for line in lines]
    summary.write_text("\n".join(",".join(line) for line in [header, *older]) + "\n")
    assert summary.read_text() != told
    reproduction.again(experiment, "refined", workers=1)
    assert summary.read_text() == told
