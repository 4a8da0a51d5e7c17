"""What a reader of a whole study may rely on: its releases as one record of facts, told in the same three voices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .accounting.filter import MIXING
from .errors import InputError
from .privacy.claim import BASES
from .privacy.facts import Facts, best_bet, share_of
from .privacy.gaussian import gaussian_mu
from .privacy.voices import tell

__all__ = ["StudyFacts", "combined", "facts_of", "statement", "tuples", "within"]

_LISTED = 4  # results that are named where a study speaks of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFacts:
    """What a study knows beyond its releases: the total that all of them stay within, who is protected, the codebook."""

    name: str = ""
    epsilon: float
    delta: float
    remaining: tuple[float, float, float] | None = None  # (epsilon, delta) of any kind, mu of Gaussian releases
    spent: float | None = None  # share of the total, where more was spent than the results that are told
    ledger: str = ""  # hash of the last entry
    codebook: str = ""
    unit: str = "row"
    enforced: str = ""
    bought: tuple[tuple[str, str], ...] = ()  # facts of the codebook that were not declared
    # Whether nothing but mu-GDP releases is ever admitted (accounting/filter.md).
    gaussian: bool = False
    mixing: float = MIXING  # share of delta that the ledger keeps for mixing kinds of releases

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> StudyFacts:
        """The inverse of ``asdict``, from JSON."""
        return cls(**{name: tuples(value) for name, value in content.items()})

    @property
    def total(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    @property
    def mu(self) -> float | None:
        """Of the total, where there is one. What was spent is no guarantee: it was chosen on the way. The filter's cap is."""
        return gaussian_mu(*self.total) if self.gaussian else None

    @property
    def bet(self) -> float:
        """The best bet against everything that may ever be released."""
        return best_bet(*self.total, self.mu)


def tuples(value: Any) -> Any:
    """Of what JSON has as lists."""
    return tuple(tuples(v) for v in value) if isinstance(value, list) else value


def facts_of(result: Any) -> Facts:
    """The facts of a Release, an Estimate, a fitted estimator, or facts themselves."""
    if isinstance(result, Facts):
        return result
    if not hasattr(result, "facts"):
        raise InputError(f"a {type(result).__name__} has no facts; pass a Release, an Estimate or a fitted estimator.")
    found: Facts = result.facts()
    return found


def within(facts: Facts, study: StudyFacts) -> Facts:
    """One release as a part of its study."""
    share = share_of(facts.mu, facts.epsilon, study.total)
    told: dict[str, Any] = {"total": study.total, "total_bet": study.bet, "share": share}
    told["bought"] = tuple(dict.fromkeys((*study.bought, *facts.bought)))
    return replace(facts, unit=study.unit, enforced=study.enforced, **told)


def combined(results: Iterable[Any], study: StudyFacts) -> Facts:
    """All releases of a study as one: its guarantee is the total, whatever is still to come.

    What is the same in all is told once; a claim rests on what the weakest rests on.
    """
    found = [facts_of(result) for result in results]
    if not found:
        raise InputError("a study without a release has nothing to state; ask it something first.")
    if len({(f.relation, f.rows_each) for f in found}) > 1:
        raise InputError("the releases of a study must protect the same change of the data.")
    weakest = max(found, key=lambda f: BASES.index(f.basis))
    codebook = (("codebook", study.codebook),) if study.codebook else ()
    days = sorted({f.date for f in found if f.date})
    levels = {f.level for f in found if f.level is not None}
    return Facts(
        what=f"{study.name + ': ' if study.name else ''}{_counted(found)}",
        how=found[0].how if len({f.how for f in found}) == 1 else "",
        replied=any(f.replied for f in found),
        private=all(f.private for f in found),
        fault=next((f.fault for f in found if f.fault), ""),
        epsilon=study.epsilon,
        delta=study.delta,
        mu=study.mu,
        bet=study.bet,
        unit=study.unit,
        relation=found[0].relation,
        rows_each=found[0].rows_each,
        enforced=study.enforced,
        rows=max((f.rows for f in found if f.rows is not None), default=None),
        total=study.total,
        share=min(1.0, sum(share_of(f.mu, f.epsilon, study.total) for f in found))
        if study.spent is None
        else study.spent,
        total_bet=study.bet,
        remaining=study.remaining,
        composition="a filter adds up what was spent and refuses what would exceed the total",
        ledger=study.ledger,
        settings=(*codebook, *_numbered(found, "settings")),
        bought=tuple(dict.fromkeys((*study.bought, *_numbered(found, "bought")))),
        outside=max((f.outside for f in found if f.outside is not None), default=None),
        parts=tuple(part for f in found for part in f.parts),
        basis=weakest.basis,
        theorem=weakest.theorem,
        proven_in=", ".join(dict.fromkeys(f.proven_in for f in found if f.proven_in)),
        level=levels.pop() if len(levels) == 1 else None,
        widths=_span(found),
        biases=tuple(dict.fromkeys(text for f in found for text in f.biases)),
        date=" to ".join(dict.fromkeys((days[0], days[-1]))) if days else "",
        versions=tuple(dict.fromkeys(pair for f in found for pair in f.versions)),
    )


def statement(results: Iterable[Any], study: StudyFacts, voice: str = "methods") -> str:
    """The statement of a study: of all its releases together, and in the methods voice of each one's share."""
    found = [facts_of(result) for result in results]
    whole = tell(combined(found, study), voice)
    if voice != "methods" or not all(f.private for f in found):
        return whole
    lines = [_line(number, within(f, study)) for number, f in enumerate(found, start=1)]
    return f"{whole}\n\nReleases: {'; '.join(lines)}."


def _line(number: int, f: Facts) -> str:
    mu = "" if f.mu is None else f", mu = {f.mu:.4g}"
    wide = ""
    if f.level is not None and f.widths is not None:
        low, high = (f"{width:.3g}" for width in f.widths)
        wide = f", {f.level:.0%} intervals {low if low == high else f'{low} to {high}'} wide"
    return f"{number}. {f.what} at ({f.epsilon:g}, {f.delta:g}){mu}, {f.share:.1%} of the total, {f.basis}{wide}"


def _counted(found: Sequence[Facts]) -> str:
    if len(found) > _LISTED:
        return f"{len(found)} results"
    kinds = Counter(f.what for f in found)
    return ", ".join(what if count == 1 else f"{count} x {what}" for what, count in kinds.items())


def _numbered(found: Sequence[Facts], name: str) -> tuple[tuple[str, str], ...]:
    """Settings of all releases; those that not all share carry the number of theirs."""
    lists = [getattr(f, name) for f in found]
    common = [pair for pair in lists[0] if all(pair in other for other in lists)]
    rest: dict[tuple[str, str], list[str]] = {}
    for k, pairs in enumerate(lists, start=1):
        for pair in pairs:
            if pair not in common:
                rest.setdefault(pair, []).append(str(k))
    return *common, *((f"{key} of {', '.join(whose)}", text) for (key, text), whose in rest.items())


def _span(found: Sequence[Facts]) -> tuple[float, float] | None:
    widths = [f.widths for f in found if f.widths is not None]
    return (min(low for low, _ in widths), max(high for _, high in widths)) if widths else None
