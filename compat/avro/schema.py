"""An Avro schema: parsing, forms of its text, and comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from compat.avro.nodes import NAMED, Named, Node, Record, children
from compat.avro.rules.checking import compare
from compat.avro.rules.table import Places
from compat.avro.text.parser import Parser
from compat.avro.text.printing import print_node
from compat.avro.text.structure import may_share_structure, structure
from compat.budget import Budget
from compat.difference import Difference
from compat.json import json_text
from compat.schema import AVRO, Dependencies, InvalidSchema, ParsedSchema, Pointer, Position, SchemaText, shorten


@dataclass(frozen=True, eq=False, repr=False)
class AvroSchema:
    """A parsed Avro schema.

    Attributes:
        source: The text that was parsed.
        root: The schema's outermost type.
        referenced: The named types that references define, by full name.
    """

    source: str
    root: Node
    referenced: Mapping[str, Named]

    def __repr__(self) -> str:
        # The types refer to each other, so the generated text of their fields would grow exponentially.
        return f"<AvroSchema {shorten(self.source)}>"

    @property
    def schema_type(self) -> str:
        """AVRO."""
        return AVRO

    @cached_property
    def canonical(self) -> str:
        """The text that the Avro library for Java prints; types from references are printed as names."""
        return print_node(self.root, defined_elsewhere=self.referenced)

    @property
    def full_name(self) -> str | None:
        """The record's full name; None for other types, as in the reference."""
        return self.root.name.full if isinstance(self.root, Record) else None

    @property
    def top_level_fields(self) -> tuple[str, ...]:
        """The record's field names; none for other types."""
        return tuple(self.root.by_name) if isinstance(self.root, Record) else ()

    def normalized(self) -> str:
        """The canonical text of the schema with sorted properties and aliases and typed defaults."""
        return print_node(self.root, defined_elsewhere=self.referenced, normalized=True)

    @cached_property
    def resolved(self) -> str:
        """The canonical text with the types from references included."""
        return print_node(self.root)

    @cached_property
    def normalized_resolved(self) -> str:
        """The normalized text with the types from references included."""
        return print_node(self.root, normalized=True)

    def rendered(self, form: str) -> str:
        """The text in a form: `resolved` includes the types from references; any other form is the canonical text."""
        return self.resolved if form == "resolved" else self.canonical

    @cached_property
    def pointers(self) -> Mapping[int, Pointer]:
        """The position of each type in the source, by the node's id; for a named type, that of its definition."""
        pointers: dict[int, Pointer] = {}
        todo: list[tuple[Pointer, Node]] = [((), self.root)]
        while todo:
            pointer, node = todo.pop()
            if id(node) in pointers or (isinstance(node, NAMED) and node.name.full in self.referenced):
                continue
            pointers[id(node)] = pointer
            todo += [((*pointer, *step), child) for step, child in reversed(list(children(node)))]
        return pointers

    @cached_property
    def nodes(self) -> Mapping[Pointer, Node]:
        """The types in the source, by position."""
        nodes: dict[Pointer, Node] = {}
        todo: list[Node] = [self.root]
        while todo:
            node = todo.pop()
            pointer = self.pointer(node)
            if pointer is not None and pointer not in nodes:
                nodes[pointer] = node
                todo += [child for _, child in children(node)]
        return nodes

    def pointer(self, node: Node) -> Pointer | None:
        """The position of a type in the source; None if a reference defines it."""
        return self.pointers.get(id(node))


def parse(schema: SchemaText, dependencies: Dependencies, strict: bool) -> AvroSchema:  # noqa: FBT001 - SchemaFormat's
    """Parse a schema and the schemas that it refers to.

    Args:
        schema: The text.
        dependencies: The texts that define the names it uses; they were accepted before and are parsed leniently.
        strict: Whether names and defaults are checked, as for new schemas.

    Raises:
        InvalidSchema: The text, or the text of a dependency, is not an Avro schema.
    """
    parser = Parser()
    referenced = _defined(dependencies) if dependencies else {}
    parser.names.update(referenced)
    return AvroSchema(schema.text, parser.parse(schema.text, strict=strict), referenced)


def _defined(dependencies: Dependencies) -> Mapping[str, Named]:
    """The named types from references, by full name.

    The definitions of recent schemas are reused: in a chain of references, each schema has the references of the one
    before, and one more.
    """
    global _recent  # noqa: PLW0603 - replaced as a whole, so that threads see one state or the other
    prefixes = [(texts, names) for texts, names in _recent if dependencies[: len(texts)] == texts]
    texts, names = max(prefixes, key=lambda entry: len(entry[0]), default=((), {}))
    if texts == dependencies:
        return names
    parser = Parser()
    parser.names.update(names)
    for dependency in dependencies[len(texts) :]:
        try:
            parser.parse(dependency.text, strict=False)
        except InvalidSchema as error:
            raise InvalidSchema(AVRO, f"Reference {dependency.name}: {error.detail}") from None
    _recent = (*_recent[1 - _MOST_RECENT :], (dependencies, parser.names))
    return parser.names


#: The references of recent schemas, with their definitions.
_recent: tuple[tuple[Dependencies, Mapping[str, Named]], ...] = ()
_MOST_RECENT = 4


def edited(schema: ParsedSchema, text: str) -> AvroSchema:
    """A schema with another text and the same references.

    Raises:
        InvalidSchema: The text is not an Avro schema.
    """
    referenced = _avro(schema).referenced
    parser = Parser()
    parser.names.update(referenced)
    return AvroSchema(text, parser.parse(text, strict=True), referenced)


def differences(reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None) -> list[Difference]:
    """The incompatibilities of a reader schema with a writer schema, in the reference's order; see SchemaFormat.

    Raises:
        Incomparable: A reader's field matches two fields of the writer, by name and by alias.
        TooMuchWork: The comparison goes beyond the budget.
    """
    reader, writer = _avro(reader), _avro(writer)
    return compare(reader.root, writer.root, Places(reader.pointer, writer.pointer), budget or Budget())


def is_same(schema: ParsedSchema, stored: ParsedSchema, normalized: bool) -> bool:  # noqa: FBT001 - SchemaFormat's
    """Tell whether two schemas have one structure, or one is the other with the types from its references included."""
    schema, stored = _avro(schema), _avro(stored)
    text = schema.normalized() if normalized else schema.canonical
    if may_share_structure(text, stored.canonical) and structure(text) == structure(stored.canonical):
        return True
    if schema.referenced or not stored.referenced:
        return False
    if normalized:
        return schema.normalized_resolved == stored.normalized_resolved
    return schema.resolved == stored.resolved


def locate(schema: ParsedSchema, pointer: Pointer) -> Position | None:
    """The line and column of a position in a schema's source."""
    return json_text.locate(schema.source, pointer)


def _avro(schema: ParsedSchema) -> AvroSchema:
    if not isinstance(schema, AvroSchema):
        raise TypeError(f"not an Avro schema but {schema.schema_type}")
    return schema
