"""The forms of Avro data in migrations."""

from __future__ import annotations

from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.codec import AvroCodec, compile_codec
from serdes.codec.codec import RecordNames
from serdes.rules.context import UPGRADE
from serdes.rules.jsonata.document import datum
from serdes.rules.jsonata.fit import Fitter
from serdes.rules.migrations.migrated import Read, Written

Resolved = tuple[SchemaText, Dependencies]


def plain(writer: Resolved, reader: Resolved, *, record_names: RecordNames) -> Read:
    """Rules see the codec's data, with the name of each record in a union.

    Args:
        writer: The writer's schema.
        reader: The reader's schema.
        record_names: Whether the reader's datum has the names of records in unions, too; see `compile_codec`.
    """
    written = _codec(writer, record_names=record_names or True)
    read = _codec(reader, record_names=record_names)
    fitter = Fitter(read.schema, UPGRADE)
    decode = _payload if written.is_raw else written.decode

    def take(value: Any) -> Any:
        fitted = fitter.fit(value)
        # An encoder fills absent fields with their defaults.
        return fitted if read.is_raw else read.decode(read.encode(fitted))

    return lambda message, offset: Written(decode(message, offset), take)


def tagged(writer: Resolved, reader: Resolved, *, record_names: RecordNames) -> Read:
    """Rules see Avro's JSON encoding, as in Java: tagged unions, bytes as ISO-8859-1 text, logical types as stored.

    The arguments are those of `plain`.
    """
    written, read = _codec(writer), _codec(reader, record_names=record_names)
    encode = compile_codec(reader[0].text, None, _texts(reader[1]), json_defaults=True).json_to_avro
    decode = _payload_text if written.is_raw else written.avro_to_json

    def take(value: Any) -> Any:
        return read.decode(encode(datum(value)))

    return lambda message, offset: Written(decode(message, offset), take)


def _codec(schema: Resolved, *, record_names: RecordNames = False) -> AvroCodec:
    return compile_codec(schema[0].text, None, _texts(schema[1]), record_names=record_names)


def _texts(dependencies: Dependencies) -> list[str]:
    return [dependency.text for dependency in dependencies]


def _payload(message: bytes, offset: int) -> bytes:
    return bytes(message[offset:])


def _payload_text(message: bytes, offset: int) -> str:
    return _payload(message, offset).decode("iso-8859-1")
