"""The flags and properties of kafka-*-console-producer, and the run that they select."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.kit.command_line import CommandParser
from serdes.console import properties
from serdes.console.options import LEGACY, PAIR, add_common, bootstrap_of, names_format, number, version_of
from serdes.console.produce.lines import BadLine, LineFormat
from serdes.console.produce.loop import DLQ, FAIL, SKIP, Sending, ToRecord, produce
from serdes.console.produce.outbox import Record
from serdes.error import ConfigError
from serdes.setting_kinds import placing

_LINE = (
    "parse.key", "key.separator", "parse.headers", "headers.delimiter", "headers.separator", "headers.key.separator",
    "null.marker", "ignore.error", "key.serializer", "value.serializer",
)  # fmt: skip
PROPERTIES = (*_LINE, *(f"{field}.{name}" for field in ("key", "value") for name in properties.SCHEMA_PROPERTIES))

#: Flags that set a Kafka property of another name.
_KAFKA_FLAGS = {
    "batch_size": "batch.size",
    "message_send_max_retries": "retries",
    "retry_backoff_ms": "retry.backoff.ms",
    "timeout": "linger.ms",
    "request_required_acks": "acks",
    "request_timeout_ms": "request.timeout.ms",
    "metadata_expiry_ms": "metadata.max.age.ms",
    "max_block_ms": "max.block.ms",
    "max_memory_bytes": "buffer.memory",
    "socket_buffer_size": "send.buffer.bytes",
    "compression_codec": "compression.type",
}
_READERS = {
    "AvroMessageReader": AVRO,
    "JsonSchemaMessageReader": JSON,
    "ProtobufMessageReader": PROTOBUF,
}


def parser(program: str) -> CommandParser:
    """The parser of the flags; librdkafka's default applies to a flag without a default here."""
    flags = CommandParser(
        prog=program,
        formatter_class=argparse.HelpFormatter,
        examples=(
            f"{program} --bootstrap-server localhost:9092 --topic orders --property value.schema.file=order.schema",
        ),
        usage=f"{program} --bootstrap-server HOST:PORT --topic TOPIC [OPTION ...]",
        description="Reads lines from stdin, one record each, and produces them with a schema.",
        epilog="Reader properties: schema.registry.url, parse.key, key.separator, "
        "parse.headers, null.marker, value.schema, value.schema.file, value.schema.id and the same with key are usual.",
    )
    add_common(flags, LEGACY["producer"])
    add = flags.add_argument
    add("--topic", required=True, help="the topic to produce to")
    add("--sync", action="store_true", help="deliver each record before the next line is read")
    add(
        "--compression-codec",
        nargs="?",
        const="gzip",
        choices=("none", "gzip", "snappy", "lz4", "zstd"),
        help="how batches are compressed (default none; gzip if no codec is named)",
    )
    add("--batch-size", type=number, metavar="BYTES", help="the largest batch of a partition")
    add("--max-partition-memory-bytes", type=number, metavar="BYTES", help="overrides --batch-size")
    add(
        "--message-send-max-retries",
        type=number,
        metavar="N",
        default=3,
        help="maximum number of times that a record is sent again (default 3)",
    )
    add("--retry-backoff-ms", type=number, metavar="MS", default=100, help="wait before a retry (default 100)")
    add("--timeout", type=number, metavar="MS", help="longest wait of a record for others (linger.ms; default 0)")
    add(
        "--request-required-acks",
        choices=("all", "-1", "0", "1"),
        help="the replicas that must have a record (default -1: all in sync)",
    )
    add(
        "--request-timeout-ms",
        type=number,
        metavar="MS",
        default=1500,
        help="longest wait of a broker for these replicas (default 1500)",
    )
    add(
        "--metadata-expiry-ms",
        type=number,
        metavar="MS",
        default=300000,
        help="the age of metadata to fetch again (default 300000)",
    )
    add("--max-block-ms", type=number, metavar="MS", help="longest wait for the broker (default 60000)")
    add(
        "--max-memory-bytes",
        type=number,
        metavar="BYTES",
        default=33554432,
        help="the memory for records that wait (default 33554432)",
    )
    add(
        "--socket-buffer-size",
        type=number,
        metavar="BYTES",
        default=102400,
        help="the buffer of a connection (default 102400)",
    )
    add("--line-reader", metavar="CLASS", help="the name of Java's reader class: Avro, JSON Schema or Protobuf")
    add("--reader-property", "--property", dest="pairs", action="append", default=[], **PAIR)
    add("--reader-config", metavar="FILE", help="a .properties file of reader properties")
    add("--on-error", choices=(FAIL, SKIP, DLQ), default=FAIL, help="how to handle a bad line (default fail)")
    add("--dlq-topic", metavar="TOPIC", help="the topic to which --on-error dlq sends bad lines")
    add("--dry-run", action="store_true", help="convert all lines, register and send nothing")
    return flags


