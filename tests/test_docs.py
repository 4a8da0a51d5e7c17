"""The README and the docs run: every Python block, in order, page by page."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if "```python" in p.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_every_example_runs(page, capsys, monkeypatch):
    module = ModuleType(f"page_{page.stem}")  # classes of a page can be pickled, as those of a file
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, str(page), "exec"), vars(module))
    capsys.readouterr()


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_every_example_of_the_gallery_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.slow
def test_a_strategy_is_one_file_and_one_line(tmp_path):
    """The one of the page about extending, in a copy of the library: the common tests take it up by themselves."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    page = (ROOT / "docs" / "extending.md").read_text()
    file = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[-1].partition("@dataclass")[0]
    home = tmp_path / "src" / "eptr" / "estimators" / "linear"
    (home / "ridge.py").write_text(file)
    model = (home / "regression.py").read_text()
    line = '"refined": Refined(), '
    assert model.count(line) == 1
    (home / "regression.py").write_text(
        model.replace(line, f'{line}"ridge": Ridge(), ').replace(
            "from .refined", "from .ridge import Ridge\nfrom .refined"
        )
    )
    asked = ["estimators/test_catalogue.py", "every/test_parts.py", "rows/test_everywhere.py", "test_verify.py"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-k",
        "ridge and not spark and not dask",
    ]
    done = subprocess.run(
        [*command, *(f"tests/{name}" for name in asked)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 50


def test_every_settings_file_is_one():
    blocks = [
        b
        for page in (ROOT / "docs").glob("*.md")
        for b in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    assert blocks
    assert all(tomllib.loads(block) for block in blocks)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} points to {target}"


# What looks measured in a sentence, and what such a sentence may say of its setting.
MEASURED = re.compile(
    r"(?<![\w.])[\d.,]+(?: to [\d.]+)? ?(?:ms|s|seconds|MB|GB|times (?:as|that))\b|(?<![\w.^])\d*\.\d{2,}|[\d.]+ %"
)
SETTING = re.compile(r"(?:delta|epsilon|deviation)(?: =| of)? [\d.]+(?: (?:and|to|or) [\d.e-]+)*|95 %")


def test_a_figure_beside_its_command_is_marked():
    from benchmarks.figures import FIGURE, with_figures
    from benchmarks.tables import MARKED, documents

    found = 0
    for path in documents():
        assert with_figures(path.read_text()) == path.read_text(), f"{path.name}: run python -m benchmarks.figures"
        text = re.sub(r"^```.*?^```", "", MARKED.sub("", path.read_text()), flags=re.DOTALL | re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n", text):
            found += len(FIGURE.findall(paragraph))
            if re.search(r"`make (bench|compare|peers|soak)|results/\w+\.csv", paragraph):
                prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", FIGURE.sub("", paragraph))
                assert MEASURED.findall(SETTING.sub("", prose)) == [], (
                    f"{path.name}: mark it, see benchmarks/figures.py"
                )
    assert found >= 10


def test_a_figure_is_what_the_results_say(tmp_path, monkeypatch):
    from benchmarks.figures import with_figures

    from benchmarks import tables

    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    (tmp_path / "runs.csv").write_text(
        "way,n,a / b,s,share\nold,10,650.4,2,.5\nnew,10,1234.5,4,.25\nnew,20,9 (8),8,.9\n"
    )
    for asked, shown in [
        ("a / b where way = old", "650"),
        ("a / b where way = new and n = 10", "1,200"),
        ("a / b where n = 20, 3 digits", "9"),
        ("s", "2 to 8"),
        ("share over s where way = old", ".25"),
        ("share where way = new, per cent", "25 to 90"),
    ]:
        mark = f"<!-- figure runs: {asked} -->"
        assert with_figures(f"It took {mark}?<!-- end --> s.") == f"It took {mark}{shown}<!-- end --> s."
    with pytest.raises(ValueError, match="no row where way = lost"):
        with_figures("<!-- figure runs: s where way = lost -->1<!-- end -->")


def test_the_reproduction_is_told_as_its_summaries_say(tmp_path, monkeypatch, capsys):
    from benchmarks import reproduction

    monkeypatch.setattr(reproduction, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["reproduction"])
    reproduction.main()
    assert (tmp_path / "REPRODUCTION.md").read_text() == (ROOT / "REPRODUCTION.md").read_text()


def test_marked_tables_are_those_of_the_results():
    from benchmarks.tables import MARKED, documents, with_tables

    found = 0
    for path in documents():
        text = path.read_text()
        found += len(MARKED.findall(text))
        assert with_tables(text) == text, f"{path.name} shows an older table; run the command that prints it"
        for table in re.findall(r"(?:^\|.*\n)+", MARKED.sub("", text), flags=re.MULTILINE):
            cells = [cell.strip() for line in table.splitlines()[2:] for cell in line.strip("|").split("|")]
            figures = [cell for cell in cells if re.fullmatch(r"[-<>~.,\de]+( \w+)?( \(.*\))?", cell)]
            assert 2 * len(figures) < len(cells), f"figures of {path.name} that no command writes:\n{table}"
    assert found >= 1
