"""What a docstring describes, and what it should: the parameters and fitted attributes of every public name."""

from __future__ import annotations

import inspect
from typing import Any

from numpydoc.docscrape import NumpyDocString

from eptr.docstrings import ALWAYS, KEYWORDS


def described(thing: Any) -> set[str]:
    """The parameters and attributes that a docstring describes in words; ``name : words`` will do for an attribute."""
    parsed = NumpyDocString(inspect.getdoc(thing) or "")
    told = [one for one in parsed["Parameters"] if "".join(one.desc).strip()] + parsed["Attributes"]
    return {name.strip(" *") for one in told for name in one.name.split(",")}


def wanted(thing: Any) -> set[str]:
    """The parameters that somebody may pass, and what a fit leaves behind."""
    if isinstance(thing, type) and issubclass(thing, Exception):
        return set()
    names = set(inspect.signature(thing).parameters) - {"_", "args", "kwargs"}
    if "shared" in names:
        names = names - {"shared"} | set(KEYWORDS)
    fitted = getattr(thing, "_fitted", None)
    return names | ({*ALWAYS, *(f"{name}_" for name in fitted.__dataclass_fields__)} - {"value_"} if fitted else set())
