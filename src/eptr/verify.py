"""What a third party can check in a model, a release or a report: every privacy number again, from the recorded settings."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from .accounting.budget import Budget
from .accounting.chain import cost_in
from .accounting.filter import Spent, check_cost
from .accounting.ledger import Ledger
from .errors import EptrError, InputError
from .estimators.base import TOLD_ELSEWHERE
from .page import EXTRA, REPORT, page_again
from .persistence import decode
from .privacy.bounded_range import bounded_range_mu
from .privacy.claim import Draw, Record, Release
from .privacy.contribution import Absolute, contribution_of
from .privacy.facts import Facts
from .privacy.unit import Unit
from .statement import StudyFacts, tuples, within

__all__ = ["EMBEDDED", "Check", "verified"]

EMBEDDED = re.compile(r"<script type=['\"]application/json['\"] id=['\"]eptr-record['\"]>(.*?)</script>", re.DOTALL)
# Recomputed in the same floats, perhaps on another machine.
_SAME = 1e-9
# What an estimator adds to the facts of a Release.
_ADDED = ("fault", "level", "widths", "outside", "biases")


@dataclass(frozen=True, slots=True)
class Check:
    """One claim, whether it holds, and what was found."""

    claim: str
    holds: bool
    found: str


def verified(text: str, ledger: str | None = None) -> list[Check]:
    """Check what ``to_json``, ``eptr fit`` or a report wrote; ``ledger`` is a string such as "sqlite:///budget.db#study"."""
    page = EMBEDDED.search(text)
    try:
        content = json.loads(page.group(1) if page else text)
        parts = list(_releases(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError("this is neither a model, a release nor a report that eptr wrote.") from None
    found, study = list[Check](), None
    if page:
        told = [facts for _, _, facts in parts if facts is not None]
        if content["study"] is not None:
            study = StudyFacts.from_dict(content["study"])
            found += _whole(study, parts, ledger)
        try:
            again = page_again(content, told, [r for r, _, _ in parts], text)
        except (KeyError, TypeError, ValueError, ArithmeticError):
            again = ""
        found.append(_same_page(text, again))
        if ledger is not None and study is not None:
            found += _delivered_page(text, study, ledger)
    elif str(content.get("schema")).startswith("eptr-study/"):
        found.append(_follows(text))
        if ledger is not None:
            receipt = parts[0][0].record.receipt
            book = _account_of(ledger, "" if receipt is None else receipt.dataset)
            kept = [e.content["result"].get("fit") for e in book.history() if e.kind == "result"]
            found.append(Check("the ledger holds this result", text.strip() in kept, f"{len(kept)} results"))
    for number, (release, settings, facts) in enumerate(parts, start=1):
        checks = [*_release(release, settings), *_charge(release, ledger)]
        if facts is not None:
            checks.append(_told(release, facts, study))
        which = f"{number}. {release.record.what or release.strategy}: " if len(parts) > 1 else ""
        found += [replace(check, claim=which + check.claim) for check in checks]
    return found


def _releases(content: Any) -> Iterator[tuple[Release, dict[str, Any] | None, Facts | None]]:
    """Every release inside, with the settings of its model and the facts that a report tells."""
    if content.get("schema", "").startswith(("eptr-file/", "eptr-study/")):
        content = content["model"]
    if content.get("schema", "").startswith("eptr-model/"):
        yield decode(content["release"]), {k: decode(v) for k, v in content["settings"].items()}, None
    elif content.get("schema") == REPORT:
        for part in content["results"]:
            facts = Facts(**{name: tuples(value) for name, value in part["facts"].items()})
            yield Release.from_dict(part["release"]), None, facts
    else:
        yield Release.from_dict(content), None, None


def _release(r: Release, settings: dict[str, Any] | None) -> Iterator[Check]:
    cost = r.cost
    yield Check(
        "it is private", r.private, "no seed was given" if r.private else "a seed was given: it protects nobody"
    )
    yield _tried(
        f"({r.epsilon:g}, {r.delta:g}) follows from the mechanism",
        lambda: check_cost(cost),
        f"{cost.kind}" + (f", mu = {cost.mu:.6g}" if cost.mu else ""),
    )
    charged = (cost.epsilon, cost.delta, cost.relation, cost.rows)
    same = charged == (r.epsilon, r.delta, r.neighbours, r.rows_per_person)
    yield Check("what was charged is what is claimed", same, f"({cost.epsilon:g}, {cost.delta:g}), {cost.relation}")
    if settings is not None:
        yield _settings(r, settings)
    unit = Unit(r.neighbours, r.rows_per_person)
    wrong = [draw for draw in r.record.draws if not _enough(draw, unit, cost.mu)]
    known = f"{len(r.record.draws)} parts"
    if not r.record.draws:
        known = "no part is recorded: the method draws by a theorem of its own, or the record is of an early version"
    yield Check("the noise of every part is sensitivity over cost", not wrong, wrong[0].what if wrong else known)
    yield _sum(r)


def _enough(draw: Draw, unit: Unit, mu: float) -> bool:
    """Whether sensitivity and scale follow from what a row can contribute and what was spent."""
    needed = {"gaussian": 1.0, "laplace": 1.0, "exponential": 2.0}.get(draw.noise, 1.0) * draw.sensitivity
    spent = mu if draw.noise == "test" else draw.spent
    if draw.noise == "gaussian" and (contribution := contribution_of(draw.what, dict(draw.shape))) is not None:
        if not math.isclose(contribution.sensitivity(unit), draw.sensitivity, rel_tol=_SAME):
            return False
        needed = contribution.scale(unit, 1.0)
    if draw.noise == "laplace":
        reach = Absolute(**dict(draw.shape))  # type: ignore[arg-type]
        if not math.isclose(reach.sensitivity(unit), draw.sensitivity, rel_tol=_SAME):
            return False
    return spent > 0.0 and math.isclose(draw.scale, needed / spent, rel_tol=_SAME)


def _sum(r: Release) -> Check:
    """Costs of the parts add up to no more than the whole, exactly: squares of mu, epsilons, or tests."""
    cost, draws = r.cost, r.record.draws
    claim = "the costs of the parts add up to the whole"
    tests = sum(d.noise == "test" for d in draws)
    if tests or not draws:
        return Check(claim, tests <= cost.parts, f"{tests} of {cost.parts} tests" if tests else "nothing to add")
    if cost.kind == "basic":
        spent, whole = sum(Fraction(d.spent) for d in draws), Fraction(cost.epsilon)
    else:
        mus = (bounded_range_mu(d.spent) if d.noise == "exponential" else d.spent for d in draws)
        spent, whole = sum(Fraction(mu) ** 2 for mu in mus), Fraction(cost.mu) ** 2 * cost.parts
    share = float(spent / whole) if whole else math.inf
    return Check(claim, share <= 1.0 + _SAME, f"{share:.2%} of {'epsilon' if cost.kind == 'basic' else 'mu^2'}")


def _settings(r: Release, settings: dict[str, Any]) -> Check:
    """The model's own settings are those that were recorded when it was fitted."""
    elsewhere = {"epsilon": r.epsilon, "neighbours": r.neighbours, "rows_per_person": r.rows_per_person}
    if r.delta:  # a pure release needs none, whatever was asked for
        elsewhere["delta"] = r.delta
    recorded = dict(r.record.settings) | {name: '"private"' for name, _ in r.record.bought}
    again = dict(Record.of("", "", "", {k: v for k, v in settings.items() if k in recorded}, {}).settings)
    wrong = [name for name, value in elsewhere.items() if settings.get(name, value) != value]
    wrong += [name for name, text in again.items() if text != recorded[name]]
    if recorded:  # versions before 0.2 recorded none
        wrong += sorted({*recorded} ^ {k for k, v in settings.items() if v is not None and k not in TOLD_ELSEWHERE})
    claim = "the settings are those of the fit"
    return Check(claim, not wrong, f"{wrong[0]} differs" if wrong else f"{len(elsewhere) + len(again)} settings")


