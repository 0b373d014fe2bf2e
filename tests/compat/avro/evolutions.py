"""Generated Avro schemas, changes to them, and data; two libraries judge what a reader can read."""

from __future__ import annotations

import copy
import io
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import avro.errors
import avro.io
import avro.schema
import fastavro
from hypothesis import assume
from hypothesis import strategies as st

from compat.avro import AvroSchema
from compat.avro.nodes import NAMED, Array, Enum, Fixed, Map, Node, Primitive, Record, Union
from compat.formats import parse
from compat.schema import AVRO, InvalidSchema, SchemaText

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
DEFAULTS = {
    "null": None,
    "boolean": True,
    "int": 1,
    "long": 2,
    "float": 1.5,
    "double": 2.5,
    "bytes": "b",
    "string": "s",
}


class Builder:
    """Draws schemas as JSON values; names are never used twice."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.names: list[str] = []

    def name(self, prefix: str) -> str:
        self.names.append(f"{prefix}{len(self.names)}")
        return self.names[-1]

    def type(self, depth: int, *, union: bool = True) -> Any:
        kinds = ["primitive", "primitive", "enum", "fixed"]
        if depth:
            kinds += ["record", "record", "array", "map", *(["union", "union"] if union else [])]
        kind = self.draw(st.sampled_from(kinds))
        return getattr(self, f"_{kind}")(depth)

    def _primitive(self, _: int) -> Any:
        return self.draw(st.sampled_from(PRIMITIVES))

    def _enum(self, _: int) -> Any:
        symbols = self.draw(st.lists(st.sampled_from("ABCD"), min_size=1, unique=True))
        made = {"type": "enum", "name": self.name("E"), "symbols": symbols}
        if self.draw(st.booleans()):
            made["default"] = symbols[0]
        return made

    def _fixed(self, _: int) -> Any:
        return {"type": "fixed", "name": self.name("F"), "size": self.draw(st.integers(1, 3))}

    def _record(self, depth: int) -> Any:
        name = self.name("R")
        fields = [
            {"name": field, "type": self.type(depth - 1)}
            for field in self.draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))
        ]
        if self.draw(st.integers(0, 3)) == 0:
            fields.append({"name": "again", "type": ["null", name], "default": None})
        return {"type": "record", "name": name, "fields": fields}

    def _array(self, depth: int) -> Any:
        return {"type": "array", "items": self.type(depth - 1)}

    def _map(self, depth: int) -> Any:
        return {"type": "map", "values": self.type(depth - 1)}

    def _union(self, depth: int) -> Any:
        branches: dict[str, Any] = {}
        for _ in range(self.draw(st.integers(1, 3))):
            branch = self.type(depth - 1, union=False)
            branches.setdefault(branch if isinstance(branch, str) else branch.get("name", branch["type"]), branch)
        return list(branches.values())


def places(box: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Every container and key of a schema that holds a type in a box."""
    inner: list[tuple[Any, Any]] = [(box, 0)]
    while inner:
        container, key = inner.pop()
        yield container, key
        node = container[key]
        if isinstance(node, list):
            inner += [(node, index) for index in range(len(node))]
        elif isinstance(node, dict) and node["type"] in ("array", "map"):
            inner.append((node, "items" if node["type"] == "array" else "values"))
        elif isinstance(node, dict) and node["type"] == "record":
            inner += [(field, "type") for field in node["fields"]]


