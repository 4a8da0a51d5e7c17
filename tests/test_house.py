"""The house rules: which room may import which, what an import costs, and that proofs are complete."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "eptr"
FLOORS = [
    {"errors", "docstrings"},
    {"privacy"},
    {"accounting"},
    {"statement"},
    {"registry"},
    {"rows", "audit"},
    {"estimators", "adapter", "persistence"},
    {"stats"},
    {"rivals"},
    {"catalogue"},
    {"svg", "pictures", "panel", "page"},
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
        "verify",
    },
    {"cli", "__main__"},
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
    "accounting/reservation.py",
    "accounting/store.py",
    "accounting/terms.py",
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
    "rows/database.py",
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
    "estimators/ends.py",
    "estimators/gap.py",
    "estimators/learning.py",
    "estimators/long_rows.py",
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
    "estimators/shrinking.py",
    "estimators/strategy.py",
    "stats/catalogue.py",
    "stats/clip.py",
    "stats/estimate.py",
    "stats/groups.py",
    "stats/locate.py",
    "stats/question.py",
    "stats/rank_interval.py",
    "stats/scored.py",
    "study/analyses.py",
    "study/asking.py",
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


@cache
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
            names = [name for name in names if name != "eptr.__version__"]  # a word, not a room
        rooms |= {name.split(".")[1] for name in names if name.startswith("eptr.")}
        if "eptr" in names:  # a bare import reaches every room
            rooms.add("everything")
    return rooms


@cache
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


@pytest.mark.parametrize("here", sorted(FLOOR))
def test_imports_go_one_way(here):
    rooms = set().union(*(imported_rooms(path) for path in MODULES if room_of(path) == here)) - {here}
    assert "everything" not in rooms, "a bare import of the package hides what is needed"
    assert [room for room in rooms if FLOOR[room] > FLOOR[here]] == []
    assert here != "privacy" or rooms == {"errors"}


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


@pytest.mark.parametrize("room", [*PROOF_ROOMS, "adapter"])
def test_every_claim_has_its_proof(room):
    for path in MODULES:
        if room_of(path) == room and path.name != "__init__.py":
            proof, used = path.with_suffix(".md"), labels_used(path.read_text())
            needed = str(path.relative_to(SOURCE)) not in NEEDS_NO_PROOF
            assert proof.exists() == needed, f"{path.name} needs {proof.name} beside it, or claims nothing"
            proved = labels_proved(proof.read_text()) if needed else set()
            assert used == proved, f"{path.name}: steps that are cited but not proven, or proven but not relied upon"


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


def importers(module: str) -> list[str]:
    return [str(path.relative_to(SOURCE)) for path in MODULES if module in imported_modules(path)]


def test_only_the_room_of_privacy_holds_noise():
    assert {name for name in importers("privacy/noise") if not name.startswith("privacy/")} == MAY_NAME_NOISE


def test_whoever_names_a_contribution_proves_it():
    named = {name for name in importers("privacy/contribution") if not (SOURCE / name).with_suffix(".md").exists()}
    assert named == {"verify.py"}  # which reads what others have named


def test_an_estimator_loads_neither_attacks_nor_rivals():
    code = (
        "import sys, eptr\n"
        "eptr.LinearRegression, eptr.BayesClassifier, eptr.KernelRegressor, eptr.AdditiveRegressor\n"
        "print([m for m in sys.modules if m.startswith(('eptr.audit', 'eptr.rivals', 'eptr.self_audit'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TESTS = Path(__file__).parent
# Tests that are about no one file: about all of the catalogue, about places where rows are, about the repository.
ABOUT_NO_ONE_FILE = ("every/*", "*/test_everywhere.py", "test_docs.py", "test_house.py", "test_r.py",
                     "test_release.py", "test_site.py")  # fmt: skip
# Files that are tested where they are used, by the test file that has their claims.
TESTED_BY = {
    "accounting/test_account.py": "release",
    "audit/test_replay.py": "known_bad neighbours",
    "estimators/bayes/test_classifier.py": "model problem refined summary tested",
    "estimators/kernel/test_regressor.py": "design drawing features problem refined tested",
    "estimators/linear/test_refined.py": "model problem regression",
    "estimators/test_catalogue.py": "fitted mapped planning predicting quantile strategy",
    "estimators/test_descent.py": "ends gap learning long_rows whitening",
    "experiments/test_runner.py": "classification design figures regression smoothing",
    "privacy/test_contribution.py": "cell_line",
    "privacy/test_mechanism.py": "versions",
    "privacy/test_spending.py": "unit",
    "rivals/test_catalogue.py": "adassp binned dpjl dpnb functional noisy_statistics",
    "rivals/test_log_odds.py": "clipped_descent",
    "rows/test_arrow.py": "sources table text_file",
    "rows/test_dask.py": "pool progress ship",
    "rows/test_foreign.py": "namespace",
    "stats/test_mean.py": "clip estimate locate spread",
    "stats/test_score.py": "scored",
    "stats/test_tally.py": "histogram table",
    "cli/test_app.py": "../__main__",
    "cli/test_fit.py": "terminal",
    "test_page.py": "panel",
    "test_persistence.py": "catalogue",
    "test_self_audit.py": "self_audit_replay",
    "test_site.py": "demo pictures",
}


def source_of(test: Path) -> Path:
    """The file or package, of the library or beside it, that a test file has its name from."""
    name = test.relative_to(TESTS).with_name(test.stem.removeprefix("test_"))
    home = SOURCE if (SOURCE / name.parent).is_dir() else SOURCE.parents[1]
    return home / name if (home / name).is_dir() else (home / name).with_suffix(".py")


def test_every_test_file_is_named_after_what_it_tests():
    lost = [test.relative_to(TESTS) for test in TESTS.rglob("test_*.py") if not source_of(test).exists()]
    assert [str(test) for test in lost if not any(map(test.match, ABOUT_NO_ONE_FILE))] == []


def test_every_file_has_a_test_file():
    mirrored = {source_of(test) for test in TESTS.rglob("test_*.py")}
    elsewhere = [
        (SOURCE / Path(test).parent / f"{name}.py").resolve()
        for test, names in TESTED_BY.items()
        for name in names.split()
    ]
    assert all((TESTS / test).is_file() for test in TESTED_BY)
    assert all(path.is_file() for path in elsewhere)
    missing = [p for p in MODULES if p.name != "__init__.py" and not {p, *p.parents} & {*mirrored, *elsewhere}]
    assert missing == []
