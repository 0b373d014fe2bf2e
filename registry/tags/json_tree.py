"""Tags in schemas that are JSON: the property `confluent:tags` of Avro records and fields, and of JSON Schemas.

Paths are the reference's. Avro: the record's full name, then the field's name. JSON Schema: the kinds of the nested
schemas, such as `object.address.object.street` or `object.ids.array.object` or `object.x.oneof.0.object`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from compat.json import json_text
from compat.schema import ParsedSchema
from registry.tags.entity import FIELD, RECORD, Listing, SchemaEntity, Tags, edited, require_known

PROPERTY = "confluent:tags"

#: Yields every entity of a schema with the JSON object that has its tags.
Walk = Callable[[Any], Iterator[tuple[SchemaEntity, dict[str, Any]]]]


@dataclass(frozen=True, slots=True)
class Form:
    """The way in which texts of one schema type are read as trees.

    Attributes:
        walk: Yields the entities of a tree.
        name_of: Returns the name of the schema.
        decimals: Whether numbers keep all digits, as in the type's canonical texts.
    """

    walk: Walk
    name_of: Callable[[Any], str | None]
    decimals: bool

    def read(self, text: str) -> Any:
        """The tree of a text; raises InvalidJson."""
        return json_text.loads(text, comments=True, decimals=self.decimals)


def find(form: Form, schema: ParsedSchema) -> Tags:
    """The entities that have tags."""
    return {entity: tags for entity, node in form.walk(form.read(schema.canonical)) if (tags := _tags(node))}


def listing(form: Form, text: str) -> Listing:
    """The names and tags in a stored text, which is parsed as JSON, not as a schema.

    Raises:
        InvalidJson: It is not JSON.
    """
    tree = form.read(text)
    return Listing(form.name_of(tree), [(entity, _tags(node)) for entity, node in form.walk(tree)])


def _tags(node: dict[str, Any]) -> tuple[str, ...]:
    tags = node.get(PROPERTY)
    return tuple(map(str, tags)) if isinstance(tags, list) else ()


def avro_name(tree: Any) -> str | None:
    """The full name of an Avro record."""
    is_record = isinstance(tree, dict) and tree.get("type") in ("record", "error")
    return _full_name(tree, "")[0] if is_record else None


def json_schema_name(tree: Any) -> str | None:
    """The title of a JSON Schema."""
    title = tree.get("title") if isinstance(tree, dict) else None
    return title if isinstance(title, str) else None


def entities(form: Form, schema: ParsedSchema) -> Iterator[SchemaEntity]:
    """All records and fields."""
    return (entity for entity, _ in form.walk(form.read(schema.canonical)))


def edit(form: Form, schema: ParsedSchema, add: Tags, remove: Tags) -> str:
    """The schema's text with tags added and removed.

    Raises:
        UnknownEntity: The schema lacks an entity.
    """
    tree = form.read(schema.canonical)
    nodes = dict(form.walk(tree))
    require_known((*add, *remove), nodes)
    for entity in dict.fromkeys((*add, *remove)):
        node = nodes[entity]
        present = node.get(PROPERTY)
        tags = edited(present if isinstance(present, list) else (), add.get(entity, ()), remove.get(entity, ()))
        if tags:
            node[PROPERTY] = tags
        else:
            node.pop(PROPERTY, None)
    return json_text.dumps(tree)


def walk_avro(tree: Any) -> Iterator[tuple[SchemaEntity, dict[str, Any]]]:
    """The records and fields of an Avro schema."""
    todo: list[tuple[Any, str]] = [(tree, "")]
    while todo:
        node, space = todo.pop()
        if isinstance(node, list):
            todo.extend((branch, space) for branch in reversed(node))
        elif isinstance(node, dict):
            if node.get("type") in ("record", "error"):
                full_name, inner = _full_name(node, space)
                yield SchemaEntity(full_name, RECORD), node
                fields = [field for field in node.get("fields", ()) if isinstance(field, dict)]
                for field in fields:
                    yield SchemaEntity(f"{full_name}.{field.get('name')}", FIELD), field
                todo.extend((field.get("type"), inner) for field in reversed(fields))
            else:
                todo.extend((node.get(name), space) for name in ("values", "items", "type"))


def _full_name(node: dict[str, Any], space: str) -> tuple[str, str]:
    """A record's full name, and the namespace for the names inside it."""
    name = str(node.get("name"))
    if "." not in name:
        namespace = node.get("namespace")
        space = space if namespace is None else str(namespace)
        name = f"{space}.{name}" if space else name
    return name, name.rpartition(".")[0]


_MEMBERS = (("allOf", "allof"), ("anyOf", "anyof"), ("oneOf", "oneof"))
_PARTS = (("not", "not"), ("if", "conditional.if"), ("then", "conditional.then"), ("else", "conditional.else"))
_ITEMS = ("items", "prefixItems")


def walk_json_schema(tree: Any) -> Iterator[tuple[SchemaEntity, dict[str, Any]]]:
    """The object schemas of a JSON Schema, and their properties; references within the schema are followed once."""
    visited: set[int] = set()
    todo: list[tuple[Any, str]] = [(tree, "")]
    while todo:
        node, path = todo.pop()
        node = _followed(tree, node)
        if not isinstance(node, dict) or id(node) in visited:
            continue
        visited.add(id(node))
        nested: list[tuple[Any, str]] = []
        properties = node.get("properties")
        if isinstance(properties, dict) or "object" in _types(node):
            record_path = f"{path}object"
            yield SchemaEntity(record_path, RECORD), node
            for name, schema in (properties if isinstance(properties, dict) else {}).items():
                if isinstance(schema, dict):
                    yield SchemaEntity(f"{record_path}.{name}", FIELD), schema
                    nested.append((schema, f"{record_path}.{name}."))
        for keyword in _ITEMS:
            items = node.get(keyword)
            if isinstance(items, list):
                nested.extend((item, f"{path}array.{index}.") for index, item in enumerate(items))
            else:
                nested.append((items, f"{path}array."))
        for keyword, word in _MEMBERS:
            members = node.get(keyword)
            if isinstance(members, list):
                nested.extend((member, f"{path}{word}.{index}.") for index, member in enumerate(members))
        nested.extend((node.get(keyword), f"{path}{word}.") for keyword, word in _PARTS)
        todo.extend(reversed(nested))


def _types(node: dict[str, Any]) -> tuple[Any, ...]:
    kind = node.get("type")
    return tuple(kind) if isinstance(kind, list) else (kind,)


def _followed(tree: Any, node: Any) -> Any:
    """The target of a reference within the schema; the node itself if it is not such a reference."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return node
    target = tree
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        target = target.get(name) if isinstance(target, dict) else None
    return target
