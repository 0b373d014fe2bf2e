"""The variables of expressions, with the types of a schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.options import CelOptions
from compat.contracts.cel.schema_types.types import SchemaTypes, schema_types
from compat.contracts.findings.contract import SchemaVersion
from compat.contracts.walk.leaf import PRIMITIVE, Leaf
from compat.schema import PROTOBUF, InvalidSchema

#: How many messages of a Protobuf file are tried: any of them may be a subject's.
_MOST_MESSAGES = 20


def message_types(version: SchemaVersion) -> Iterator[Mapping[str, CelType]]:
    """The variables of a CEL rule for each message that a schema may be used for; none for a schema that fails."""
    types = _types(version, "int")
    if types is None:
        return
    for name in _messages(version):
        yield types.rule(name)


def field_types(
    version: SchemaVersion, leaves: Iterable[Leaf], options: CelOptions
) -> Iterator[tuple[Leaf, Mapping[str, CelType]]]:
    """The variables of a CEL_FIELD rule for each kind of field, with the first such field."""
    types = _types(version, options.unsigned)
    if types is None:
        return
    seen: set[tuple[CelType, CelType]] = set()
    for leaf in leaves:
        if leaf.type_name in PRIMITIVE - {"NULL"}:
            variables = types.field_rule(leaf.full_name)
            kind = variables["value"], variables["message"]
            if kind not in seen:
                seen.add(kind)
                yield leaf, variables


def _messages(version: SchemaVersion) -> list[str | None]:
    if version.schema.schema_type != PROTOBUF:
        return [None]
    from compat.protobuf.schema import parse  # noqa: PLC0415  it loads the parser of Protobuf

    schema = parse(version.schema, version.dependencies)
    return [schema.message_name((index,)) for index in range(len(schema.tree.messages[:_MOST_MESSAGES]))]


@lru_cache(maxsize=8)
def _types(version: SchemaVersion, unsigned: str) -> SchemaTypes | None:
    try:
        return schema_types(version.schema, version.dependencies, unsigned=unsigned)
    except (InvalidSchema, RecursionError):
        return None
