"""The embedded formats: the forms of a record's key and value inside the JSON of requests and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rest_proxy.formats.plain import base64_to_bytes, bytes_to_base64, bytes_to_json, json_to_bytes
from serdes.json_bytes import compact


@dataclass(frozen=True, slots=True)
class EmbeddedFormat:
    """A format; one with a `schema_type` frames its data with a schema id and needs a registry.

    Attributes:
        name: The name in media types and in `format` of a consumer's configuration.
        base64: Whether all keys and values are base64, which the parser of requests can decode itself.
        prepare: Transforms the text of a whole request first; None for no change.
        encode: Turns the JSON text of a key or value into the record's bytes; None is a tombstone.
        decode: Turns the record's bytes into JSON text.
        schema_type: The registry's type of the schemas; None for a format without schemas.
        conversion: The target of the conversion in the text of v1's error 42203.
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

#: All formats by name; the first is the default.
FORMATS = {form.name: form for form in (BINARY, JSON, AVRO, JSONSCHEMA, PROTOBUF)}
#: The registry's type of schemas -> the format.
FORM_OF_TYPE = {form.schema_type: form for form in FORMATS.values() if form.schema_type is not None}
