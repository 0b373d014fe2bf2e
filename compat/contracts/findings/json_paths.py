"""The fields of a JSON Schema by their paths."""

from __future__ import annotations

from compat.contracts.findings.contract import SchemaVersion
from compat.contracts.tags import TagPatterns
from compat.contracts.walk.json_nodes import Schemas
from compat.contracts.walk.json_places import Shape, ValuePlace
from compat.contracts.walk.json_shapes import Shapes
from compat.json_schema.schema import raw_of


class JsonPaths:
    """See Paths.

    Args:
        version: The schema.

    Raises:
        InvalidSchema: It is not a JSON Schema.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self._shapes = Shapes(Schemas(raw_of(version.schema), version.dependencies), TagPatterns(None))

    def symbols(self, path: tuple[str, ...]) -> frozenset[str] | None:
        """The texts that the enum at a path lists; None if the value there may be something else."""
        places = [self._shapes.root]
        for name in path:
            places = [shape.properties[name] for shape in self._of(places) if name in shape.properties]
        shapes = self._of(places)
        if not shapes or not all(shape.flat.is_enum for shape in shapes):
            return None
        listed = [node.get("enum") or [node.get("const")] for shape in shapes for node in shape.flat.nodes]
        return frozenset(value for values in listed for value in values if isinstance(value, str))

    def may_have(self, path: tuple[str, ...]) -> bool:
        """Whether a schema on the path declares the next field, or says nothing of the fields there."""
        places = [self._shapes.root]
        for name in path:
            shapes = self._of(places)
            if any(shape.has_entries or not shape.properties for shape in shapes):
                return True
            places = [shape.properties[name] for shape in shapes if name in shape.properties]
            if not places:
                return False
        return True

    def forbids(self, path: tuple[str, ...]) -> bool:
        """Whether no message may have the first field on a path that the schema does not declare."""
        places = [self._shapes.root]
        for name in path:
            shapes = self._of(places)
            places = [shape.properties[name] for shape in shapes if name in shape.properties]
            if not places:
                return all(
                    any(node.get("additionalProperties") is False for node in shape.flat.nodes) for shape in shapes
                )
        return False

    def _of(self, places: list[ValuePlace]) -> list[Shape]:
        return [shape for place in places for shape in self._shapes.of(place)]
