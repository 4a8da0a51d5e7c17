"""What a classifier released, as a table: shares, means, and the spread of every column within classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...privacy.claim import Release
from ...privacy.voices import share_beyond
from .problem import BayesFitted

__all__ = ["ClassSummary"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassSummary:
    """Released numbers by class, in the units of the data; print it."""

    names: tuple[str, ...]
    classes: tuple[str, ...]
    fitted: BayesFitted
    release: Release

    def __str__(self) -> str:
        fitted, release, labels = self.fitted, self.release, [*self.classes, "within"]
        width, wide = max(len(text) for text in (*self.names, "share")), max(11, *(len(text) for text in labels)) + 1
        shared = fitted.covariance is not None
        spread = np.sqrt(np.diag(fitted.covariance)) if shared else np.ones(len(self.names))

        def line(head: str, cells: list[str]) -> str:
            return f"{head:<{width}}" + "".join(f"{cell:>{wide}}" for cell in cells)

        facts = replace(release.facts(), outside=fitted.outside)
        outside = "" if fitted.outside is None else f" Rows beyond a range: {share_beyond(facts)}."
        return "\n".join(
            [
                f"Private classes with {'a shared' if shared else 'the identity as'} covariance",
                "",
                line("", labels),
                line("share", [f"{share:.4f}" for share in fitted.priors]),
                *(
                    line(name, [f"{value:.5g}" for value in (*means, within)])
                    for name, means, within in zip(self.names, fitted.means.T, spread, strict=True)
                ),
                "",
                f"Means of columns by class, and their standard deviations within classes.{outside}",
                f"({release.epsilon:g}, {release.delta:g})-differentially private, {release.neighbours} neighbours"
                + ("." if release.private else "; SEEDED, NOT PRIVATE."),
            ]
        )

    __repr__ = __str__
