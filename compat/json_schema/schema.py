"""Parsed JSON Schemas: from text to text, names and model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compat.json import json_text
from compat.json_schema.model.dialects import Dialect, dialect_of
from compat.json_schema.model.loading import load
from compat.json_schema.model.metaschemas import violation
from compat.json_schema.model.nodes import Combined, Node, Object, follow
from compat.json_schema.model.reading import Malformed
from compat.schema import JSON, Dependencies, InvalidSchema, ParsedSchema, Pointer, Position, SchemaText, shorten

#: Names of top-level properties that begin like this are reserved for the registry's own use.
RESERVED_PREFIX = "$$"
#: Every number with a point or an exponent has such characters.
_FRACTION = re.compile("[0-9][.eE]")


@dataclass(frozen=True, eq=False, repr=False)
class JsonSchema:
    """A JSON Schema that was parsed; see ParsedSchema.

    Attributes:
        source: The text as it came.
        raw: The schema as JSON.
        dialect: The draft it is written in.
        model: The model for comparisons.
        dependencies: The schemas it refers to by name.
    """

    source: str
    raw: Any
    dialect: Dialect
    model: Node
    dependencies: Dependencies = ()

    def __repr__(self) -> str:
        # References lead from node to node, also in circles.
        return f"<JsonSchema {shorten(self.source)}>"

    @property
    def schema_type(self) -> str:
        """JSON."""
        return JSON

    @cached_property
    def canonical(self) -> str:
        """The compact text, keys in their order and numbers with all their digits."""
        return json_text.dumps(self.raw)

    @property
    def full_name(self) -> str | None:
        """The schema's title, which the reference's record name strategies use."""
        title = self.raw.get("title") if isinstance(self.raw, dict) else None
        return title if isinstance(title, str) else None

    @cached_property
    def top_level_fields(self) -> tuple[str, ...]:
        """Names of the top-level properties, including those in members of combined schemas."""
        names: dict[str, None] = {}
        seen: set[int] = set()
        todo = [self.model]
        while todo:
            node = follow(todo.pop())
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Object):
                names.update(dict.fromkeys(node.properties))
            elif isinstance(node, Combined):
                todo.extend(reversed(node.members))
        return tuple(names)

    def normalized(self) -> str:
        """The compact text with the keys of every object sorted; the order in arrays means something and stays."""
        return json_text.dumps(self.raw, sort_keys=True)

    def rendered(self, form: str) -> str:  # noqa: ARG002  JSON Schemas have no other form
        """The canonical text, whatever the form."""
        return self.canonical


def raw_of(text: SchemaText) -> Any:
    """The JSON value of a schema.

    Raises:
        InvalidSchema: The text is not JSON.
    """
    try:
        return json_text.loads(text.text, decimals=True)
    except json_text.InvalidJson as error:
        raise InvalidSchema(JSON, f"the schema is not JSON: {error}", error.position) from None


def parse(text: SchemaText, dependencies: Dependencies, strict: bool) -> JsonSchema:  # noqa: FBT001  SchemaFormat's
    """Parses a JSON Schema.

    Args:
        text: The schema.
        dependencies: The schemas that it refers to, under the names of its references.
        strict: Whether the draft's official metaschema must accept it. Without, it needs only to make sense to the
            comparison, as the reference reads what it has stored.

    Raises:
        InvalidSchema: The text is not JSON, not a schema, or has a `$ref` that leads nowhere.
    """
    raw = raw_of(text)
    dialect = dialect_of(raw)
    try:
        model = load(raw, dependencies)
    except Malformed as error:
        raise _invalid(text.text, error.detail, error.pointer) from None
    if strict and (problem := violation(raw, dialect)):
        message, pointer = problem
        raise _invalid(text.text, f"the metaschema of {dialect.name} refuses it: {message}", pointer)
    return JsonSchema(text.text, raw, dialect, model, dependencies)


def edited(schema: ParsedSchema, text: str) -> JsonSchema:
    """A schema with another text and the same references.

    Raises:
        InvalidSchema: The text is not a schema.
    """
    assert isinstance(schema, JsonSchema)
    return parse(SchemaText(JSON, text), schema.dependencies, strict=True)


def older_text(schema: ParsedSchema, normalized: bool) -> str | None:  # noqa: FBT001  SchemaFormat's
    """The text with numbers as doubles, as the registry stored it before it kept all digits; see SchemaFormat."""
    if not _FRACTION.search(schema.source):
        return None
    try:
        text = json_text.dumps(json_text.loads(schema.source), sort_keys=normalized)
    except json_text.InvalidJson:  # a number is too large for a double
        return None
    return None if text == (schema.normalized() if normalized else schema.canonical) else text


def check_fields(schema: JsonSchema) -> None:
    """Applies `validateFields`: no property at the top of a schema may have a name that begins with `$$`.

    Raises:
        InvalidSchema: One has.
    """
    for name in schema.top_level_fields:
        if name.startswith(RESERVED_PREFIX):
            detail = f"Field names cannot start with {RESERVED_PREFIX} prefix: '{name}'"
            raise InvalidSchema(JSON, detail, json_text.locate(schema.source, ("properties", name)))


def _invalid(text: str, detail: str, pointer: Pointer | None) -> InvalidSchema:
    if pointer is None:
        return InvalidSchema(JSON, detail)
    position: Position | None = json_text.locate(text, pointer)
    where = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in pointer)
    place = f" (#{where or '/'}" + (f", line {position.line}, column {position.column})" if position else ")")
    return InvalidSchema(JSON, detail + place, position)
