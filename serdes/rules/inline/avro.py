"""Validation rules of Avro schemas: on records, and on fields of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compat.avro.nodes import Array, Field, Map, Node, Record, Union, reachable
from compat.avro.schema import parse
from compat.contracts.cel.declarations import DYN, CelType
from compat.contracts.cel.schema_types.avro import avro_shape
from compat.contracts.walk.avro_branches import chooser, indices_by_name
from compat.contracts.walk.leaf import LeafFailed, RecordAccess
from compat.schema import Dependencies, SchemaText
from serdes.rules.cel.records import viewer
from serdes.rules.inline.check import Check, compiled_check
from serdes.rules.inline.rule import PROPERTY, Findings, read_rules


def avro_check(schema: SchemaText, dependencies: Dependencies, records: RecordAccess | None) -> Check | None:
    """The check of messages of a schema; None if it has no rules.

    Args:
        schema: The schema.
        dependencies: The schemas that it refers to.
        records: How to read records that are not mappings.

    Raises:
        InvalidSchema: The schema cannot be parsed.
        SerializationError: A rule cannot be evaluated for any message.
    """
    return _Checks(records).of(parse(schema, dependencies, strict=False).root)


class _Checks:
    def __init__(self, records: RecordAccess | None) -> None:
        self._records = records
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
        getter = _getter(self._records)

        def check(value: Any, path: str, findings: Findings) -> None:
            get = getter(value)
            if get is None:
                return  # the encoder will refuse it
            for rule in own:
                rule(value, path, findings)
            for name, rules, inner in fields:
                part = get(name)
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
        view, checks = viewer(self._records), [compiled_check(rule, place, this) for rule in rules]
        return checks if view is None else [_seen_by(check, view) for check in checks]

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


def _seen_by(check: Check, view: Callable[[Any], Any]) -> Check:
    """The check of records by the schema's names."""
    return lambda value, path, findings: check(view(value), path, findings)


def _getter(records: RecordAccess | None) -> Callable[[Any], Callable[[str], Any] | None]:
    """What reads the fields of a record; None for a value that is no record."""

    def getter(value: Any) -> Callable[[str], Any] | None:
        if isinstance(value, Mapping):
            return value.get
        if records is not None and records.is_record(value):
            return lambda name: records.get(value, name, None)
        return None

    return getter


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
