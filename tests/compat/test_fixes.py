"""Fixes: what is offered for the golden cases of every rule, applied; and that what is offered clears the verdict.

`cases/fixes/*.json` holds the titles and the edited parts by case; `python -P tests/compat/test_fixes.py` writes them
anew.
"""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from compat.avro import AvroSchema
from compat.budget import Budget
from compat.edits import Fix, TextEdit, apply_edits
from compat.engine import Previous, Verdict, check
from compat.formats import FORMATS, parse
from compat.json.edits import append_elements, remove, set_member, spans, value_text
from compat.json.json_text import loads
from compat.level import LEVELS, Policy
from compat.matrix import compare_with_every
from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema, ParsedSchema, SchemaText
from tests.compat.avro.evolutions import evolutions
from tests.compat.json_schema.drawing import Drawing
from tests.compat.protobuf.generated import build, pairs
from tests.compat.witness_cases import CASES, GOLDEN, cases

LEVEL = {"BACKWARD": LEVELS["BACKWARD"], "FORWARD": LEVELS["FORWARD"], "FULL": LEVELS["FULL"]}


def verdict_of(new: ParsedSchema, old: ParsedSchema, level: str) -> Verdict:
    return check(new, [Previous(None, old)], LEVEL[level])


def edited(schema: ParsedSchema, fix: Fix) -> ParsedSchema:
    return FORMATS[schema.schema_type].edited(schema, apply_edits(schema.source, fix.edits))


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in list(lines)[2:] if not line.startswith("@@")]


def offered(schema_type: str) -> dict[str, Any]:
    everything: dict[str, Any] = {}
    for level in ("BACKWARD", "FORWARD"):
        for case in cases(schema_type):
            told = [
                {
                    "rule": reason.rule,
                    "path": reason.path,
                    "fixes": {
                        fix.title: changed_lines(case.reader.source, apply_edits(case.reader.source, fix.edits))
                        for fix in reason.fixes
                    },
                }
                for reason in verdict_of(case.reader, case.writer, level).explained()
                if reason.severity == "error"
            ]
            if told:
                everything[f"{level} {case.name}"] = told
    return everything


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_each_finding_has_its_fixes(schema_type: str):
    assert offered(schema_type) == json.loads((CASES / "fixes" / GOLDEN[schema_type]).read_text("utf-8"))


#: Rules without an edit: what was added on purpose would have to go again.
WITHOUT_FIX = {
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
}


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_every_rule_that_breaks_has_a_fix_in_some_case(schema_type: str):
    broken, mended = set(), set()
    for told in json.loads((CASES / "fixes" / GOLDEN[schema_type]).read_text("utf-8")).values():
        broken |= {one["rule"] for one in told}
        mended |= {one["rule"] for one in told if one["fixes"]}
    assert broken - mended <= WITHOUT_FIX


def mend(new: ParsedSchema, old: ParsedSchema, level: str, counts: Counter[str]) -> None:
    """Apply the first fix that is offered until none is; each has to leave fewer breaks than there were."""
    counts["pairs"] += 1
    breaks = len(verdict_of(new, old, level).findings)
    counts["incompatible"] += bool(breaks)
    counts["mended"] += bool(breaks)
    while breaks:
        explained = verdict_of(new, old, level).explained(Budget())
        fix = next((fix for reason in explained[:breaks] for fix in reason.fixes), None)
        if fix is None:
            counts["mended"] -= 1
            return
        new = edited(new, fix)
        left = len(verdict_of(new, old, level).findings)
        assert left < breaks, (fix, new.source)
        breaks = left
        counts["fixes"] += 1


def test_the_fixes_for_avro_clear_the_verdict():
    counts: Counter[str] = Counter()

    @given(evolutions())
    @settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def run(pair: tuple[AvroSchema, AvroSchema]) -> None:
        for level in LEVEL:
            mend(*pair, level, counts)

    run()
    assert counts["fixes"] >= 400
    assert counts["mended"] >= 0.85 * counts["incompatible"]


@pytest.mark.slow
def test_the_fixes_for_protobuf_clear_the_verdict():
    counts: Counter[str] = Counter()

    @given(pairs())
    @settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def run(pair: Any) -> None:
        old, new = (build(side) for side in pair)
        for level in LEVEL:
            mend(new, old, level, counts)

    run()
    assert counts["fixes"] >= 60
    assert counts["mended"] >= 0.5 * counts["incompatible"]


