"""Comparisons and explanations end, whatever two schemas look like."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest

from compat.budget import Budget, TooMuchWork
from compat.engine import Previous, check
from compat.formats import FORMATS, parse
from compat.level import LEVELS
from compat.schema import AVRO, JSON, PROTOBUF, ParsedSchema, SchemaText

#: CPU seconds; a budget is one second's work on an idle machine.
A_WHILE = 10.0


def parsed(kind: str, schema: Any) -> ParsedSchema:
    text = schema if isinstance(schema, str) else json.dumps(schema, separators=(",", ":"))
    return parse(SchemaText(kind, text))


def union(count: int, other: str) -> list[dict[str, Any]]:
    """Records of one name in many namespaces: each may stand for each."""
    fields = [{"name": "a", "type": "int"}, {"name": other, "type": "string"}]
    return [{"type": "record", "name": "R", "namespace": f"n{at}", "fields": fields} for at in range(count)]


def alternatives(count: int, letter: str) -> dict[str, Any]:
    return {"oneOf": [{"enum": [f"{letter}{at}{member}" for member in range(20)]} for at in range(count)]}


def patterns(count: int, letter: str) -> dict[str, Any]:
    return {
        "type": "object",
        "patternProperties": {f"^{letter}{at}$": {"type": "string"} for at in range(count)},
        "properties": {f"{letter}p{at}": {"type": "string"} for at in range(count)},
    }


def tangle(depth: int, last: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{depth}": {"type": last}}
    for at in range(depth):
        inner = {"$ref": f"#/definitions/d{at + 1}"}
        definitions[f"d{at}"] = {"oneOf": [inner, {"properties": {"x": inner}}, {"allOf": [inner, {"title": "t"}]}]}
    return {"$ref": "#/definitions/d0", "definitions": definitions}


def oneof(count: int, name: str, first: int) -> str:
    members = "".join(f"int32 a{at} = {first + at};" for at in range(count))
    return f'syntax = "proto3"; message M {{ oneof {name} {{ {members} }} }}'


@pytest.mark.parametrize(
    ("kind", "new", "old"),
    [
        pytest.param(AVRO, union(1000, "b"), union(1000, "c"), id="a union of namesakes"),
        pytest.param(JSON, alternatives(400, "a"), alternatives(400, "b"), id="alternatives of which none fits"),
        pytest.param(JSON, patterns(1000, "a"), patterns(1000, "b"), id="patterns and properties"),
        pytest.param(JSON, tangle(300, "string"), tangle(300, "integer"), id="references that multiply"),
        pytest.param(PROTOBUF, oneof(1, "o", 4000), oneof(4000, "p", 1), id="the members of a oneof"),
    ],
)
def test_the_checker_stops_a_pair_that_takes_too_much_work(kind: str, new: Any, old: Any):
    reader, writer = parsed(kind, new), parsed(kind, old)
    started = time.process_time()
    with pytest.raises(TooMuchWork, match="too large to compare: it takes more than 1000000 steps"):
        FORMATS[kind].differences(reader, writer)
    assert time.process_time() - started < A_WHILE


def record(count: int, kind: str) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": f"f{at}", "type": kind} for at in range(count)]}


def test_all_versions_and_directions_share_one_budget():
    new, old = parsed(AVRO, record(100, "int")), parsed(AVRO, record(100, "int"))
    versions = [Previous(number, old) for number in range(1, 11)]
    assert check(new, versions, LEVELS["FULL_TRANSITIVE"], budget=Budget(5000)).compatible
    with pytest.raises(TooMuchWork):
        check(new, versions, LEVELS["FULL_TRANSITIVE"], budget=Budget(2000))
    assert check(new, versions, LEVELS["FULL"], budget=Budget(2000)).compatible


def test_parsing_the_versions_takes_from_the_budget():
    def fail() -> ParsedSchema:
        raise AssertionError("parsed although there is no budget for it")

    with pytest.raises(TooMuchWork):
        check(parsed(AVRO, '"string"'), [Previous(1, fail, steps=2000)], LEVELS["BACKWARD"], budget=Budget(1000))


def test_messages_take_from_the_budget():
    def uses(symbols: list[str]) -> dict[str, Any]:
        enum = {"type": "enum", "name": "E", "symbols": symbols}
        fields = [{"name": f"f{at}", "type": enum if at == 0 else "E"} for at in range(1000)]
        return {"type": "record", "name": "R", "fields": fields}

    new, old = uses(["A"]), uses(["A", *(f"a_rather_long_symbol_{at}" for at in range(1000))])
    with pytest.raises(TooMuchWork):
        check(parsed(AVRO, new), [Previous(1, parsed(AVRO, old))], LEVELS["BACKWARD"], budget=Budget())


def test_without_a_budget_a_pair_too_large_to_compare_is_incompatible():
    new, old = parsed(AVRO, union(1000, "b")), parsed(AVRO, union(1000, "c"))
    verdict = check(new, [Previous(None, old)], LEVELS["BACKWARD"])
    assert verdict.messages[0] == (
        "Unexpected exception during compatibility check: "
        "The schemas are too large to compare: it takes more than 1000000 steps"
    )


def test_explanations_end_and_the_first_have_examples():
    def properties(kind: str) -> dict[str, Any]:
        nested = {f"q{at}": {"type": kind, "description": "of this"} for at in range(20)}
        return {
            "type": "object",
            "properties": {f"p{at}": {"type": "object", "properties": nested} for at in range(60)},
        }

    verdict = check(
        parsed(JSON, properties("integer")), [Previous(1, parsed(JSON, properties("string")))], LEVELS["FULL"]
    )
    assert len(verdict.findings) == 2000
    started = time.process_time()
    explained = verdict.explained(Budget())
    assert time.process_time() - started < A_WHILE
    assert explained[0].example is not None
    assert explained[-1].example is None
    assert {explanation.rule for explanation in explained} == {"TYPE_CHANGED"}


def test_a_deadline_ends_work_before_its_steps_run_out():
    budget = Budget(seconds=0)
    with pytest.raises(TooMuchWork):
        budget.spend(3000)
    assert budget.is_spent


def test_the_seconds_count_from_when_the_clock_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("compat.budget.thread_time", lambda: now)
    budget = Budget(10_000, seconds=1.5)
    now = 110.0
    assert budget.seconds_left == 0
    budget.start_clock()
    now = 111.0
    assert budget.seconds_left == 0.5
    budget.spend(5_000)
    now = 112.0
    with pytest.raises(TooMuchWork):
        budget.spend(4_000)


def test_explanations_of_long_unions_end():
    def long_union(kind: str) -> list[dict[str, Any]]:
        records = []
        for at in range(800):
            own = ["null", f"R{at - 1}"] if at else kind
            fields = [{"name": "a", "type": kind}, {"name": "b", "type": own}]
            records.append({"type": "record", "name": f"R{at}", "fields": fields})
        return records

    new, old = parsed(AVRO, long_union("int")), parsed(AVRO, long_union("string"))
    length = len(new.source)
    assert length > 80_000
    verdict = check(new, [Previous(1, old)], LEVELS["FULL"])
    started = time.process_time()
    explained = verdict.explained(Budget())
    assert time.process_time() - started < A_WHILE
    count = len(explained)
    assert count == 1600


def test_a_costly_step_leaves_a_share_of_the_budget_to_other_steps():
    budget = Budget(100)
    costly = budget.part(4, 10)
    with pytest.raises(TooMuchWork):
        costly.spend(1_000)
    budget.take(costly)
    cheap = budget.part(3, 10)
    cheap.spend(5)
    budget.take(cheap)
    assert (costly.steps, cheap.steps, budget.steps_left) == (25, 25, 70)
    assert budget.part(2, 10).steps == 35
    assert budget.part(70, 10).steps == 10
    assert Budget(3).part(2, 10).steps == 3


def nested(depth: int, least: int) -> dict[str, Any]:
    """Arrays in arrays: a value has `least` to the power of `depth` parts."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "minItems": least, "items": schema}
    return schema


