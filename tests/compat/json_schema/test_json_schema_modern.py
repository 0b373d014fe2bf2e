"""Comparisons that the reference makes otherwise in drafts 2019-09 and 2020-12 than in older ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.json_schema import FORMAT
from compat.schema import JSON, SchemaText

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
MODERN = ("https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema")


def differences(draft: str, old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    reader, writer = (
        FORMAT.parse(SchemaText(JSON, json.dumps({"$schema": draft, **raw})), (), True) for raw in (new, old)
    )
    return [(difference.rule.name, difference.path) for difference in FORMAT.differences(reader, writer)]


NULL = {"type": "null"}
MIXED = {"type": "null", "properties": {"b": False}}
SPREAD = [
    ({"oneOf": [NULL]}, {"oneOf": [MIXED]}, [("SUM_TYPE_EXTENDED", "#/")]),
    ({"anyOf": [NULL]}, {"anyOf": [MIXED]}, [("SUM_TYPE_EXTENDED", "#/")]),
    ({"allOf": [NULL]}, {"allOf": [MIXED]}, [("PRODUCT_TYPE_EXTENDED", "#/")]),
    ({"oneOf": [MIXED]}, {"oneOf": [MIXED]}, []),
    ({"oneOf": [MIXED]}, {"oneOf": [NULL]}, [("SUM_TYPE_NARROWED", "#/")]),
    # Two combinators in one member are two parts, and an explicit allOf is one.
    (
        {"oneOf": [NULL]},
        {"oneOf": [NULL, {"anyOf": [{"type": "string"}], "oneOf": [{"type": "string"}]}]},
        [("SUM_TYPE_EXTENDED", "#/")],
    ),
    ({"oneOf": [{"allOf": [NULL, {"type": "string"}]}]}, {"oneOf": [{"allOf": [NULL, {"type": "string"}]}]}, []),
    ({"oneOf": [{"type": ["null", "string"]}]}, {"oneOf": [{"type": ["null", "string"]}]}, []),
]


@pytest.mark.parametrize("draft", MODERN)
@pytest.mark.parametrize(("old", "new", "found"), SPREAD, ids=range(len(SPREAD)))
def test_a_member_with_keywords_of_several_kinds_is_spread(draft: str, old: Any, new: Any, found: Any):
    assert differences(draft, old, new) == found


def test_findings_about_lists_of_equal_length_show_the_members():
    old, new = (
        FORMAT.parse(SchemaText(JSON, json.dumps({"$schema": MODERN[1], "oneOf": [member]})), (), True)
        for member in (MIXED, NULL)
    )
    (difference,) = FORMAT.differences(new, old)
    assert difference.arguments == {
        "reader_value": '[{"type":"null"}]',
        "writer_value": '[{"type":"null","properties":{"b":false}}]',
    }


def test_older_drafts_keep_a_mixed_member_together():
    assert differences(DRAFT_7, {"oneOf": [NULL]}, {"oneOf": [MIXED]}) == [("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/")]


@pytest.mark.parametrize("keyword", ["then", "else"])
def test_then_and_else_mean_nothing_without_if(keyword: str):
    conditional = {"type": "string", keyword: {"maxLength": 1}}
    for draft in MODERN:
        assert differences(draft, {"type": "string"}, conditional) == []
        assert differences(draft, conditional, {"type": "string"}) == []
        assert differences(draft, {"type": "string"}, {**conditional, "if": True}) == [("TYPE_CHANGED", "#/")]
    assert differences(DRAFT_7, {"type": "string"}, conditional) == [("TYPE_CHANGED", "#/")]


def nested(kind: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": kind}, "next": {"$ref": "#"}}}


def test_a_schema_that_refers_to_itself_is_listed_at_three_levels():
    levels = [f"#/{'properties/next/' * level}properties/a" for level in (2, 1, 0)]
    for draft in MODERN:
        found = differences(draft, nested("integer"), nested("string"))
        assert found == [("TYPE_CHANGED", path) for path in levels]
    assert differences(DRAFT_7, nested("integer"), nested("string")) == [("TYPE_CHANGED", path) for path in levels[1:]]
