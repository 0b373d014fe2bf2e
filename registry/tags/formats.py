"""How each schema type carries tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from compat.schema import AVRO, JSON, PROTOBUF, ParsedSchema
from registry.tags import json_tree
from registry.tags.entity import SchemaEntity, Tags


@dataclass(frozen=True, slots=True)
class TagFormat:
    """One schema type's tags.

    Attributes:
        find: The entities of a schema that have tags.
        entities: All records and fields of a schema.
        edit: The text of a schema with tags added and taken out; raises UnknownEntity.
    """

    find: Callable[[ParsedSchema], Tags]
    entities: Callable[[ParsedSchema], Iterable[SchemaEntity]]
    edit: Callable[[ParsedSchema, Tags, Tags], str]


def _in_json(walk: json_tree.Walk) -> TagFormat:
    return TagFormat(partial(json_tree.find, walk), partial(json_tree.entities, walk), partial(json_tree.edit, walk))


def _find_in_protobuf(schema: ParsedSchema) -> Tags:
    from registry.tags import proto  # noqa: PLC0415  the Protobuf libraries take long to start

    return proto.find(schema)


def _entities_of_protobuf(schema: ParsedSchema) -> Iterable[SchemaEntity]:
    from registry.tags import proto  # noqa: PLC0415  as above

    return proto.entities(schema)


def _edit_protobuf(schema: ParsedSchema, add: Tags, remove: Tags) -> str:
    from registry.tags import proto  # noqa: PLC0415  as above

    return proto.edit(schema, add, remove)


TAG_FORMATS: Mapping[str, TagFormat] = {
    AVRO: _in_json(json_tree.walk_avro),
    JSON: _in_json(json_tree.walk_json_schema),
    PROTOBUF: TagFormat(_find_in_protobuf, _entities_of_protobuf, _edit_protobuf),
}
