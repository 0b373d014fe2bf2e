"""REDACT: strings and bytes with the rule's tags become <REDACTED>."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.serdes.rules.conftest import ADA, PERSON
from tests.serdes.rules.test_cel import run


def redact(*tags: str, **more: Any) -> dict[str, Any]:
    return {"type": "REDACT", "tags": list(tags), **more}


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        (redact("PII"), {"name": "<REDACTED>", "mail": "<REDACTED>"}),
        (redact("SECRET"), {"raw": b"<REDACTED>"}),
        (redact("LIST", "MAP"), {"tags": ["<REDACTED>"] * 2, "props": {"k": "<REDACTED>"}}),
        (redact("NOSUCH"), {}),
        # A rule without tags is for all strings and bytes.
        (
            redact(),
            {
                "name": "<REDACTED>",
                "mail": "<REDACTED>",
                "raw": b"<REDACTED>",
                "tags": ["<REDACTED>"] * 2,
                "props": {"k": "<REDACTED>"},
            },
        ),
    ],
)
def test_strings_and_bytes_are_redacted(rule: dict[str, Any], changes: dict[str, Any]):
    assert run(rule, ADA) == {**ADA, **changes}
    assert run(rule, ADA, mode="READ") == {**ADA, **changes}


def test_null_stays_null():
    assert run(redact("MAIL"), {**ADA, "mail": None}) == {**ADA, "mail": None}


@pytest.mark.parametrize(
    ("field_type", "named"),
    [
        ("int", "INT"),
        ("boolean", "BOOLEAN"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "ENUM"),
        ({"type": "fixed", "name": "F", "size": 1}, "FIXED"),
        (["null", "string", "long"], "LONG"),
    ],
)
def test_a_tag_on_what_cannot_be_redacted_stops_all_messages(field_type: Any, named: str):
    field = {"name": "f", "type": field_type, "confluent:tags": ["PII"]}
    schema = json.dumps({"type": "record", "name": "R", "fields": [field]})
    problem = f"the field R.f has a tag of the rule, but a {named} cannot be redacted: remove the tag"
    assert problem in run(redact("PII"), {"f": "x"}, schema)
    assert problem in run(redact("PII", onFailure="ERROR"), {"f": "x"}, schema, mode="READ")


def test_a_decimal_cannot_be_redacted():
    logical = {"type": "bytes", "logicalType": "decimal", "precision": 4}
    schema = {"type": "record", "name": "R", "fields": [{"name": "f", "type": logical}]}
    assert run(redact(), {"f": Decimal(1)}, schema) == " at f: a Decimal cannot be redacted"


def test_a_condition_cannot_redact():
    assert "set its kind to TRANSFORM" in run(redact("PII", kind="CONDITION"), ADA, PERSON)
