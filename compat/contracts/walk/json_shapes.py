"""The shapes of a JSON value: the schemas that apply to it after each `anyOf` and `oneOf` has chosen its members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compat.contracts.tags import NO_TAGS, TagPatterns
from compat.contracts.walk.json_nodes import Choice, Node, Schemas
from compat.contracts.walk.json_places import ROOT, Shape, ValuePlace


class Shapes:
    """The shapes of the values at each place of a schema.

    Args:
        schemas: The schemas.
        patterns: The tags of the metadata.
    """

    def __init__(self, schemas: Schemas, patterns: TagPatterns) -> None:
        self._schemas = schemas
        self._patterns = patterns
        self.root = ValuePlace(ROOT, ROOT, NO_TAGS, (schemas.root,))

    def undecided(self, place: ValuePlace) -> Shape:
        """The shape before the choices are made, as a schema declares a field."""
        return Shape(place, self._schemas.flat(place.nodes), self._schemas, self._patterns)

    def of(self, place: ValuePlace) -> Iterator[Shape]:
        """Yield the possible shapes of a value at a place: one for each member of each choice."""
        waiting: list[tuple[tuple[Node, ...], frozenset[tuple[int, str]]]] = [(place.nodes, frozenset())]
        while waiting:
            nodes, made = waiting.pop()
            flat = self._schemas.flat(nodes)
            choices = [choice for choice in flat.choices if choice.key not in made]
            if not choices:
                yield Shape(place, flat, self._schemas, self._patterns)
                continue
            made |= {choice.key for choice in choices}
            waiting += [((*nodes, member), made) for choice in choices for member in choice.members][::-1]

    def made(self, place: ValuePlace, value: Any, shapes: dict[tuple[int, ...], Shape]) -> Shape:
        """Return the shape of a value at a place; `shapes` caches the shapes of this place by the members chosen."""
        nodes = place.nodes
        made: set[tuple[int, str]] = set()
        while True:
            flat = self._schemas.flat(nodes)
            choices: list[Choice] = [choice for choice in flat.choices if choice.key not in made]
            if not choices:
                break
            made.update(choice.key for choice in choices)
            nodes += tuple(member for choice in choices for member in self._schemas.chosen(choice, value))
        key = tuple(map(id, nodes))
        if key not in shapes:
            shapes[key] = Shape(place, flat, self._schemas, self._patterns)
        return shapes[key]