def run(program: str, schema_type: str, arguments: Sequence[str]) -> int:
    """Runs the tool; returns the exit code."""
    flags = parser(program)
    options = flags.parse_args(arguments)
    if options.version:
        return version_of(program)
    if (options.on_error == DLQ) != (options.dlq_topic is not None):
        flags.error("--on-error dlq and --dlq-topic need each other")
    schema_type = names_format("--line-reader", options.line_reader, _READERS) or schema_type
    pairs = properties.read_file("--reader-config", options.reader_config)
    pairs |= properties.parse_pairs("--property", options.pairs)
    sorted_ = properties.sort(pairs, (*PROPERTIES, properties.LOGICAL_TYPES), ("key.serializer.", "value.serializer."))
    kafka = properties.read_file("--command-config", options.client_file)
    kafka |= properties.parse_pairs("--command-property", options.client_pairs)
    with placing({**kafka, **pairs}):
        lines = line_format(sorted_)
        return _run(program, schema_type, options, bootstrap_of(options, flags), sorted_, kafka, lines)


def _run(
    program: str,
    schema_type: str,
    options: argparse.Namespace,
    bootstrap: str,
    sorted_: properties.Properties,
    kafka: Mapping[str, str],
    lines: LineFormat,
) -> int:
    from serdes.console.kafka import producer_config  # noqa: PLC0415  # not needed if a flag is wrong

    if options.max_partition_memory_bytes is not None:
        options.batch_size = options.max_partition_memory_bytes
    explicit = _explicit(options, kafka)
    config = producer_config(bootstrap, kafka, explicit)
    sending = Sending(options.topic, config, options.on_error, options.dlq_topic, options.sync, options.dry_run)

    def prepare() -> ToRecord:
        serializers = {
            field: _serializer(field, schema_type, options, sorted_, config)
            for field in (("key", "value") if lines.parse_key else ("value",))
        }
        return to_record(lines, serializers)

    return produce(program, sys.stdin.buffer, sending, prepare)


def _explicit(options: argparse.Namespace, kafka: Mapping[str, str]) -> dict[str, str | None]:
    """The flags as Kafka properties; a flag's default does not override a property that is set."""
    flags = parser("")
    explicit: dict[str, str | None] = {}
    for flag, name in _KAFKA_FLAGS.items():
        value = getattr(options, flag)
        is_default = value == flags.get_default(flag)
        explicit[name] = None if value is None or (is_default and name in kafka) else str(value)
    return explicit


def line_format(sorted_: properties.Properties) -> LineFormat:
    """The format of lines that the reader's properties select.

    Raises:
        ConfigError: A property is invalid, or contradicts another.
    """
    texts = {
        name.replace(".", "_"): sorted_.tool[name]
        for name in ("key.separator", "headers.delimiter", "headers.separator", "headers.key.separator", "null.marker")
        if name in sorted_.tool
    }
    return LineFormat(
        parse_key=sorted_.flag("parse.key"),
        parse_headers=sorted_.flag("parse.headers"),
        ignore_error=sorted_.flag("ignore.error"),
        **texts,
    )


Serialize = Callable[[str, list[tuple[str, bytes | None]]], bytes | None]


def to_record(lines: LineFormat, serializers: Mapping[str, Serialize]) -> ToRecord:
    """Makes the function from a line to its record, with the serializers of the fields that lines have."""
    from serdes.console.produce.loop import convert  # noqa: PLC0415

    def make(text: str, number: int) -> Record:
        line = lines.split(text, number)
        content: dict[str, bytes | None] = {"key": None, "value": None}
        for field, serialize in serializers.items():
            part = line.key if field == "key" else line.value
            if part.text is not None:
                content[field] = convert(
                    lambda text, serialize=serialize: serialize(text, line.headers),  # type: ignore[misc]
                    part.text,
                    number,
                    part.column,
                    field,
                )
        return Record(content["key"], content["value"], line.headers)

    return make


def _serializer(
    field: str,
    schema_type: str,
    options: argparse.Namespace,
    sorted_: properties.Properties,
    config: Mapping[str, object],
) -> Serialize:
    java_class = sorted_.tool.get(f"{field}.serializer")
    if java_class is not None:
        if field == "value":
            raise ConfigError("value.serializer", "the value is always written with its schema")
        from serdes.console.plain import plain  # noqa: PLC0415  # rarely used

        to_bytes = plain(f"{field}.serializer", java_class)[0]
        return lambda text, _: to_bytes(text)
    from serdes.console.client import open_client  # noqa: PLC0415  # while the producer connects
    from serdes.console.produce.rule_letters import RuleLetters, console_rules, no_letters  # noqa: PLC0415
    from serdes.console.produce.schemas import own_schema  # noqa: PLC0415
    from serdes.console.produce.writing import writer  # noqa: PLC0415
    from serdes.text import TextOptions  # noqa: PLC0415

    client = open_client(sorted_.client, config)
    schema = own_schema(client, field, schema_type, sorted_.tool, sorted_.serde)
    text = TextOptions(message=sorted_.tool.get(f"{field}.schema.full.name"), logical=sorted_.has_logical_texts)
    letters = no_letters if options.dry_run else RuleLetters(config)
    return writer(
        client,
        schema,
        schema_type,
        sorted_.serde,
        text,
        options.topic,
        field,
        dry_run=options.dry_run,
        adapt_rules=console_rules(letters),
    )


__all__ = ["BadLine", "line_format", "parser", "run", "to_record"]
