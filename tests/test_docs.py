"""The README and the docs run: every Python block, in order, page by page."""

from __future__ import annotations

import re
import runpy
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


def test_marked_tables_are_those_of_the_results():
    from benchmarks.tables import MARKED, documents, with_tables

    found = 0
    for path in documents():
        text = path.read_text()
        found += len(MARKED.findall(text))
        assert with_tables(text) == text, f"{path.name} shows an older table; run the command that prints it"
    assert found >= 1
