"""How each schema type carries tags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from compat.schema import AVRO, JSON, PROTOBUF, ParsedSchema
from registry.tags import json_tree
from registry.tags.entity import Tags


@dataclass(frozen=True, slots=True)
class TagFormat:
    """One schema type's tags.

    Attributes:
        find: The entities of a schema that have tags.
        edit: The text of a schema with tags added and taken out; raises UnknownEntity.
    """

    find: Callable[[ParsedSchema], Tags]
    edit: Callable[[ParsedSchema, Tags, Tags], str]


def _find_in_protobuf(schema: ParsedSchema) -> Tags:
    from registry.tags import proto  # noqa: PLC0415  the Protobuf libraries take long to start

    return proto.find(schema)


def _edit_protobuf(schema: ParsedSchema, add: Tags, remove: Tags) -> str:
    from registry.tags import proto  # noqa: PLC0415  as above

    return proto.edit(schema, add, remove)


TAG_FORMATS: Mapping[str, TagFormat] = {
    AVRO: TagFormat(partial(json_tree.find, json_tree.walk_avro), partial(json_tree.edit, json_tree.walk_avro)),
    JSON: TagFormat(
        partial(json_tree.find, json_tree.walk_json_schema), partial(json_tree.edit, json_tree.walk_json_schema)
    ),
    PROTOBUF: TagFormat(_find_in_protobuf, _edit_protobuf),
}
