"""Lint rules for a single schema: documentation, names, defaults and reserved numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compat.formats import FORMATS, parse
from compat.json import json_text
from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema, ParsedSchema, Pointer
from magicbyte.check.baselines.baseline import Earlier
from magicbyte.check.config.config import Config
from magicbyte.check.findings import ERROR, START, WARNING, Finding
from magicbyte.check.project.files import SchemaFile

_CASES = {
    "snake_case": re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"),
    "camelCase": re.compile(r"[a-z][a-zA-Z0-9]*"),
    "PascalCase": re.compile(r"[A-Z][a-zA-Z0-9]*"),
    "UPPER_SNAKE_CASE": re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*"),
}


@dataclass(frozen=True, slots=True)
class Remark:
    """The message of a lint rule about a part of a schema."""

    pointer: Pointer
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The input of lint rules: the schema, the newest earlier version if there is one, and the configured spelling."""

    schema: Any
    previous: Any
    field_case: str | None


def lint(file: SchemaFile, schema: ParsedSchema, version: Earlier | None, config: Config) -> Iterator[Finding]:
    """The findings of the lint rules that the project enables."""
    previous = None
    if "reserved" in config.lint.rules and version is not None and version.schema.schema_type == file.schema_type:
        try:
            previous = parse(version.schema, version.dependencies)
        except InvalidSchema:
            previous = None
    subject = Subject(schema, previous, config.lint.field_case)
    for name in config.lint.rules:
        rule = _RULES[name].get(file.schema_type)
        for remark in rule(subject) if rule else ():
            position = FORMATS[file.schema_type].locate(schema, remark.pointer) or START
            yield Finding(
                f"LINT_{name.upper()}",
                file.path,
                position,
                remark.message,
                remark.remedy,
                severity=WARNING if config.lint.severity == "warning" else ERROR,
                subject=file.subject,
                path="/" + "/".join(map(str, remark.pointer)),
            )


def spelled(name: str, *cases: str) -> bool:
    """Tell whether a name matches one of some spellings."""
    return any(_CASES[case].fullmatch(name) for case in cases)


def _misspelled(pointer: Pointer, kind: str, name: str, *cases: str) -> Iterator[Remark]:
    if not spelled(name, *cases):
        yield Remark(pointer, f"The {kind} {name!r} is not in {' or '.join(cases)}.", "Rename it while nobody uses it.")


def _field_cases(subject: Subject) -> tuple[str, ...]:
    return (subject.field_case,) if subject.field_case else ("snake_case", "camelCase")


def _avro_types(schema: Any) -> Iterator[tuple[Pointer, Any]]:
    """The named types that the text itself defines."""
    from compat.avro.nodes import NAMED, children  # noqa: PLC0415 - only if there is Avro

    seen: set[int] = set()
    todo: list[tuple[Pointer, Any]] = [((), schema.root)]
    while todo:
        pointer, node = todo.pop()
        if id(node) in seen or (isinstance(node, NAMED) and node.name.full in schema.referenced):
            continue
        seen.add(id(node))
        if isinstance(node, NAMED):
            yield pointer, node
        todo += [((*pointer, *step), child) for step, child in reversed(list(children(node)))]


def _avro_docs(subject: Subject) -> Iterator[Remark]:
    for pointer, node in _avro_types(subject.schema):
        if not node.doc and node.type != "fixed":
            remedy = 'Add a "doc" that says what it stands for.'
            yield Remark(pointer, f"The {node.type} {node.name.name!r} has no documentation.", remedy)
        for index, field in enumerate(getattr(node, "fields", ())):
            if not field.doc:
                remedy = 'Add a "doc" that says what the values mean, with their unit.'
                yield Remark((*pointer, "fields", index), f"The field {field.name!r} has no documentation.", remedy)


def _avro_names(subject: Subject) -> Iterator[Remark]:
    for pointer, node in _avro_types(subject.schema):
        yield from _misspelled(pointer, node.type, node.name.name, "PascalCase")
        if node.name.space is None:
            remedy = 'Add a "namespace", such as the name of the domain.'
            yield Remark(pointer, f"The {node.type} {node.name.name!r} has no namespace.", remedy)
        for index, field in enumerate(getattr(node, "fields", ())):
            yield from _misspelled((*pointer, "fields", index, "name"), "field", field.name, *_field_cases(subject))
        for symbol in getattr(node, "symbols", ()):
            yield from _misspelled((*pointer, "symbols"), "symbol", symbol, "UPPER_SNAKE_CASE")


def _avro_defaults(subject: Subject) -> Iterator[Remark]:
    for pointer, node in _avro_types(subject.schema):
        if node.type == "enum" and node.default is None:
            message = f"The enum {node.name.name!r} has no default: readers fail on symbols that are added later."
            yield Remark(pointer, message, 'Add a "default" symbol, such as "UNKNOWN".')
        for index, field in enumerate(getattr(node, "fields", ())):
            nullable = field.type.type == "union" and "null" in field.type.types
            if nullable and not field.has_default:
                message = f"The field {field.name!r} may be null and has no default: it can never be taken out again."
                remedy = 'Put "null" first in the union and add "default": null.'
                yield Remark((*pointer, "fields", index), message, remedy)


def _properties(value: Any, at: Pointer = ()) -> Iterator[tuple[Pointer, str, Any]]:
    if isinstance(value, dict):
        members = value.get("properties")
        if isinstance(members, dict):
            for name, member in members.items():
                yield (*at, "properties", name), name, member
                yield from _properties(member, (*at, "properties", name))
        for keyword in ("items", "additionalProperties"):
            yield from _properties(value.get(keyword), (*at, keyword))
        for keyword in ("definitions", "$defs"):
            inner = value.get(keyword)
            for name, member in inner.items() if isinstance(inner, dict) else ():
                yield from _properties(member, (*at, keyword, name))
        for keyword in ("allOf", "anyOf", "oneOf"):
            inner = value.get(keyword)
            for index, member in enumerate(inner if isinstance(inner, list) else ()):
                yield from _properties(member, (*at, keyword, index))


