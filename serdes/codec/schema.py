"""An Avro schema as a graph of nodes: names resolved, recursion tied, logical types kept where they apply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from serdes.codec.errors import SchemaError

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})

#: The logical types that are converted, as (Avro type, logical type): those of fastavro. Any other is left raw.
LOGICAL_TYPES = frozenset(
    {
        ("int", "date"),
        ("int", "time-millis"),
        ("long", "time-micros"),
        ("long", "timestamp-millis"),
        ("long", "timestamp-micros"),
        ("long", "local-timestamp-millis"),
        ("long", "local-timestamp-micros"),
        ("bytes", "decimal"),
        ("fixed", "decimal"),
        ("string", "uuid"),
    },
)

#: The others of Avro's specification: what they are on is left raw, and `Node.meaning` tells that they are there.
OTHER_LOGICAL_TYPES = frozenset(
    {
        ("long", "timestamp-nanos"),
        ("long", "local-timestamp-nanos"),
        ("bytes", "big-decimal"),
        ("fixed", "uuid"),
        ("fixed", "duration"),
    }
)

#: Java's Avro keeps a decimal's precision as an int; a larger one is no decimal.
MAX_PRECISION = (1 << 31) - 1

MISSING: Any = object()


class Field:
    """A field of a record; `default` is the schema's JSON, or MISSING."""

    __slots__ = ("aliases", "default", "name", "node")

    def __init__(self, name: str, node: Node, default: Any, aliases: tuple[str, ...]) -> None:
        self.name = name
        self.node = node
        self.default = default
        self.aliases = aliases


