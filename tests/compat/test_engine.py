"""The engine: levels, directions, the reference's messages in its order, and explanations."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from compat import engine
from compat.difference import STRICT_AND_LENIENT, Difference, Rule, SchemaFormat
from compat.engine import Previous, check
from compat.formats import FORMATS, parse
from compat.level import LEVELS, Policy
from compat.report.messages import reserved_field_messages
from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema, ParsedSchema, Position, SchemaText


def avro(*fields: object) -> ParsedSchema:
    text = json.dumps({"type": "record", "name": "R", "fields": fields}, separators=(",", ":"))
    return parse(SchemaText(AVRO, text), strict=True)


def field(name: str, kind: object = "int", **more: object) -> dict[str, object]:
    return {"name": name, "type": kind, **more}


A = avro(field("a"))
AB = avro(field("a"), field("b"))
AB_DEFAULT = avro(field("a"), field("b", default=1))
NOTHING = avro()
TEXT_A = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
TEXT_AB = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'


def missing(name: str, index: int, reader: str, writer: str) -> str:
    return (
        "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', "
        f"description:'The field '{name}' at path '/fields/{index}' in the {reader} schema has no default value"
        f" and is missing in the {writer} schema', additionalInfo:'{name}'}}"
    )


def last(level: str, *, validate_fields: str = "false") -> str:
    return f"{{validateFields: '{validate_fields}', compatibility: '{level}'}}"


def versions(*schemas: ParsedSchema) -> list[Previous]:
    return [Previous(number, schema) for number, schema in enumerate(schemas, 1)]


# level, new, previous oldest first, messages
CASES = [
    ("NONE", AB, [A], []),
    ("BACKWARD", A, [], []),
    ("BACKWARD", AB_DEFAULT, [A], []),
    ("BACKWARD", AB, [A], [missing("b", 1, "new", "old"), 1, TEXT_A]),
    ("BACKWARD", A, [AB], []),
    ("BACKWARD", AB, [A, AB], []),
    ("BACKWARD_TRANSITIVE", AB, [A, AB], [missing("b", 1, "new", "old"), 1, TEXT_A]),
    ("BACKWARD_TRANSITIVE", AB, [NOTHING, A, AB], [missing("b", 1, "new", "old"), 2, TEXT_A]),
    ("FORWARD", AB, [A], []),
    ("FORWARD", A, [AB], [missing("b", 1, "old", "new"), 1, TEXT_AB]),
    ("FORWARD", A, [AB_DEFAULT], []),
    ("FORWARD", A, [AB, A], []),
    ("FORWARD_TRANSITIVE", A, [AB, A], [missing("b", 1, "old", "new"), 1, TEXT_AB]),
    ("FULL", AB_DEFAULT, [A], []),
    ("FULL", AB, [A], [missing("b", 1, "new", "old"), 1, TEXT_A]),
    # The earlier schema is told with the backward messages only.
    ("FULL", A, [AB], [missing("b", 1, "old", "new")]),
    (
        "FULL",
        avro(field("c")),
        [A],
        [missing("a", 0, "old", "new"), missing("c", 0, "new", "old"), 1, TEXT_A],
    ),
    ("FULL_TRANSITIVE", A, [AB, AB_DEFAULT], [missing("b", 1, "old", "new")]),
    ("FULL_TRANSITIVE", AB_DEFAULT, [A, AB_DEFAULT], []),
]


@pytest.mark.parametrize(("level", "new", "previous", "told"), CASES, ids=range(len(CASES)))
def test_messages_of_a_level(level: str, new: ParsedSchema, previous: list[ParsedSchema], told: list[object]):
    verdict = check(new, versions(*previous), LEVELS[level])
    expected = [f"{{oldSchemaVersion: {item}}}" if isinstance(item, int) else item for item in told]
    expected = [f"{{oldSchema: '{item}'}}" if str(item).startswith('{"') else item for item in expected]
    assert list(verdict.messages) == [*expected, *([last(level)] if told else [])]
    assert verdict.compatible is not bool(told)


def test_the_engine_checks_all_versions_on_request():
    verdict = check(
        avro(field("c")), versions(A, avro(field("c")), AB), LEVELS["BACKWARD_TRANSITIVE"], every_version=True
    )
    assert verdict.messages == (
        missing("c", 0, "new", "old"),
        "{oldSchemaVersion: 3}",
        f"{{oldSchema: '{TEXT_AB}'}}",
        missing("c", 0, "new", "old"),
        "{oldSchemaVersion: 1}",
        f"{{oldSchema: '{TEXT_A}'}}",
        last("BACKWARD_TRANSITIVE"),
    )
    assert [found.version for found in verdict.findings] == [3, 1]


def test_only_the_versions_needed_are_parsed():
    parsed = []

    def version(number: int, schema: ParsedSchema) -> Previous:
        def load() -> ParsedSchema:
            parsed.append(number)
            return schema

        return Previous(number, load)

    previous = [version(1, A), version(2, AB), version(3, AB_DEFAULT)]
    assert check(AB_DEFAULT, previous, LEVELS["NONE"]).compatible
    assert parsed == []
    assert check(AB_DEFAULT, previous, LEVELS["BACKWARD"]).compatible
    assert parsed == [3]
    assert not check(avro(field("b")), previous, LEVELS["BACKWARD_TRANSITIVE"]).compatible
    assert parsed == [3, 3, 2, 1]


def test_a_message_identifies_a_schema_without_a_version_by_its_text():
    verdict = check(AB, [Previous(None, A)], LEVELS["BACKWARD"])
    assert verdict.messages == (missing("b", 1, "new", "old"), f"{{oldSchema: '{TEXT_A}'}}", last("BACKWARD"))


# length of the text in UTF-16 code units, whether it is cut
@pytest.mark.parametrize(("filler", "cut"), [("a", False), ("aa", True), ("😀", True)])
def test_long_texts_are_cut_as_java_counts(filler: str, cut: bool):
    doc = "x" * (10_239 - len('{"type":"record","name":"R","doc":"","fields":[]}')) + filler
    text = json.dumps(
        {"type": "record", "name": "R", "doc": doc, "fields": []}, separators=(",", ":"), ensure_ascii=False
    )
    old = parse(SchemaText(AVRO, text))
    assert len(old.canonical) == 10_239 + len(filler)
    (_, _, told, _) = check(A, versions(old), LEVELS["BACKWARD"]).messages
    if not cut:
        assert told == f"{{oldSchema: '{text}'}}"
        return
    assert told.startswith('{oldSchema: <truncated to 10240 characters> \'{"type"')
    kept = told.removeprefix("{oldSchema: <truncated to 10240 characters> '").removesuffix("'}")
    assert text.startswith(kept)
    assert len(kept.encode("utf-16-le")) <= 2 * 10_240


class Other:
    """A schema of another type."""

    schema_type = "OTHER"
    source = canonical = "other"
    full_name = None
    top_level_fields = ()

    def normalized(self) -> str:
        return self.canonical

    def rendered(self, form: str) -> str:  # noqa: ARG002 - the protocol's
        return self.canonical


def test_another_type_is_incompatible():
    message = "Incompatible because of different schema type"
    verdict = check(A, versions(Other()), LEVELS["BACKWARD"])
    assert verdict.messages == (message, "{oldSchemaVersion: 1}", "{oldSchema: 'other'}", last("BACKWARD"))
    verdict = check(A, versions(Other()), LEVELS["FULL"])
    assert verdict.messages == (message, message, "{oldSchemaVersion: 1}", "{oldSchema: 'other'}", last("FULL"))
    (explained,) = check(A, versions(Other()), LEVELS["FORWARD"]).incompatibilities
    assert explained.change == "The old schema is of type OTHER, the new schema of type AVRO."
    assert check(A, versions(Other()), LEVELS["NONE"]).compatible


def test_a_message_about_a_stopped_checker_equals_that_of_the_reference():
    verdict = check(avro(field("x", aliases=["a", "b"])), versions(AB), LEVELS["BACKWARD"])
    told = (
        "Unexpected exception during compatibility check: Reader record field x type:INT pos:0"
        f" matches multiple fields in writer record schema {TEXT_AB}"
    )
    assert verdict.messages == (told, "{oldSchemaVersion: 1}", f"{{oldSchema: '{TEXT_AB}'}}", last("BACKWARD"))


def test_a_version_that_cannot_be_read_is_incompatible():
    def load() -> ParsedSchema:
        raise InvalidSchema(AVRO, "broken text")

    verdict = check(A, [Previous(7, load)], LEVELS["BACKWARD_TRANSITIVE"])
    assert verdict.messages == (
        "Unexpected exception during compatibility check: broken text",
        "{oldSchemaVersion: 7}",
        last("BACKWARD_TRANSITIVE"),
    )
    assert verdict.incompatibilities[0].to_json()["version"] == 7


def test_a_failing_checker_is_incompatible_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def fail(*_: object) -> list[Difference]:
        raise RuntimeError("it broke")

    with_format(monkeypatch, replace(FORMATS[AVRO], differences=fail))
    verdict = check(A, versions(A), LEVELS["FORWARD"])
    assert verdict.messages[0] == "Unexpected exception during compatibility check: it broke"
    assert "the check of AVRO schemas failed" in caplog.text


def with_format(monkeypatch: pytest.MonkeyPatch, schema_format: SchemaFormat) -> None:
    monkeypatch.setattr(engine, "FORMATS", {schema_format.name: schema_format})


def test_the_policy_decides_which_changes_break(monkeypatch: pytest.MonkeyPatch):
    lenient = Rule("LENIENT_RULE", frozenset({Policy.LENIENT}))
    harmless = Rule("HARMLESS_RULE", STRICT_AND_LENIENT)
    found = [Difference(harmless, "#/a"), Difference(lenient, "#/b")]
    made = replace(FORMATS[AVRO], differences=lambda *_: found, message=lambda one, *_: one.rule.name)
    with_format(monkeypatch, made)
    assert check(A, versions(A), LEVELS["BACKWARD"]).messages[0] == "LENIENT_RULE"
    assert check(A, versions(A), LEVELS["BACKWARD"], Policy.LENIENT).compatible


# new fields, reserved, reserved before, messages
RESERVED = [
    (["a"], None, None, []),
    (["a"], "b, c", "b", []),
    (["a"], "", " , ", []),
    (
        ["a"],
        "c",
        "b,c,d",
        [
            (
                "The new schema has reserved field b removed from its metadata"
                " which is present in the old schema's metadata."
            ),
            (
                "The new schema has reserved field d removed from its metadata"
                " which is present in the old schema's metadata."
            ),
        ],
    ),
    (["a", "b"], " b ,c", "c", ["The new schema has field that conflicts with the reserved field b."]),
]


@pytest.mark.parametrize(("fields", "reserved", "before", "messages"), RESERVED, ids=range(len(RESERVED)))
def test_reserved_fields(fields: list[str], reserved: str | None, before: str | None, messages: list[str]):
    new = avro(*map(field, fields))
    assert reserved_field_messages(new, reserved, before) == messages
    verdict = check(new, [], LEVELS["BACKWARD"], validate_fields=True, reserved_messages=messages)
    ending = [last("BACKWARD", validate_fields="true")] if messages else []
    assert list(verdict.messages) == messages + ending


NEW = """{
  "type": "record", "name": "R",
  "fields": [
    {"name": "e", "type": {"type": "enum", "name": "E",
      "symbols": ["A"]}}
  ]
}"""
OLD = '{"type":"record","name":"R","fields":[{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}}]}'


def test_an_explanation_has_rule_place_version_and_change():
    new, old = parse(SchemaText(AVRO, NEW)), parse(SchemaText(AVRO, OLD))
    verdict = check(new, [Previous(3, old)], LEVELS["BACKWARD"])
    (explained,) = verdict.incompatibilities
    assert (explained.new_at, explained.old_at) == (Position(5, 7), Position(1, 84))
    assert explained.to_json() == {
        "rule": "MISSING_ENUM_SYMBOLS",
        "severity": "error",
        "path": "/fields/0/type/symbols",
        "direction": "BACKWARD",
        "version": 3,
        "change": "The enum E of the new schema lacks symbols of the old schema, [B], and has no default.",
        "new": {"line": 5, "column": 7},
        "old": {"line": 1, "column": 84},
        "breaks": "readers with the new schema, on data written with version 3",
        "harm": "A reader fails on every value that is one of [B].",
        "remedy": "Keep the symbols, or give the enum in the new schema a default among its symbols.",
        "fixes": [
            {"title": "Keep the symbols B", "edits": [{"offset": 126, "length": 0, "text": ', "B"'}]},
            {
                "title": "Read the symbols B as the default A",
                "edits": [{"offset": 127, "length": 0, "text": ',\n      "default": "A"'}],
            },
        ],
        "example": '{"e":"B"}',
        "exampleBytes": "Ag==",
        "effect": "The reader refuses it.",
        "message": verdict.messages[0],
    }
    assert explained.to_text() == (
        "MISSING_ENUM_SYMBOLS at /fields/0/type/symbols\n"
        "  what changed: The enum E of the new schema lacks symbols of the old schema, [B], and has no default.\n"
        "  where:        new schema line 5, column 7; version 3 line 1, column 84\n"
        "  who breaks:   readers with the new schema, on data written with version 3\n"
        "  how:          A reader fails on every value that is one of [B].\n"
        '  example:      {"e":"B"}\n'
        "  effect:       The reader refuses it.\n"
        "  remedy:       Keep the symbols, or give the enum in the new schema a default among its symbols.\n"
        "  fix:          Keep the symbols B"
    )


def test_an_explanation_for_old_readers_gives_advice_on_the_new_schema():
    new, old = parse(SchemaText(AVRO, OLD)), parse(SchemaText(AVRO, NEW))
    (explained,) = check(new, [Previous(None, old)], LEVELS["FORWARD"]).incompatibilities
    assert (explained.new_at, explained.old_at) == (Position(1, 84), Position(5, 7))
    assert explained.direction == "FORWARD"
    assert explained.breaks == "readers with the old schema, on data written with the new schema"
    assert explained.remedy == "Leave out [B] until all readers have them, or have an enum with a default."


def test_every_avro_rule_can_be_explained_both_ways():
    for rule in FORMATS[AVRO].rules.values():
        assert rule.description
        assert rule.change
        assert rule.harm
        assert rule.remedy
        assert rule.writer_remedy


def test_formats_are_listed_without_being_imported():
    assert list(FORMATS) == [AVRO, JSON, PROTOBUF]
    assert len(FORMATS) == 3
    assert "XML" not in FORMATS
    with pytest.raises(InvalidSchema) as refused:
        parse(SchemaText("XML", "<a/>"))
    assert refused.value == InvalidSchema("XML", "Invalid schema type XML")


def test_checking_avro_starts_without_the_other_types():
    script = (
        "import sys, compat.engine, compat.avro;"
        "print([m for m in ('jsonschema', 'google.protobuf', 'fastavro', 'pydantic') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"
