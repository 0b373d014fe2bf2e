"""Conversion between Spark types and JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from pyspark.sql import types as spark

from spark_avro.errors import PlanError
from spark_avro.sent_schema import SentSchema

_SCALARS: Mapping[str, spark.DataType] = {
    "string": spark.StringType(),
    "integer": spark.LongType(),
    "number": spark.DoubleType(),
    "boolean": spark.BooleanType(),
}

#: A value without a single type becomes the text of its JSON.
_TEXT = spark.StringType()


def json_type(schema: SentSchema) -> spark.DataType:
    """The Spark type of the values that a JSON Schema accepts; text if it accepts values of several types."""
    root, scope = root_of(schema)
    return _type(root, scope, ())


def root_of(schema: SentSchema) -> tuple[Any, Scope]:
    """The outermost part of a schema, and where its references are looked up."""
    documents = {dependency.name: orjson.loads(dependency.text) for dependency in schema.dependencies}
    root = orjson.loads(schema.schema.text)
    return root, Scope(root, documents)


class Scope:
    """A document, and the documents that it refers to."""

    def __init__(self, root: Any, documents: Mapping[str, Any]) -> None:
        self.root = root
        self.documents = documents

    def find(self, reference: str) -> tuple[Any, Scope]:
        """The target of a `$ref`; an empty schema if there is none."""
        name, _, pointer = reference.partition("#")
        scope = self if not name else Scope(self.documents.get(name, {}), self.documents)
        part = scope.root
        for step in pointer.strip("/").split("/") if pointer.strip("/") else ():
            key = step.replace("~1", "/").replace("~0", "~")
            part = part.get(key, {}) if isinstance(part, dict) else {}
        return part, scope


def _type(schema: Any, scope: Scope, above: tuple[str, ...]) -> spark.DataType:  # noqa: PLR0911 - one for each keyword
    if not isinstance(schema, dict):
        return _TEXT
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in above:
            return _TEXT
        target, inner = scope.find(reference)
        return _type(target, inner, (*above, reference))
    choices = [choice for word in ("oneOf", "anyOf") for choice in schema.get(word, ()) if not _is_null(choice)]
    if choices:
        return _type(choices[0], scope, above) if len(choices) == 1 else _TEXT
    named = schema.get("type")
    kinds = [kind for kind in (named if isinstance(named, list) else [named]) if kind != "null"]
    kind = kinds[0] if len(kinds) == 1 else None
    if isinstance(kind, str) and kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "array" and isinstance(schema.get("items"), dict):
        return spark.ArrayType(_type(schema["items"], scope, above))
    properties = properties_of(schema, scope)
    if properties and kind in ("object", None):
        return spark.StructType(
            [spark.StructField(name, _type(part, inner, above)) for name, (part, inner) in properties.items()]
        )
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return spark.MapType(spark.StringType(), _type(schema["additionalProperties"], scope, above))
    return _TEXT


def properties_of(schema: Any, scope: Scope) -> dict[str, tuple[Any, Scope]]:
    """An object's properties, including those of the schemas in `allOf`."""
    if isinstance(schema.get("$ref"), str):
        target, inner = scope.find(schema["$ref"])
        return properties_of(target, inner) if isinstance(target, dict) and target is not schema else {}
    properties = {name: (part, scope) for name, part in schema.get("properties", {}).items()}
    for part in schema.get("allOf", ()):
        if isinstance(part, dict):
            properties = {**properties_of(part, scope), **properties}
    return properties


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


_NAMES: Mapping[type[spark.DataType], Any] = {
    spark.StringType: {"type": "string"},
    spark.BooleanType: {"type": "boolean"},
    spark.ByteType: {"type": "integer"},
    spark.ShortType: {"type": "integer"},
    spark.IntegerType: {"type": "integer"},
    spark.LongType: {"type": "integer"},
    spark.FloatType: {"type": "number"},
    spark.DoubleType: {"type": "number"},
    spark.DecimalType: {"type": "number"},
    spark.DateType: {"type": "string", "format": "date"},
    spark.TimestampType: {"type": "string", "format": "date-time"},
    spark.TimestampNTZType: {"type": "string"},
    spark.BinaryType: {"type": "string", "contentEncoding": "base64"},
}


def json_schema_of(source: spark.DataType, title: str) -> str:
    """The JSON Schema of the objects that `to_json` writes for a type, which omits NULL fields.

    Raises:
        PlanError: JSON has no matching type.
    """
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **_derive(source)}
    return orjson.dumps(schema).decode()


def _derive(source: spark.DataType) -> dict[str, Any]:
    if isinstance(source, spark.StructType):
        required = [field.name for field in source.fields if not field.nullable]
        properties = {field.name: _derive(field.dataType) for field in source.fields}
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}
    if isinstance(source, spark.ArrayType):
        items = _derive(source.elementType)
        return {"type": "array", "items": {"oneOf": [{"type": "null"}, items]} if source.containsNull else items}
    if isinstance(source, spark.MapType):
        return {"type": "object", "additionalProperties": _derive(source.valueType)}
    if type(source) not in _NAMES:
        raise PlanError(f"JSON has no type for {source.simpleString()}: cast the column")
    return dict(_NAMES[type(source)])
