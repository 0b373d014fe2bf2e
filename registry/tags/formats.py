"""The table of schema types with their functions for tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from compat.schema import AVRO, JSON, PROTOBUF, ParsedSchema
from registry.tags import json_tree
from registry.tags.entity import Listing, SchemaEntity, Tags


@dataclass(frozen=True, slots=True)
class TagFormat:
    """The functions for tags of one schema type.

    Attributes:
        find: Returns the entities of a schema that have tags.
        entities: Returns all records and fields of a schema.
        edit: Returns the text of a schema with tags added and removed; raises UnknownEntity.
        listing: Returns the names and tags in a stored text; raises ValueError if it can't be read.
    """

    find: Callable[[ParsedSchema], Tags]
    entities: Callable[[ParsedSchema], Iterable[SchemaEntity]]
    edit: Callable[[ParsedSchema, Tags, Tags], str]
    listing: Callable[[str], Listing]


def _in_json(form: json_tree.Form) -> TagFormat:
    return TagFormat(
        partial(json_tree.find, form),
        partial(json_tree.entities, form),
        partial(json_tree.edit, form),
        partial(json_tree.listing, form),
    )


def _find_in_protobuf(schema: ParsedSchema) -> Tags:
    from registry.tags import proto  # noqa: PLC0415  the Protobuf libraries take long to start

    return proto.find(schema)


def _entities_of_protobuf(schema: ParsedSchema) -> Iterable[SchemaEntity]:
    from registry.tags import proto  # noqa: PLC0415  as above

    return proto.entities(schema)


def _edit_protobuf(schema: ParsedSchema, add: Tags, remove: Tags) -> str:
    from registry.tags import proto  # noqa: PLC0415  as above

    return proto.edit(schema, add, remove)


def _listing_of_protobuf(text: str) -> Listing:
    from registry.tags import proto  # noqa: PLC0415  as above

    return proto.listing(text)


TAG_FORMATS: Mapping[str, TagFormat] = {
    AVRO: _in_json(json_tree.Form(json_tree.walk_avro, json_tree.avro_name, decimals=False)),
    JSON: _in_json(json_tree.Form(json_tree.walk_json_schema, json_tree.json_schema_name, decimals=True)),
    PROTOBUF: TagFormat(_find_in_protobuf, _entities_of_protobuf, _edit_protobuf, _listing_of_protobuf),
}
