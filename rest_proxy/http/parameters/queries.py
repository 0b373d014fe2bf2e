"""The parameters of v2's queries."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema

from rest_proxy.exchange.parameters import long_of


def _long(raw: Any, name: str) -> int | None:
    """Read a whole number; older versions of FastAPI read defaults too."""
    return raw if raw is None or isinstance(raw, int) else long_of(name, raw)


def _is_true(raw: Any) -> bool:
    """Read a flag; any value but `true` is false."""
    return str(raw).lower() == "true"


_TEXT, _NUMBER = WithJsonSchema({"type": "string"}), WithJsonSchema({"type": "integer"})
_MAX_BYTES = "Bytes of keys and values; one record always comes."

#: A whole number. Raises INVALID_ENTITY, as the other numbers do.
FirstOffset = Annotated[
    int | None,
    BeforeValidator(partial(_long, name="offset")),
    WithJsonSchema({"type": "integer", "minimum": 0}),
    Query(alias="offset", description="Where to begin; this or timestamp."),
]
FirstInstant = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "format": "date-time"}),
    Query(alias="timestamp", description="When to begin."),
]
MostRecords = Annotated[
    int | None,
    BeforeValidator(partial(_long, name="count")),
    WithJsonSchema({"type": "integer", "minimum": 1}),
    Query(alias="count", description="Maximum number of records."),
]
ReadToken = Annotated[
    str | None,
    _TEXT,
    Query(alias="token", description="A read with the token of the last read gives its records again."),
]
#: The text of a whole number, which the handler reads after it has subscribed the instance.
MaxBytesText = Annotated[str | None, _NUMBER, Query(alias="max_bytes", description=_MAX_BYTES)]
IsAsync = Annotated[
    bool | None,
    BeforeValidator(_is_true),
    WithJsonSchema({"type": "string", "enum": ["true", "false"]}),
    Query(alias="async", description="Do not wait for the brokers."),
]

# Of handlers that read the bare request.
MaxBytes = Annotated[int | None, _NUMBER, Query(alias="max_bytes", description=_MAX_BYTES)]
ReadTimeout = Annotated[
    int | None, _NUMBER, Query(alias="timeout", description="Milliseconds to wait; the instance's at most.")
]
Acks = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["0", "1", "-1", "all"]}),
    Query(alias="acks", description="Number of brokers that must have a record before it is acknowledged."),
]
ProduceTimeout = Annotated[
    int | None,
    _NUMBER,
    Query(
        alias="timeout",
        description="Milliseconds to wait; records undecided by then are reported as unknown (50004).",
    ),
]
Unions = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["tagged", "plain"]}),
    Query(alias="unions", description="Whether values of Avro unions are tagged with their branch."),
]
LogicalTypes = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["text", "stored"]}),
    Query(
        alias="logical",
        description="Whether Avro's decimals, dates and times are texts, or as they are stored (the reference's form).",
    ),
]
