"""Docstrings made whole: what many estimators and statistics share is described once, here, and told by each of them.

A docstring says what is particular; ``described`` adds every parameter and fitted attribute that it leaves out, in the order
of the signature.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

__all__ = ["described"]

T = TypeVar("T")

TABLE = "array, list, series, table, path of Parquet files, or what Arrow, Dask or Spark have"
PARAMETERS = {
    "epsilon": "float\n    The guarantee, for the whole answer; smaller is more private.",
    "delta": "float\n    The other half of the guarantee: far below 1/n.",
    "level": "float\n    How often intervals hold, each by itself.",
    "x": f"{TABLE}\n    The rows.",
    "q": "float or sequence of floats\n    Levels between 0 and 1.",
    "bounds": "(low, high), one pair per column, or {name: (low, high)}, which chooses columns\n"
    "    From what is known before seeing the data; values beyond are moved to them. Wide ones do little harm.",
    "by": "column of labels or its name, optional\n    By group, all in one release; the sizes of groups are private.",
    "levels": "list\n    The groups; required with ``by``: levels that are found in the data would tell which ones occur.",
    "step": "float, optional\n    Values are known to be multiples of it, such as 1 for whole numbers.",
    "x_bound": "float\n    Public bound on the Euclidean norm of a row; longer rows are shortened to it.",
    "y_bound": "float\n    Public bound on abs(y).",
    "classes": '"public" or sequence\n    The label set. "public" declares the labels that occur in y to be public knowledge.',
    "fit_intercept": "bool, default True\n    Whether there is a constant beside the slopes.",
    "strategy": '{"refined", "tight", "paper"}\n    "refined" never refuses; "tight" and "paper" propose, test and release, '
    "or do not reply: docs/strategies.md.",
    "form": '{"repaired"}\n    There is one form of it here.',
    "neighbours": '{"replace-one", "zero-out"}\n    What must stay hidden: that one row is replaced by any other, or that it '
    "is dropped with the number of rows kept, a weaker promise\n    at equal epsilon with less noise. Not every method has both.",
    "rows_per_person": "int, default 1\n    Rows one person may own; every sensitivity grows by this factor.",
    "invalid": '{"raise", "drop"}\n    What to do with rows that are not finite, or whose label is not declared: refuse, '
    "which is an answer that a ledger counts,\n    or give them no weight, inside the guarantee.",
    "ledger": 'str or eptr.Ledger, optional\n    ``"sqlite:///budget.db#study"``: charged once, after the rows were checked '
    "and before noise is drawn.",
    "random_state": "None or seed\n    A seed makes the answer reproducible and **not private**.",
    "return_X_y": "bool\n    Return ``(data, target)`` instead of a Bunch.",
    "as_frame": "bool\n    Return a data frame and a series of pandas.",
}
KEYWORDS = ("neighbours", "rows_per_person", "invalid", "ledger", "random_state")  # of ``**shared`` in eptr.stats
ATTRIBUTES = {
    "coef_": "released slopes, or the fallback",
    "intercept_": "released constant, or the fallback",
    "means_": "released mean of every class",
    "priors_": "released share of every class",
    "classes_": "the labels, in the order of everything that is by class",
    "n_rows_": "number of rows, which is public",
    "n_features_in_": "number of columns",
    "feature_names_in_": "their names, if they have any",
    "x_bound_": "the bound on a row, also one that was bought; None where ranges are used",
    "y_bound_": "the bound on abs(y), also one that was bought; None where a range is used",
    "x_range_": "the range of every column, also one that was bought",
    "y_range_": "the range of y, also one that was bought",
    "domain_": "the range of every axis",
    "y_centre_": "middle of the range of y",
    "y_radius_": "half of its length",
    "centre_": "coefficients before they were shrunk: the middle of every interval",
    "covariance_": "covariance of ``centre_``: sampling, privacy noise and what clipping may hide",
    "se_sampling_": "the part of standard errors that is not due to privacy",
    "residual_scale_": "released standard deviation of y around the model",
    "undetermined_": "whether the rows are too few to say, coefficient by coefficient",
    "outside_": "released share of rows beyond a bound or range",
    "corrected_": "whether there were rows enough to undo what clipping does to skewed outcomes",
    "shares_": "released shares of the classes",
    "sums_": "released sums of y times each function of x",
    "counts_": "released sums of each function of x",
    "bandwidth_": "of the smoother, on every axis",
    "shape_": "number of cells on every axis",
    "basis_": "the orthogonal functions",
    "axes_": "number of axes",
    "degrees_": "the functions that were used, by their degree on every axis",
    "uniform_": "whether rows were taken to be uniform on the domain",
    "release_": "the Release: value, guarantee, what it rests on",
    "released_": "whether there was a reply",
    "noise_": "standard deviation of the noise on each released number",
    "fitted_": "all of these in one frozen record",
}  # fmt: skip
ALWAYS = ("n_features_in_", "feature_names_in_", "release_", "released_", "fitted_")
_SECTION = r"^{}\n-+\n(.*?)(?=\n\n\w[^\n]*\n---|\Z)"
_ENTRY = re.compile(r"^(?=\S)", flags=re.MULTILINE)
_NEXT = re.compile(r"(?=\n\n(?!Parameters)\w[^\n]*\n---)|\Z")


def described(thing: T) -> T:
    """The same function, or class of estimators, with a docstring that sends nobody elsewhere."""
    if not thing.__doc__:  # python -OO
        return thing
    doc = inspect.cleandoc(thing.__doc__)
    if isinstance(thing, type):
        own = inspect.get_annotations(thing)
        names = [*own, *(name for name in getattr(thing, "__dataclass_fields__", ()) if name not in own)]
        if fitted := getattr(thing, "_fitted", None):
            released = [f"{name}_" for name in fitted.__dataclass_fields__ if name != "value"]
            labels = ["classes_"] if getattr(thing, "_target", "") == "labels" else []
            doc = _completed(doc, "Attributes", [*labels, *released, *ALWAYS], ATTRIBUTES, between="\n    ")
    else:
        names = [*inspect.signature(thing).parameters]  # type: ignore[arg-type]
        if "shared" in names:
            names[names.index("shared") :] = KEYWORDS
    thing.__doc__ = _completed(doc, "Parameters", names, PARAMETERS)
    return thing


def _completed(doc: str, title: str, names: Iterable[str], words: Mapping[str, str], between: str = " : ") -> str:
    """The section with an entry for every name in their order: the docstring's own, or else ours."""
    section = re.search(_SECTION.format(title), doc, flags=re.MULTILINE | re.DOTALL)
    told: dict[str, str] = {}
    for entry in _ENTRY.split(section[1])[1:] if section else ():
        told |= dict.fromkeys(re.split(", ", entry.partition("\n")[0].partition(" : ")[0]), entry.rstrip())
    entries = [told.get(name) or f"{name} : {words[name]}" for name in names if name in told or name in words]
    whole = "\n".join(entry.replace(" : ", between, 1) for entry in dict.fromkeys([*entries, *told.values()]))
    whole = f"{title}\n{'-' * len(title)}\n{whole}"
    if section:
        return doc[: section.start()] + whole + doc[section.end() :]
    place = _NEXT.search(doc)
    assert place
    return f"{doc[: place.start()]}\n\n{whole}{doc[place.start() :]}"
