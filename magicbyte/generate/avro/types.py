"""The Python types of Avro types."""

from __future__ import annotations

from collections.abc import Callable

from magicbyte.generate.expressions import NONE, ClassName, Expression, Import, Subscript, either
from magicbyte.generate.model import RUNTIME, literal_type, text
from serdes.codec.forms.records import kind_of
from serdes.codec.schema import Node
from serdes.records.kinds import wrapped


class Types:
    """Makes types.

    Args:
        class_of: Returns the class of a named type.
    """

    def __init__(self, class_of: Callable[[str], ClassName]) -> None:
        self.class_of = class_of

    def of(self, node: Node) -> Expression:
        """The type of a node's values."""
        if node.kind == "union":
            members = [self.branch(node, branch) for branch in node.branches]
            return either(members) if members else Import("typing", "Never")
        if node.kind == "array":
            return Subscript(Import("builtins", "list"), (self.of(node.item),))
        if node.kind == "map":
            return Subscript(Import("builtins", "dict"), (Import("builtins", "str"), self.of(node.item)))
        return self._leaf(node)

    def branch(self, union: Node, branch: Node) -> Expression:
        """The type of a branch's values, in a Branch if the values alone do not tell the branch."""
        kind = self.of(branch)
        if branch.branch not in wrapped(map(kind_of, union.branches)):
            return kind
        return Subscript(Import(RUNTIME, "Branch"), (literal_type(text(branch.branch)), kind))

    def _leaf(self, node: Node) -> Expression:
        python = kind_of(node).python
        if python is None:
            return self.class_of(node.branch)
        if node.kind == "null":
            return NONE
        kind = Import(RUNTIME if python.__module__.startswith("serdes.") else python.__module__, python.__name__)
        note = node.meaning or ("int32" if node.kind == "int" else None)
        return Subscript(Import("typing", "Annotated"), (kind, text(note))) if python is int and note else kind
