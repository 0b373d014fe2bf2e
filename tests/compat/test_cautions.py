"""Changes that the rules allow and that break readers are warnings: golden cases of every caution, and of none.

`cases/cautions/*.json` holds old and new texts and what is told; `python -P tests/compat/test_cautions.py` writes what
is told anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compat.budget import Budget
from compat.edits import apply_edits
from compat.engine import Previous, Verdict, check
from compat.formats import FORMATS, parse
from compat.level import LEVELS
from compat.report.explain import Incompatibility
from compat.schema import AVRO, JSON, PROTOBUF, SchemaText

CASES = Path(__file__).parent / "cases" / "cautions"
GOLDEN = {AVRO: "avro.json", JSON: "json_schema.json", PROTOBUF: "protobuf.json"}


def read(schema_type: str) -> dict[str, Any]:
    cases: dict[str, Any] = json.loads((CASES / GOLDEN[schema_type]).read_text("utf-8"))
    return cases


def verdict_of(schema_type: str, case: dict[str, Any], level: str = "BACKWARD") -> Verdict:
    new, old = (parse(SchemaText(schema_type, case[side]), strict=True) for side in ("new", "old"))
    return check(new, [Previous(1, old)], LEVELS[level])


def told(caution: Incompatibility, new: str) -> dict[str, Any]:
    shown = caution.to_json()
    kept = ("rule", "severity", "path", "new", "example", "exampleBytes", "effect")
    fixes = {fix.title: apply_edits(new, fix.edits) for fix in caution.fixes}
    return {**{key: shown[key] for key in kept if shown[key] is not None}, "fixes": fixes}


NAMED = [(schema_type, name) for schema_type in GOLDEN for name in read(schema_type)]


@pytest.mark.parametrize(("schema_type", "name"), NAMED, ids=[f"{kind}-{name}" for kind, name in NAMED])
def test_each_case_has_its_cautions(schema_type: str, name: str):
    case = read(schema_type)[name]
    verdict = verdict_of(schema_type, case)
    assert verdict.compatible == all(caution["severity"] == "warning" for caution in case["told"])
    assert [told(caution, case["new"]) for caution in verdict.explained(Budget())] == case["told"]


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_every_caution_has_a_case(schema_type: str):
    rules = {caution["rule"] for case in read(schema_type).values() for caution in case["told"]}
    assert rules - set(FORMATS[schema_type].rules) == set(FORMATS[schema_type].caution_rules)


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_the_documentation_lists_every_caution(schema_type: str):
    page = f"compat-{GOLDEN[schema_type].removesuffix('.json').replace('_', '-')}.md"
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    assert {name for name in FORMATS[schema_type].caution_rules if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_a_caution_about_data_carries_a_datum(schema_type: str):
    without = {"NUMBER_NOT_RESERVED", "NAME_NOT_RESERVED", "NAMESPACE_CHANGED", "ENUM_NUMBER_REUSED"}
    for case in read(schema_type).values():
        for caution in case["told"]:
            assert (caution.get("example") is None) == (caution["rule"] in without)


def test_a_caution_about_an_unknown_logical_type_has_no_datum():
    field = '{"type": "record", "name": "R", "fields": [{"name": "f", "type": {"type": "long", "logicalType": "%s"}}]}'
    case = {"old": field % "timestamp-micros", "new": field % "timestamp-nanos"}
    (caution,) = verdict_of(AVRO, case).explained()
    assert (caution.rule, caution.change, caution.example) == (
        "LOGICAL_TYPE_CHANGED",
        "The new schema has timestamp-nanos where the old schema has timestamp-micros.",
        None,
    )
    (caution,) = verdict_of(AVRO, case, "FORWARD").explained()
    assert caution.change == "The old schema has timestamp-micros where the new schema has timestamp-nanos."


def test_jsonschema_refuses_the_documents():
    judged = 0
    for case in read(JSON).values():
        old, new = (json.loads(case[side]) for side in ("old", "new"))
        judge = jsonschema.validators.validator_for(new)
        for caution in case["told"]:
            document = json.loads(caution["example"])
            assert judge(old, format_checker=judge.FORMAT_CHECKER).is_valid(document)
            assert not judge(new, format_checker=judge.FORMAT_CHECKER).is_valid(document)
            judged += 1
    assert judged >= 15


def test_a_dropped_number_is_reported_in_both_directions():
    case = read(PROTOBUF)["number-not-reserved"]
    for level in ("FORWARD", "FULL"):
        (caution,) = verdict_of(PROTOBUF, case, level).explained()
        assert (caution.rule, caution.path, caution.fixes[0].title) == (
            "NUMBER_NOT_RESERVED",
            "#/M/2",
            "Reserve the number 2 and the name b",
        )


def test_the_other_direction_has_its_own_cautions():
    narrowed = read(PROTOBUF)["number-narrowed"]
    widened = {"old": narrowed["new"], "new": narrowed["old"]}
    assert [caution.rule for caution in verdict_of(PROTOBUF, widened).explained()] == []
    (caution,) = verdict_of(PROTOBUF, widened, "FORWARD").explained()
    assert (caution.rule, caution.direction, caution.breaks) == (
        "NUMBER_NARROWED",
        "FORWARD",
        "readers with version 1, on data written with the new schema",
    )


def test_a_place_that_breaks_has_no_caution():
    case = {"old": read(PROTOBUF)["unpacked-numbers-made-single"]["old"], "new": ""}
    case["new"] = case["old"].replace("repeated int32", "optional int64")
    told_rules = [(caution.rule, caution.severity) for caution in verdict_of(PROTOBUF, case).explained()]
    assert told_rules == [("FIELD_NUMERIC_LABEL_CHANGED", "error")]


def test_cautions_do_not_change_the_verdict_and_end_with_the_budget():
    case = read(PROTOBUF)["number-narrowed"]
    verdict = verdict_of(PROTOBUF, case)
    assert verdict.messages == ()
    (only,) = verdict.explained(Budget(1))
    assert (only.rule, only.severity, only.fixes) == ("NOT_EXAMINED", "warning", ())
    assert only.change == (
        "The new schema was not examined whole against data of the old schema: "
        "the search for breaks that the rules allow ended at its limit of work."
    )


def test_large_schemas_have_cautions():
    def text(required: str, description: str) -> str:
        leaf = {"type": "object", "properties": {f"p{at}": {"type": "string", "title": "t" * 50} for at in range(10)}}
        # The places of harmless changes are searched first.
        inner = {"type": "object", "properties": {f"o{at}": leaf for at in range(20)}, "description": description}
        outer = {"type": "object", "properties": {f"o{at}": inner for at in range(5)}, "description": description}
        last = {"type": "object", "properties": {"o": {"type": "object", "required": [required]}}}
        return json.dumps({**outer, "properties": {**outer["properties"], "last": last}})

    case = {"old": text("p0", "one"), "new": text("not_a_property", "other")}
    assert len(case["new"]) > 70_000
    assert {caution.rule for caution in verdict_of(JSON, case).explained()} == {"REQUIRED_NOT_COMPARED"}


def documents(**keywords: Any) -> dict[str, Any]:
    """A pair of JSON Schemas that the rules find compatible."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, **keywords}
    return {"old": json.dumps(schema), "new": json.dumps({**schema, "description": "other"})}