def _charge(r: Release, ledger: str | None) -> Iterator[Check]:
    receipt = r.record.receipt
    if ledger is None:
        return
    if receipt is None:
        yield Check("a ledger was charged", False, "the release has no receipt")
        return
    yield Check(
        "it fits in the total",
        r.epsilon <= receipt.epsilon * (1.0 + _SAME),
        f"({receipt.epsilon:g}, {receipt.delta:g})",
    )
    book = Ledger(ledger)
    name = book.dataset or receipt.dataset
    yield _tried(
        "the ledger is intact and holds this charge", lambda: book.verify(name, receipt.entry), f"entry {receipt.entry}"
    )
    entry = next((e for e in book.history(name) if e.hash == receipt.entry), None)
    if entry is not None:
        same = cost_in(entry.content) == r.cost and book.receipt(entry) == receipt
        yield Check("the ledger says the same of it", same, f"{entry.what}, {entry.time:%Y-%m-%d}")


def _whole(
    study: StudyFacts, parts: Sequence[tuple[Release, Any, Facts | None]], ledger: str | None
) -> Iterator[Check]:
    """All releases of a study: the filter adds them up again."""
    total, spent = Budget(*study.total), Spent()
    for release, _, _ in parts:
        after = spent.charged(release.cost, total, study.mixing)
        if after is None:
            yield Check("all releases together fit in the total", False, f"{release.strategy} does not")
            break
        spent = after
    else:
        yield Check(
            "all releases together fit in the total", True, f"{len(parts)} in ({total.epsilon:g}, {total.delta:g})"
        )
    if study.gaussian:
        alone = not (spent.mixed or spent.epsilon_before or study.mixing)
        yield Check(
            "the total is of Gaussian releases alone", alone, f"mu = {study.mu:.6g}" if alone else "it has no mu"
        )
    if study.mu is not None and study.spent is not None and study.remaining is not None:
        told = float(sum(Fraction(r.cost.mu) ** 2 * r.cost.parts for r, _, _ in parts)) / study.mu**2
        left = (study.remaining[2] / study.mu) ** 2
        fine = told <= study.spent + _SAME and math.isclose(study.spent + left, 1.0, abs_tol=_SAME)
        yield Check("what was spent and what is left make the whole", fine, f"{study.spent:.1%} and {left:.1%}")
    if ledger is not None and study.ledger:
        book = _account_of(ledger, study.name)
        yield _tried(
            "the ledger is intact and holds its head", lambda: book.verify(None, study.ledger), f"head {study.ledger}"
        )
        yield _account(study, book)