def change(builder: Builder, box: list[Any]) -> None:  # noqa: C901, PLR0912 - a list of changes
    """Makes one change somewhere in the schema that the box holds."""
    draw = builder.draw
    container, key = draw(st.sampled_from(list(places(box))))
    node = container[key]
    kind = node if isinstance(node, str) else "union" if isinstance(node, list) else node["type"]
    what = draw(st.sampled_from(["replace", "wrap", "inside", "inside", "inside"]))
    if what == "replace":
        container[key] = draw(st.sampled_from(PRIMITIVES)) if draw(st.booleans()) else builder.type(1)
    elif what == "wrap":
        if kind == "union":
            container[key] = draw(st.sampled_from(node)) if node else "null"
        elif not (isinstance(container, list) and container is not box):
            other = draw(st.sampled_from(PRIMITIVES))
            container[key] = [other, node] if draw(st.booleans()) else [node, other]
    elif kind in PRIMITIVES:
        container[key] = draw(st.sampled_from(PRIMITIVES))
    elif kind == "union":
        if len(node) > 1 and draw(st.booleans()):
            node.pop(draw(st.integers(0, len(node) - 1)))
        else:
            node.append(draw(st.sampled_from(PRIMITIVES)))
    elif kind in ("array", "map"):
        container[key] = {"type": "map" if kind == "array" else "array"}
        container[key]["values" if kind == "array" else "items"] = node.get("items", node.get("values"))
    elif kind == "enum" and draw(st.booleans()):
        symbol = draw(st.sampled_from("ABCDE"))
        node["symbols"] = (
            [one for one in node["symbols"] if one != symbol]
            if symbol in node["symbols"]
            else [*node["symbols"], symbol]
        )
    elif kind == "enum" and draw(st.booleans()):
        node["default"] = node["symbols"][0] if node["symbols"] else "A"
    elif kind == "fixed" and draw(st.booleans()):
        node["size"] += 1
    elif kind == "record" and draw(st.integers(0, 3)):
        change_fields(builder, node["fields"])
    elif kind in ("record", "enum", "fixed"):
        old = node["name"]
        node["name"] = f"{old}x"
        if draw(st.booleans()):
            node["aliases"] = [old]


def change_fields(builder: Builder, fields: list[Any]) -> None:
    draw = builder.draw
    what = draw(st.sampled_from(["add", "add", "remove", "rename", "default", "reorder"]))
    if what == "add" or not fields:
        kind = draw(st.sampled_from(PRIMITIVES))
        made = {"name": builder.name("n"), "type": kind}
        if draw(st.booleans()):
            made["default"] = DEFAULTS[kind]
        fields.append(made)
        return
    field = draw(st.sampled_from(fields))
    if what == "remove":
        fields.remove(field)
    elif what == "rename":
        old = field["name"]
        field["name"] = builder.name("n")
        if draw(st.booleans()):
            field["aliases"] = [old]
    elif what == "default" and isinstance(field["type"], str) and field["type"] in DEFAULTS:
        field["default"] = DEFAULTS[field["type"]]
    else:
        fields.reverse()


