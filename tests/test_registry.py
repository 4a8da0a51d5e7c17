"""Registry entries: valid against the published schema, and never with a field that somebody forgot."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

import eptr
from eptr.privacy.facts import Facts
from eptr.registry import PRODUCTS, _scalar, registry_yaml
from eptr.statement import StudyFacts

yaml, jsonschema = pytest.importorskip("yaml"), pytest.importorskip("jsonschema")

SCHEMA = (
    Path(os.environ.get("EPTR_REGISTRY", Path(__file__).parents[2] / "shared" / "registry")) / "deployments-schema.yaml"
)
SAID = {
    "name": "Wages: by sex", "curators": ["An office"], "description": "Means.", "intended_use": "Planning",
    "region": "Nowhere", "authors": ["A. Person", "B. Person"],
}  # fmt: skip
MORE = {
    "release_type": "One release", "data_source_type": "Static", "access_type": "Non-interactive",
    "actors": "An office, and readers.", "post_processing": "None.", "justification": "Tried on simulated data.",
}  # fmt: skip
FACTS = Facts(
    what="mean", epsilon=1.0, delta=1e-6, mu=0.2, bet=0.55, rows=1000, settings=(("bounds", "[0, 1]"),), date="2026-01-02",
    parts=(("gaussian", "Ball", 2.0, 0.2, 10.0),), versions=(("eptr", "1"),), composition="mu^2 add up",
)  # fmt: skip


@pytest.fixture(scope="module")
def schema():
    if not SCHEMA.exists():
        pytest.skip("the registry's schema is not here; EPTR_REGISTRY names the folder that has it")
    return yaml.safe_load(SCHEMA.read_text())


def valid(text, schema):
    entry = yaml.safe_load(text)
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(entry)
    return entry


@pytest.mark.parametrize(
    "facts",
    [
        FACTS,
        replace(FACTS, delta=0.0, mu=None, total=(3.0, 1e-5), bought=(("y_bound", "3"),)),
        Facts(what="x", epsilon=1e-7, delta=1e-300, bet=0.6, basis="cited", theorem="“1”:\n#\x7f\u2028 {", date="2026-01-02"),
    ],
    ids=["gaussian", "pure", "bare"],
)  # fmt: skip
@pytest.mark.parametrize("more", [{}, MORE], ids=["little", "much"])
def test_an_entry_is_valid(facts, more, schema):
    entry = valid(registry_yaml(facts, **SAID, **more), schema)
    found = entry["deployment"]
    assert entry["tier"] == (3 if more else 1)
    assert found["dp_variant"]["variant_name"] == ("Approximate DP" if facts.delta else "Pure DP")
    assert found["privacy_loss"]["privacy_parameters"] == {"epsilon": facts.epsilon, "delta": facts.delta}
    assert found["administrative"]["registry_authors"] == SAID["authors"]
    assert facts.theorem in found["privacy_loss"]["privacy_parameters_details"]


def test_every_field_of_the_schema_is_written(schema):
    full = registry_yaml(FACTS, **SAID, **MORE, sector="Government", sources="here", notes="none", product=PRODUCTS[0])
    sections = schema["properties"]["deployment"]["properties"]
    wanted = {(section, field) for section, content in sections.items() for field in content["properties"]}
    # Details of choices that the choice itself says in full.
    wanted -= {("deployment_model", f"{name}_details") for name in ("release_type", "data_source_type", "access_type")}
    entry = valid(full, schema)["deployment"]
    assert {(section, field) for section, content in entry.items() for field in content} == wanted


def test_the_page_about_statements_says_who_fills_in_each_field(schema):
    text = (
        (Path(__file__).parent.parent / "docs" / "statement.md").read_text().partition("## What the registry asks")[2]
    )
    sections = schema["properties"]["deployment"]["properties"]
    wanted = {field for content in sections.values() for field in content["properties"]} | {*schema["properties"]}
    assert {name for name in wanted - {"deployment"} if f"`{name}`" not in text} == set()


def test_products_are_those_of_the_registry(schema):
    basic = schema["properties"]["deployment"]["properties"]["basic"]["properties"]
    assert tuple(basic["data_product_type"]["enum"]) == PRODUCTS


def test_a_study_is_one_entry(schema):
    study = StudyFacts(epsilon=3.0, delta=1e-5, unit="person", codebook="age: 0 to 110")
    entry = valid(registry_yaml([FACTS, replace(FACTS, date="2026-03-04")], study, **SAID), schema)["deployment"]
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] == 3.0
    assert entry["basic"]["publication_date"] == "2026-03-04"
    assert "age: 0 to 110" in entry["dp_variant"]["data_domain"]


@pytest.mark.parametrize("field", SAID)
def test_a_missing_field_is_named(field):
    with pytest.raises(eptr.InputError, match=f"needs {field};"):
        registry_yaml(FACTS, **{k: v for k, v in SAID.items() if k != field})
    empty = [""] if isinstance(SAID[field], list) else ""
    with pytest.raises(eptr.InputError, match=f"needs {field};"):
        registry_yaml(FACTS, **SAID | {field: empty})


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"publication_date": "May"}, "YYYY-MM-DD"),
        ({"product": "A book"}, "product must be one of"),
        ({"colour": "red"}, "colour is no field"),
    ],
)
def test_what_makes_no_entry(more, message):
    with pytest.raises(eptr.InputError, match=message):
        registry_yaml(FACTS, **SAID, **more)


def test_what_is_not_private_is_no_deployment():
    with pytest.raises(eptr.PrivacyError, match="not private"):
        registry_yaml(replace(FACTS, private=False), **SAID)


@pytest.mark.parametrize("value", [1e-6, 0.5, 3, -2e20, 1.5e-300, "yes", "a: b", "\t\U0001f600\x85", "1e5"])
def test_scalars_are_read_as_they_were(value):
    assert yaml.safe_load(_scalar(value)) == value