@pytest.mark.slow
def test_the_fixes_for_json_schema_clear_the_verdict():
    counts: Counter[str] = Counter()
    for seed in range(250):
        schemas = Drawing("draft-07", seed).pair()
        try:
            old, new = (parse(SchemaText(JSON, json.dumps(schema)), strict=True) for schema in schemas)
        except InvalidSchema:
            continue
        for level in LEVEL:
            mend(new, old, level, counts)
    assert counts["fixes"] >= 50
    assert counts["mended"] >= 0.5 * counts["incompatible"]


#: The length of a rule's key in a tally; a place has three parts.
RULE = 2


def tally(new: ParsedSchema, old: ParsedSchema, level: str) -> Counter[tuple[str, ...]]:
    """Each rule's findings, counted by place; cautions count if nothing breaks, since breaks may hide them."""
    verdict = verdict_of(new, old, level)
    found = verdict.findings or verdict.cautions()
    places = [(one.difference.rule.name, one.difference.path, one.direction.name) for one in found]
    return Counter([*places, *((rule, direction) for rule, _, direction in places)])


def every_fix(new: ParsedSchema, old: ParsedSchema, is_formatted: Callable[[str], bool]) -> int:
    """Apply every fix of every finding by itself; return how many there were."""
    applied = 0
    assert is_formatted(new.source), new.source
    for level in LEVEL:
        before = tally(new, old, level)
        breaks = not verdict_of(new, old, level).compatible
        for reason in verdict_of(new, old, level).explained(Budget()):
            for fix in reason.fixes:
                applied += 1
                mended = edited(new, fix)
                told = (reason.rule, reason.path, fix.title, new.source, mended.source)
                after = tally(mended, old, level)
                added = {key: count for key, count in after.items() if count > before[key] and len(key) == RULE}
                # Breaks hide cautions, so the cautions behind the last break are not the fix's.
                assert not added or (breaks and verdict_of(mended, old, level).compatible), (added, told)
                place = (reason.rule, reason.path, reason.direction)
                assert after[place] < max(1, before[place]), told
                assert is_formatted(mended.source), told
    return applied


def is_indented(text: str) -> bool:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False) == text


def is_dense(text: str) -> bool:
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False) == text


def is_proto_indented(text: str) -> bool:
    """True if each statement has a line of its own, indented by two blanks for each block around it."""
    depth = 0
    for line in text.splitlines():
        bare = line.strip()
        depth -= bare.startswith("}")
        if bare and (line != "  " * depth + bare or bare.count(";") > 1):
            return False
        depth += bare.endswith("{")
    return depth == 0


def in_layouts(schema_type: str, schema: ParsedSchema) -> list[tuple[ParsedSchema, Callable[[str], bool]]]:
    value = json.loads(schema.source)
    layouts: list[tuple[str, Callable[[str], bool]]] = [
        (json.dumps(value, indent=2, ensure_ascii=False), is_indented),
        (json.dumps(value, separators=(",", ":"), ensure_ascii=False), is_dense),
    ]
    # A text of one word has no layout.
    return [
        (parse(SchemaText(schema_type, text), strict=True), judge)
        for text, judge in layouts
        if text[0] in "[{" and value
    ]


def test_every_fix_of_avro_mends_its_finding_and_keeps_the_layout():
    applied = 0

    @given(evolutions())
    @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def run(pair: tuple[AvroSchema, AvroSchema]) -> None:
        nonlocal applied
        new, old = pair
        for laid_out, judge in in_layouts(AVRO, new):
            applied += every_fix(laid_out, old, judge)

    run()
    assert applied >= 200


def test_every_fix_of_json_schema_mends_its_finding_and_keeps_the_layout():
    applied = 0
    for seed in range(60):
        schemas = Drawing("draft-07", seed).pair()
        try:
            old, new = (parse(SchemaText(JSON, json.dumps(schema)), strict=True) for schema in schemas)
        except InvalidSchema:
            continue
        for laid_out, judge in in_layouts(JSON, new):
            applied += every_fix(laid_out, old, judge)
    assert applied >= 50


