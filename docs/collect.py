"""Pages that the code writes: proofs, the reference, the gallery with its output, and every error message.

They go into folders that git ignores. Nothing here is imported by the package.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import re
import runpy
import shutil
import textwrap
import warnings
from pathlib import Path

from formulas import stepped, typeset
from links import PROJECT, ROOT

SOURCE = ROOT / "src" / "eptr"
FOLDERS = ("proofs", "reference", "gallery", "project")
ROOMS = {
    "eptr": "Estimators, studies, budgets, and the bare mechanism.",
    "eptr.stats": "One question at a time about columns; each answer is an `Estimate`.",
    "eptr.codebook": "Public facts about columns, for a `Study`.",
    "eptr.datasets": "The datasets of the paper, from files that you have.",
    "eptr.rivals": "Published competitors behind the same interface.",
}
PROOFS = sorted(SOURCE.rglob("*.md"))


def write(docs: Path) -> None:
    """All collected pages, anew."""
    for folder in FOLDERS:
        shutil.rmtree(docs / folder, ignore_errors=True)
        (docs / folder).mkdir()
    named = {f"reference/{name}": page for name, page in reference()}
    pages = named | dict(proofs()) | dict(gallery(docs / "gallery")) | dict(project()) | {"reference/errors": errors()}
    for name, text in pages.items():
        path = docs / (name if name.endswith(".rst") else f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# -- proofs ----------------------------------------------------------------------------------------------------------


def proof_names(path: Path) -> str:
    """A proof by its path below the package."""
    return str(path.relative_to(SOURCE).with_suffix(""))


def proofs():
    """One page for each proof: the text, then the code that relies on it."""
    cited = {}
    for room, name, _ in public():
        for path in proofs_of(room, name):
            cited.setdefault(path, []).append((room, name))
    listed: dict[str, list[str]] = {}
    for path in PROOFS:
        name = proof_names(path)
        text = stepped(typeset(path.read_text(encoding="utf-8")))
        text = re.sub(r"`?\b((?:[a-z_]+/)*[a-z_]+\.md)`?", lambda m, path=path: reached(m[1], path), text)
        used = ", ".join(f"[{r}.{n}](/reference/{r}.{n}.rst)" for r, n in sorted(cited.get(path, [])))
        code = f"{'../' * (name.count('/') + 2)}src/eptr/{name}.py"
        label = f"\n\nRelied on by {used}." if used else ""
        yield (
            f"proofs/{name}",
            f"{text}{label}\n\n## The code\n\n```{{literalinclude}} {code}\n:language: python\n```\n",
        )
        title = re.sub(r"^# ", "", text.splitlines()[0])
        listed.setdefault(name.rpartition("/")[0], []).append(f"{title} <{name}>")
    lines = [
        "# Proofs",
        "",
        "Every claim about privacy is proven beside the line that makes it. A step has a name; the code cites it "
        "(`# proof: name`), and a test fails when a step and the line that needs it come apart. Each page shows the proof, "
        "then the code. What is rounded, in which direction, and why that is enough is part of the proofs.",
        "",
    ]
    for room, entries in listed.items():
        title = room or "adapter"
        lines += [f"## {title}", "", "```{toctree}", ":maxdepth: 1", "", *entries, "```", ""]
    yield "proofs/index", "\n".join(lines)


def reached(target: str, path: Path) -> str:
    """A proof that another one mentions, as a link."""
    for base in (path.parent, SOURCE):
        if (base / target).exists():
            there = (base / target).relative_to(SOURCE)
            return f"[{target}](/proofs/{there})"
    return f"`{target}`"


# -- reference -------------------------------------------------------------------------------------------------------


def public():
    """(room, name, object) of every public name."""
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            if not name.startswith("__") and not (
                room == "eptr.codebook" and name == "Codebook"
            ):  # it is eptr.Codebook
                yield room, name, getattr(module, name)


def proofs_of(room: str, name: str) -> list[Path]:
    """The proofs that a public name rests on: of its file, of an estimator's folder, and of what these take from elsewhere."""
    home = inspect.getmodule(getattr(importlib.import_module(room), name))
    if home is None or not home.__name__.startswith("eptr."):
        return []
    used = {home.__name__, *(getattr(value, "__module__", None) or "" for value in vars(home).values())}
    found = {
        SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".md") for module in used if module.startswith("eptr.")
    }
    folder = Path(home.__file__ or "").parent
    if folder.parent == SOURCE / "estimators":
        found |= set(folder.glob("*.md"))
    return sorted(path for path in found if path.exists())


def members(thing: type) -> list[tuple[str, str]]:
    """What a class offers that this package wrote, and the directive that shows it."""
    found = []
    for name in dir(thing):
        owner = next((c for c in thing.__mro__ if name in vars(c)), object)
        value = inspect.getattr_static(thing, name)
        shown = inspect.isfunction(value) or isinstance(value, classmethod | staticmethod | property)
        if not name.startswith("_") and owner.__module__.startswith("eptr") and shown:
            found.append((name, "autoproperty" if isinstance(value, property) else "automethod"))
    return found


def printable(lines: list[str]) -> None:
    """A docstring, in place: bars are bars, and pages that it names are links."""
    for i, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [
            re.sub(r"\bdocs/(\w+)\.md", r":doc:`/\1`", re.sub(r"(?<!\\)\|", r"\\|", part)) for part in parts[::2]
        ]
        lines[i] = "``".join(parts)


