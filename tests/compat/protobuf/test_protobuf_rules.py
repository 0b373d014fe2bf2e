"""Every compatibility rule of Protobuf, by golden cases: `cases/protobuf/<RULE>/<case>`.

A case has a writer and a reader, the files they import, and what must be found: every difference with the lines and
columns in both texts, and the messages of those that break the reader.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat.difference import Difference
from compat.protobuf import FORMAT, ProtobufSchema
from compat.protobuf.rules.java_order import union_order
from compat.schema import PROTOBUF, Dependency, Pointer, SchemaText

CASES = Path(__file__).parents[1] / "cases" / "protobuf"


def load(case: Path, side: str) -> ProtobufSchema:
    imports = sorted((case / f"{side}-imports").glob("**/*.proto"))
    root = case / f"{side}-imports"
    dependencies = tuple(Dependency(str(path.relative_to(root)), path.read_text()) for path in imports)
    schema = FORMAT.parse(SchemaText(PROTOBUF, (case / f"{side}.proto").read_text()), dependencies, True)
    assert isinstance(schema, ProtobufSchema)
    return schema


def place(schema: ProtobufSchema, pointer: Pointer | None) -> str | None:
    position = FORMAT.locate(schema, pointer) if pointer is not None else None
    return f"{position.line}:{position.column}" if position is not None else None


def told(difference: Difference, reader: ProtobufSchema, writer: ProtobufSchema) -> dict[str, Any]:
    return {
        "rule": difference.rule.name,
        "path": difference.path,
        "reader": place(reader, difference.reader_at),
        "writer": place(writer, difference.writer_at),
    }


@pytest.mark.parametrize("case", sorted(CASES.glob("*/*")), ids=lambda case: f"{case.parent.name}/{case.name}")
def test_golden(case: Path):
    expected = json.loads((case / "expected.json").read_text())
    reader, writer = load(case, "reader"), load(case, "writer")
    found = FORMAT.differences(reader, writer)
    assert [told(difference, reader, writer) for difference in found] == expected["differences"]
    assert [
        FORMAT.message(difference, "new", "old") for difference in found if not difference.rule.allowed
    ] == expected["messages"]


@pytest.mark.parametrize("name", FORMAT.rules)
def test_every_rule_has_a_case_with_the_finding_and_a_case_without(name: str):
    found = [
        name in {difference["rule"] for difference in json.loads(path.read_text())["differences"]}
        for path in CASES.glob("*/*/expected.json")
    ]
    assert True in found
    assert False in found
    assert any((CASES / name).iterdir())


@pytest.mark.parametrize("name", FORMAT.rules)
def test_texts_of_a_rule_can_be_filled(name: str):
    rule = FORMAT.rules[name]
    arguments = {
        f"{side}{part}": "x"
        for side in ("", "reader_", "writer_")
        for part in ("name", "package", "type", "group", "label", "fields", "oneof")
    }
    difference = Difference(rule, "#/M", arguments)
    for template in (rule.description, rule.change, rule.harm, rule.remedy, rule.writer_remedy):
        assert "{" not in difference.fill(template, "new", "old")
    assert rule.change
    assert bool(rule.description and rule.harm and rule.remedy and rule.writer_remedy) != bool(rule.allowed)


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        (["M"], ["N"], ["M", "N"]),
        (["b", "a"], [], ["a", "b"]),
        # what Java 17 prints for new HashSet<>(first.keySet()) after addAll(second.keySet())
        (["Order", "Customer", "Line"], ["Z"], ["Order", "Line", "Customer", "Z"]),
        (["BB", "Aa"], [], ["BB", "Aa"]),
        (
            ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "Address", "Payment"],
            ["Shipment", "Refund", "Z1"],
            [
                "A",
                "B",
                "C",
                "D",
                "Address",
                "E",
                "F",
                "G",
                "H",
                "I",
                "Shipment",
                "J",
                "K",
                "L",
                "Payment",
                "Refund",
                "Z1",
            ],
        ),
        ([3, -1, 17, 40, 65536], [0, 2], [-1, 0, 17, 65536, 2, 3, 40]),
    ],
)
def test_the_union_has_the_order_of_a_java_hash_set(first: list[str], second: list[str], order: list[str]):
    assert union_order(first, second) == order


def chain(depth: int, last: str) -> str:
    messages = "".join(f"message T{i} {{\n  T{i + 1} a = 1;\n  T{i + 1} b = 2;\n}}\n" for i in range(depth))
    return f'syntax = "proto3";\n{messages}message T{depth} {{\n  {last} a = 1;\n}}\n'


def schema_of(imported: str) -> ProtobufSchema:
    text = 'syntax = "proto3";\nimport "chain.proto";\nmessage M {\n  T0 t = 1;\n}\n'
    schema = FORMAT.parse(SchemaText(PROTOBUF, text), (Dependency("chain.proto", imported),), False)
    assert isinstance(schema, ProtobufSchema)
    return schema


def test_types_that_refer_to_each_other_in_a_long_chain_are_compared_without_end_or_overflow():
    found = FORMAT.differences(schema_of(chain(1500, "int32")), schema_of(chain(1500, "string")))
    assert found[-1].rule.name == "FIELD_NAMED_TYPE_CHANGED"
    assert found[-1].path == "#/M/1"
    assert len(found) < 50_000


def test_a_schema_is_compatible_with_itself_whatever_it_imports():
    schema = schema_of(chain(200, "int32"))
    assert FORMAT.differences(schema, schema) == []


def test_the_checker_compares_unresolved_names_as_text():
    def lenient(name: str) -> ProtobufSchema:
        schema = FORMAT.parse(SchemaText(PROTOBUF, f'syntax = "proto3"; message M {{ {name} a = 1; }}'), (), False)
        assert isinstance(schema, ProtobufSchema)
        return schema

    assert FORMAT.differences(lenient("x.A"), lenient("x.A")) == []
    assert [difference.rule.name for difference in FORMAT.differences(lenient("x.B"), lenient("x.A"))] == [
        "FIELD_NAMED_TYPE_CHANGED"
    ]