class Node:
    """One type of a schema; named types are one object wherever they are mentioned, so the graph may have cycles.

    Attributes:
        kind: The Avro type: a primitive, record, enum, fixed, array, map or union.
        name: The full name of a record, enum or fixed, else None.
        logical: The logical type, where it is one that is converted.
        meaning: The logical type, where it is one of Avro's specification.
        fields, symbols, size, item, branches: What the kind has; `item` is an array's items or a map's values.
        default: An enum's default symbol.
        aliases: Other full names, for resolution.
        precision, scale: Of a decimal.
    """

    __slots__ = (
        "aliases", "branches", "default", "fields", "item", "kind", "logical", "meaning", "name", "precision", "scale",
        "size", "symbols",
    )  # fmt: skip

    def __init__(self, kind: str, name: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self.logical: str | None = None
        self.meaning: str | None = None
        self.fields: tuple[Field, ...] = ()
        self.symbols: tuple[str, ...] = ()
        self.size = 0
        self.item: Node = self
        self.branches: tuple[Node, ...] = ()
        self.default: str | None = None
        self.aliases: tuple[str, ...] = ()
        self.precision = 0
        self.scale = 0

    @property
    def branch(self) -> str:
        """The name by which a union's value is tagged: the full name, or the type's."""
        return self.name or self.kind

    def words(self) -> str:
        """The type in the words of an error message."""
        if self.kind == "union":
            return "one of " + ", ".join(branch.branch for branch in self.branches)
        words = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{words} ({self.logical})" if self.logical else words


def parse(text: str, named: Sequence[str] = ()) -> Node:
    """The schema of a text, the types of the texts in `named` (in dependency order) being known to it.

    Raises:
        SchemaError: A text is not JSON, not a schema, or mentions a name that is nowhere defined.
    """
    parser = _Parser()
    for dependency in named:
        parser.text(dependency)
    return parser.text(text)


def _told(text: str, error: json.JSONDecodeError) -> str:
    """What is wrong with a text and where, in words that do not depend on the interpreter."""
    from compat.json_fault import fault_of  # noqa: PLC0415  a start does without
    from compat.json_text import position  # noqa: PLC0415  as above

    fault = fault_of(text, error)
    at = position(text, fault.offset)
    return f"{fault.detail}: line {at.line} column {at.column} (char {fault.offset})"


class _Parser:
    """The names known so far, and the walk over the schema's JSON."""

    def __init__(self) -> None:
        self.names: dict[str, Node] = {}

    def text(self, text: str) -> Node:
        try:
            return self.node(json.loads(text), "")
        except RecursionError:
            raise SchemaError("the schema is nested too deeply") from None
        except json.JSONDecodeError as error:
            raise SchemaError(f"the schema is not JSON: {_told(text, error)}") from error

    def node(self, schema: Any, namespace: str) -> Node:
        if isinstance(schema, str):
            return self.mention(schema, namespace)
        if isinstance(schema, list):
            union = Node("union")
            union.branches = tuple(self.node(branch, namespace) for branch in schema)
            return union
        if not isinstance(schema, dict):
            raise SchemaError(f"a schema is a name, an object or an array, not {json.dumps(schema)}")
        kind = schema.get("type")
        if not isinstance(kind, str):
            raise SchemaError(f"no type: {json.dumps(schema)[:200]}")
        if kind in PRIMITIVES:
            return _with_logical(Node(kind), schema)
        complex_type = _COMPLEX.get(kind)
        return complex_type(self, schema, namespace) if complex_type else self.mention(kind, namespace)

    def mention(self, name: str, namespace: str) -> Node:
        if name in PRIMITIVES:
            return Node(name)
        # A name without a dot means the enclosing namespace; Java's parser then tries the null namespace.
        found = self.names.get(f"{namespace}.{name}") if namespace and "." not in name else None
        found = found or self.names.get(name)
        if found is None:
            raise SchemaError(f"unknown type: {name}")
        return found

    def define(self, schema: dict[str, Any], namespace: str) -> tuple[Node, str]:
        """A named type's node under its full name, and the namespace that it encloses."""
        kind = schema["type"]
        name = _required(schema, "name", kind)
        if not isinstance(name, str):
            raise SchemaError(f"the name of a {kind} is a string, not {json.dumps(name)}")
        space = name.rpartition(".")[0] if "." in name else schema.get("namespace", namespace) or ""
        node = Node("record" if kind == "error" else kind, _full(name, space))
        if node.name in self.names:
            raise SchemaError(f"{node.name} is defined twice")
        aliases = schema.get("aliases") or ()
        # As written, too: fastavro matches an alias without a namespace with a name of any namespace.
        node.aliases = tuple(
            form for alias in aliases if isinstance(alias, str) for form in (alias, _full(alias, space))
        )
        self.names[node.branch] = node
        return node, space

    def record(self, schema: dict[str, Any], namespace: str) -> Node:
        node, space = self.define(schema, namespace)
        fields = _required(schema, "fields", "record")
        if not isinstance(fields, list):
            raise SchemaError(f"the fields of {node.name} are not an array")
        node.fields = tuple(self.field(field, node, space) for field in fields)
        names = [field.name for field in node.fields]
        if len(set(names)) < len(names):
            raise SchemaError(f"{node.name} has two fields of one name")
        return node

    def field(self, field: Any, record: Node, namespace: str) -> Field:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            raise SchemaError(f"a field of {record.name} has no name")
        if "type" not in field:
            raise SchemaError(f"field {field['name']} of {record.name} has no type")
        aliases = tuple(alias for alias in field.get("aliases") or () if isinstance(alias, str))
        return Field(field["name"], self.node(field["type"], namespace), field.get("default", MISSING), aliases)

    def collection(self, schema: dict[str, Any], namespace: str) -> Node:
        node = Node(schema["type"])
        node.item = self.node(_required(schema, "items" if node.kind == "array" else "values", node.kind), namespace)
        return node

    def enum(self, schema: dict[str, Any], namespace: str) -> Node:
        node, _ = self.define(schema, namespace)
        symbols = _required(schema, "symbols", "enum")
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            raise SchemaError(f"the symbols of {node.name} are not an array of strings")
        node.symbols = tuple(symbols)
        if len(set(symbols)) < len(symbols):
            raise SchemaError(f"{node.name} has two symbols of one name")
        node.default = schema.get("default") if schema.get("default") in symbols else None
        return node

    def fixed(self, schema: dict[str, Any], namespace: str) -> Node:
        node, _ = self.define(schema, namespace)
        size = _required(schema, "size", "fixed")
        if type(size) is not int or size < 0:
            raise SchemaError(f"the size of {node.name} is not a number of bytes")
        node.size = size
        return _with_logical(node, schema)


_COMPLEX = {
    "record": _Parser.record,
    "error": _Parser.record,
    "enum": _Parser.enum,
    "fixed": _Parser.fixed,
    "array": _Parser.collection,
    "map": _Parser.collection,
}


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _required(schema: dict[str, Any], key: str, kind: str) -> Any:
    if key not in schema:
        raise SchemaError(f"{key} is missing from the {kind}: {json.dumps(schema)[:200]}")
    return schema[key]


def _with_logical(node: Node, schema: dict[str, Any]) -> Node:
    """The node with its logical type; an unknown one, or a decimal that makes no sense, is ignored (Avro spec)."""
    logical = schema.get("logicalType")
    if not isinstance(logical, str):
        return node
    if (node.kind, logical) not in LOGICAL_TYPES:
        node.meaning = logical if (node.kind, logical) in OTHER_LOGICAL_TYPES else None
        return node
    if logical == "decimal":
        precision, scale = schema.get("precision"), schema.get("scale") or 0
        if (
            type(precision) is not int
            or type(scale) is not int
            or not 0 <= scale <= precision <= MAX_PRECISION
            or precision < 1
        ):
            return node
        node.precision, node.scale = precision, scale
    node.logical = node.meaning = logical
    return node
