"""One record of facts in three voices: a methods section, an ethics board, the people in the data."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from types import MappingProxyType

from ..errors import InputError
from .facts import Facts

__all__ = ["UNTOLD", "VOICES", "in_short", "labels_shown", "parts_drawn", "rows_counted", "share_beyond", "tell"]

_TECHNICAL = "a technical fact; the methods voice has it"
# What a voice leaves out, and why; everything else that is known is told.
UNTOLD: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "methods": {},
        "ethics": dict.fromkeys(("parts", "versions"), _TECHNICAL),
        "people": {
            **dict.fromkeys(
                ("how", "epsilon", "delta", "mu", "failure", "total", "share", "remaining", "composition", "ledger", "parts",
                 "proven_in",
                 "theorem", "versions", "settings", "bought", "level", "widths", "biases"),
                _TECHNICAL,
            ),
            "enforced": "a matter between analyst and board",
        },
    }
)  # fmt: skip


def tell(facts: Facts, voice: str = "methods") -> str:
    """A statement: paragraphs of plain text, divided by empty lines."""
    if voice not in VOICES:
        raise InputError(f"voice must be one of {', '.join(VOICES)}, got {voice!r}.")
    paragraphs = VOICES[voice](facts) if facts.private else _not_private(facts)
    return "\n\n".join(" ".join(filter(None, sentences)) for sentences in paragraphs if any(sentences))


Paragraphs = list[list[str]]
HIDDEN = 0.5  # an interval of a share that is wider says nothing
_CRUMB = 1e-5  # a mu that buys nothing: what roundings keep back


def _not_private(f: Facts) -> Paragraphs:
    made, mend = "was made with a fixed random seed. It is reproducible and", "Use random_state=None"
    if f.fault:
        made, mend = f"used a published method that is not differentially private: {f.fault} It", "Use form='repaired'"
    warning = f"This result ({f.what}) {made} carries NO privacy guarantee; it must not be published if the rows are sensitive."
    return [[warning], [f"{mend} to obtain a private result."]]


def _methods(f: Facts) -> Paragraphs:
    factor = math.exp(min(f.epsilon, 700.0))
    guarantee = [
        f"The result ({f.what}) was computed under ({f.epsilon:g}, {f.delta:g})-differential privacy"
        + (f" ({f.variant}, mu = {f.mu:.4g}{_failing(f)})" if f.mu is not None else f" ({f.variant})")
        + f": {_change(f)} changes the probability of every possible published outcome by at most a factor "
        f"exp({f.epsilon:g}) = {factor:.3g}, up to an additional {f.delta:g}. A bet at even odds on which of two such datasets "
        f"was used is won with probability at most {_percent(f.bet)}.",
        f"{f.how}." if f.how else "",
        "The noise was drawn exactly, from a cryptographic source." if f.basis == "proven" else "",
        _rests(f),
        f"Proof: {f.proven_in}." if f.proven_in else "",
        ""
        if f.replied
        else 'The answer was "no reply": the published values are a public fallback that does not depend on the data.',
    ]
    return [
        guarantee,
        [_unit(f), f"n = {f.rows:,} rows, a public number." if f.rows is not None else ""],
        [*_account(f), f"Composition: {f.composition}." if f.composition else ""],
        [_settings(f"Fixed beforehand, without looking at the data{_but(f)}", f.settings),
         _settings("Estimated with a part of this budget", f.bought), _missing(f), _outside(f)],
        [parts_drawn(f)],
        [_accuracy(f), *f.biases],
        _not_covered(f),
        [_made(f)],
    ]  # fmt: skip


def in_short(f: Facts) -> list[str]:
    """Three sentences of the methods voice: the guarantee, who has it, and whether it was proven."""
    return [
        f"The result ({f.what}) is ({f.epsilon:g}, {f.delta:g})-differentially private: {_change(f)} changes what is "
        f"published so little that a bet at even odds on which of two such datasets was used is won with probability at most "
        f"{_percent(f.bet)}.",
        _unit(f),
        _rests(f),
    ]


def _not_covered(f: Facts) -> list[str]:
    dropped = dict(f.settings).get("invalid") == '"drop"'
    check = "" if dropped else ", or the check that values are finite, numeric and declared"
    check += ", or which labels occur" if labels_shown(f) else ""
    return [
        "The guarantee assumes a trusted curator, who sees the rows (the central model), and that the settings were chosen "
        "without looking at the data.",
        f"It does not cover scores or diagnostics computed directly on the rows, the time the computation took{check}.",
        _others(f),
        "Anything computed from the published numbers alone is covered.",
    ]


def _others(f: Facts) -> str:
    if f.total is None:
        return "Other releases from the same rows add to its cost."
    if f.total == (f.epsilon, f.delta):
        return "Releases from the same rows that were not counted with these would add to its cost."
    return "Other releases from the same rows add to its cost, within the total."


def labels_shown(f: Facts) -> bool:
    """Whether the label set was taken from the rows, and declared to be no secret."""
    return dict(f.settings).get("classes") == '"public"'


def _missing(f: Facts) -> str:
    """What became of rows with missing or undeclared values, where that is known."""
    return {
        '"drop"': "Rows with missing or undeclared values were given zero weight, inside the guarantee.",
        '"raise"': "A row with a missing or undeclared value would have stopped the computation; there was none.",
    }.get(dict(f.settings).get("invalid", ""), "")


def _ethics(f: Facts) -> Paragraphs:
    held = "A ledger recorded the release before it was computed." if f.ledger else ""
    this = f"one {f.unit}'s data" if f.unit != "row" else "one row"
    instead = "another one in its place" if f.relation == "replace-one" else "left out"
    answers = {
        "What is published?": [
            f"A private result ({f.what})" + (f", computed from {f.rows:,} rows" if f.rows is not None else "") + ".",
            f"{f.how}." if f.how else "",
            "" if f.replied else 'The answer was "no reply": nothing about the data is published but this.',
        ],
        "Who is protected, and from what?": [
            _unit(f),
            f"The result carries ({f.epsilon:g}, {f.delta:g})-differential privacy"
            + (f", mu = {f.mu:.3g}{_failing(f)}" if f.mu is not None else "")
            + f": somebody who knows everything else and bets, at even odds, whether {this} was used or {instead} "
            f"wins at most {_percent(f.bet)} of the time instead of 50 %."
        ],
        "What else is published about these data?": [
            *_account(f), held, f"Composition: {f.composition}." if f.composition else "",
        ],
        "Who chose the settings, and could that leak?": [
            _settings(f"Declared without looking at the data{_but(f)}", f.settings),
            _settings("Estimated from the data with a part of this budget, and covered by the guarantee", f.bought),
            _missing(f),
            _outside(f),
        ],
        "Who says so?": [_rests(f), f"Proof: {f.proven_in}." if f.proven_in else ""],
        "Is the result still useful?": [_accuracy(f), *f.biases],
        "What is not covered?": _not_covered(f),
        "When?": [f"{f.date}." if f.date else ""],
    }  # fmt: skip
    return [[question, *answer] for question, answer in answers.items() if any(answer)]


def _people(f: Facts) -> Paragraphs:
    yours = {"row": "your row", "person": "your record"}.get(f.unit, f"your {f.unit}'s record")
    each = yours if f.rows_each == 1 else f"{yours} (up to {f.rows_each} rows)"
    swapped = "or somebody else's in its place" if f.relation == "replace-one" else "or was left out"
    chances = math.ceil(1000.0 * f.bet - 1e-6) / 10.0
    weak = " That is little protection." if f.bet > 0.9 else ""
    trust = {
        "proven": "That this is so has been proven, and the proof is public.",
        "cited": "That this is so rests on a published theorem.",
        "not verified": "Whether this is so has not been verified.",
    }
    count = f"{f.rows:,} rows of data" if f.rows is not None else "the data"
    return [
        [
            f"From {count} a result ({_plainly(f.what)}) was computed{' on ' + f.date if f.date else ''}, and random noise was "
            "added to hide each of them.",
            "" if f.replied else "Nothing was published except that there is no answer.",
        ],
        [
            f"Suppose a coin was tossed, and {each} went into the data, {swapped}. Somebody who knows everything about everybody "
            f"else bets on how the coin fell. Without the result they are right 50 times in 100. With it they are right at most "
            f"{chances:g} times in 100.{weak}",
            "Other results from the same data add to this." if f.total_bet is None else "",
            _ever(f),
            trust[f.basis],
        ],
        [
            "What holds for people in general can be learned, and may be true of you, whether you took part or not. "
            "Those who computed the result have seen the data.",
            f"About {f.outside:.1%} of the rows had values beyond the expected range; these count less."
            if f.outside is not None and f.outside > _unclear(f)
            else "",
        ],
    ]


_FORMULA = re.compile(r"(?:(.*): )?(?:ols|logit|smooth) ([^~]+)~([^~]+?)(?: where ([^~]*))?")
_NAME = re.compile(r"""'[^']*'|"[^"]*"|`([^`]+)`|(?<![\w.])([^\W\d]\w*)(?!\w|\s*\()""")


