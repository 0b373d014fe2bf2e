"""Every break carries a datum that shows it: golden for each case of each rule, and judged by a second implementation.

`cases/witnesses/*.json` holds what is shown, by case; `python -P tests/compat/test_witnesses.py` writes them anew.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import fastavro
import jsonschema
import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, assume, given, settings

from compat.avro import FORMAT as AVRO_FORMAT
from compat.avro import AvroSchema
from compat.budget import Budget
from compat.difference import Difference, Witness
from compat.engine import Previous, check
from compat.formats import FORMATS, parse
from compat.json_schema import JsonSchema
from compat.level import LEVELS, Policy
from compat.protobuf import FORMAT as PROTOBUF_FORMAT
from compat.protobuf import ProtobufSchema
from compat.report.explain import NOT_FOUND
from compat.report.finding import Finding
from compat.schema import AVRO, JSON, PROTOBUF, Dependency, ParsedSchema, SchemaText
from tests.compat.avro.evolutions import apache_can_judge, apache_reads, data, evolutions
from tests.compat.protobuf.generated import build, pairs
from tests.compat.witness_cases import CASES, GOLDEN, cases


def shown(finding: Finding, witness: Witness | None) -> dict[str, Any]:
    told: dict[str, Any] = {"rule": finding.difference.rule.name, "path": finding.difference.path}
    if witness is None:
        return told
    return {
        **told,
        "example": witness.example,
        **({} if witness.data is None else {"bytes": witness.data.hex()}),
        "effect": witness.effect,
    }


def found(schema_type: str) -> dict[str, Any]:
    everything = {}
    for case in cases(schema_type):
        verdict = case.verdict()
        # What comes behind the findings are cautions.
        told = zip(verdict.findings, verdict.explained(), strict=False)
        shows = [shown(finding, explained.witness) for finding, explained in told]
        if shows:
            everything[case.name] = shows
    return everything


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_the_shown_data_equal_the_golden_files(schema_type: str):
    assert found(schema_type) == json.loads((CASES / "witnesses" / GOLDEN[schema_type]).read_text("utf-8"))


#: Rules of all three types that break no data in any case, and are told so.
NEVER_BREAKS = {"PACKAGE_CHANGED", "FIELD_NUMERIC_LABEL_CHANGED"}
#: Patterns are compared as texts, so nothing tells whether a text matches one and not the other.
NOT_SHOWN = {"COMBINED_TYPE_CHANGED"}


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_every_rule_that_breaks_has_a_case_with_a_datum(schema_type: str):
    broken, with_datum = set(), set()
    for told in json.loads((CASES / "witnesses" / GOLDEN[schema_type]).read_text("utf-8")).values():
        broken |= {one["rule"] for one in told}
        with_datum |= {one["rule"] for one in told if one.get("example") is not None}
    assert broken - with_datum <= NEVER_BREAKS | NOT_SHOWN


def differences_of(case: Any) -> list[tuple[Difference, Witness]]:
    shows = FORMATS[case.writer.schema_type].witness
    told = [
        (one, shows(one, case.reader, case.writer))
        for one in (finding.difference for finding in case.verdict().findings)
    ]
    return [(one, witness) for one, witness in told if witness is not None and witness.example is not None]


def test_apaches_avro_refuses_the_shown_datum():
    judged = 0
    for case in cases(AVRO):
        assert isinstance(case.reader, AvroSchema)
        assert isinstance(case.writer, AvroSchema)
        if not apache_can_judge(case.reader.root, case.writer.root, set()):
            continue
        for _, witness in differences_of(case):
            assert witness.data is not None
            assert apache_reads(case.writer, case.writer, [witness.data])
            assert not apache_reads(case.reader, case.writer, [witness.data])
            judged += 1
    assert judged >= 15


def test_the_bytes_are_the_json():
    for case in cases(AVRO):
        assert isinstance(case.writer, AvroSchema)
        for _, witness in differences_of(case):
            assert witness.data is not None
            assert witness.example is not None
            schema = json.loads(case.writer.canonical)
            (value,) = fastavro.json_reader(io.StringIO(witness.example), schema)
            written = io.BytesIO()
            fastavro.schemaless_writer(written, schema, value)
            assert fastavro.schemaless_reader(io.BytesIO(witness.data), schema) == value
    judged = 0
    for case in cases(PROTOBUF):
        assert isinstance(case.writer, ProtobufSchema)
        for difference, witness in differences_of(case):
            names = [name for name in difference.path[2:].split("/") if not name.isdigit()]
            pool = case.writer.linked.pool
            classes = (case.writer.message_class(name) for name in _message_names(pool, case.writer, names))
            read = [MessageToDict(one.FromString(witness.data), preserving_proto_field_name=True) for one in classes]
            assert not read or json.loads(witness.example or "") in read
            judged += bool(read)
    assert judged >= 20


def _message_names(pool: Any, schema: ProtobufSchema, names: list[str]) -> list[str]:
    package = f"{schema.tree.package}." if schema.tree.package else ""
    told = [package + ".".join(names[:length]) for length in range(len(names), 0, -1)]
    return [name for name in told if _is_message(pool, name)]


def _is_message(pool: Any, name: str) -> bool:
    try:
        pool.FindMessageTypeByName(name)
    except KeyError:
        return False
    return True


def test_jsonschema_refuses_the_shown_datum():
    for case in cases(JSON):
        assert isinstance(case.reader, JsonSchema)
        assert isinstance(case.writer, JsonSchema)
        for _, witness in differences_of(case):
            instance = json.loads(witness.example or "")
            writer, reader = json.loads(case.writer.source), json.loads(case.reader.source)
            assert jsonschema.validators.validator_for(writer)(writer).is_valid(instance)
            assert not jsonschema.validators.validator_for(reader)(reader).is_valid(instance)


@pytest.mark.slow
def test_random_breaks_of_avro_have_a_datum():
    counts: Counter[str] = Counter()

    @given(evolutions())
    @settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def judge(pair: tuple[AvroSchema, AvroSchema]) -> None:
        reader, writer = pair
        assume(data(writer.root))
        for difference in AVRO_FORMAT.differences(reader, writer):
            witness = AVRO_FORMAT.witness(difference, reader, writer, Budget())
            counts["breaks"] += 1
            if witness is not None and witness.data is not None:
                counts["shown"] += 1
                if apache_can_judge(reader.root, writer.root, set()):
                    counts["judged by both"] += 1
                    assert not apache_reads(reader, writer, [witness.data])

    judge()
    assert counts["breaks"] >= 400
    assert counts["judged by both"] >= 100
    assert counts["shown"] >= 0.97 * counts["breaks"]


def test_random_breaks_of_protobuf_have_a_datum_or_break_nothing():
    counts: Counter[str] = Counter()

    @given(pairs())
    @settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def judge(pair: Any) -> None:
        writer, reader = (build(side) for side in pair)
        for difference in PROTOBUF_FORMAT.differences(reader, writer):
            if difference.rule.allowed:
                continue
            witness = PROTOBUF_FORMAT.witness(difference, reader, writer, Budget())
            counts["breaks"] += 1
            counts["told"] += witness is not None
            if witness is not None and witness.example is not None and difference.path.startswith("#/M/"):
                counts["shown"] += 1
                written = writer.message_class("M").FromString(witness.data or b"")
                assert MessageToDict(written, preserving_proto_field_name=True) == json.loads(witness.example)
                read: Any = reader.message_class("M")()
                try:
                    read.ParseFromString(witness.data or b"")
                    read.DiscardUnknownFields()
                except DecodeError:
                    continue
                assert MessageToDict(read, preserving_proto_field_name=True) != json.loads(witness.example)

    judge()
    assert counts["breaks"] >= 60
    assert counts["told"] >= 0.95 * counts["breaks"]
    assert counts["shown"] >= 0.4 * counts["breaks"]


def test_a_search_ends_where_the_smallest_datum_is_too_large():
    def tower(last: str) -> AvroSchema:
        texts = [f'{{"type":"record","name":"N0","fields":[{{"name":"f","type":"{last}"}}]}}']
        for number in range(1, 100):
            fields = ",".join(f'{{"name":"{name}","type":"N{number - 1}"}}' for name in "ab")
            texts.append(f'{{"type":"record","name":"N{number}","fields":[{fields}]}}')
        dependencies = tuple(Dependency(f"N{number}", text) for number, text in enumerate(texts[:-1]))
        schema = parse(SchemaText(AVRO, texts[-1]), dependencies)
        assert isinstance(schema, AvroSchema)
        return schema

    verdict = check(tower("string"), [Previous(None, tower("int"))], LEVELS["BACKWARD"])
    assert [told.witness for told in verdict.explained(Budget())[:3]] == [Witness(NOT_FOUND)] * 3


def test_the_search_skips_messages_with_too_many_required_messages():
    names = [f"N{number}" for number in range(8)]
    messages = [
        f"message {name} {{ {' '.join(f'required N{level + 1} f{at} = {at};' for at in range(1, 9))} }}"
        for level, name in enumerate(names)
    ]
    text = 'syntax = "proto2";\n' + "\n".join(messages) + "\nmessage N8 { optional int32 a = 1; }\n"
    old = parse(SchemaText(PROTOBUF, text), strict=True)
    new = parse(SchemaText(PROTOBUF, text.replace("required N1 f1 = 1;", "required int32 f1 = 1;")), strict=True)
    (told,) = check(new, [Previous(None, old)], LEVELS["BACKWARD"]).explained()
    assert (told.rule, told.witness) == ("FIELD_KIND_CHANGED", Witness(NOT_FOUND))


def test_the_result_distinguishes_no_data_from_an_unsuccessful_search():
    empty = '["null",{"type":"enum","name":"F","symbols":[]}]'
    reader = parse(SchemaText(AVRO, '["null",{"type":"enum","name":"E","symbols":["A"]}]'))
    (told,) = check(reader, [Previous(None, parse(SchemaText(AVRO, empty)))], LEVELS["BACKWARD"]).explained()
    assert told.to_json()["effect"] == "No data can break: the writer's schema has no data with a value there."
    assert told.to_json()["example"] is told.to_json()["exampleBytes"] is None


def test_the_result_says_that_a_search_reached_its_limit():
    def wide(last: str) -> str:
        fields = ",".join(f'{{"name":"field_{number}","type":"string"}}' for number in range(3000))
        return f'{{"type":"record","name":"R","fields":[{fields},{{"name":"last","type":"{last}"}}]}}'

    old, new = (parse(SchemaText(AVRO, wide(last))) for last in ("string", "int"))
    (told,) = check(new, [Previous(1, old)], LEVELS["BACKWARD"]).explained(Budget(500_000))
    assert (told.example, told.to_json()["effect"]) == (
        None,
        "No datum is shown: the search for one ended at its limit of work.",
    )


def test_an_alias_without_a_namespace_is_one_of_its_types_namespace():
    record = '{{"type":"record","name":"{}","aliases":["{}"],"fields":[{{"name":"x","type":"int"}}]}}'
    old = parse(SchemaText(AVRO, record.format("a.Old", "a.Older")))
    new = parse(SchemaText(AVRO, record.format("b.New", "Old")))
    (told,) = check(new, [Previous(1, old)], LEVELS["BACKWARD"]).explained()
    assert (told.rule, told.example) == ("NAME_MISMATCH", '{"x":0}')
    assert told.to_json()["effect"] == "The reader refuses it."
    named = parse(SchemaText(AVRO, record.format("b.New", "a.Old")))
    assert check(named, [Previous(1, old)], LEVELS["BACKWARD"]).compatible


#: Rules that are in the tables and that no comparison finds, and why.
WITHOUT_CASE = {
    "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "the name of older servers; today's have one name for each of three kinds",
    "RESERVED_PROPERTY_REMOVED": "about metadata, which has no data; told by reserved_field_messages",
    "RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY": "as above",
}


@pytest.mark.parametrize("schema_type", GOLDEN)
def test_every_rule_has_a_golden_witness_or_a_reason(schema_type: str):
    strict = {name for name, rule in FORMATS[schema_type].rules.items() if rule.allowed != frozenset(Policy)}
    cases_of = json.loads((CASES / "witnesses" / GOLDEN[schema_type]).read_text("utf-8")).values()
    shown_rules = {one["rule"] for told in cases_of for one in told if one.get("example") is not None}
    assert strict - shown_rules <= NEVER_BREAKS | NOT_SHOWN | WITHOUT_CASE.keys()


@pytest.mark.parametrize(
    ("schema_type", "text"),
    [
        (AVRO, '{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]}'),
        (JSON, '{"type":"object","properties":{"next":{"$ref":"#"}}}'),
        (PROTOBUF, 'syntax = "proto3"; message R { R next = 1; }'),
    ],
)
def test_a_parsed_schema_is_shown_by_its_text(schema_type: str, text: str):
    assert text in repr(parse(SchemaText(schema_type, text)))


def test_a_large_schema_is_shown_in_short():
    def tower(number: int) -> str:
        if not number:
            return '"int"'
        inner = tower(number - 1)
        return f'{{"type":"record","name":"N{number}","fields":[{{"name":"a","type":{inner}}}]}}'

    shown_text = repr(parse(SchemaText(AVRO, tower(40))))
    assert shown_text.startswith('<AvroSchema {"type":"record","name":"N40",')
    assert shown_text.endswith("...>")
    assert len(shown_text) < 120


if __name__ == "__main__":
    (CASES / "witnesses").mkdir(exist_ok=True)
    for schema_type, name in GOLDEN.items():
        text = json.dumps(found(schema_type), indent=1, ensure_ascii=False)
        (CASES / "witnesses" / name).write_text(f"{text}\n", "utf-8")


HERE = "No data can break here: the reader accepts each value that the writer allows."
LISTED = [
    ({"enum": ["x"]}, {"const": "x"}, HERE),
    ({"enum": ["x", "y"]}, {"type": "string", "maxLength": 1}, HERE),
    ({"const": 1.50}, {"type": "number"}, HERE),
    ({"enum": ["x", "y"]}, {"const": "x"}, 'The reader refuses the value at `/a`: "x" was expected.'),
    ({"enum": ["x"]}, {"$ref": "#/definitions/x"}, HERE),
]


@pytest.mark.parametrize(("old", "new", "effect"), LISTED, ids=range(len(LISTED)))
def test_an_enumeration_may_become_a_type_that_accepts_all_its_values(old: Any, new: Any, effect: str):
    def within(kind: Any) -> ParsedSchema:
        raw = {"type": "object", "properties": {"a": kind}, "definitions": {"x": {"const": "x"}}}
        return parse(SchemaText(JSON, json.dumps(raw)), strict=True)

    (told,) = check(within(new), [Previous(1, within(old))], LEVELS["BACKWARD"]).explained()
    assert (told.rule, told.path, told.witness and told.witness.effect) == ("TYPE_CHANGED", "#/properties/a", effect)


def test_a_costly_finding_leaves_budget_for_other_findings():
    def wide(kind: str) -> ParsedSchema:
        properties = {f"p{number}": {"enum": [f"{number}"]} for number in range(40)}
        filling = {f"f{number}": {"type": "string", "description": "d" * 100} for number in range(150)}
        raw = {"type": "object", "properties": {**properties, **filling, "last": {"type": kind}}}
        text = json.dumps(raw)
        if kind == "string":
            # No document shows these differences.
            text = text.replace('"enum": [', '"const": [').replace('"]', '"').replace('"const": ["', '"const": "')
        return parse(SchemaText(JSON, text), strict=True)

    told = check(wide("string"), [Previous(1, wide("integer"))], LEVELS["BACKWARD"]).explained()
    assert len(wide("string").source) < 30_000
    effects = Counter(explanation.witness.effect for explanation in told if explanation.witness)
    assert effects == {HERE: 40, 'The reader refuses the value at `/last`: 0 is not of type "string".': 1}
