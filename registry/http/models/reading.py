"""Members of request bodies that are read more liberally than they are described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DescribedAs:
    """Describes a member as another type than the one that reads it: its values are checked where they are used."""

    kind: Any

    def __get_pydantic_json_schema__(self, _read: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON Schema of the other type."""
        return handler(TypeAdapter(self.kind).core_schema)


@dataclass(frozen=True, slots=True)
class _WithoutNull:
    def __get_pydantic_json_schema__(self, read: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(read["schema"] if read["type"] == "nullable" else read)


#: A member that may be null, which is read as if it were absent; the OpenAPI document does not mention null.
OrNull = Annotated[T | None, _WithoutNull()]
#: A number of 32 bits.
Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
