"""An example message of a schema: made up, and shown only if the serdes encode it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import orjson

from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.ui.messages import avro_example, json_example, protobuf_example
from magicbyte.ui.messages.encode import Writer, chosen
from magicbyte.ui.messages.request import ExampleRequest
from serdes.client.clients import RegistryClient
from serdes.error import RegistryError, RegistryUnavailable, RulesNotSupported, SerdesError

#: The most candidates that are tried.
_MOST_TRIED = 400
_CANDIDATES = {
    AVRO: avro_example.candidates,
    JSON: json_example.candidates,
    PROTOBUF: protobuf_example.candidates,
}


def example(client: RegistryClient, request: ExampleRequest) -> bytes:
    """The answer to a request, as JSON: the schema and a `value`, or an `error`.

    Raises:
        SerdesError: The registry does not know the schema, refuses, or does not answer; the schema has rules; or its
            examples exceed a limit.
    """
    schema = chosen(client, request)
    text = schema.info.schema
    dependencies = client.dependencies(text, schema.subject or request.name or None)
    forms = dict.fromkeys((request.unions, "tagged"))
    writers = {unions: Writer(client, request, schema, unions=unions) for unions in forms}
    members = schema.members()
    candidates: Iterator[tuple[str, str]] = chain.from_iterable(
        ((unions, value) for value in _CANDIDATES[text.schema_type](text, dependencies, request, unions))
        for unions in forms
    )
    try:
        for unions, value in islice(candidates, _MOST_TRIED):
            if _encodes(writers[unions], value):
                return orjson.dumps({**members, "unions": unions})[:-1] + b',"value":' + value.encode() + b"}"
    except (ValueError, LookupError, RecursionError):
        pass
    return orjson.dumps({**members, "error": "no example was found: the schema may have none that is finite"})


def _encodes(writer: Writer, value: str) -> bool:
    try:
        writer.message(value)
    except (RegistryError, RegistryUnavailable, RulesNotSupported):
        raise
    except (SerdesError, ValueError, TypeError, RecursionError):
        return False
    return True
