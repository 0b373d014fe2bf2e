"""A chain of n references: each text is read a fixed number of times, not once for each file behind it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from compat.formats import parse
from compat.json_schema.model import resources
from compat.protobuf.link import linker
from compat.protobuf.program import library
from compat.schema import JSON, PROTOBUF, Dependency, InvalidSchema, SchemaText
from compat.text_cache import TextCache

LENGTH = 30


def counting(monkeypatch: Any, module: Any, name: str) -> list[Any]:
    calls: list[Any] = []
    function = getattr(module, name)

    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **named)

    monkeypatch.setattr(module, name, counted)
    return calls


def test_protobuf_imports_are_read_and_described_once(project: Any, monkeypatch: pytest.MonkeyPatch):
    for number in range(LENGTH):
        used = f'import "chain{number - 1}.proto";\n' if number else ""
        field = f" Chain{number - 1} next = 1;" if number else ""
        text = f'syntax = "proto3";\npackage chain;\n{used}message Chain{number} {{{field} }}\n'
        project.write(f"chain{number}.proto", text)
    reads = counting(monkeypatch, library, "read")
    described = counting(monkeypatch, linker, "describe")
    assert project.places("--against", "none") == (0, [])
    assert max(Counter(text for (text,) in reads).values()) == 1
    # Once as a file of its own, and once as an import.
    assert len(described) == 2 * LENGTH - 1


def test_json_references_are_read_once(project: Any, monkeypatch: pytest.MonkeyPatch):
    for number in range(LENGTH):
        schema: dict[str, Any] = {"$id": f"https://chain.example/{number}.schema.json", "type": "object"}
        if number:
            schema["properties"] = {"next": {"$ref": f"https://chain.example/{number - 1}.schema.json"}}
        project.write(f"{number}.schema.json", json.dumps(schema))
    reads = counting(monkeypatch, resources, "_declare_all")
    assert project.places("--against", "none") == (0, [])
    assert sum(named is not None and uri != "" for named, uri in reads) <= LENGTH


def test_an_import_with_another_text_gives_another_description():
    """A description made for one schema is not used for another in which an import has another text."""
    middle = Dependency("m.proto", 'syntax = "proto3"; import "b.proto"; message M { B b = 1; }')
    message = Dependency("b.proto", 'syntax = "proto3"; message B { int32 x = 1; }')
    enum = Dependency("b.proto", 'syntax = "proto3"; enum B { ZERO = 0; }')
    text = SchemaText(PROTOBUF, 'syntax = "proto3"; import "m.proto"; message R { M m = 1; }')
    kinds = []
    for base in (message, enum, message):
        schema: Any = parse(text, (base, middle), strict=True)
        kinds.append(schema.linked.pool.FindMessageTypeByName("M").fields_by_name["b"].message_type is not None)
    assert kinds == [True, False, True]
    other = Dependency("b.proto", 'syntax = "proto3"; message C { int32 x = 1; }')
    with pytest.raises(InvalidSchema, match='"B"'):
        parse(text, (other, middle), strict=True)


def test_check_refuses_a_name_from_two_imports_after_a_use_of_each_import_alone():
    first = Dependency("a.proto", 'syntax = "proto3"; message Twice {}')
    second = Dependency("b.proto", 'syntax = "proto3"; message Twice {}')
    for dependency in (first, second):
        text = f'syntax = "proto3"; import "{dependency.name}"; message R {{ Twice t = 1; }}'
        parse(SchemaText(PROTOBUF, text), (dependency,), strict=True)
    both = 'syntax = "proto3"; import "a.proto"; import "b.proto"; message R {}'
    with pytest.raises(InvalidSchema, match=r'"Twice" is already defined in "a\.proto"'):
        parse(SchemaText(PROTOBUF, both), (first, second), strict=True)


def test_json_texts_that_are_equal_stay_two_schemas():
    text = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "$anchor": "here", "type": "string"}'
    dependencies = (Dependency("a", text), Dependency("b", text))
    schema = '{"anyOf": [{"$ref": "a#here"}, {"$ref": "b#here"}]}'
    for _ in range(2):
        parse(SchemaText(JSON, schema), dependencies, strict=True)


def test_the_cache_is_bounded_by_its_texts():
    made: list[str] = []

    def make(name: str, text: str) -> str:
        made.append(name)
        if text == "bad":
            raise ValueError(text)
        return name + text

    cache = TextCache(make, 10)
    assert [cache.get("a", "12345"), cache.get("b", "12345"), cache.get("a", "12345")] == ["a12345", "b12345", "a12345"]
    # The least recently used one makes room.
    assert [cache.get("c", "1"), cache.get("a", "12345"), cache.get("b", "12345")] == ["c1", "a12345", "b12345"]
    assert made == ["a", "b", "c", "b"]
    # A text beyond the bound is read each time, and a fault is none of the values.
    for _ in range(2):
        assert cache.get("long", "x" * 11) == "long" + "x" * 11
        with pytest.raises(ValueError, match="bad"):
            cache.get("bad", "bad")
    assert made[4:] == ["long", "bad", "long", "bad"]
