"""The embedded formats: how a record's key or value travels inside the JSON of a request or an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rest_proxy.formats.plain import base64_to_bytes, bytes_to_base64, bytes_to_json, json_to_bytes
from serdes.message.json_bytes import compact


@dataclass(frozen=True, slots=True)
class EmbeddedFormat:
    """A format; those with a `schema_type` frame their data with a schema id and need a registry.

    Attributes:
        name: As it stands in media types and in `format` of a consumer's configuration.
        base64: Keys and values are base64 throughout, which the parser of requests can take apart.
        prepare: What is done to the text of a whole request first.
        encode: From the JSON text of a key or value to the record's bytes; None is a tombstone.
        decode: From the record's bytes to JSON text.
        schema_type: The registry's name of the schemas, None for formats without.
        conversion: What error 42203 of the oldest API calls the target of a conversion.
    """

    name: str
    base64: bool = False
    prepare: Callable[[bytes], bytes] | None = None
    encode: Callable[[bytes], bytes | None] | None = None
    decode: Callable[[bytes | None], bytes] | None = None
    schema_type: str | None = None
    conversion: str = "Object"


BINARY = EmbeddedFormat("binary", base64=True, encode=base64_to_bytes, decode=bytes_to_base64)
JSON = EmbeddedFormat("json", prepare=compact, encode=json_to_bytes, decode=bytes_to_json)
AVRO = EmbeddedFormat("avro", schema_type="AVRO", conversion="Avro")
JSONSCHEMA = EmbeddedFormat("jsonschema", schema_type="JSON")
PROTOBUF = EmbeddedFormat("protobuf", schema_type="PROTOBUF")

#: All formats by name; the first is what is meant where none is named.
FORMATS = {known.name: known for known in (BINARY, JSON, AVRO, JSONSCHEMA, PROTOBUF)}