def test_every_fix_of_protobuf_mends_its_finding_and_keeps_the_layout():
    applied = 0

    @given(pairs())
    @settings(
        max_examples=25,
        phases=[Phase.generate],
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def run(pair: Any) -> None:
        nonlocal applied
        old, new = (build(side) for side in pair)
        applied += every_fix(FORMATS[PROTOBUF].edited(new, new.canonical), old, is_proto_indented)

    run()
    assert applied >= 30


TEXT = '{"a": 1, "b": [ "x", "y" ],\n "c": {\n  "d": null,\n  "e": {}\n }, // why\n "f": []}'


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (set_member(TEXT, (), "g", "2"), {"g": 2}),
        (set_member(TEXT, (), "a", "2"), {"a": 2}),
        (set_member(TEXT, ("c",), "g", "2"), {"c": {"d": None, "e": {}, "g": 2}}),
        (set_member(TEXT, ("c", "e"), "g", "2"), {"c": {"d": None, "e": {"g": 2}}}),
        (append_elements(TEXT, ("b",), ['"z"']), {"b": ["x", "y", "z"]}),
        (append_elements(TEXT, ("f",), ['"z"']), {"f": ["z"]}),
        (remove(TEXT, ("b", 0)), {"b": ["y"]}),
        (remove(TEXT, ("b", 1)), {"b": ["x"]}),
        (remove(TEXT, ("c", "e")), {"c": {"d": None}}),
        (remove(TEXT, ("c", "d")), {"c": {"e": {}}}),
    ],
)
def test_edits_of_json_change_one_thing(edit: TextEdit, after: dict[str, Any]):
    before = loads(TEXT, comments=True)
    assert loads(apply_edits(TEXT, [edit]), comments=True) == {**before, **after}
    assert "// why" in apply_edits(TEXT, [edit])


def test_spans_cover_the_values():
    assert {pointer: value_text(TEXT, pointer) for pointer in spans(TEXT) if len(pointer) == 2} == {
        ("b", 0): '"x"',
        ("b", 1): '"y"',
        ("c", "d"): "null",
        ("c", "e"): "{}",
    }


def test_edits_that_overlap_are_refused():
    with pytest.raises(ValueError, match="overlaps"):
        apply_edits("abcdef", [TextEdit(0, 3, ""), TextEdit(2, 1, "")])


def test_a_fix_leaves_the_rest_of_the_text_alone():
    old = parse(SchemaText(AVRO, '{"type":"record","name":"R","fields":[]}'))
    text = (
        '// ours\n{\n\t"type": "record", "name": "R",\n\t"fields": [\n\t\t{"name": "a", "type": "long"} // id\n\t]\n}\n'
    )
    (told,) = verdict_of(parse(SchemaText(AVRO, text)), old, "FULL").explained()
    assert [(fix.title, apply_edits(text, fix.edits)) for fix in told.fixes] == [
        (
            "Make the field nullable, with the default null",
            text.replace('"long"}', '["null", "long"], "default": null}'),
        ),
        ("Add the default 0", text.replace('"long"}', '"long", "default": 0}')),
    ]


def test_a_renamed_field_gets_an_alias():
    fields = '{"type":"record","name":"R","fields":[{"name":"%s","type":"string"}]}'
    old, new = (parse(SchemaText(AVRO, fields % name)) for name in ("before", "after"))
    (told,) = verdict_of(new, old, "BACKWARD").explained()
    assert told.fixes[0].title == 'Add the alias "before": renamed?'
    assert told.to_json()["fixes"][0]["edits"] == [{"offset": 69, "length": 0, "text": ',"aliases":["before"]'}]


IN_A_BRANCH = """{"type": "record", "name": "Order", "fields": [
  {"name": "by", "type": ["null", {"type": "record", "name": "Customer", "fields": [
    {"name": "id", "type": "long"}%s
  ]}]}
]}"""


def test_the_fix_for_a_missing_branch_names_and_removes_its_cause():
    old = parse(SchemaText(AVRO, IN_A_BRANCH % ""))
    text = IN_A_BRANCH % ',\n    {"name": "mail", "type": "string"}'
    (told,) = verdict_of(parse(SchemaText(AVRO, text)), old, "BACKWARD").explained()
    assert (told.rule, told.path, told.change) == (
        "MISSING_UNION_BRANCH",
        "/fields/0/type/1",
        "The union of the new schema has no branch that reads RECORD Customer of the old schema. The cause is"
        " READER_FIELD_MISSING_DEFAULT_VALUE at /fields/1 of the branch: The record Customer has the field mail in the"
        " new schema only, and the field has no default.",
    )
    assert {fix.title: changed_lines(text, apply_edits(text, fix.edits))[1:] for fix in told.fixes} == {
        "Make the field nullable, with the default null": [
            '+    {"name": "mail", "type": ["null", "string"], "default": null}'
        ],
        'Add the default ""': ['+    {"name": "mail", "type": "string", "default": ""}'],
    }
    two = IN_A_BRANCH % ',\n    {"name": "mail", "type": "string"},\n    {"name": "age", "type": "int"}'
    (told,) = verdict_of(parse(SchemaText(AVRO, two)), old, "BACKWARD").explained()
    assert told.change.endswith("(1 more in the same branch.)")
    assert verdict_of(edited(parse(SchemaText(AVRO, two)), told.fixes[0]), old, "BACKWARD").compatible


