"""The names that a schema's text defines and mentions, read before the parser of its type checks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema, Pointer, Position

_AVRO_PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_METASCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")
#: JSON Schema keywords whose values are data.
_DATA = frozenset({"enum", "const", "default", "examples"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text that may be defined by another schema.

    Attributes:
        names: The name in the form of a reference, followed by its other possible meanings in order.
        pointer: The position: in JSON the path to it, in Protobuf the index of the token.
    """

    names: tuple[str, ...]
    pointer: Pointer


@dataclass(frozen=True, slots=True)
class Contents:
    """The names that a text defines and mentions.

    Attributes:
        defines: Full names, in Avro the outermost first; in JSON Schema the text's address.
        mentions: The names of other schemas, as the schema type requires them.
        uses: The names of the types that a Protobuf text uses; its imports name files, not types.
    """

    defines: tuple[str, ...] = ()
    mentions: tuple[Mention, ...] = ()
    uses: frozenset[str] = frozenset()
    locate: Callable[[Pointer], Position | None] = field(default=lambda _: None, compare=False)


def read_contents(schema_type: str, text: str) -> Contents:
    """Read a text's definitions and mentions.

    Raises:
        InvalidSchema: the text cannot be read.
    """
    return _READERS[schema_type](text)


def _json_value(schema_type: str, text: str, *, comments: bool) -> Any:
    from compat.json import json_text  # noqa: PLC0415 - Protobuf does without

    try:
        # Exact numbers, because JSON Schemas may have numbers that no double has.
        return json_text.loads(text, comments=comments, decimals=True)
    except json_text.InvalidJson as error:
        raise InvalidSchema(schema_type, f"this is not JSON: {error.detail}", error.position) from None


def _locate_json(text: str, pointer: Pointer) -> Position | None:
    from compat.json import json_text  # noqa: PLC0415 - as above

    return json_text.locate(text, pointer)


def _avro(text: str) -> Contents:
    value = _json_value(AVRO, text, comments=True)
    defines: dict[str, None] = {}
    mentions = list(_avro_mentions(value, "", (), defines))
    foreign = {mention.names: mention for mention in reversed(mentions) if not defines.keys() & mention.names}
    return Contents(tuple(defines), tuple(reversed(foreign.values())), locate=partial(_locate_json, text))


def _avro_mentions(value: Any, space: str, at: Pointer, defines: dict[str, None]) -> Iterator[Mention]:
    if isinstance(value, str):
        if value not in _AVRO_PRIMITIVES:
            full = value if "." in value or not space else f"{space}.{value}"
            yield Mention(tuple(dict.fromkeys((full, value))), at)
    elif isinstance(value, list):
        for index, branch in enumerate(value):
            yield from _avro_mentions(branch, space, (*at, index), defines)
    elif isinstance(value, dict):
        kind = value.get("type")
        if kind in ("record", "error", "enum", "fixed"):
            yield from _avro_members(value, space, at, defines)
        elif kind in ("array", "map"):
            inner = "items" if kind == "array" else "values"
            yield from _avro_mentions(value.get(inner), space, (*at, inner), defines)
        else:
            yield from _avro_mentions(kind, space, (*at, "type"), defines)


def _avro_members(value: dict[str, Any], space: str, at: Pointer, defines: dict[str, None]) -> Iterator[Mention]:
    name, namespace = value.get("name"), value.get("namespace", space)
    if isinstance(name, str) and isinstance(namespace, str):
        space = name.rpartition(".")[0] or namespace
        defines[f"{space}.{name.rpartition('.')[2]}" if space else name] = None
    members = value.get("fields")
    for index, member in enumerate(members if isinstance(members, list) else ()):
        if isinstance(member, dict):
            yield from _avro_mentions(member.get("type"), space, (*at, "fields", index, "type"), defines)


def _json(text: str) -> Contents:
    value = _json_value(JSON, text, comments=False)
    root_id = next(
        (value[key] for key in ("$id", "id") if isinstance(value, dict) and isinstance(value.get(key), str)), ""
    )
    addresses = {root_id.partition("#")[0]}
    mentions: dict[str, Mention] = {}
    for address, base, pointer, is_id in _addresses(value, root_id, ()):
        if is_id:
            addresses.add(_join(base, address))
        elif address not in mentions:
            mentions[address] = Mention(tuple(dict.fromkeys((address, _join(base, address)))), pointer)
    foreign = [
        mention
        for mention in mentions.values()
        if not addresses & set(mention.names) and not mention.names[-1].startswith(_METASCHEMAS)
    ]
    return Contents(tuple(sorted(addresses - {""})), tuple(foreign), locate=partial(_locate_json, text))


def _addresses(value: Any, base: str, at: Pointer) -> Iterator[tuple[str, str, Pointer, bool]]:
    """Every `$ref` to another resource and every `$id`: its address, base and position, and which of the two it is."""
    if isinstance(value, dict):
        inner_id = value.get("$id")
        if at and isinstance(inner_id, str) and not inner_id.startswith("#"):
            yield inner_id.partition("#")[0], base, at, True
            base = _join(base, inner_id)
        for keyword in ("$ref", "$dynamicRef"):
            address = value.get(keyword)
            if isinstance(address, str) and (named := address.partition("#")[0]):
                yield named, base, (*at, keyword), False
        for key, inner in value.items():
            if key not in _DATA:
                yield from _addresses(inner, base, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _addresses(inner, base, (*at, index))


def _join(base: str, address: str) -> str:
    from urllib.parse import urljoin  # noqa: PLC0415 - only if there is JSON Schema

    try:
        return urljoin(base, address).partition("#")[0]
    except ValueError:
        return address


def _protobuf(text: str) -> Contents:
    # Import here: the parser loads the Protobuf runtime, which other types do not need.
    from compat.protobuf.descriptor.reading import read  # noqa: PLC0415
    from compat.protobuf.program.builtin import BUILTIN_PATHS  # noqa: PLC0415
    from compat.protobuf.program.uses import declared_types, used_types  # noqa: PLC0415
    from compat.protobuf.text.lexer import position  # noqa: PLC0415

    tree, is_text = read(text)
    imports = {entry.path: entry for entry in reversed(tree.imports) if entry.path not in BUILTIN_PATHS}
    mentions = tuple(Mention((entry.path,), (entry.at,)) for entry in reversed(imports.values()))
    declared = declared_types(tree)
    uses = frozenset(name for name in used_types(tree) if not ends_with(declared, name))
    return Contents(declared, mentions, uses, lambda at: position(text, int(at[0])) if is_text else None)


def ends_with(full_names: Iterable[str], name: str) -> bool:
    """Whether a name may be short for one of some full names, because it is its last part or parts."""
    return any(full_name == name or full_name.endswith(f".{name}") for full_name in full_names)


_READERS: dict[str, Callable[[str], Contents]] = {AVRO: _avro, JSON: _json, PROTOBUF: _protobuf}
