"""Walks over JSON data: a field's full name is its path from `$`; arrays and maps add nothing to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compat.contracts.model import Metadata
from compat.contracts.tags import TagPatterns
from compat.contracts.walk.json_nodes import Schemas
from compat.contracts.walk.json_places import ValuePlace
from compat.contracts.walk.json_shapes import Shapes
from compat.contracts.walk.json_steps import Steps
from compat.contracts.walk.leaf import DeclaredField, Leaf, Select, Visit, Walk
from compat.contracts.walk.steps import whole_message
from compat.json_schema.schema import raw_of
from compat.schema import JSON, Dependencies, InvalidSchema, SchemaText

#: The most places that are looked at ahead; a schema whose definitions refer to each other can have very many.
_MOST_PLACES = 10_000


class JsonWalk:
    """The fields of a JSON Schema, and the walks over its messages; see FieldWalk.

    Args:
        raw: The schema as JSON.
        dependencies: The schemas that it refers to.
        metadata: The metadata with tags by full names.

    Raises:
        InvalidSchema: A `$ref` has no target.
    """

    def __init__(self, raw: Any, dependencies: Dependencies, metadata: Metadata | None) -> None:
        self._patterns = TagPatterns(metadata)
        self._shapes = Shapes(Schemas(raw, dependencies), self._patterns)
        #: Whether there are more leaves than those that are listed: in a recursive type, or beyond the limit.
        self._is_recursive = False
        self._is_cut = False
        fields: dict[DeclaredField, None] = {}
        leaves: dict[Leaf, None] = {}
        try:
            self._collect(fields, leaves)
        except RecursionError:
            raise InvalidSchema(JSON, "the schema is nested too deeply for rules on fields") from None
        self.fields = tuple(fields)
        self.leaves = tuple(leaves)

    def _collect(self, fields: dict[DeclaredField, None], leaves: dict[Leaf, None]) -> None:
        count = 0
        waiting: list[tuple[ValuePlace, frozenset[tuple[int, ...]]]] = [(self._shapes.root, frozenset())]
        while waiting:
            place, above = waiting.pop()
            identity = tuple(map(id, place.nodes))
            if identity in above:
                self._is_recursive = True
                continue
            count += 1
            if count > _MOST_PLACES:
                self._is_cut = True
                return
            below: list[ValuePlace] = []
            for shape in self._shapes.of(place):
                leaves.update(dict.fromkeys(shape.leaves()))
                for child in shape.properties.values():
                    fields[self._declared(child)] = None
                below += [*shape.properties.values(), *shape.entries(), *shape.items()]
            waiting += [(child, above | {identity}) for child in reversed(below)]

    def _declared(self, place: ValuePlace) -> DeclaredField:
        shape = self._shapes.undecided(place)
        holds_records = any(self._holds_record(place))
        return DeclaredField(place.full_name, place.name, shape.declared_type, shape.tags, holds_records)

    def _holds_record(self, place: ValuePlace) -> Iterator[bool]:
        """Whether each value at a place, or below it in arrays and maps, is a record."""
        seen: set[tuple[int, ...]] = set()
        waiting = [place]
        while waiting:
            inner = waiting.pop()
            identity = tuple(map(id, inner.nodes))
            if identity in seen:
                continue
            seen.add(identity)
            for shape in self._shapes.of(inner):
                yield shape.flat.is_record
                waiting += [*shape.entries(), *shape.items()]

    def compile(self, select: Select) -> Walk | None:
        """The walk that visits the selected leaves of a message; None if there is none. See FieldWalk."""
        visits: dict[Leaf, Visit | None] = {leaf: select(leaf) for leaf in self.leaves}
        may_have_more = self._is_cut or (self._is_recursive and bool(self._patterns))
        if not may_have_more and not any(visits.values()):
            return None
        return whole_message(Steps(self._shapes, select, visits).into(self._shapes.root))


def walk_of(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> JsonWalk:
    """The fields of a schema; see `field_walk`."""
    return JsonWalk(raw_of(schema), dependencies, metadata)
