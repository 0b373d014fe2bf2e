"""The codec of JSON Schemas: JSON that a schema accepts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from compat.schema import Dependencies, SchemaText
from rest_proxy.codecs import (
    NULL,
    DataError,
    InvalidSchemaText,
    MayTakeLong,
    Options,
    PayloadCodec,
    Quick,
    bytes_to_json,
)
from serdes.error import SchemaCompileError
from serdes.json_bytes import dumps


def json_schema(schema: SchemaText, dependencies: Dependencies, _: Options) -> PayloadCodec:
    """The codec: JSON is checked when it is written, and shown as it stands when it is read."""
    from serdes.json_schema import title  # noqa: PLC0415  a proxy starts in half the time without
    from serdes.validation import JsonValidator  # noqa: PLC0415

    try:
        writing = _Writing(JsonValidator(schema.text, dependencies, holds_up_others=True))
    except SchemaCompileError as error:
        raise InvalidSchemaText(error.detail) from None
    return PayloadCodec(
        encode=writing.encode,
        decode=lambda message, offset: bytes_to_json(message[offset:]),
        takes_null=lambda: writing.takes_null,
        record_name=title(schema),
        quick=Quick(writing.validator.covers, writing.encode_quickly),
    )


class _Writing:
    def __init__(self, validator: Any) -> None:
        self.validator = validator
        self._accepts = validator.accepts
        self._longest: int = validator.longest

    def encode_quickly(self, value: Any, prefix: bytes = b"") -> bytes:
        payload = dumps(value)
        if len(payload) <= self._longest and self._accepts(value):
            return prefix + payload
        raise MayTakeLong

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        payload = dumps(value)
        self._check(value, payload)
        return prefix + payload

    @cached_property
    def takes_null(self) -> bool:
        if len(NULL) <= self._longest:
            return bool(self._accepts(None))
        try:
            self._check(None, NULL)
        except DataError:
            return False
        return True

    def _check(self, value: Any, payload: bytes) -> None:
        from serdes.validation.refusal import ValueRefused, data_path  # noqa: PLC0415  as above

        try:
            self.validator.check(value, payload)
        except ValueRefused as error:
            path = data_path(error.refusal.path).removeprefix("$").removeprefix(".")
            raise DataError(path, error.refusal.reason) from None
        except SchemaCompileError as error:
            raise InvalidSchemaText(error.detail) from None
