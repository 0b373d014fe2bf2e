"""The outline of a schema: a tree of its types, fields and symbols, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from compat.budget import Budget
from compat.schema import ParsedSchema, Pointer, Position, Reference

#: The most nodes of an outline that is shown, and of one that is compared.
MOST_NODES = 10_000
MOST_COMPARED = 20_000
#: The steps of a budget that a node costs.
_STEPS_A_NODE = 8


class Target(Struct, frozen=True, gc=False):
    """The place of a type, file or schema that a node uses and does not define itself.

    Attributes:
        name: Its name in the text: a full name, an import path or a URI.
        path: The path of the node that defines it; None if it is defined in another text.
        subject: The subject of that text, as the list of references names it; None if the list does not have it.
        version: The version of that subject.
    """

    name: str
    path: str | None = None
    subject: str | None = None
    version: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The target as JSON data."""
        return {"name": self.name, "path": self.path, "subject": self.subject, "version": self.version}


class OutlineNode(Struct, frozen=True, eq=False, kw_only=True):
    """One entry of an outline: a type, field, symbol or the like.

    The attributes after `children` are for comparisons and are not part of the JSON data.

    Attributes:
        path: Its unique name within the schema.
        name: Its own name, without the names of outer nodes; empty if it has none.
        kind: What it is, such as `record`, `field` or `symbol`; each type of schema has its own kinds.
        type: The type in words; empty if the node has no values.
        default: The default as text of the schema's language; None if there is none.
        doc: The author's documentation of it.
        tags: The tags in the text.
        number: The number of a Protobuf field or constant.
        aliases: Other names of an Avro type or field.
        optional: Whether data may leave the value out; None if the node has no values.
        attributes: All other attributes by name, as texts of the schema's language.
        at: Its place in the text.
        reference: The type, file or schema that it uses and does not define itself.
        children: The nodes inside it, in the order of the text.
        pointer: Its place in the text, in the notation of the differences.
        identity: The name by which a comparison finds the same type anywhere in the other outline.
        keys: Names by which a comparison finds it among the children of its parent, the best first.
        former: Names that it may have had, in the form of the first key.
        shape: The type in words without the parts that are children; None for `type`.
        is_ordered: Whether its position among its siblings has a meaning.
        is_group: Whether its children belong to its parent node, such as the fields of a oneof.
    """

    path: str
    name: str
    kind: str
    type: str = ""
    default: str | None = None
    doc: str | None = None
    tags: tuple[str, ...] = ()
    number: int | None = None
    aliases: tuple[str, ...] = ()
    optional: bool | None = None
    attributes: Mapping[str, str] = {}
    at: Position | None = None
    reference: Target | None = None
    children: tuple[OutlineNode, ...] = ()
    pointer: Pointer | None = None
    identity: Hashable = None
    keys: tuple[Hashable, ...] = ()
    former: frozenset[Hashable] = frozenset()
    shape: str | None = None
    is_ordered: bool = False
    is_group: bool = False

    def to_json(self) -> dict[str, Any]:
        """The node as JSON data, without its children."""
        at = self.at
        return {
            "path": self.path,
            "name": self.name,
            "kind": self.kind,
            "type": self.type,
            "default": self.default,
            "doc": self.doc,
            "tags": self.tags,
            "number": self.number,
            "aliases": self.aliases,
            "optional": self.optional,
            "attributes": self.attributes,
            "at": None if at is None else {"line": at.line, "column": at.column},
            "reference": None if self.reference is None else self.reference.to_json(),
        }

    def walk(self) -> Iterator[OutlineNode]:
        """Yield this node and all nodes inside it, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


class Outline(Struct, frozen=True, eq=False):
    """The outline of a schema.

    Attributes:
        root: The node of the whole schema.
        nodes: How many nodes the tree has.
        is_cut: Whether more nodes than the limit were left out.
    """

    root: OutlineNode
    nodes: int
    is_cut: bool

    def tree_json(self) -> dict[str, Any]:
        """The tree as JSON data."""
        tree: dict[str, Any] = {}
        waiting = [(self.root, tree)]
        while waiting:
            node, value = waiting.pop()
            value.update(node.to_json())
            children: list[dict[str, Any]] = [{} for _ in node.children]
            value["children"] = children
            waiting += zip(node.children, children, strict=True)
        return tree


class ReferencedTargets:
    """Finds the targets that other texts define, by a schema's list of references."""

    def __init__(self, references: Sequence[Reference]) -> None:
        """Index the list by name."""
        self._references = {reference.name: reference for reference in references}

    def target(self, name: str, text: str | None) -> Target:
        """The target of a name that another text defines.

        Args:
            name: The name, as the schema uses it.
            text: The name of that text in the list of references; None if it has none.
        """
        reference = self._references.get(text or "")
        return Target(name) if reference is None else Target(name, None, reference.subject, reference.version)


class Limits:
    """The limits of one outline, and the number of nodes made so far.

    Attributes:
        nodes: How many nodes there are so far.
        is_cut: Whether a node was refused.
    """

    def __init__(self, most_nodes: int = MOST_NODES, budget: Budget | None = None) -> None:
        """Begin an outline.

        Args:
            most_nodes: The most nodes that it may have.
            budget: Pays for the nodes; None for no limit.
        """
        self._most_nodes = most_nodes
        self._budget = budget
        self.nodes = 0
        self.is_cut = False

    def admit(self) -> bool:
        """Count one more node; False if the limit is reached and the node must be left out.

        Raises:
            TooMuchWork: The budget is spent.
        """
        if self.nodes >= self._most_nodes:
            self.is_cut = True
            return False
        self.nodes += 1
        if self._budget is not None:
            self._budget.spend(_STEPS_A_NODE)
        return True


#: Makes the root of a schema's outline, within the limits; raises TooMuchWork if their budget is spent.
OutlineMaker = Callable[[ParsedSchema, ReferencedTargets, Limits], OutlineNode]
