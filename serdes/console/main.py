"""The entry points of the six commands."""

from __future__ import annotations

import gc
import sys

from compat.schema import AVRO, JSON, PROTOBUF
from serdes.console.outcome import carried_out

#: Objects made between two garbage collections: importing modules makes many, and none is garbage.
_OBJECTS = 50_000


def _producer(program: str, schema_type: str) -> int:
    gc.set_threshold(_OBJECTS)
    from serdes.console.produce.tool import run  # noqa: PLC0415  # consumers do not need it

    return carried_out(program, lambda: run(program, schema_type, sys.argv[1:]))


def _consumer(program: str, schema_type: str) -> int:
    gc.set_threshold(_OBJECTS)
    from serdes.console.consume.tool import run  # noqa: PLC0415  # producers do not need it

    return carried_out(program, lambda: run(program, schema_type, sys.argv[1:]))


def avro_producer() -> int:
    """kafka-avro-console-producer."""
    return _producer("kafka-avro-console-producer", AVRO)


def avro_consumer() -> int:
    """kafka-avro-console-consumer."""
    return _consumer("kafka-avro-console-consumer", AVRO)


def json_schema_producer() -> int:
    """kafka-json-schema-console-producer."""
    return _producer("kafka-json-schema-console-producer", JSON)


def json_schema_consumer() -> int:
    """kafka-json-schema-console-consumer."""
    return _consumer("kafka-json-schema-console-consumer", JSON)


def protobuf_producer() -> int:
    """kafka-protobuf-console-producer."""
    return _producer("kafka-protobuf-console-producer", PROTOBUF)


def protobuf_consumer() -> int:
    """kafka-protobuf-console-consumer."""
    return _consumer("kafka-protobuf-console-consumer", PROTOBUF)
