"""What is published agrees with itself: versions, licences, types, and a wheel with everything in it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import eptr

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert eptr.__version__ == str(cited) == newest.group(1)


def test_the_oldest_of_every_dependency_is_tried():
    """What `make test-oldest` installs is what pyproject.toml admits: each lower bound, with the bug fixes of its series."""
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *(line for name in extras if name != "docs" for line in extras[name])]
    pinned = dict(
        re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints" / "oldest.txt").read_text(), flags=re.MULTILINE)
    )
    for name, lowest in re.findall(r"^([\w-]+)(?:\[.*\])?>=([\d.]+)", "\n".join(needed), flags=re.MULTILINE):
        if name not in ("build", "twine"):  # make the wheel, and are not imported
            assert f"{pinned[name]}.".startswith(f"{lowest}."), name


def test_every_dependency_is_in_the_notice():
    extras = [v for k, v in PROJECT["optional-dependencies"].items() if k not in ("dev", "all")]
    names = {re.split(r"[\[>=<]", d)[0] for group in [PROJECT["dependencies"], *extras] for d in group} - {"eptr"}
    words = set(re.split(r"[\s,;]+", (ROOT / "NOTICE").read_text()))
    assert names - words == set()


def test_a_type_checker_sees_every_public_name():
    tree = ast.parse((ROOT / "src" / "eptr" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {f"{node.module}.{alias.name}" for node in block.body for alias in node.names if node.module}
    assert seen == {f"{home}.{name}" for name, home in eptr._HOME.items()}, "add the name to the TYPE_CHECKING block"


def test_user_code_is_checked_against_our_types():
    """A wrong argument and a wrong type are found, right ones pass: an unused `type: ignore` is an error under --strict."""
    command = [sys.executable, "-m", "mypy", "--warn-unused-ignores", "--config-file", "pyproject.toml"]
    path = {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(
        [*command, "tests/typed_user.py"], cwd=ROOT, env=os.environ | path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_linters_before_a_commit_are_those_of_the_suite():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"]  # nothing is fetched
    rule = re.search(r"^test:(.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE).group(1)
    assert {hook["entry"].removeprefix("make ") for hook in hooks[0]["hooks"]} == set(rule.split()) & {"lint", "types"}


@pytest.mark.slow
def test_the_wheel_holds_the_package_its_types_and_its_proofs(tmp_path):
    done = subprocess.run([sys.executable, "-m", "build", "--outdir", tmp_path, ROOT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    wanted = [p for p in (source / "eptr").rglob("*") if p.suffix in (".py", ".md", ".typed") and p.is_file()]
    assert {str(p.relative_to(source)) for p in wanted} - inside == set()
    assert {p.split("/")[0] for p in inside} == {"eptr", f"eptr-{eptr.__version__}.dist-info"}
    assert any(p.endswith("licenses/NOTICE") for p in inside)


def test_one_command_makes_every_table_and_the_list_names_them():
    from benchmarks.everything import APART, TARGETS

    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {*TARGETS, *APART} - rules == set()
    assert {rule for rule in rules if rule.startswith("bench")} - {*TARGETS, *APART} == set()
    named = re.findall(r"`([\w*]+\.csv)`", (ROOT / "results" / "README.md").read_text())
    shown = {path.name for pattern in named for path in (ROOT / "results").glob(pattern)}
    assert {path.name for path in (ROOT / "results").glob("*.csv")} - shown == set()


def test_a_stamp_replaces_the_older_one(tmp_path, monkeypatch):
    from benchmarks import everything

    monkeypatch.setattr(everything, "RESULTS", tmp_path)
    for seconds, code in ((3.0, 1), (4.0, 0)):
        everything.stamp("compare", seconds, code)
    everything.stamp("bench", 1.0, 0)
    lines = (tmp_path / "versions.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["command", "compare", "bench"]
    assert lines[1].split(",")[2:4] == ["4", "0"]


def test_what_this_code_has_printed_is_not_printed_again(tmp_path, monkeypatch):
    from benchmarks import everything

    ran = []
    monkeypatch.setattr(everything, "RESULTS", tmp_path)
    monkeypatch.setattr(everything, "run", ran.append)
    monkeypatch.setattr(everything, "write_figures", lambda: None)
    monkeypatch.setattr(everything, "draw_pictures", lambda: None)
    monkeypatch.setattr(everything, "tell", lambda: None)
    everything.stamp("compare", 1.0, 0)
    everything.stamp("peers", 1.0, 1)
    for words in ([], ["compare"]):
        monkeypatch.setattr(sys, "argv", ["everything", *words])
        everything.main()
    assert set(ran[:-1]) == set(everything.TARGETS) - {"compare"}  # what failed runs again
    assert ran[-1] == "compare"
    monkeypatch.setattr(sys, "argv", ["everything", "nothing"])
    with pytest.raises(SystemExit, match="nothing"):
        everything.main()


def test_docstrings_decide_no_number():
    from benchmarks.everything import plain

    assert plain('"""A."""\nx = 1  # one\n') == plain("x = 1\n") != plain("x = 2\n")


def test_what_a_machine_lacks_is_named(monkeypatch):
    from .conftest import lacking

    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("EPTR_DATA_HOME", raising=False)
    named = {"Java (Spark)", "Chromium (reports, the site)", "R with reticulate", "EPTR_DATA_HOME (real data)"}
    assert named <= set(lacking())