def test_a_branch_of_another_name_has_no_cause():
    old, new = (
        parse(SchemaText(AVRO, f'["null", {{"type": "enum", "name": "{name}", "symbols": []}}]')) for name in "AB"
    )
    (told,) = verdict_of(new, old, "BACKWARD").explained()
    assert told.change == "The union of the new schema has no branch that reads ENUM A of the old schema."


@pytest.mark.parametrize(
    ("level", "titles", "of_every"),
    [
        ("BACKWARD", ["Read both types, by a union", "Keep the type"], ["Keep the type"]),
        ("BACKWARD_TRANSITIVE", ["Read both types, by a union"], []),
    ],
)
def test_a_fix_stands_on_all_versions_of_the_level(level: str, titles: list[str], of_every: list[str]):
    def record(kind: str) -> ParsedSchema:
        return parse(SchemaText(AVRO, f'{{"type":"record","name":"R","fields":[{{"name":"x","type":"{kind}"}}]}}'))

    versions = [Previous(1, record("int")), Previous(2, record("string"))]
    (told,) = check(record("int"), versions, LEVELS[level]).explained(Budget())
    assert [fix.title for fix in told.fixes] == titles
    matrix = compare_with_every(record("int"), versions, Policy.STRICT, Budget())
    forward, backward = sorted(matrix.explained(Budget(), LEVELS[level])[0], key=lambda told: told.direction)[::-1]
    assert [fix.title for fix in forward.fixes] == of_every
    assert [fix.title for fix in backward.fixes] == titles


def test_a_version_that_cannot_be_read_is_no_trial():
    def refuse() -> ParsedSchema:
        raise InvalidSchema(AVRO, "broken")

    new, old = (parse(SchemaText(AVRO, text)) for text in ('"int"', '"string"'))
    told = check(new, [Previous(1, refuse), Previous(2, old)], LEVELS["BACKWARD_TRANSITIVE"]).explained(Budget())
    assert [fix.title for fix in told[0].fixes] == ["Read both types, by a union", "Keep the type"]


STAMP = "message N {\n  google.protobuf.Timestamp at = 1;\n}\n"
KEPT = "message M {\n  N n = 1;\n}\n"
NOW = 'syntax = "proto3";\npackage p;\n\nmessage M {\n  string other = 2;\n}\n'


def test_a_restored_message_brings_its_imports():
    imports = 'import "google/protobuf/timestamp.proto";\n'
    old = parse(SchemaText(PROTOBUF, f'syntax = "proto3";\npackage p;\n{imports}{KEPT}{STAMP}'), strict=True)
    new = parse(SchemaText(PROTOBUF, NOW), strict=True)
    (reason,) = [reason for reason in verdict_of(new, old, "BACKWARD").explained() if reason.severity == "error"]
    (fix,) = reason.fixes
    text = apply_edits(NOW, fix.edits)
    assert changed_lines(NOW, text) == [f"+{imports.strip()}", "+", *(f"+{line}" for line in STAMP.splitlines())]
    assert FORMATS[PROTOBUF].warnings is not None
    assert FORMATS[PROTOBUF].warnings(parse(SchemaText(PROTOBUF, text), strict=True)) == ()


def test_a_fix_brings_no_text_that_protoc_refuses():
    # The registry accepts a well-known type that is not imported, and protoc does not.
    old = parse(SchemaText(PROTOBUF, f'syntax = "proto3";\npackage p;\n{KEPT}{STAMP}'), strict=True)
    new = parse(SchemaText(PROTOBUF, NOW), strict=True)
    told = [(reason.rule, reason.fixes) for reason in verdict_of(new, old, "BACKWARD").explained()]
    assert ("MESSAGE_REMOVED", ()) in told


def test_statements_keep_their_layout():
    old = 'syntax = "proto2";\nmessage M {\n  required string a = 1;\n}\n'
    new = 'syntax = "proto2";\nmessage M {\n  // gone\n}\n'
    schemas = [parse(SchemaText(PROTOBUF, text)) for text in (new, old)]
    (told,) = verdict_of(*schemas, "BACKWARD").explained()
    assert [apply_edits(new, fix.edits) for fix in told.fixes] == [
        'syntax = "proto2";\nmessage M {\n  // gone\n  required string a = 1;\n}\n'
    ]


if __name__ == "__main__":
    (CASES / "fixes").mkdir(exist_ok=True)
    for schema_type, name in GOLDEN.items():
        text = json.dumps(offered(schema_type), indent=1, ensure_ascii=False)
        (CASES / "fixes" / name).write_text(f"{text}\n", "utf-8")
