"""The house rules: which room may import which, what an import costs, and that proofs are complete."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "eptr"
FLOORS = [
    {"errors"},
    {"privacy"},
    {"accounting"},
    {"statement"},
    {"registry"},
    {"rows", "audit"},
    {"estimators", "adapter", "persistence"},
    {"stats"},
    {"rivals"},
    {"catalogue"},
    {"svg", "pictures", "panel", "page", "verify"},
    {
        "bounds",
        "codebook",
        "datasets",
        "demo",
        "experiments",
        "files",
        "report",
        "self_audit",
        "self_audit_replay",
        "study",
    },
    {"cli", "cli_ledger", "cli_study", "__main__"},
]
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")
PROOF_ROOMS = ("privacy", "accounting", "rows", "estimators", "stats", "rivals", "codebook", "study")
# What claims nothing about privacy needs no proof: interfaces, input checks, plain delivery of rows, post-processing.
NEEDS_NO_PROOF = {
    "accounting/account.py",
    "accounting/chain.py",
    "accounting/ledger.py",
    "accounting/release.py",
    "accounting/store.py",
    "privacy/claim.py",
    "privacy/unit.py",
    "privacy/versions.py",
    "privacy/voices.py",
    "codebook/book.py",
    "codebook/draft.py",
    "rivals/base.py",
    "rivals/catalogue.py",
    "rows/answers.py",
    "rows/arrow.py",
    "rows/dask.py",
    "rows/engine.py",
    "rows/engines.py",
    "rows/foreign.py",
    "rows/memory.py",
    "rows/namespace.py",
    "rows/parquet.py",
    "rows/pool.py",
    "rows/progress.py",
    "rows/ship.py",
    "rows/sources.py",
    "rows/spark.py",
    "rows/task.py",
    "estimators/additive/basis.py",
    "estimators/additive/drawing.py",
    "estimators/additive/effects.py",
    "estimators/additive/jumps.py",
    "estimators/additive/problem.py",
    "estimators/additive/regressor.py",
    "estimators/additive/shrinkage.py",
    "rows/text_file.py",
    "estimators/base.py",
    "estimators/catalogue.py",
    "estimators/bayes/classifier.py",
    "estimators/bayes/model.py",
    "estimators/bayes/problem.py",
    "estimators/bayes/summary.py",
    "estimators/fitted.py",
    "estimators/tail.py",
    "estimators/whitening.py",
    "estimators/kernel/design.py",
    "estimators/kernel/drawing.py",
    "estimators/kernel/problem.py",
    "estimators/kernel/regressor.py",
    "estimators/linear/model.py",
    "estimators/linear/problem.py",
    "estimators/linear/regression.py",
    "estimators/logistic/classifier.py",
    "estimators/logistic/model.py",
    "estimators/logistic/problem.py",
    "estimators/planning.py",
    "estimators/predicting.py",
    "estimators/preprocessing.py",
    "estimators/strategy.py",
    "stats/catalogue.py",
    "stats/clip.py",
    "stats/estimate.py",
    "stats/locate.py",
    "stats/question.py",
    "stats/rank_interval.py",
    "stats/scored.py",
    "study/analyses.py",
    "study/forecast.py",
    "study/formula.py",
    "study/interval.py",
    "study/journal.py",
    "study/models.py",
    "study/publication.py",
    "study/result.py",
    "study/study.py",
    "study/terms.py",
}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    package = ["eptr", *path.relative_to(SOURCE).parts[:-1]]
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, node.module] if node.module else base)
            names = [stem] if stem != "eptr" else [f"eptr.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("eptr.")}
        if "eptr" in names:  # a bare import reaches every room
            rooms.add("everything")
    return rooms


def imported_modules(path: Path) -> set[str]:
    """Modules of ours that a file imports when it is loaded, by path from the root of the package."""
    package = ["eptr", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            for stem in (base, *([*base, alias.name] for alias in node.names)):
                if SOURCE.joinpath(*stem[1:]).with_suffix(".py").is_file():
                    found.add("/".join(stem[1:]))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    here = room_of(path)
    assert "everything" not in imported_rooms(path), "a bare import of the package hides what is needed"
    for room in imported_rooms(path) - {here}:
        assert FLOOR[room] <= FLOOR[here], f"{here} must not import {room}"
        assert not (here == "privacy" and room != "errors"), f"privacy imports {room}"


def test_import_is_light():
    heavy = ["opendp", "sqlalchemy", "matplotlib", "typer", "pyarrow", "dask", "pyspark", "sklearn", "pandas"]
    code = f"import sys, eptr; print([m for m in {heavy!r} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_public_names_resolve():
    import eptr

    assert all(getattr(eptr, name) is not None for name in eptr.__all__)
    assert not hasattr(eptr, "no_such_name")


def labels_used(source: str) -> set[str]:
    return set(re.findall(r"proof: ([a-z-]+)", source))


def labels_proved(text: str) -> set[str]:
    return set(re.findall(r"^### \[([a-z-]+)\]", text, flags=re.MULTILINE))


PROVEN = [p for p in MODULES if room_of(p) in (*PROOF_ROOMS, "adapter") and p.name != "__init__.py"]


@pytest.mark.parametrize("path", PROVEN, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_claim_has_its_proof(path):
    if str(path.relative_to(SOURCE)) in NEEDS_NO_PROOF:
        assert not labels_used(path.read_text())
        return
    proof = path.with_suffix(".md")
    assert proof.exists(), f"{path.name} needs {proof.name} beside it"
    used, proved = labels_used(path.read_text()), labels_proved(proof.read_text())
    assert used - proved == set(), "the code cites steps that are not in the proof"
    assert proved - used == set(), "the proof has steps that no line of code relies on"


def test_no_file_imports_itself_in_a_circle():
    graph = {str(p.relative_to(SOURCE).with_suffix("")): imported_modules(p) for p in MODULES}
    seen: dict[str, int] = {}

    def visit(name, trail):
        assert seen.get(name) != 1, " -> ".join([*trail, name])
        if name not in seen and name in graph:
            seen[name] = 1
            for other in sorted(graph[name]):
                visit(other, [*trail, name])
            seen[name] = 2

    for name in graph:
        visit(name, [])


# Whoever attacks noise may hold it; whoever fits may not. Two files only name its type: a cited method draws by itself.
MAY_NAME_NOISE = {"audit/replay.py", "audit/known_bad.py", "self_audit.py", "rivals/tukey.py", "rivals/tukey_boxes.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_room_of_privacy_holds_noise(path):
    name = str(path.relative_to(SOURCE))
    if room_of(path) != "privacy" and name not in MAY_NAME_NOISE:
        assert "privacy/noise" not in imported_modules(path)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_whoever_names_a_contribution_proves_it(path):
    if "privacy/contribution" in imported_modules(path) and path.name not in ("spending.py", "verify.py"):
        assert path.with_suffix(".md").exists(), f"{path.name} says what a row can contribute, and must prove it"


def test_an_estimator_loads_neither_attacks_nor_rivals():
    code = (
        "import sys, eptr\n"
        "eptr.LinearRegression, eptr.BayesClassifier, eptr.KernelRegressor, eptr.AdditiveRegressor\n"
        "print([m for m in sys.modules if m.startswith(('eptr.audit', 'eptr.rivals', 'eptr.self_audit'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
