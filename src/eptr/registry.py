"""An entry for the public registry of differential privacy deployments, from facts and what only a person can say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import InputError, PrivacyError
from .privacy.facts import Facts
from .privacy.voices import labels_shown, parts_drawn
from .statement import StudyFacts, combined, facts_of

__all__ = ["registry_yaml"]

PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
# Fields that only a person can fill in, by section and tier; those that are left out lower the tier of the entry.
_TIER_2 = ("release_type", "data_source_type", "access_type")
_TIER_3 = ("actors", "post_processing", "justification")


def registry_yaml(
    results: Any,
    study: StudyFacts | None = None,
    *,
    name: str = "",
    curators: Iterable[str] = (),
    description: str = "",
    intended_use: str = "",
    region: str = "",
    authors: Iterable[str] = (),
    publication_date: str = "",
    product: str = "Summary statistics",
    sector: str = "",
    sources: str = "",
    notes: str = "",
    **more: str,
) -> str:
    """A draft entry as YAML, valid against the registry's schema (github.com/opendp/deployments-registry-data).

    Parameters
    ----------
    results : a Release, an Estimate, a fitted estimator, or with ``study`` a list of them
        What is published; each tells its guarantee.
    study : StudyFacts or None
        What ``study.facts()`` says of the whole, if they belong to one.
    name, curators, description, intended_use, region, authors : str, or lists of str
        What the data product is called, who publishes it, what it is, what for, whose data or laws, and who wrote the entry.
        All are needed, and never made up.
    publication_date : str
        YYYY-MM-DD; the day of the last release if not given.
    product : str
        One of the registry's types of data products.
    sector, sources, notes : str
        Of the data product, where its data came from, and whatever else a reader should know.
    **more : str
        release_type, data_source_type, access_type, actors, post_processing, justification:
        of the registry's tiers 2 and 3; without them the entry has a lower tier.

    Examples
    --------
    >>> import numpy as np
    >>> from eptr import stats
    >>> found = stats.mean(np.arange(1000) % 60, (0, 100), epsilon=1.0)
    >>> registry_yaml(found, name="Ages")
    Traceback (most recent call last):
    ...
    eptr.errors.InputError: the registry needs curators, description, intended_use, region, authors; pass them by name.
    """
    facts = facts_of(results) if study is None else combined(results, study)
    if not facts.private:
        raise PrivacyError(
            "a result that is not private is no deployment of differential privacy; release it without a seed."
        )
    given = {"name": name, "curators": _list(curators), "description": description, "intended_use": intended_use}
    given |= {"region": region, "authors": _list(authors)}
    given["publication_date"] = publication_date or facts.date.rpartition(" ")[2]
    missing = [field for field, value in given.items() if not value or not all(value)]
    if missing:
        raise InputError(f"the registry needs {', '.join(missing)}; pass them by name.")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(given["publication_date"])):
        raise InputError(f"publication_date must be YYYY-MM-DD, got {given['publication_date']!r}.")
    if product not in PRODUCTS:
        raise InputError(f"product must be one of {', '.join(PRODUCTS)}, got {product!r}.")
    unknown = sorted({*more} - {*_TIER_2, *_TIER_3})
    if unknown:
        raise InputError(f"{unknown[0]} is no field of a registry entry; known are {', '.join((*_TIER_2, *_TIER_3))}.")
    basic = {
        "name": name, "data_curators": given["curators"], "description": description, "intended_use": intended_use,
        "data_product_type": product, "data_product_region": region, "publication_date": given["publication_date"],
        "data_product_sector": sector,
    }  # fmt: skip
    deployment = {"basic": basic} | _known(facts)
    for section, fields in (
        ("deployment_model", ("actors", *_TIER_2)),
        ("accounting", ("post_processing",)),
        ("implementation", ("justification",)),
    ):
        deployment[section] |= {field: more[field] for field in fields if field in more}
    deployment["administrative"] = {"sources": sources, "notes": notes, "registry_authors": given["authors"]}
    tier = 1 + all(more.get(f) for f in _TIER_2) + all(more.get(f) for f in (*_TIER_2, *_TIER_3))
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return _yaml({"url_slug": slug, "status": "Draft", "tier": tier, "deployment": deployment})


def _known(f: Facts) -> dict[str, dict[str, Any]]:
    """The sections that follow from the facts."""
    settings = "; ".join(f"{name} = {text}" for name, text in f.settings)
    bought = "; ".join(f"{name} = {text}" for name, text in f.bought)
    change = "replaced by any other" if f.relation == "replace-one" else "left out, the number of rows staying the same"
    kept = f.enforced or "as declared, not checked"
    mu = (
        ""
        if f.mu is None
        else f"Gaussian differential privacy with mu = {f.mu:.6g}, of which (epsilon, delta) is a point. "
    )
    total = "" if f.total is None else f"All releases stay within ({f.total[0]:g}, {f.total[1]:g}). "
    versions = ", ".join(f"{name} {number}" for name, number in f.versions) or "eptr"
    exact = (
        ""
        if f.basis != "proven"
        else (
            "Sums over rows are exact integers and noise is drawn exactly, from a cryptographic source, against floating-point "
            "attacks; running time is not protected."
        )
    )
    rests = "proven in the library's repository" if f.basis == "proven" else f"{f.basis}: {f.theorem}"
    return {
        "dp_variant": {
            "variant_name": "Approximate DP" if f.delta else "Pure DP",  # the registry's list has no Gaussian DP
            "data_domain": f"Tables of {f.rows:,} rows with values as declared: {settings}" if f.rows and settings else "",
            "unprotected_quantities": "The number of rows, the names of columns, bounds, levels and settings; where rows outside "
            "the domain raise an error, whether there are any." + (" Which labels occur." if labels_shown(f) else ""),
        },
        "privacy_loss": {
            "privacy_unit": f.unit,
            "privacy_unit_details": f"Up to {f.rows_each} row(s) of one {f.unit} ({kept}) are {change}.",
            "privacy_parameters": {"epsilon": f.epsilon, "delta": f.delta},
            "privacy_parameters_details": f"{mu}{total}An even bet on one of two neighbours is won with probability at most "
            f"{f.bet:.4f}. The guarantee is {rests}.",
        },
        "deployment_model": {
            "model_name": "Central",
            "model_name_details": "Whoever runs the library sees the rows and is trusted; everybody else sees releases alone.",
        },
        "accounting": {"composition": f.composition},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": "Settings were fixed without looking at the data, as their authors declare"
            + (f", except these, bought with a part of the budget: {bought}." if bought else "."),
            "mechanisms": " ".join(filter(None, [f"{f.how}." if f.how else "", parts_drawn(f), exact, f"Library: {versions}."])),
        },
    }  # fmt: skip


def _list(value: Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) and value else list(value)


def _yaml(content: Mapping[str, Any], indent: str = "") -> str:
    """Block style with quoted text; what is empty is left out."""
    lines = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            inner = _yaml(value, indent + "  ")
            lines += [f"{indent}{key}:\n{inner}"] if inner else []
        elif isinstance(value, list):
            lines.append(f"{indent}{key}:\n" + "".join(f"{indent}  - {_scalar(v)}\n" for v in value))
        elif value != "":
            lines.append(f"{indent}{key}: {_scalar(value)}\n")
    return "".join(lines)


def _scalar(value: Any) -> str:
    """JSON, which is YAML, but for two traps: 1e-06 is text to YAML 1.1, and what cannot be printed is escaped."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in text)
    text = json.dumps(value)
    return re.sub(r"^(-?\d+)e", r"\1.0e", text)
