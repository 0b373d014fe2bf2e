"""Every rule of Avro compatibility against its golden cases, and against the reference's way of telling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat.avro import FORMAT
from compat.avro.rules.table import RULES
from compat.budget import TooMuchWork
from compat.difference import Incomparable
from compat.formats import parse
from compat.schema import AVRO, Dependency, ParsedSchema, SchemaText

CASES = sorted((Path(__file__).parents[1] / "cases" / "avro").glob("*/*.json"))


def schema(value: object) -> ParsedSchema:
    return parse(SchemaText(AVRO, json.dumps(value)), strict=True)


def messages(reader: object, writer: object) -> list[str]:
    differences = FORMAT.differences(schema(reader), schema(writer))
    return [FORMAT.message(difference, "new", "old") for difference in differences]


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}/{path.stem}" for path in CASES])
def test_golden_case(path: Path):
    case = json.loads(path.read_text("utf-8"))
    assert messages(case["reader"], case["writer"]) == case["messages"]


def test_every_rule_has_cases_of_both_verdicts():
    verdicts: dict[str, set[bool]] = {name: set() for name in RULES}
    for path in CASES:
        case = json.loads(path.read_text("utf-8"))
        told = any(f"errorType:'{path.parent.name}'" in message for message in case["messages"])
        if told or not case["messages"]:
            verdicts[path.parent.name].add(told)
    assert verdicts == {key: {True, False} for key in RULES}


def test_two_written_fields_for_one_are_beyond_comparing():
    reader = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "aliases": ["b"]}]}
    writer = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int"}]}
    with pytest.raises(Incomparable) as refused:
        messages(reader, writer)
    assert str(refused.value) == (
        "Reader record field a type:INT pos:0 matches multiple fields in writer record schema "
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'
    )


def test_differences_point_into_both_sources():
    inner = {
        "type": "record",
        "name": "S",
        "fields": [{"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}],
    }
    reader = {"type": "record", "name": "R", "fields": [{"name": "new", "type": "int"}, {"name": "s", "type": inner}]}
    inner_2 = {
        "type": "record",
        "name": "S",
        "fields": [{"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["B"]}}],
    }
    writer = {"type": "record", "name": "R", "fields": [{"name": "s", "type": ["null", "int", inner_2]}]}
    found = FORMAT.differences(schema(reader), schema(writer))
    assert [(one.rule.name, one.path, one.reader_at, one.writer_at) for one in found] == [
        ("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0", ("fields", 0), ()),
        ("TYPE_MISMATCH", "/fields/1/type/0", ("fields", 1, "type"), ("fields", 0, "type", 0)),
        ("TYPE_MISMATCH", "/fields/1/type/1", ("fields", 1, "type"), ("fields", 0, "type", 1)),
        (
            "MISSING_ENUM_SYMBOLS",
            "/fields/1/type/2/fields/0/type/symbols",
            ("fields", 1, "type", "fields", 0, "type", "symbols"),
            ("fields", 0, "type", 2, "fields", 0, "type", "symbols"),
        ),
    ]


def test_a_finding_points_to_the_definition_of_a_named_type():
    def twice(symbol: str) -> dict[str, object]:
        enum = {"type": "enum", "name": "E", "symbols": [symbol]}
        return {"type": "record", "name": "R", "fields": [{"name": "a", "type": enum}, {"name": "b", "type": "E"}]}

    found = FORMAT.differences(schema(twice("A")), schema(twice("B")))
    assert [one.reader_at for one in found] == [("fields", 0, "type", "symbols")] * 2
    assert [one.path for one in found] == ["/fields/0/type/symbols"] * 2


def test_large_unions_are_searched_by_name():
    names = [f"R{number}" for number in range(3000)]
    reader = [{"type": "record", "name": f"{name}x", "aliases": [name], "fields": []} for name in names]
    writer = [{"type": "record", "name": name, "fields": []} for name in [*names, "Other"]]
    assert messages(reader, writer) == [
        (
            "{errorType:'MISSING_UNION_BRANCH', description:'The new schema is missing a type inside a union field"
            " at path '/3000' in the old schema', additionalInfo:'reader union lacking writer type: RECORD'}"
        )
    ]


def chain(length: int, last: str, *, prefix: str) -> list[object]:
    """A union of records, each with a field of the one before it."""
    first = {"type": "record", "name": "N0", "fields": [{"name": "f", "type": last}]}
    rest = [
        {"type": "record", "name": f"N{number}", "fields": [{"name": prefix, "type": f"N{number - 1}"}]}
        for number in range(1, length)
    ]
    return [first, *rest]


def test_a_finding_lists_nested_uses_up_to_a_bound():
    def tower(last: str) -> list[object]:
        records: list[object] = [{"type": "record", "name": "N0", "fields": [{"name": "f", "type": last}]}]
        for number in range(1, 100):
            fields = [{"name": name, "type": f"N{number - 1}"} for name in "ab"]
            records.append({"type": "record", "name": f"N{number}", "fields": fields})
        return [{"type": "record", "name": "Top", "fields": [{"name": "u", "type": records}]}, "int"]

    reader, writer = tower("int"), tower("string")
    assert len(messages(reader, writer)) == 1  # the one union branch that fails
    record = {"type": "record", "name": "Top", "fields": [{"name": "f", "type": "N99"}]}
    parsed = [
        parse(SchemaText(AVRO, json.dumps(record)), dependencies(one[0]["fields"][0]["type"]))
        for one in (reader, writer)
    ]
    assert len(FORMAT.differences(*parsed)) == 1000


def dependencies(records: list[object]) -> tuple[Dependency, ...]:
    return tuple(Dependency(f"d{index}", json.dumps(record)) for index, record in enumerate(records))


def test_schemas_too_large_to_compare_are_refused():
    fields = [{"name": f"f{number}", "type": "int", "default": 0} for number in range(2000)]
    reader = {"type": "record", "name": "R", "fields": fields}
    writer = [{"type": "record", "name": f"n{number}.R", "fields": []} for number in range(2000)]
    with pytest.raises(TooMuchWork) as refused:
        messages(reader, writer)
    assert str(refused.value) == "The schemas are too large to compare: it takes more than 1000000 steps"


def test_types_that_nest_deeper_than_the_stack_are_compared():
    length = 5000
    assert messages(chain(length, "long", prefix="f"), chain(length, "int", prefix="f")) == []
    found = messages(chain(length, "int", prefix="f"), chain(length, "long", prefix="f"))
    assert len(found) == 1000


def test_recursive_types_of_coprime_cycles_are_compared():
    def cycle(length: int, leaf: str) -> object:
        node: object = "C"
        for number in range(length):
            fields = [{"name": "next", "type": ["null", node]}, {"name": "leaf", "type": leaf}]
            node = {"type": "record", "name": f"n{number}.C", "fields": fields}
        return node

    def ring(length: int, leaf: str) -> object:
        # The innermost refers to the outermost by its full name.
        text = json.dumps(cycle(length, leaf)).replace('["null", "C"]', f'["null", "n{length - 1}.C"]')
        return json.loads(text)

    assert messages(ring(31, "long"), ring(37, "int")) == []
    assert messages(ring(31, "int"), ring(37, "long")) != []
