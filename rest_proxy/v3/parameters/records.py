"""The parameters of producing and reading records, which their handlers read from the bare request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import WithJsonSchema

_TYPES = ["BINARY", "STRING", "JSON", "AVRO", "JSONSCHEMA", "PROTOBUF"]
_TEXT = WithJsonSchema({"type": "string"})

Acks = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["0", "1", "-1", "all"]}),
    Query(alias="acks", description="Ours. Which brokers must have the record before it is reported."),
]
Unions = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["tagged", "plain"]}),
    Query(alias="unions", description="Ours. Whether Avro's unions are written with tags."),
]
LogicalTypes = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["text", "stored"]}),
    Query(
        alias="logical",
        description="Ours. Whether Avro's decimals, dates and times are texts, or as they are stored (the reference's "
        "form).",
    ),
]
ProduceTimeout = Annotated[
    int | None,
    WithJsonSchema({"type": "integer", "minimum": 1}),
    Query(
        alias="timeout",
        description="Ours. Longest wait for the brokers, in ms; at most `produce.timeout.ms`.",
    ),
]
Cursor = Annotated[str | None, _TEXT, Query(alias="cursor", description="The cursor of an answer, to go on behind it.")]
MaxRecords = Annotated[
    int,
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 10000, "default": 500}),
    Query(alias="max_records", description="Maximum number of records to return."),
]
MaxBytes = Annotated[
    int,
    WithJsonSchema({"type": "integer", "minimum": 1, "default": 1 << 20}),
    Query(alias="max_bytes", description="Maximum number of bytes of records to return; one record always comes."),
]
MaxWait = Annotated[
    int,
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 60000, "default": 0}),
    Query(alias="max_wait_ms", description="Longest wait for the first record."),
]
FirstOffset = Annotated[str | None, _TEXT, Query(alias="offset", description="A number, earliest or latest")]
FirstTime = Annotated[str | None, _TEXT, Query(alias="timestamp", description="ISO-8601, or ms since the epoch")]
ReadIsolation = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["read_uncommitted", "read_committed"]}),
    Query(alias="isolation", description="Whether records of open and aborted transactions are returned."),
]
KeyType = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": _TYPES}),
    Query(alias="key_type", description="The type that keys are read as; by default, each is read as what it is."),
]
ValueType = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": _TYPES}),
    Query(alias="value_type", description="The type that values are read as; by default, each is read as what it is."),
]
DecodeErrors = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["report", "fail"]}),
    Query(
        alias="decode_errors",
        description="Whether a key or value that does not decode is reported beside the record (the default), or "
        "fails the request.",
    ),
]
OutOfRange = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "enum": ["earliest", "latest"]}),
    Query(alias="out_of_range", description="Where to continue if the offset is outside the log; without it, 416."),
]
