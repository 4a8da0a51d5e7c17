"""A path of the repository becomes a page of the site."""

from __future__ import annotations

import os
import re
from pathlib import Path
from posixpath import join, normpath, relpath

ROOT = Path(__file__).parent.parent
PROJECT = {
    "REPRODUCTION.md": "reproduction",
    "SECURITY.md": "security",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "results/README.md": "results",
}


def page_of(path: str) -> str | None:
    """The page, by its name on the site, that shows a file of the repository."""
    if path in PROJECT:
        return f"project/{PROJECT[path]}"
    stem, _, ending = path.rpartition(".")
    if ending == "md" and path.startswith("docs/"):
        return stem.removeprefix("docs/")
    if path.startswith("src/eptr/") and (ROOT / f"{stem}.md").exists():
        return stem.replace("src/eptr/", "proofs/", 1)
    return f"gallery/{Path(stem).name}" if path.startswith("examples/") and ending == "py" else None


def home_of(page: str) -> str:
    """The file of the repository that a page shows, by which its links are meant."""
    if page.startswith("proofs/"):
        return page.replace("proofs/", "src/eptr/", 1) + ".md"
    back = {f"project/{name}": path for path, name in PROJECT.items()}
    return back.get(page, f"docs/{page}.md")


def linked(text: str, page: str) -> str:
    """Links to files of the repository lead to their pages; pictures stay; what has no page keeps its words."""
    home, here = os.path.dirname(home_of(page)), os.path.dirname(page)

    def lead(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups()
        if re.match(r"[a-z]+:|/", target):
            return match[0]
        path = normpath(join(home, target))
        if picture:
            return f"![{words}]({relpath(path, join('docs', here))})"
        found = page_of(path)
        if found is None and path.startswith("docs/") and (ROOT / path).exists():
            return match[0]  # one collected page to another
        return f"[{words}]({relpath(found, here or '.')}.md{anchor or ''})" if found else words

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)", lead, text)
