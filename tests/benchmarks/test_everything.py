"""What decides the numbers of a command: the folders it names and the benchmarks it runs."""

from __future__ import annotations

import pytest

from benchmarks import everything


@pytest.fixture
def digests(monkeypatch):
    """Digests of all commands, if a file whose path ends so were another."""
    read = type(everything.ROOT).read_text

    def changed(end):
        everything.code.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(
                type(everything.ROOT),
                "read_text",
                lambda path, *a, **k: read(path, *a, **k) + ("\nchanged = 1\n" if str(path).endswith(end) else ""),
            )
            return {command: everything.code(command) for command in everything.TARGETS}

    yield changed
    everything.code.cache_clear()


def test_a_change_costs_the_commands_that_read_it_and_no_others(digests):
    before = digests("nothing")
    assert len(set(before.values())) == len(before)

    def moved(end):
        return {command for command, digest in digests(end).items() if digest != before[command]}

    assert moved("stats/mean.py") == {"bench-ranges", "bench-stats", "bench-quantiles"}
    assert moved("estimators/linear/refined.py") >= {"bench-coverage", "bench-study", "compare", "reproduction"}
    assert not moved("estimators/linear/refined.py") & {"bench-stats", "bench-logistic", "bench"}
    assert moved("benchmarks/odds.py") == {"compare", "peers"}


def test_every_command_is_in_the_makefile_and_runs_something_that_is_here():
    recipes = (everything.ROOT / "Makefile").read_text()
    for command in everything.TARGETS:
        assert f"\n{command}:" in recipes
        assert everything.benchmarks_of(command) or command == "bench-sensitivity"
