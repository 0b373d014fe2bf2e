"""The members that produce requests of v2 are read with are those that the document names."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from pydantic import TypeAdapter

from rest_proxy.exchange import bodies
from rest_proxy.http import models


def members_read(shape: Any) -> dict[str, Any]:
    """The members that a decoder of the shape accepts by name, each with those of its objects, also in arrays."""
    if isinstance(shape, msgspec.inspect.StructType):
        return {field.encode_name: members_read(field.type) for field in shape.fields}
    if isinstance(shape, msgspec.inspect.UnionType):
        return {name: member for part in shape.types for name, member in members_read(part).items()}
    return members_read(shape.item_type) if isinstance(shape, msgspec.inspect.ListType) else {}


def members(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The members that a JSON Schema names, in the same form."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    found: dict[str, Any] = {}
    for alternative in schema.get("anyOf", ()):
        found |= members(alternative, definitions)
    if isinstance(schema.get("items"), dict):
        found |= members(schema["items"], definitions)
    for name, member in schema.get("properties", {}).items():
        found[name] = members(member, definitions)
    return found


@pytest.mark.parametrize(
    ("shape", "model"),
    [
        (bodies.RawProduceRequest, models.BinaryProduceRequest),
        (bodies.BytesProduceRequest, models.BinaryProduceRequest),
        (bodies.DataProduceRequest, models.ProduceRequest),
    ],
    ids=lambda type_: type_.__name__,
)
def test_a_body_is_read_with_the_members_of_its_model(shape: type, model: Any) -> None:
    documented = TypeAdapter(model).json_schema(by_alias=True)
    assert members_read(msgspec.inspect.type_info(shape)) == members(documented, documented.get("$defs", {}))


def test_the_comparison_sees_members_of_arrays_and_of_alternatives() -> None:
    assert members_read(msgspec.inspect.type_info(bodies.Positions)) == {
        "offsets": {"topic": {}, "partition": {}, "offset": {}, "metadata": {}},
        "timestamps": {"topic": {}, "partition": {}, "timestamp": {}, "metadata": {}},
    }