def _plainly(what: str) -> str:
    """A formula as what it asks; what is none as it is."""
    found = _FORMULA.fullmatch(what)
    if found is None:
        return what
    names = [
        [a or b for a, b in _NAME.findall(side) if (a or b) not in ("", "and", "or", "not", "in")]
        for side in found.group(2, 3)
    ]
    left, right = (list(dict.fromkeys(side)) for side in names)
    if not left or not right or re.search(r"(?:^|[+*:\s])\.(?:$|[+*:\s])", found[3]):
        return what
    goes = f"how {' and '.join(left)} goes with {' and '.join(filter(None, (', '.join(right[:-1]), right[-1])))}"
    return f"{found[1] + ': ' if found[1] else ''}{goes}{f', where {found[4]}' if found[4] else ''}"


def _ever(f: Facts) -> str:
    if f.total_bet is None:
        return ""
    everything = "may ever be published from these data" if f.ledger else "this study may ever publish"
    if f.total_bet == f.bet:
        return f"This holds for everything that {everything}."
    return f"With everything that {everything} they are right at most {_percent(f.total_bet)} of the time."


VOICES: Mapping[str, Callable[[Facts], Paragraphs]] = MappingProxyType(
    {"methods": _methods, "ethics": _ethics, "people": _people}
)


