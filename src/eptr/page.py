"""Private results on one page that works offline: guarantee, results, ledger, statement, and the record to verify them."""

from __future__ import annotations

import hashlib
import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from .panel import Panel, shown
from .pictures import table_html
from .privacy.claim import Release
from .privacy.facts import Facts
from .privacy.voices import VOICES, in_short, tell
from .statement import StudyFacts, combined, tuples, within
from .svg import Line

__all__ = ["EXTRA", "REPORT", "page", "page_again"]

REPORT = "eptr-report/1"
# What is not told by the record, pictures and the like, stands between these; the record has its hash.
_OPEN, _CLOSE = "<!--extra-->", "<!--/extra-->"
EXTRA = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.DOTALL)

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2530; --paper: #ffffff; --soft: #5b6673; --rule: #dde2e8; --box: #f4f7fa;
  --sampling: #0072B2; --privacy: #D55E00; --privacy-ink: #A84300; --warn: #fdf3ec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #14181d; --soft: #a5afba; --rule: #39424c;
  --box: #1f262e; --sampling: #56B4E9; --privacy: #E69F00; --privacy-ink: #E69F00; --warn: #33261c; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin-bottom: .3rem; }
.wide, figure { overflow-x: auto; } table { border-collapse: collapse; margin: .6rem 0; }
caption { text-align: left; color: var(--soft); font-size: .9rem; position: sticky; left: 0; max-width: calc(100vw - 2rem); }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid var(--rule); font-variant-numeric: tabular-nums; }
td { white-space: nowrap; } .words td { white-space: normal; }
th { font-weight: 600; } tbody th { position: sticky; left: 0; background: var(--paper);
  box-shadow: inset 0 -1px var(--rule); }
th:first-child, td:first-child, .words td, .words th { text-align: left; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; display: block; }
figure .narrow { display: none; } figure .picture svg { color: var(--ink); fill: currentColor; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); stroke: var(--paper); stroke-width: 3px; paint-order: stroke; }
svg .axis { stroke: var(--soft); } svg .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
svg .sampling { stroke: var(--sampling); stroke-width: 7; } svg .privacy { stroke: var(--privacy); stroke-width: 2; }
svg .point { fill: var(--ink); stroke: var(--paper); }
svg .floor { stroke: var(--sampling); stroke-dasharray: 6 4; stroke-width: 2; }
svg .curve { fill: none; stroke: var(--privacy); stroke-width: 2.5; }
.key span { font-weight: 600; } .key .sampling { color: var(--sampling); } .key .privacy { color: var(--privacy-ink); }
figcaption, .note { color: var(--soft); font-size: .9rem; } code { overflow-wrap: anywhere; }
.claim { font-size: 1.1rem; background: var(--box); padding: .8rem 1rem; border-left: 4px solid var(--sampling); }
@media screen and (max-width: 38rem) { figure .broad { display: none; } figure .narrow { display: block; width: 100%; }
  .picture svg { max-width: none; min-width: 34rem; } }
