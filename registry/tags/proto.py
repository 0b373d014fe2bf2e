"""Tags in Protobuf schemas: the options `(confluent.message_meta).tags` and `(confluent.field_meta).tags`.

Paths are message names from the top level down, without the package, then the field's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compat.protobuf.schema import ProtobufSchema, parse
from compat.protobuf.text.meta import entries_of, is_meta, tags_of
from compat.protobuf.text.nodes import (
    Aggregate,
    Field,
    File,
    Import,
    ListLiteral,
    Message,
    NamePart,
    Oneof,
    Option,
    StringLiteral,
    Value,
)
from compat.protobuf.text.printer import print_file
from compat.schema import PROTOBUF, ParsedSchema, SchemaText
from registry.tags.entity import FIELD, RECORD, Listing, SchemaEntity, Tags, edited, require_known

_META = "confluent/meta.proto"
_OPTIONS = {RECORD: "confluent.message_meta", FIELD: "confluent.field_meta"}

_Options = tuple[Option, ...]


def find(schema: ParsedSchema) -> Tags:
    """The messages and fields that have tags."""
    assert isinstance(schema, ProtobufSchema)
    tagged = ((entity, tags_of(options, _OPTIONS[entity.kind])) for entity, options in _entities(schema.tree))
    return {entity: tags for entity, tags in tagged if tags}


def listing(text: str) -> Listing:
    """The names and tags in a stored text.

    Raises:
        InvalidSchema: It is not a Protobuf schema.
    """
    schema = parse(SchemaText(PROTOBUF, text))
    entities = [(entity, tags_of(options, _OPTIONS[entity.kind])) for entity, options in _entities(schema.tree)]
    return Listing(schema.full_name, entities)


def entities(schema: ParsedSchema) -> Iterator[SchemaEntity]:
    """All messages and fields."""
    assert isinstance(schema, ProtobufSchema)
    return (entity for entity, _ in _entities(schema.tree))


def edit(schema: ParsedSchema, add: Tags, remove: Tags) -> str:
    """The schema's text with tags added and removed; if tags are added, it imports `confluent/meta.proto`.

    Raises:
        UnknownEntity: The schema lacks an entity.
    """
    assert isinstance(schema, ProtobufSchema)
    tree = schema.tree
    package = f"{tree.package}." if tree.package else ""
    existing = {entity for entity, _ in _entities(tree)}
    add, remove = (_without_package(tags, package, existing) for tags in (add, remove))
    require_known((*add, *remove), existing)
    messages = tuple(_message(message, "", add, remove) for message in tree.messages)
    imports = tree.imports
    if add and all(imported.path != _META for imported in imports):
        imports = (*imports, Import(_META))
    return print_file(replace(tree, messages=messages, imports=imports))


def _without_package(tags: Tags, package: str, existing: set[SchemaEntity]) -> Tags:
    """The tags, with the package removed from the paths that begin with it."""
    return {
        entity if entity in existing else entity._replace(path=entity.path.removeprefix(package)): names
        for entity, names in tags.items()
    }


def _entities(tree: File) -> Iterator[tuple[SchemaEntity, _Options]]:
    todo = [(message, message.name) for message in reversed(tree.messages)]
    while todo:
        message, path = todo.pop()
        yield SchemaEntity(path, RECORD), message.options
        for field in (*message.fields, *(member for oneof in message.oneofs for member in oneof.fields)):
            yield SchemaEntity(f"{path}.{field.name}", FIELD), field.options
        todo.extend((nested, f"{path}.{nested.name}") for nested in reversed(message.messages))


def _message(message: Message, prefix: str, add: Tags, remove: Tags) -> Message:
    path = prefix + message.name

    def edited_field(field: Field) -> Field:
        return replace(field, options=_edited(field.options, SchemaEntity(f"{path}.{field.name}", FIELD), add, remove))

    def edited_oneof(oneof: Oneof) -> Oneof:
        return replace(oneof, fields=tuple(map(edited_field, oneof.fields)))

    return replace(
        message,
        options=_edited(message.options, SchemaEntity(path, RECORD), add, remove),
        fields=tuple(map(edited_field, message.fields)),
        oneofs=tuple(map(edited_oneof, message.oneofs)),
        messages=tuple(_message(nested, f"{path}.", add, remove) for nested in message.messages),
    )


def _edited(options: _Options, entity: SchemaEntity, add: Tags, remove: Tags) -> _Options:
    added, removed = add.get(entity, ()), remove.get(entity, ())
    if not added and not removed:
        return options
    meta = _OPTIONS[entity.kind]
    tags = edited(tags_of(options, _OPTIONS[entity.kind]), added, removed)
    entries: list[tuple[str, Value]] = []
    others: list[Option] = []
    for option in options:
        if is_meta(option, meta):
            entries += entries_of(option)
        else:
            others.append(option)
    new_entries = [entry for entry in entries if entry[0] != "tags"]
    if tags:
        new_entries.append(("tags", ListLiteral(tuple(StringLiteral(tag.encode()) for tag in tags))))
    if new_entries:
        others.append(Option((NamePart(meta, extension=True),), Aggregate(tuple(new_entries))))
    return tuple(others)
