"""What a study publishes about itself: statement, report and registry entry. All of it is in its ledger; no row is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import registry
from ..codebook import Codebook
from ..errors import InputError
from ..page import page
from ..panel import panel
from ..privacy.voices import rows_counted
from ..statement import StudyFacts, statement
from .journal import Journal
from .people import enforced
from .result import Description, Fit, restored

__all__ = ["Publication", "declared", "fit_page"]


class Publication:
    """The delivered results of a journal, as facts."""

    def __init__(self, journal: Journal) -> None:
        self.journal, self.settings = journal, journal.settings
        self.results = [pair for text, content in journal.delivered() for pair in _single(text, restored(content))]

    def facts(self) -> StudyFacts:
        """What is true of the study as a whole."""
        total, left, settings = self.journal.total, self.journal.ledger.remaining(), self.settings
        unit, person, each = settings["protects"], settings["person"], settings["rows_each"]
        return StudyFacts(
            name=self.journal.ledger.dataset or "",
            epsilon=total.epsilon,
            delta=total.delta,
            remaining=(left.epsilon, left.delta, left.mu),
            spent=1.0 - self.journal.left,
            ledger=self.journal.ledger.head() if self.journal.recorded else "",
            codebook=f"{len(settings['codebook']['columns'])} columns, declared before the first analysis",
            unit=unit,
            enforced=enforced(person, each, unit),
            bought=tuple(_ranges(self.journal)),
            gaussian=self.journal.gaussian,
            mixing=0.0,
        )

    def statement(self, voice: str = "methods") -> str:
        """In one of three voices: "methods", "ethics" or "people"."""
        return statement([result for _, result in self.results], self.facts(), voice)

    def registry_yaml(self, **known: Any) -> str:
        """An entry for the registry of deployments; takes what :func:`eptr.registry_yaml` takes by name."""
        return registry.registry_yaml([result for _, result in self.results], self.facts(), **known)

    def page(self) -> str:
        """Everything on one page that works offline."""
        if not self.results:
            raise InputError("a study without a result has nothing to report; ask it something first.")
        lines = [[line.text, f"{line.share:.1%}", "yes" if line.delivered else "no"] for line in self.journal.lines()]
        return page(
            [panel(result, text) for text, result in self.results],
            f"Study of {self.journal.ledger.dataset}",
            note=self.journal.remaining(self.settings["analyses"]),
            study=self.facts(),
            codebook=declared(Codebook.from_dict(self.settings["codebook"])),
            ledger=[["analysis", "share of the budget", "delivered"], *lines],
        )

    def write(self, path: Any) -> Path:
        """The page as a file."""
        text = self.page()
        try:
            to = Path(path)
            to.write_text(text, encoding="utf-8")
        except (OSError, TypeError):
            raise InputError("path must be that of a file that can be written, such as 'study.html'.") from None
        return to


def fit_page(fit: Fit, rows: int) -> str:
    """One fit on one page."""
    note = f"{rows_counted(replace(fit.facts(), rows=rows))}; {len(fit.model.x)} columns of the design."
    return page([panel(fit, f"{fit.method} {fit.formula}")], fit.formula, note=note, codebook=declared(fit.book))


def _ranges(journal: Journal) -> Iterator[tuple[str, str]]:
    """Those that were not declared, and what they were found to be."""
    for text, content in journal.delivered():
        if "value" in content:
            yield f"range of {text.removeprefix('range ')}", json.dumps(restored(content))


def _single(text: str, result: Any) -> Iterator[tuple[str, Any]]:
    """Released numbers one by one; a range that was bought is a setting, and has no facts of its own."""
    if isinstance(result, Description):
        for name, parts in result.columns.items():
            for what, estimate in parts.items():
                yield f"describe {name}: {what}", estimate
    elif hasattr(result, "facts"):
        yield text, result


def declared(book: Codebook) -> list[tuple[str, str]]:
    """What a codebook says, as lines of a table."""
    lines = [(name, line.removeprefix(f"{name}: ")) for name, line in zip(book, book.check(), strict=True)]
    missing = ", ".join(map(str, book.na_values))
    return [*lines, ("values that mean: missing", missing)] if missing else lines