def _percent(chance: float) -> str:
    """Rounded up to a tenth."""
    return f"{math.ceil(1000.0 * chance - 1e-6) / 10.0:.1f} %"


def _failing(f: Facts) -> str:
    return f" up to a failure of {f.failure:.3g}" if f.failure else ""


def _but(f: Facts) -> str:
    """Settings may follow from what was bought."""
    return " except for what was estimated" if f.bought else ""


def _change(f: Facts) -> str:
    owner = "person" if f.unit == "row" else f.unit
    unit = f"one {f.unit}" if f.rows_each == 1 else f"up to {f.rows_each} rows that belong to one {owner}"
    if f.relation == "replace-one":
        return f"replacing {unit} of the dataset by any other"
    return f"leaving out {unit} of the dataset (or putting it back; n stays the same)"


def _unit(f: Facts) -> str:
    kept = f.enforced or "declared by the analyst, not checked"
    owner, rows = "person" if f.unit == "row" else f.unit, "row" if f.rows_each == 1 else "rows"
    unit = f"one {f.unit}" if f.rows_each == 1 else f"all rows of one {owner}"
    most = f"at most {f.rows_each} {rows} per {owner} ({kept})"
    if not f.enforced:
        true = f"every {owner} has one row" if f.rows_each == 1 else f"no {owner} has more than {f.rows_each} rows"
        most += f", which holds if {true}: a {owner} with more rows is protected less"
    return f"Protected unit: {unit}; {most}; neighbouring datasets: {f.relation}."


def _rests(f: Facts) -> str:
    return {
        "proven": "The guarantee is proven in the library's repository.",
        "cited": f"The guarantee rests on a published theorem that was cited, not re-proven: {f.theorem}",
        "not verified": f"The guarantee was not verified: {f.theorem}",
    }[f.basis]