def _json_docs(subject: Subject) -> Iterator[Remark]:
    raw = json_text.loads(subject.schema.source, decimals=True)
    if isinstance(raw, dict) and not raw.get("description"):
        yield Remark((), "The schema has no description.", 'Add a "description" that says what it stands for.')
    for pointer, name, member in _properties(raw):
        if isinstance(member, dict) and "$ref" not in member and not member.get("description"):
            remedy = 'Add a "description" that says what the values mean, with their unit.'
            yield Remark(pointer, f"The property {name!r} has no description.", remedy)


def _json_names(subject: Subject) -> Iterator[Remark]:
    raw = json_text.loads(subject.schema.source, decimals=True)
    if isinstance(raw, dict) and not raw.get("title"):
        remedy = 'Add a "title": record name strategies make subjects of it.'
        yield Remark((), "The schema has no title.", remedy)
    for pointer, name, _ in _properties(raw):
        yield from _misspelled(pointer, "property", name, *_field_cases(subject))


def _proto_docs(subject: Subject) -> Iterator[Remark]:
    lines = subject.schema.source.split("\n")
    for pointer, kind, name in _declarations(subject.schema):
        position = FORMATS[PROTOBUF].locate(subject.schema, pointer)
        if position is None:
            continue
        above = lines[position.line - 2].strip() if position.line > 1 else ""
        if (
            not above.startswith(("//", "/*", "*"))
            and not above.endswith("*/")
            and "//" not in lines[position.line - 1]
        ):
            remedy = "Add a comment in the line above that says what it stands for."
            yield Remark(pointer, f"The {kind} {name!r} has no comment.", remedy)


def _proto_names(subject: Subject) -> Iterator[Remark]:
    if not subject.schema.tree.package:
        yield Remark(
            (), "The file has no package.", "Add a package with a version at its end, such as `shop.orders.v1`."
        )
    cases = {"message": "PascalCase", "enum": "PascalCase", "field": "snake_case", "value": "UPPER_SNAKE_CASE"}
    for pointer, kind, name in _declarations(subject.schema):
        yield from _misspelled(pointer, kind, name, cases[kind])


def _proto_defaults(subject: Subject) -> Iterator[Remark]:
    for pointer, enum in _enums(subject.schema):
        first = next((constant for constant in enum.constants if constant.number == 0), None)
        if first is not None and not first.name.endswith(("_UNSPECIFIED", "_UNKNOWN", "UNKNOWN", "UNSPECIFIED")):
            message = f"The enum {enum.name!r} has {first.name!r} as its zero: unset and {first.name!r} look the same."
            remedy = "Begin the enum with a value that ends in _UNSPECIFIED."
            yield Remark((*pointer, 0), message, remedy)


def _proto_reserved(subject: Subject) -> Iterator[Remark]:
    """Removed fields and enum values that are not reserved: reusing their numbers would make old data misread."""
    if subject.previous is None:
        return
    from compat.protobuf.reserving import numbered  # noqa: PLC0415 - only if there is Protobuf

    now = dict(numbered(subject.schema.tree))
    for pointer, before in numbered(subject.previous.tree):
        after = now.get(pointer)
        if after is None:
            continue
        for number, name in before.names.items():
            if number not in after.names and not after.reserves(number):
                message = f"The number {number} of {name!r} was given up in {pointer[-1]!r} and is not reserved."
                yield Remark(pointer, message, f"Add `reserved {number};` so that nobody gives it another meaning.")
            elif number not in after.names and name not in {*after.reserved_names, *after.names.values()}:
                message = f"The name {name!r} was given up in {pointer[-1]!r} and is not reserved."
                yield Remark(pointer, message, f'Add `reserved "{name}";`: JSON and text format go by names.')


def _messages(schema: Any) -> Iterator[tuple[Pointer, Any]]:
    todo: list[tuple[Pointer, Any]] = [((message.name,), message) for message in reversed(schema.tree.messages)]
    while todo:
        pointer, message = todo.pop()
        yield pointer, message
        todo += [((*pointer, inner.name), inner) for inner in reversed(message.messages)]


def _enums(schema: Any) -> Iterator[tuple[Pointer, Any]]:
    for enum in schema.tree.enums:
        yield (enum.name,), enum
    for pointer, message in _messages(schema):
        for enum in message.enums:
            yield (*pointer, enum.name), enum


def _fields(message: Any) -> list[Any]:
    return [*message.fields, *(member for oneof in message.oneofs for member in oneof.fields)]


def _declarations(schema: Any) -> Iterator[tuple[Pointer, str, str]]:
    for pointer, message in _messages(schema):
        yield pointer, "message", message.name
        for field in _fields(message):
            yield (*pointer, field.number), "field", field.name
    for pointer, enum in _enums(schema):
        yield pointer, "enum", enum.name
        for constant in enum.constants:
            yield (*pointer, constant.number), "value", constant.name


_RULES: Mapping[str, Mapping[str, Callable[[Subject], Iterator[Remark]]]] = {
    "docs": {AVRO: _avro_docs, JSON: _json_docs, PROTOBUF: _proto_docs},
    "names": {AVRO: _avro_names, JSON: _json_names, PROTOBUF: _proto_names},
    "defaults": {AVRO: _avro_defaults, PROTOBUF: _proto_defaults},
    "reserved": {PROTOBUF: _proto_reserved},
}
