"""Formulas that were written for a terminal, as they are printed."""

from __future__ import annotations

import re

GREEK = {
    "alpha": "\N{GREEK SMALL LETTER ALPHA}",
    "beta": "β",
    "gamma": "\N{GREEK SMALL LETTER GAMMA}",
    "delta": "δ",
    "eps": "ε",
    "epsilon": "ε",
    "eta": "η",
    "theta": "θ",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "rho": "\N{GREEK SMALL LETTER RHO}",
    "sigma": "\N{GREEK SMALL LETTER SIGMA}",
    "tau": "τ",
    "phi": "φ",
    "Phi": "Φ",
}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→"}


def symbols(text: str) -> str:
    """Greek letters and signs of one character."""
    text = re.sub(r"(?<!\w)(?<![A-Za-z]-)(" + "|".join(GREEK) + r")(?![A-Za-z])", lambda m: GREEK[m[1]], text)
    text = re.sub(r"\bsqrt(?: (?=\w)|(?=\())", "√", text)
    return re.sub("|".join(SIGNS), lambda m: SIGNS[m[0]], text)


def indexed(text: str) -> str:
    """Exponents above, indices below; names of more than two letters are no letters with an index."""
    text = re.sub(
        r"([^\W\d_])\^(?=['\s)|,.]|$)(?!\.\d|\|\w+\|)", "\\1\N{COMBINING CIRCUMFLEX ACCENT}", text
    )  # an estimate
    exponent = r"-?(?:\([^)]*\)|\|[^|]*\||\.?\w+(?:[./]\w+)*)'?|-"
    text = re.sub(r"\^(?:\{([^}]*)\}|(" + exponent + "))", r"<sup>\1\2</sup>", text)
    letter = r"(?<![A-Za-z])([A-Za-z]{1,2}'?|[^\W\dA-Za-z_]|[∑∫])"
    text = re.sub(r"([)|\]])_([+\d])", r"\1<sub>\2</sub>", text)  # a positive part, a norm
    return re.sub(letter + r"_(?:\{([^}]*)\}|((?:[^\W²³]|\*)+))", r"\1<sub>\2\3</sub>", text)


def typeset(text: str) -> str:
    """Formulas that were written for a terminal, with letters, exponents and indices as they are printed."""
    lines = []
    for line in text.splitlines():
        if line.startswith(("#", "    ")):
            lines.append(symbols(line) if line.startswith(" ") else re.sub(r"\[([a-z-]+)\]", r"\1", line))
            continue
        parts = line.split("`")
        parts[::2] = [indexed(symbols(part)) for part in parts[::2]]
        lines.append("`".join(parts))
    return "\n".join(lines)


def stepped(text: str) -> str:
    """Headings without a missing level: where the first below the title is of the third, all of those move up."""
    first = re.search(r"^##+ ", text, flags=re.MULTILINE)
    return re.sub(r"^### ", "## ", text, flags=re.MULTILINE) if first and first[0] == "### " else text