def reference():
    """One page for each public name, and a table of them for each room."""
    tables: dict[str, list[str]] = {room: [] for room in ROOMS}
    toc = []
    for room, name, thing in public():
        title = f"{room}.{name}"
        first = textwrap.shorten((inspect.getdoc(thing) or "").split("\n\n")[0].split("\n")[0], 140)
        tables[room].append(f"| [`{name}`]({title}.rst) | {first.replace('``', '`').replace('|', chr(92) + '|')} |")
        toc.append(title)
        lines = [title, "=" * len(title), ""]
        if isinstance(thing, type):
            lines += [f".. autoclass:: {title}", ""]
            for member, kind in members(thing):
                lines += [f"   .. {kind}:: {title}.{member}", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {title}", ""]
        else:
            lines += [f".. autodata:: {title}", ""]
        rest = [f":doc:`{proof_names(p)} </proofs/{proof_names(p)}>`" for p in proofs_of(room, name)]
        if rest:
            lines += ["Proofs", "------", "", ", ".join(rest), ""]
        yield f"{title}.rst", "\n".join(lines)
    page = ["# Reference", "", "Every public name. [Every error message](errors.md) has a page, too.", ""]
    for room, rows in tables.items():
        page += [f"## {room}", "", ROOMS[room], "", "| | |", "|---|---|", *rows, ""]
    page += ["```{toctree}", ":hidden:", "", "errors", *toc, "```", ""]
    yield "index", "\n".join(page)


# -- error messages --------------------------------------------------------------------------------------------------


def sentence(node: ast.expr) -> str | None:
    """The words of a message, with what is filled in named in braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            v.value if isinstance(v, ast.Constant) else "{" + ast.unparse(v.value) + "}" for v in node.values
        )
    return None


def messages() -> dict[str, dict[str, set[str]]]:
    """Error -> message -> the modules that raise it."""
    import eptr.errors

    kinds = {n for n in eptr.errors.__all__ if isinstance(getattr(eptr.errors, n), type)}
    found: dict[str, dict[str, set[str]]] = {kind: {} for kind in kinds}
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(["eptr", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            for kind, words in called(node, kinds):
                found[kind].setdefault(" ".join(words.split()), set()).add(module)
    return found


def called(node: ast.Call, kinds: set[str]):
    """(error, message) of a call that makes an error, or warns."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in kinds and node.args and (words := sentence(node.args[0])):
        yield name, words
    if (
        name == "warn"
        and len(node.args) > 1
        and (kind := getattr(node.args[1], "id", "")) in kinds
        and (words := sentence(node.args[0]))
    ):
        yield kind, words


def errors() -> str:
    """Every message, by the kind of error."""
    import eptr

    lines = [
        "# Error messages",
        "",
        "Each message names the argument and the fix; none holds a value of a row. Words in braces are filled in; a few "
        "messages that are put together from parts are not in the list. Search this page for some words of yours.",
        "",
    ]
    found = messages()
    for kind in sorted(found, key=lambda k: (k.endswith("Warning"), k)):
        if not found[kind]:
            continue
        lines += [f"## {kind}", "", inspect.getdoc(getattr(eptr, kind)) or "", ""]
        for words, modules in sorted(found[kind].items()):
            safe = words.replace("`", "'")
            lines += [f"- `` {safe} ``", f"  ({', '.join(sorted(modules))})"]
        lines.append("")
    return "\n".join(lines)


# -- gallery ---------------------------------------------------------------------------------------------------------


def gallery(folder: Path):
    """Each example: what it is, what it printed just now, what it drew, and its code."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    entries = []
    for path in sorted((ROOT / "examples").glob("*.py")):
        words = ast.get_docstring(ast.parse(path.read_text())) or path.stem
        title, more = re.split(r"(?<=\?) |: ", words, maxsplit=1)
        plt.close("all")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path(str(path), run_name="__main__")
        drawn = []
        for number in plt.get_fignums():
            name = f"{path.stem}-{number}.png"
            plt.figure(number).savefig(folder / name, dpi=110)
            drawn.append(f"![{title}]({name})")
        plt.close("all")
        entries.append((path.stem, title, more))
        yield (
            f"gallery/{path.stem}",
            "\n".join(
                [
                    f"# {title}",
                    "",
                    more[:1].upper() + more[1:],
                    "",
                    "```{literalinclude} ../../examples/" + path.name + "\n:language: python\n```",
                    "",
                    "It printed, when this page was made (noise is fresh each time):",
                    "",
                    "```text",
                    out.getvalue().rstrip(),
                    "```",
                    "",
                    *drawn,
                    "",
                ]
            ),
        )
    lines = ["# Gallery", "", "Whole programs, run when this page was made. The people in them are invented.", ""]
    lines += [f"- [{title}]({stem}.md): {more}" for stem, title, more in entries]
    lines += ["", "```{toctree}", ":hidden:", "", *(stem for stem, _, _ in entries), "```", ""]
    yield "gallery/index", "\n".join(lines)


# -- the project -----------------------------------------------------------------------------------------------------


def project():
    """Files of the repository's root that are pages, too."""
    for path, name in PROJECT.items():
        yield f"project/{name}", stepped((ROOT / path).read_text(encoding="utf-8"))