.bad { border-color: var(--privacy); background: var(--warn); }
@media print { :root { --ink: #000; --paper: #fff; --soft: #333; --rule: #999; --box: #fff; --sampling: #0072B2;
  --privacy: #D55E00; --privacy-ink: #A84300; --warn: #fff; } body { font-size: 12px; margin: 0; max-width: none; }
  .wide, figure { overflow: visible; } td { white-space: normal; } figure, tr, .claim { break-inside: avoid; }
  h2, h3 { break-after: avoid; } details::details-content { content-visibility: visible; } }
"""


def page(
    panels: Sequence[Panel],
    title: str,
    *,
    note: str = "",
    study: StudyFacts | None = None,
    codebook: Sequence[tuple[str, str]] = (),
    ledger: Sequence[Sequence[str]] = (),
) -> str:
    """A complete page.

    Parameters
    ----------
    panels : list of Panel
    title, note : str
    study : StudyFacts, of several panels that share a budget
    codebook : (column, what was declared)
    ledger : lines of a table, a header first
    """
    told = [p.facts if study is None else within(p.facts, study) for p in panels]
    whole = told[0] if study is None else combined(told, study)
    pieces = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p class='note'>{html.escape(note)}</p>" if note else "",
        _guarantee(whole),
        *(piece for p in panels for piece in shown(replace(p, extra=tuple(f"{_OPEN}{e}{_CLOSE}" for e in p.extra)))),
        "<h2>Declared beforehand</h2>" if codebook else "",
        table_html([["column", "declared"], *codebook], "", words=True) if codebook else "",
        *_ledger(whole, ledger),
        "<h2>Privacy statement</h2>",
        *_statement(whole),
        *(_each(panels, told) if study is not None else ()),
        "<p class='note'>This page carries its record: <code>eptr verify</code> recomputes every privacy number from it.</p>",
        _embedded(
            panels, told, {"title": title, "note": note, "codebook": list(codebook), "ledger": list(ledger)}, study
        ),
    ]
    head = (
        f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{html.escape(title)}</title>"
    )
    body = "\n".join(filter(None, pieces))
    head += f"<link rel='icon' href='data:,'><style>{_STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head><body><main>\n{body}\n</main></body></html>\n"


def _embedded(panels: Sequence[Panel], told: Sequence[Facts], shown: dict[str, Any], study: StudyFacts | None) -> str:
    """All that the page was made of; "<" is written so that no text can end the element."""
    results = [
        {
            "release": p.release.to_dict()
            | {"value": None, "noise_scale": None},  # what the page shows is in the lines
            "facts": asdict(f),
            "lines": [[line.name, *map(_finite, line.numbers)] for line in p.lines],
            "level": _finite(p.level),
            "extra": [_hash(e) for e in p.extra],
            **{name: getattr(p, name) for name in _PLAIN},
        }
        for p, f in zip(panels, told, strict=True)
    ]
    content = {"schema": REPORT, "results": results, "study": None if study is None else asdict(study)} | shown
    text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    return f"<script type='application/json' id='eptr-record'>{text}</script>"


_PLAIN = ("title", "undetermined", "axis", "zero", "factors", "odds")


def page_again(content: Mapping[str, Any], told: Sequence[Facts], releases: Sequence[Release], text: str) -> str:
    """The page that a record tells, with the pictures of another one as far as they are those that the record knows."""
    drawn = {_hash(e): e for e in EXTRA.findall(text)}
    panels = []
    for part, facts, release in zip(content["results"], told, releases, strict=True):
        lines = [Line(name, *map(_number, numbers)) for name, *numbers in part["lines"]]
        plain: dict[str, Any] = {name: tuples(part[name]) for name in _PLAIN if name in part} | {
            "level": _number(part["level"])
        }
        extra = tuple(drawn.get(e, "") for e in part["extra"])
        panels.append(Panel(release=release, facts=facts, lines=tuple(lines), extra=extra, **plain))
    study = None if content["study"] is None else StudyFacts.from_dict(content["study"])
    names = ("title", "note", "codebook", "ledger")
    return page(panels, study=study, **{name: content[name] for name in names})


def _finite(value: float) -> float | None:
    """JSON knows no other numbers."""
    return value if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _guarantee(facts: Facts) -> str:
    if not facts.private:
        why = facts.fault or "A fixed seed was used. This is reproducible and protects nobody."
        return f"<p class='claim bad'>{html.escape(why)} Do not publish it.</p>"
    replaced = "of the same size that differ in one row", "replaced by any other"
    dropped = "that are the same but for one row, which counts in one of them only", "left out"
    apart, changed = replaced if facts.relation == "replace-one" else dropped
    unit = f"one {'person' if facts.unit == 'row' else facts.unit}'s row"
    if facts.rows_each > 1:
        unit = f"all rows of one {facts.unit}, up to {facts.rows_each},"
        apart = apart.replace("one row", f"up to {facts.rows_each} rows of one {facts.unit}")
    e, d, factor = f"{facts.epsilon:g}", f"{facts.delta:g}", math.exp(min(facts.epsilon, 700.0))
    return (
        f"<p class='claim'>(ε, δ) = ({e}, {d}): for any two datasets X, X&prime; {apart}, and "
        f"every set B of outcomes, P(M(X) ∈ B) ≤ e<sup>{e}</sup> P(M(X&prime;) ∈ B) + {d}.</p>"
        f"<p>In words: if {unit} were {changed}, the chance of everything written here would change by at "
        f"most a factor {factor:.3g}, up to a chance of {d}. Somebody who bets on which of the two it was, at even odds, wins "
        f"at most {math.ceil(1000 * facts.bet - 1e-6) / 10:g} % of the time.</p>"
    )


def _ledger(facts: Facts, ledger: Sequence[Sequence[str]]) -> list[str]:
    if facts.total is None and not ledger:
        return []
    told = ["<h2>Ledger</h2>"]
    if facts.total is not None:
        told.append(f"<p>Total ({facts.total[0]:g}, {facts.total[1]:g}), for good.")
        told[-1] += f" This took {facts.share:.1%}." if facts.share is not None else ""
        told[-1] += f" Entry <code>{html.escape(facts.ledger)}</code>.</p>" if facts.ledger else "</p>"
    return [*told, table_html(ledger, "Everything that was charged.", words=True)] if ledger else told


_TITLES = {"people": "For the people in the data", "methods": "For a methods section", "ethics": "For an ethics board"}


def _statement(facts: Facts) -> list[str]:
    found = []
    for voice in sorted(VOICES, key=list(_TITLES).index):
        found.append(f"<h3>{_TITLES[voice]}</h3>")
        told = [f"<p>{html.escape(paragraph)}</p>" for paragraph in tell(facts, voice).split("\n\n")]
        if voice == "methods" and facts.private:
            short = " ".join(in_short(facts))
            told = [f"<p>{html.escape(short)}</p>", "<details><summary>All of it</summary>", *told, "</details>"]
        found += told
    return found


def _each(panels: Sequence[Panel], told: Iterable[Facts]) -> list[str]:
    return [
        "<h2>Statements of the single results</h2>",
        *(f"<details><summary>{html.escape(p.title)}</summary>{''.join(_statement(f))}</details>"
          for p, f in zip(panels, told, strict=True)),
    ]  # fmt: skip
