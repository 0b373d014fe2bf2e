"""The place for the frame of a key or value: before its data, or in a header of the record."""

from __future__ import annotations

from collections.abc import Sequence

from rest_proxy.formats.plain import DataError
from serdes.message import wire

#: The values of `schema_id_serializer` in requests -> whether the schema's guid goes into a header.
ID_SERIALIZERS = {"PREFIX": False, "HEADER": True}

Header = tuple[str, bytes]
#: Headers in order, as the Kafka client takes them.
Headers = Sequence[tuple[str, bytes | None]]


def header_name(field: str) -> str:
    """The name of the header that names the schema of a `key` or `value`."""
    return wire.header_name(is_key=field == "key")


def with_frame(headers: Headers | None, field: str, header: Header | None) -> Headers | None:
    """The headers of a record with a key or value that was encoded with a schema.

    Args:
        headers: The headers without its frame.
        field: `key` or `value`.
        header: The header with the frame, which replaces those of the same name; None if the frame is before the data.

    Raises:
        DataError: The frame is before the data, and a header names a schema, which readers would take instead.
    """
    if header is not None:
        return [header] if not headers else [*(pair for pair in headers if pair[0] != header[0]), header]
    if headers and wire.find_header(headers, header_name(field)) is not None:
        raise DataError(
            "",
            f"readers would take the schema that the header {header_name(field)} names: leave this header out, or "
            "write the frame into it with schema_id_serializer HEADER",
        )
    return headers
