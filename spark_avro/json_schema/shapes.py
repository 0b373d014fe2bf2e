"""The shape of a column of JSON Schema, if the schema says enough: each part is of one type, whatever the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spark_avro.json_schema.types import Scope, properties_of, root_of
from spark_avro.plan.rules.avro_shapes import Tags, with_null
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Entries, Field, Form, Items, Kind, Record, Scalar, Shape
from spark_avro.sent_schema import SentSchema

_SCALARS: Mapping[str, Scalar] = {
    "string": Scalar(Kind.STRING, "STRING"),
    "integer": Scalar(Kind.INT, "INT", form=Form.WHOLE),
    "number": Scalar(Kind.NUMBER, "DOUBLE"),
    "boolean": Scalar(Kind.BOOL, "BOOLEAN"),
}
#: Keywords that make the type of a value depend on the value.
_UNCLEAR = frozenset(
    (
        "not",
        "if",
        "patternProperties",
        "dependentSchemas",
        "dependencies",
        "prefixItems",
        "$dynamicRef",
        "$recursiveRef",
    )
)
#: Keywords beside `$ref` that say nothing about the value.
_ANNOTATIONS = frozenset(("$ref", "title", "description", "default", "examples", "$comment", "confluent:tags"))


def json_shape(sent: SentSchema, tags: Tags) -> Shape:
    """The shape of the values of a schema.

    Args:
        sent: The schema.
        tags: The tags of the fields by full name.

    Raises:
        Untranslatable: The schema does not say enough.
    """
    raw, scope = root_of(sent)
    return _Shapes(tags).of(raw, scope, "$", ())


class _Shapes:
    def __init__(self, tags: Tags) -> None:
        self._tags = tags

    def of(self, schema: Any, scope: Scope, path: str, above: tuple[str, ...]) -> Shape:
        """The shape of the values of a part of a schema."""
        if not isinstance(schema, dict) or not _UNCLEAR.isdisjoint(schema):
            raise Untranslatable(f"{path}, whose type depends on the value")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in above or not schema.keys() <= _ANNOTATIONS:
                raise Untranslatable(f"{path}, which is recursive or has keywords beside $ref")
            target, inner = scope.find(reference)
            return self.of(target, inner, path, (*above, reference))
        if "oneOf" in schema or "anyOf" in schema:
            return self._choice(schema, scope, path, above)
        kind, nullable = _type(schema, path)
        shape = self._shape(kind, schema, scope, path, above)
        return with_null(shape) if nullable else shape

    def _choice(self, schema: dict[str, Any], scope: Scope, path: str, above: tuple[str, ...]) -> Shape:
        members = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
        others = [member for member in members if not (isinstance(member, dict) and member.get("type") == "null")]
        if len(members) != 2 or len(others) != 1 or "type" in schema or "properties" in schema:
            raise Untranslatable(f"{path}, which has several types")
        return with_null(self.of(others[0], scope, path, above))

    def _shape(
        self, kind: str | None, schema: dict[str, Any], scope: Scope, path: str, above: tuple[str, ...]
    ) -> Shape:
        scalar = _SCALARS.get(kind or "")
        if "enum" in schema or "const" in schema:
            if scalar is None:
                raise Untranslatable(f"{path}, an enum without a type")
            return replace(scalar, type_name="ENUM")
        if scalar is not None:
            return scalar
        if kind == "array" and isinstance(schema.get("items"), dict):
            return Items(self.of(schema["items"], scope, path, above))
        if kind != "object":
            raise Untranslatable(f"{path}, whose type the schema does not say")
        return self._object(schema, scope, path, above)

    def _object(self, schema: dict[str, Any], scope: Scope, path: str, above: tuple[str, ...]) -> Shape:
        properties, more = properties_of(schema, scope), schema.get("additionalProperties")
        if not properties:
            if not isinstance(more, dict):
                raise Untranslatable(f"{path}, an object without properties")
            return Entries(self.of(more, scope, path, above))
        if isinstance(more, dict):
            raise Untranslatable(f"{path}, an object with properties and others")
        required = _required(schema)
        fields = []
        for name, (part, inner) in properties.items():
            full_name = f"{path}.{name}"
            shape = self.of(part, inner, full_name, above)
            fields.append(
                Field(
                    name, full_name, shape, self._tags.get(full_name, frozenset()), may_be_absent=name not in required
                )
            )
        return Record(tuple(fields))


def _type(schema: dict[str, Any], path: str) -> tuple[str | None, bool]:
    """The one type that a schema declares, and whether it allows null."""
    named = schema.get("type")
    if named is None and isinstance(schema.get("properties"), dict):
        return "object", False
    kinds = named if isinstance(named, list) else [named]
    others = [kind for kind in kinds if kind != "null"]
    if len(others) != 1:
        raise Untranslatable(f"{path}, which has several types")
    return others[0], len(others) < len(kinds)


def _required(schema: dict[str, Any]) -> set[str]:
    names = set(schema.get("required", ()))
    for part in schema.get("allOf", ()):
        if not isinstance(part, dict) or "$ref" in part or part.get("type", "object") != "object":
            raise Untranslatable("an object made of other schemas")
        names |= _required(part)
    return names