def of_fixed(size: int, count: int, last: str) -> dict[str, Any]:
    fixed = {"type": "fixed", "name": "F", "size": size}
    fields = [{"name": f"f{at}", "type": "F" if at else fixed} for at in range(count)]
    return {"type": "record", "name": "R", "fields": [*fields, {"name": "last", "type": last}]}


def of_long_names(last: str) -> dict[str, Any]:
    inner = {"type": "record", "name": "I", "fields": [{"name": "n" * 20_000, "type": "int"}]}
    fields = [{"name": f"f{at}", "type": "I" if at else inner} for at in range(1_000)]
    return {"type": "record", "name": "R", "fields": [*fields, {"name": "last", "type": last}]}


def of_defaults(last: str) -> str:
    """A message that requires 300 texts with a default of 50,000 characters."""
    text = "t" * 50_000
    fields = "".join(f"required I f{at} = {at};" for at in range(1, 300))
    return (
        f'syntax = "proto2"; message R {{ {fields} optional {last} last = 500; }}'
        f' message I {{ required string a = 1 [default = "{text}"]; }}'
    )


@pytest.mark.parametrize(
    ("kind", "new", "old"),
    [
        pytest.param(AVRO, of_fixed(10_000, 1_000, "int"), of_fixed(10_000, 1_000, "string"), id="bytes of fixed"),
        pytest.param(AVRO, of_long_names("int"), of_long_names("string"), id="names of fields"),
        pytest.param(JSON, nested(6, 1000), nested(6, 999), id="arrays in arrays"),
        pytest.param(
            JSON,
            {"type": "array", "items": {"type": "integer"}},
            {"type": "array", "minItems": 30_000_000, "items": {"type": "number"}},
            id="an array of any length",
        ),
        pytest.param(PROTOBUF, of_defaults("int32"), of_defaults("string"), id="defaults of required fields"),
    ],
)
def test_data_that_show_a_break_are_small(kind: str, new: Any, old: Any) -> None:
    reader, writer = parsed(kind, new), parsed(kind, old)
    verdict = check(reader, [Previous(1, writer)], LEVELS["FULL"])
    verdict.explained(Budget(0))
    tracemalloc.start()
    started = time.process_time()
    try:
        explained = verdict.explained(Budget())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert explained
    assert peak < 32 << 20
    assert time.process_time() - started < A_WHILE