def many_places() -> dict[str, Any]:
    old, new = (
        {"properties": {f"p{at}": {"type": "string", "description": text} for at in range(41)}} for text in ("a", "b")
    )
    return {"old": json.dumps(old), "new": json.dumps(new)}


#: Keywords that ask for a text that is longer than those that are tried.
LONG: dict[str, Any] = {
    "properties": {"a": {"type": "string"}, "long": {"type": "string", "minLength": 10_001}},
    "required": ["long"],
}


def conditions(**changed: Any) -> dict[str, Any]:
    """A pair whose `if` is about a text that the search does not try, and so are the changed keywords."""
    condition = {"type": "string", "pattern": "^[0-9]{3}-[A-Z]{5}$"}
    case = documents(**{"if": condition, "then": {"minLength": 9}})
    return {**case, "new": json.dumps({**json.loads(case["old"]), **changed})}


NOT_EXAMINED = {
    "a condition": (
        conditions(then={"minLength": 10}),
        "the rules hardly compare '#/then/minLength', and no document was found that it refuses",
    ),
    "no document": (
        documents(allOf=[{"type": "string"}, {"type": "object"}]),
        "no document was made that the writer's schema accepts",
    ),
    "too large": (
        documents(**LONG),
        "documents beyond these limits were left out: "
        "10000 characters in a text, 1000 elements in an array, 500000 characters",
    ),
    "places": (many_places(), "only the first 40 of the places at which they differ were searched"),
}


@pytest.mark.parametrize("name", NOT_EXAMINED)
def test_the_result_names_unexamined_places(name: str):
    case, reason = NOT_EXAMINED[name]
    verdict = verdict_of(JSON, case)
    (only,) = verdict.explained(Budget())
    assert (only.rule, only.severity, only.witness) == ("NOT_EXAMINED", "warning", None)
    assert only.change == f"The new schema was not examined whole against data of the old schema: {reason}."
    assert verdict.compatible


@pytest.mark.parametrize(
    "keywords",
    [
        {"type": "number", "minimum": 3, "maximum": 1},
        {"type": "string", "minLength": 2, "maxLength": 1},
        {"type": "array", "minItems": 2, "maxItems": 1},
        {"type": "object", "minProperties": 2, "maxProperties": 1},
        {"type": "object", "required": ["b"], "properties": {"b": {"type": "number", "minimum": 3, "maximum": 1}}},
        {"allOf": [{"type": "object"}, {"type": "string", "minLength": 2, "maxLength": 1}]},
        {"anyOf": [{"type": "string", "minLength": 2, "maxLength": 1}, False]},
    ],
)
def test_a_writer_whose_bounds_contradict_each_other_is_examined(keywords: dict[str, Any]):
    case = {"old": json.dumps(keywords), "new": json.dumps({**keywords, "description": "other"})}
    assert [reason.rule for reason in verdict_of(JSON, case).explained()] == []


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "if"},
        {"then": {"minLength": 9, "description": "as before"}},
        {"definitions": {"if": {"type": "string"}}},
    ],
)
def test_a_condition_that_stays_counts_as_examined(changed: dict[str, Any]):
    case = conditions()
    case["new"] = json.dumps({**json.loads(case["old"]), **changed})
    assert [reason.rule for reason in verdict_of(JSON, case).explained()] == []


