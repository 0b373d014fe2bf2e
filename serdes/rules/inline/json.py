"""Validation rules of JSON Schemas: on all schemas that apply to a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compat.contracts.tags import TagPatterns
from compat.contracts.walk.json_nodes import Schemas
from compat.contracts.walk.json_places import Shape, ValuePlace
from compat.contracts.walk.json_shapes import Shapes
from compat.json_schema.schema import raw_of
from compat.schema import Dependencies, SchemaText
from serdes.rules.inline.check import Check, compiled_check
from serdes.rules.inline.rule import PROPERTY, Findings, read_rules

#: The most places that are kept: in a recursive schema, messages decide how many there are.
_MOST_KEPT = 10_000


def json_check(schema: SchemaText, dependencies: Dependencies) -> Check | None:
    """The check of messages of a schema; None if it has no rules.

    The arguments and errors are those of `avro_check`.
    """
    if not any(f'"{PROPERTY}"' in text for text in (schema.text, *(other.text for other in dependencies))):
        return None
    shapes = Shapes(Schemas(raw_of(schema), dependencies), TagPatterns(None))
    return _JsonChecks(shapes).root


class _JsonChecks:
    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._places: dict[Any, dict[tuple[int, ...], Shape]] = {}
        self._rules: dict[int, _Kept] = {}

    def root(self, value: Any, path: str, findings: Findings) -> None:
        """Check the outermost value."""
        self._at(self._shapes.root, value, path, findings)

    def _at(self, place: ValuePlace, value: Any, path: str, findings: Findings) -> None:
        if value is None:
            return
        if len(self._places) > _MOST_KEPT:
            self._places, self._rules = {}, {}
        shape = self._shapes.made(place, value, self._places.setdefault(place.key, {}))
        for rule in self._rules_of(shape, path):
            rule(value, path, findings)
        if isinstance(value, Mapping):
            self._mapping(shape, value, path, findings)
        elif isinstance(value, list | tuple):
            for index, part in enumerate(value):
                item = shape.item(min(index, shape.tuple_length))
                if item is not None:
                    self._at(item, part, f"{path}[{index}]", findings)

    def _mapping(self, shape: Shape, value: Mapping[Any, Any], path: str, findings: Findings) -> None:
        for name, child in shape.properties.items():
            self._at(child, value.get(name), f"{path}.{name}", findings)
        if not shape.has_entries:
            return
        for key, part in value.items():
            entry = None if key in shape.properties else shape.entry(str(key))
            if entry is not None:
                place = f"{path}.{key}" if shape.flat.is_record else f'{path}["{key}"]'
                self._at(entry, part, place, findings)

    def _rules_of(self, shape: Shape, path: str) -> list[Check]:
        """The rules of all schemas that apply."""
        made = self._rules.get(id(shape))
        if made is None:
            place = f"the schema at {path}"
            made = _Kept(shape)
            for node in shape.flat.nodes:
                made += [compiled_check(rule, place) for rule in read_rules(node.get(PROPERTY), place)]
            # Another thread must not see a part of them.
            self._rules[id(shape)] = made
        return made


class _Kept(list[Check]):
    """The checks of a shape. They keep the shape, so that no other one gets its identity."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
