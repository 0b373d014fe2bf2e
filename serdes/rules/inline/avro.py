"""Validation rules of Avro schemas: on records, and on fields of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compat.avro.nodes import Array, Field, Map, Node, Record, Union, reachable
from compat.avro.schema import parse
from compat.contracts.cel.declarations import DYN, CelType
from compat.contracts.cel.schema_types.avro import avro_shape
from compat.contracts.walk.avro_branches import chooser, indices_by_name
from compat.contracts.walk.leaf import LeafFailed
from compat.schema import Dependencies, SchemaText
from serdes.rules.inline.check import Check, compiled_check
from serdes.rules.inline.rule import PROPERTY, Findings, read_rules


def avro_check(schema: SchemaText, dependencies: Dependencies) -> Check | None:
    """The check of messages of a schema; None if it has no rules.

    Args:
        schema: The schema.
        dependencies: The schemas that it refers to.

    Raises:
        InvalidSchema: The schema cannot be parsed.
        SerializationError: A rule cannot be evaluated for any message.
    """
    return _AvroChecks().of(parse(schema, dependencies, strict=False).root)


class _AvroChecks:
    def __init__(self) -> None:
        self._made: dict[int, Check] = {}

    def of(self, node: Node) -> Check | None:
        """The check of a type's values; None if no rule is in it."""
        if not _has_rules(node):
            return None
        match node:
            case Record():
                return self._record(node)
            case Array():
                return _of_items(self.of(node.items))
            case Map():
                return _of_entries(self.of(node.values))
            case Union():
                return self._union(node)
        return None

    def _record(self, node: Record) -> Check:
        if id(node) not in self._made:
            # A recursive type gets this function while its check is being made.
            self._made[id(node)] = lambda *arguments: self._made[id(node)](*arguments)  # noqa: PLW0108  # not made yet
            self._made[id(node)] = self._make(node)
        return self._made[id(node)]

    def _make(self, node: Record) -> Check:
        full_name = node.name.full
        own = self._checks(node, node.props.get(PROPERTY), full_name)
        fields = [
            (field.name, self._checks(field.type, field.props.get(PROPERTY), f"{full_name}.{field.name}"), inner)
            for field in node.fields
            if (inner := self.of(field.type)) is not None or PROPERTY in field.props
        ]

        def check(value: Any, path: str, findings: Findings) -> None:
            if not isinstance(value, Mapping):
                return  # the encoder will refuse it
            for rule in own:
                rule(value, path, findings)
            for name, rules, inner in fields:
                part = value.get(name)
                if part is None:
                    continue
                place = f"{path}.{name}" if path else name
                for rule in rules:
                    rule(part, place, findings)
                if inner is not None:
                    inner(part, place, findings)

        return check

    def _checks(self, node: Node, value: Any, place: str) -> list[Check]:
        rules = read_rules(value, place)
        this = CelType("dyn", shape=avro_shape(node)) if rules else DYN
        return [compiled_check(rule, place, this) for rule in rules]

    def _union(self, node: Union) -> Check:
        checks = [self.of(branch) for branch in node.branches]
        by_name = indices_by_name(node)
        choose = chooser(node)

        def check(value: Any, path: str, findings: Findings) -> None:
            if value is None:
                return
            if isinstance(value, tuple) and len(value) == len(("name", "value")) and value[0] in by_name:
                index, value = by_name[value[0]], value[1]
            else:
                try:
                    index = choose(value)
                except LeafFailed:
                    return  # as above
            inner = checks[index]
            if inner is not None:
                inner(value, path, findings)

        return check


def _of_items(item: Check | None) -> Check | None:
    if item is None:
        return None

    def check(value: Any, path: str, findings: Findings) -> None:
        if isinstance(value, list | tuple):
            for index, part in enumerate(value):
                item(part, f"{path}[{index}]", findings)

    return check


def _of_entries(entry: Check | None) -> Check | None:
    if entry is None:
        return None

    def check(value: Any, path: str, findings: Findings) -> None:
        if isinstance(value, Mapping):
            for key, part in value.items():
                entry(part, f'{path}["{key}"]', findings)

    return check


def _has_rules(root: Node) -> bool:
    """Whether a type or one inside it has rules."""
    records = (node for node in reachable(root) if isinstance(node, Record))
    return any(PROPERTY in record.props or any(map(_is_ruled, record.fields)) for record in records)


def _is_ruled(field: Field) -> bool:
    return PROPERTY in field.props