def test_a_condition_that_goes_counts_as_examined():
    case = conditions()
    without_then = {name: value for name, value in json.loads(case["old"]).items() if name != "then"}
    assert [reason.rule for reason in verdict_of(JSON, {**case, "new": json.dumps(without_then)}).explained()] == []


def test_conditions_are_searched_around_their_values():
    """The model has no parts of them."""
    thing = {"type": "object", "properties": {"c": {"type": "string"}}}
    for old, new in (
        ({"if": thing, "then": {"type": "string"}}, {"if": {"type": "object"}, "then": {"type": "string"}}),
        ({"if": {"type": "array", "items": {"type": "null"}}, "then": False}, {"if": {"type": "array"}, "then": False}),
    ):
        case = {"old": json.dumps({"properties": {"a": old}}), "new": json.dumps({"properties": {"a": new}})}
        told = [reason for reason in verdict_of(JSON, case).explained() if reason.severity == "warning"]
        assert [reason.witness is not None and reason.witness.example is not None for reason in told] == [True], told


def test_the_check_skips_protobuf_texts_without_a_constructible_message():
    text = 'syntax = "proto3";\nimport "x.proto";\nmessage M {\n  x.Y y = 1;\n  string %s = 2;\n}\n'
    # A registry reads what it has stored without linking it.
    new, old = (parse(SchemaText(PROTOBUF, text % name)) for name in "ba")
    (only,) = check(new, [Previous(1, old)], LEVELS["BACKWARD"]).explained()
    assert (only.rule, only.severity) == ("NOT_EXAMINED", "warning")
    assert only.change.endswith(
        'no messages can be made of one of them: line 4, column 3: "x.Y" is not defined; '
        'the import "x.proto" was not found: no reference has this name.'
    )


def test_a_caution_shows_a_map_as_written():
    text = 'syntax = "proto3";\nmessage M {\n  map<string, int32> %s = 1;\n}\n'
    (only,) = verdict_of(PROTOBUF, {"old": text % "a", "new": text % "b"}).explained()
    assert only.change == (
        "The number 1 is `map<string, int32> b` in the new schema and `map<string, int32> a` in the old schema."
    )


def test_a_break_is_not_reported_as_unexamined():
    case = documents(**LONG)
    case["new"] = json.dumps({**json.loads(case["new"]), "required": ["a", "long"], "minProperties": 1})
    assert "NOT_EXAMINED" not in {reason.rule for reason in verdict_of(JSON, case).explained()}
    assert [reason.rule for reason in verdict_of(JSON, documents()).explained()] == []


def test_an_unexamined_place_proves_no_fix():
    offered = []
    for length in (10_000, 10_001):
        long = {"type": "string", "minLength": length}
        old, new = (
            {"properties": {"a": {"type": kind}, "long": long}, "required": ["long"], "description": kind}
            for kind in ("string", "integer")
        )
        case = {"old": json.dumps(old), "new": json.dumps(new)}
        (broken,) = verdict_of(JSON, case).explained()
        assert broken.rule == "TYPE_CHANGED"
        offered.append([fix.title for fix in broken.fixes])
    assert offered[0]
    assert not offered[1]


def test_formats_and_patterns_next_to_a_place_do_not_hide_the_place():
    """The search fills what an object requires with texts that its formats and patterns accept."""
    address = {
        "type": "object",
        "properties": {
            "since": {"type": "string", "format": "date-time"},
            "code": {"type": "string", "pattern": "^[A-Z]{2,5}-[0-9]+$"},
            "mail": {"type": "string", "format": "email"},
            "tags": {"contains": {"type": "integer"}},
        },
        "required": ["code", "mail", "since", "tags"],
    }
    old = {"type": "object", "properties": {"address": address}}
    new = json.loads(json.dumps(old))
    new["properties"]["address"]["properties"]["tags"]["contains"]["minimum"] = 5
    case = {"old": json.dumps(old), "new": json.dumps(new)}
    (only,) = verdict_of(JSON, case).explained()
    assert only.rule == "CONTAINS_NOT_COMPARED"


if __name__ == "__main__":
    for schema_type, name in GOLDEN.items():
        cases = read(schema_type)
        for case in cases.values():
            case["told"] = [told(caution, case["new"]) for caution in verdict_of(schema_type, case).explained()]
        (CASES / name).write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n", "utf-8")
