"""The fields of an Avro schema by their paths."""

from __future__ import annotations

from compat.avro.nodes import Array, Enum, Map, Node, Record, Union, reachable
from compat.avro.schema import parse
from compat.contracts.findings.contract import SchemaVersion


class AvroPaths:
    """See Paths.

    Args:
        version: The schema.

    Raises:
        InvalidSchema: It is not an Avro schema.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self._root = parse(version.schema, version.dependencies, strict=False).root

    def symbols(self, path: tuple[str, ...]) -> frozenset[str] | None:
        """The symbols of the enum at a path; None if the value there may be something else."""
        node: Node | None = self._root
        for name in path:
            node = _only(node)
            field = node.by_name.get(name) if isinstance(node, Record) else None
            node = None if field is None else field.type
        node = _only(node)
        return frozenset(node.symbols) if isinstance(node, Enum) else None

    def may_have(self, _: tuple[str, ...]) -> bool:
        """True: the types of expressions tell."""
        return True

    def forbids(self, _: tuple[str, ...]) -> bool:
        """False: the types of expressions tell."""
        return False

    def union_fields(self) -> frozenset[str]:
        """The names of the fields with a union in them."""
        records = (node for node in reachable(self._root) if isinstance(node, Record))
        return frozenset(field.name for record in records for field in record.fields if _has_union(field.type))


def _only(node: Node | None) -> Node | None:
    """The type of a value that is there: the other branch of a nullable union."""
    if not isinstance(node, Union):
        return node
    others = [branch for branch in node.branches if branch.type != "null"]
    return others[0] if len(others) == 1 else None


def _has_union(node: Node) -> bool:
    while isinstance(node, Array | Map):
        node = node.items if isinstance(node, Array) else node.values
    return isinstance(node, Union)