def _account_of(ledger: str, name: str) -> Ledger:
    """A ledger that names no dataset is asked for the one that is told."""
    return Ledger(ledger if "#" in ledger else f"{ledger}#{name}")


def _account(study: StudyFacts, book: Ledger) -> Check:
    """Total and rest are those of the ledger when it had that head."""
    entry = next((e for e in book.history() if e.hash == study.ledger), None)
    total, mixing = book.total(), book.history()[0].content["mixing"]
    left = None if entry is None else Spent.from_dict(entry.totals).remaining(total, mixing)
    known = None if left is None else (left.epsilon, left.delta, left.mu)
    same = (known, (total.epsilon, total.delta), mixing) == (study.remaining, study.total, study.mixing)
    return Check("the ledger says the same of the total and of what is left", same, f"{total}")


def _same_page(page: str, again: str) -> Check:
    """Whether the page is the one that its record makes: every number, every sentence."""
    ours, theirs = (EMBEDDED.sub("", text).splitlines() for text in (again, page))
    wrong = next((line for line, other in zip_longest(theirs, ours, fillvalue="") if line != other), None)
    told = re.sub("<[^>]*>", " ", wrong or "")
    found = f"{len(ours)} lines" if wrong is None else f"it has {' '.join(told.split())[:60]!r} ..."
    return Check("the page is what its record tells", wrong is None, found)


def _delivered_page(text: str, study: StudyFacts, ledger: str) -> Iterator[Check]:
    """The results are those in the ledger, if nothing has come since."""
    from .study.journal import Journal
    from .study.publication import Publication

    journal = Journal(_account_of(ledger, study.name))
    if study.ledger == journal.ledger.head():
        again = Publication(journal).page()
        same = _same_page(*(EXTRA.sub("", one) for one in (text, again)))  # pictures depend on who paints them
        yield replace(same, claim="the results are those that the ledger holds")


def _follows(text: str) -> Check:
    """The settings of a study's model are those that its formula and codebook imply."""
    from .study.result import Fit

    fit = Fit.from_json(text)
    params = fit.estimator.get_params()
    told = {name: json.dumps(value, default=str) for name, value in fit.model.settings.items()}
    wrong = [name for name, text in told.items() if json.dumps(params[name], default=str) != text]
    found = f"{wrong[0]} differs" if wrong else fit.formula
    return Check("the settings follow from formula and codebook", not wrong, found)


def _told(r: Release, facts: Facts, study: StudyFacts | None) -> Check:
    """The facts of a report are those of its release, and of the study it belongs to."""
    told, known = asdict(facts), asdict(r.facts() if study is None else within(r.facts(), study))
    wrong = [name for name in known if name not in _ADDED and tuples(known[name]) != tuples(told[name])]
    if study is not None and r.facts().total not in (None, study.total):
        wrong.append("total")
    return Check(
        "the facts are those of the release", not wrong, f"{wrong[0]} differs" if wrong else f"{len(known)} facts"
    )


def _tried(claim: str, check: Callable[[], None], found: str) -> Check:
    try:
        check()
    except EptrError as error:
        return Check(claim, False, str(error))
    return Check(claim, True, found)