@st.composite
def evolutions(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[AvroSchema, AvroSchema]:
    """A reader and a writer schema, one made of the other by a few changes."""
    builder = Builder(draw)
    before = builder.type(3)
    box = [copy.deepcopy(before)]
    for _ in range(draw(st.integers(1, 3))):
        change(builder, box)
    pair = [before, box[0]]
    if draw(st.booleans()):
        pair.reverse()
    try:
        reader, writer = (parse(SchemaText(AVRO, json.dumps(one)), strict=True) for one in pair)
    except InvalidSchema:
        assume(False)
        raise
    assert isinstance(reader, AvroSchema)
    assert isinstance(writer, AvroSchema)
    return reader, writer


def zigzag(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


PRIMITIVE_DATA = {
    "null": [b""],
    "boolean": [b"\x00", b"\x01"],
    "int": [zigzag(0), zigzag(-(2**31)), zigzag(2**31 - 1)],
    "long": [zigzag(1), zigzag(-(2**63)), zigzag(2**63 - 1)],
    "float": [struct.pack("<f", 1.5), struct.pack("<f", -0.0)],
    "double": [struct.pack("<d", 1e300), struct.pack("<d", 0.0)],
    # As text, so that a reader may take it for a string.
    "bytes": [zigzag(0), zigzag(2) + "é".encode()],
    "string": [zigzag(0), zigzag(3) + b"ab "],
}


def data(node: Node, depth: int = 4) -> list[bytes]:  # noqa: PLR0911 - one answer a type
    """Data of a type, encoded, that take every branch, symbol and type inside it at least once."""
    if isinstance(node, Primitive):
        return PRIMITIVE_DATA[node.type]
    if isinstance(node, Fixed):
        return [bytes(range(node.size))]
    if isinstance(node, Enum):
        return [zigzag(index) for index in range(len(node.symbols))]
    if isinstance(node, Union):
        made = [[zigzag(index) + datum for datum in data(one, depth)] for index, one in enumerate(node.branches)]
        return [datum for branch in made for datum in branch]
    if isinstance(node, Record):
        return rows(node, depth)
    assert isinstance(node, Array | Map)
    if isinstance(node, Array):
        return [b"\x00", *(zigzag(1) + datum + b"\x00" for datum in data(node.items, depth))]
    return [b"\x00", *(zigzag(1) + zigzag(1) + b"k" + datum + b"\x00" for datum in data(node.values, depth))]


def rows(node: Record, depth: int) -> list[bytes]:
    if depth == 0:
        return []
    columns = [data(field.type, depth - 1) for field in node.fields]
    if not all(columns):
        return []
    count = max(map(len, columns), default=1)
    return [b"".join(column[row % len(column)] for column in columns) for row in range(count)]


def all_read(reads: Callable[[io.BytesIO], object], datums: list[bytes], refusals: tuple[type[Exception], ...]) -> bool:
    """Whether each datum is read, and read to its end."""
    for datum in datums:
        stream = io.BytesIO(datum)
        try:
            reads(stream)
        except refusals:
            return False
        if stream.tell() != len(datum):
            return False
    return True


def fastavro_reads(reader: AvroSchema, writer: AvroSchema, datums: list[bytes]) -> bool:
    written, wanted = fastavro.parse_schema(json.loads(writer.canonical)), json.loads(reader.canonical)
    refusals = (fastavro.read.SchemaResolutionError, ValueError, KeyError, IndexError, EOFError, TypeError)
    return all_read(lambda stream: fastavro.schemaless_reader(stream, written, wanted), datums, refusals)


def apache_reads(reader: AvroSchema, writer: AvroSchema, datums: list[bytes]) -> bool:
    written, wanted = avro.schema.parse(writer.canonical), avro.schema.parse(reader.canonical)
    refusals = (avro.errors.AvroException, ValueError, KeyError, IndexError, TypeError)
    datum_reader = avro.io.DatumReader(written, wanted)
    return all_read(lambda stream: datum_reader.read(avro.io.BinaryDecoder(stream)), datums, refusals)


def apache_can_judge(  # noqa: C901, PLR0911 - one answer a type
    reader: Node, writer: Node, seen: set[tuple[int, int]]
) -> bool:
    """Whether Apache's Python package follows the specification on this pair.

    It does not read a union as another type, bytes as a string or the reverse, nor items and values as another type.
    It does not know an enum's default and aliases, and many a default of a union or a number.
    """
    if (id(reader), id(writer)) in seen:
        return True
    seen.add((id(reader), id(writer)))
    if isinstance(reader, NAMED) and isinstance(writer, NAMED) and reader.name != writer.name:
        return False
    if isinstance(writer, Union):
        branches = [(one, other) for one in branches_of(reader) for other in writer.branches if alike(one, other)]
        return isinstance(reader, Union) and all(apache_can_judge(one, other, seen) for one, other in branches)
    if isinstance(reader, Union):
        return all(apache_can_judge(one, writer, seen) for one in reader.branches if alike(one, writer))
    if isinstance(reader, Enum) and isinstance(writer, Enum):
        return set(writer.symbols) <= set(reader.symbols)
    if isinstance(reader, Array) and isinstance(writer, Array):
        return reader.items.type == writer.items.type and apache_can_judge(reader.items, writer.items, seen)
    if isinstance(reader, Map) and isinstance(writer, Map):
        return reader.values.type == writer.values.type and apache_can_judge(reader.values, writer.values, seen)
    if not (isinstance(reader, Record) and isinstance(writer, Record)):
        return reader.type == writer.type or {reader.type, writer.type} != {"bytes", "string"}
    for field in reader.fields:
        written = [writer.by_name[name] for name in (field.name, *field.aliases) if name in writer.by_name]
        if not written and field.default != DEFAULTS.get(field.type.type, field):
            return False
        if written and not (written[0].name == field.name and apache_can_judge(field.type, written[0].type, seen)):
            return False
    return True


def branches_of(node: Node) -> tuple[Node, ...]:
    return node.branches if isinstance(node, Union) else (node,)


def alike(reader: Node, writer: Node) -> bool:
    return reader.type == writer.type or {reader.type, writer.type} == {"bytes", "string"}


#: Of the pairs called incompatible, at least this share must have a datum that fails.