def _account(f: Facts) -> list[str]:
    if f.total is None:
        return ["No ledger was charged, so the total of all releases from these data is not known."]
    bet = "" if f.total_bet is None else f" (the same bet: at most {_percent(f.total_bet)})"
    whose = "from these data" if f.ledger else "of this study, which no ledger holds,"
    told = [f"All releases {whose} together stay within ({f.total[0]:g}, {f.total[1]:g}){bet}."]
    if f.share is not None:
        told.append(f"This took {f.share:.1%} of that.")
    if f.remaining is not None:
        epsilon, delta, mu = f.remaining
        gaussian = f"mu = {mu:.4g} for Gaussian releases"
        left = f"({epsilon:.4g}, {delta:.4g}) for a release of any kind, or {gaussian}" if epsilon else gaussian
        told.append(f"Left afterwards: {left if epsilon or mu > _CRUMB else 'nothing'}.")
    return [*told, f"Ledger entry {f.ledger}." if f.ledger else ""]


def _settings(title: str, settings: tuple[tuple[str, str], ...]) -> str:
    return f"{title}: {'; '.join(f'{name} = {text}' for name, text in settings)}." if settings else ""


def _outside(f: Facts) -> str:
    if f.outside is None:
        return ""
    if f.outside <= _unclear(f):
        return "The share of rows beyond the bounds, a released number, is too small to tell from noise."
    return f"About {f.outside:.1%} of the rows lie beyond the bounds (a released number); what lies beyond has less influence."


def _unclear(f: Facts) -> float:
    """Two standard deviations of the noise on a share of rows, at most."""
    return 2.0 * f.share_noise


def share_beyond(f: Facts) -> str:
    """The released share of rows beyond the bounds, with its 95 % interval where the noise is known."""
    found, half = f.outside or 0.0, 1.96 * f.share_noise
    if not half:
        return f"about {found:.1%} of them"
    low, high = max(found - half, 0.0), min(found + half, 1.0)
    if high - low > HIDDEN:
        return "a share that noise hides"
    low, high = (float(f"{100.0 * end:.2g}") for end in (low, high))
    return f"{low:g} to {high:g} % of them"


def rows_counted(f: Facts) -> str:
    """How many rows, and that not all of them may count: which do is private."""
    if dict(f.settings).get("invalid") != '"drop"':
        return f"{f.rows:,} rows"
    others = " and rows outside of the condition" if " where " in f.what else ""
    return f"{f.rows:,} rows in the data (public; rows with missing values{others} count as nothing)"


def parts_drawn(f: Facts) -> str:
    """In one sentence, equal kinds together: how many, sensitivities, shares and scales."""
    told = []
    for (noise, what), group in groupby(sorted(f.parts), key=lambda part: part[:2]):
        found = list(group)
        _, _, moves, spent, scales = zip(*found, strict=True)
        count = f"{len(found)} x " if len(found) > 1 else ""
        cost = f"mu {_span(spent)}" if noise == "gaussian" else f"epsilon {_span(spent)}"
        told.append(
            f"{count}{_NOISES[noise]} ({what}): sensitivity {_span(moves)}, {cost}, noise scale {_span(scales)}"
        )
    return f"Parts drawn: {'; '.join(told)}." if told else ""


_NOISES = {
    "gaussian": "Gaussian noise on a sum",
    "laplace": "Laplace noise on a sum",
    "exponential": "exponential mechanism",
    "test": "private test and Gaussian noise",
}


def _span(values: tuple[float, ...]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} to {high:.4g}"


def _accuracy(f: Facts) -> str:
    if f.level is None or f.widths is None:
        return "No intervals were released with it." if f.replied else ""
    narrow, wide = f.widths
    span = f"{narrow:.4g}" if math.isclose(narrow, wide) else f"{narrow:.4g} to {wide:.4g}"
    return f"Intervals of level {f.level:.0%}, which include sampling error and privacy noise, are {span} wide."


def _made(f: Facts) -> str:
    made = f"Computed on {f.date}" if f.date else ""
    with_ = ", ".join(f"{name} {number}" for name, number in f.versions)
    return f"{made or 'Computed'}{' with ' + with_ if with_ else ''}." if made or with_ else ""
