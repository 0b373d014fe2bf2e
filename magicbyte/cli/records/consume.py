"""`magicbyte consume`: print records of a topic as JSON lines, each decoded with its own schema."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from compat.schema import AVRO
from magicbyte.cli.flags import add_bootstrap_servers, add_kafka_properties, add_schema_registry_url, kafka_properties
from magicbyte.cli.registry_options import add_client_settings
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure
from serdes.console import properties
from serdes.console.client import DEFAULT_URL
from serdes.console.kafka import consumer_config, producer_config, take_patience
from serdes.console.options import number
from serdes.console.outcome import carried_out, tell
from serdes.console.plain import plain
from serdes.console.registry_settings import gather_settings

if TYPE_CHECKING:
    from magicbyte.cli.records.avro_records import ContainerSink
    from serdes.text.field_reader import FieldReader
    from serdes.text.text_serdes import AdaptRules

PROGRAM = "magicbyte consume"
#: fastavro's codecs; fastavro itself is imported only when a file is written.
_CODECS = ("null", "deflate", "bzip2", "snappy", "zstandard", "lz4", "xz")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} TOPIC [OPTION ...]",
        description=__doc__,
        examples=(
            "magicbyte consume orders --last 10",
            "magicbyte consume orders --from 2026-01-01T00:00:00Z --until-end --output values",
        ),
    )
    add = parser.add_argument
    add("topic", metavar="TOPIC", help="the topic to read")
    add_connection(parser)
    add("--output", choices=("records", "values"), default="records", help="whole records, or their values alone")
    add(
        "--output-file",
        metavar="FILE",
        help="write values to an Avro file (.avro), by the subject's latest schema",
    )
    add("--codec", choices=_CODECS, default="deflate", help="how that file is compressed (default deflate)")
    add("--avro-json", choices=("plain", "tagged"), default="plain", help="how unions' values stand (default plain)")
    add("--key-format", choices=_FORMATS, default="auto", help="auto: by the schema id if there is one, else text")
    add("--value-format", choices=_FORMATS, default="schema", help="what values are (default schema)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--from-beginning", action="store_true", help="begin with the first record")
    where.add_argument(
        "--from", dest="since", metavar="TIME", help="begin at a time: milliseconds since 1970, or ISO 8601"
    )
    where.add_argument("--last", type=number, metavar="N", help="the newest N records, then end")
    where.add_argument("--offset", type=number, metavar="N", help="begin at an offset")
    add("--partition", type=number, metavar="N", help="read this partition only")
    add("--group", metavar="GROUP", help="join this consumer group and commit its offsets")
    add("--until-end", action="store_true", help="end at the end of the topic")
    add("--max-messages", type=number, metavar="N", help="end after N records")
    add("--timeout-ms", type=number, metavar="MS", help="end after so long without a record")
    add("--skip-message-on-error", action="store_true", help="go on after a record that cannot be decoded")
    add(
        "--redact",
        action="append",
        default=[],
        metavar="TAG",
        help="replace strings and bytes with this tag by <REDACTED>; may be given many times",
    )
    add("--dlq-topic", metavar="TOPIC", help="send records that cannot be decoded to this topic, and go on")
    add("--fail-if-empty", action="store_true", help="exit with 4 if there was no record")
    return parser


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the options for the broker, the registry and their clients."""
    add_bootstrap_servers(parser)
    add_schema_registry_url(parser, f"the schema registry (default {DEFAULT_URL})")
    add_client_properties(parser)


def add_client_properties(parser: argparse.ArgumentParser) -> None:
    """Add the options for the properties of both clients."""
    add_client_settings(
        parser, config_help="a .properties file of such properties", properties_of="the registry's client or the codec"
    )
    add_kafka_properties(parser)


def gather_properties(options: argparse.Namespace, of_command: Sequence[str] = ()) -> properties.Properties:
    """The properties from the options of `add_connection`, by client; `own` names the command's properties."""
    settings = gather_settings(options.property, options.config, url=options.schema_registry_url)
    return properties.sort(settings, of_command)


def main(arguments: Sequence[str]) -> int:
    """Write records until the requested end; returns an exit code of serdes.console.outcome."""
    return carried_out(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    from serdes.console.consume.loop import Records, Selection, Showing, consume  # noqa: PLC0415 - not for --help
    from serdes.console.consume.start import OFFSET_BEGINNING, OFFSET_END, Start  # noqa: PLC0415
    from serdes.console.produce.rule_letters import RuleLetters, console_rules  # noqa: PLC0415

    parser = _parser()
    options = parser.parse_args(arguments)
    if options.group is not None and (options.partition is not None or options.last is not None or options.until_end):
        parser.error("--group excludes --partition, --last and --until-end")
    if options.output_file is not None and (options.group is not None or not options.output_file.endswith(".avro")):
        parser.error("--output-file is a file that ends in .avro, and excludes --group")
    kafka = kafka_properties(options)
    kafka["auto.offset.reset"] = "earliest" if options.from_beginning else "latest"
    if options.since is not None:
        start = Start(timestamp=milliseconds(options.since, "--from", parser))
    elif options.offset is not None:
        start = Start(options.offset)
    else:
        start = Start(OFFSET_BEGINNING if options.from_beginning or options.until_end else OFFSET_END)
    selection = Selection(
        options.topic,
        partition=options.partition,
        start=start,
        group=options.group is not None,
        limit=options.max_messages,
        idle_seconds=None if options.timeout_ms is None else options.timeout_ms / 1000,
        until_end=options.until_end,
        last=options.last,
    )
    patience = take_patience(kafka)
    if options.until_end or options.last is not None:
        # The end of a partition is reported with an empty fetch.
        kafka.setdefault("fetch.max.wait.ms", "10")
    group = options.group or "magicbyte-consume"
    config = consumer_config(options.bootstrap_servers, kafka, group=group, committing=options.group is not None)
    records = Records(PROGRAM, config, selection, patience)
    records.begin()
    adapt = console_rules(RuleLetters(producer_config(options.bootstrap_servers, dict(kafka), {})), options.redact)
    sink = _sink(options, config, adapt) if options.output_file is not None else None
    line = _line(options, config, adapt) if sink is None else sink.line
    dead_letter = None
    if options.dlq_topic is not None:
        from serdes.console.consume.dead_letters import DeadLetters  # noqa: PLC0415 - rarely used

        dead_letter = DeadLetters(
            PROGRAM, options.dlq_topic, producer_config(options.bootstrap_servers, dict(kafka), {})
        )
    showing = Showing(line, options.skip_message_on_error, dead_letter, fail_if_empty=options.fail_if_empty, quiet=True)
    try:
        return consume(PROGRAM, records, selection, showing)
    finally:
        if sink is not None:
            sink.close()
            if sink.tombstones:
                tell(PROGRAM, f"{sink.tombstones} records without a value are not in {options.output_file}")


def _sink(options: argparse.Namespace, config: dict[str, Any], adapt_rules: AdaptRules) -> ContainerSink:
    """The container file for the values, with the latest schema of the topic's subject."""
    from magicbyte.cli.records.avro_records import ContainerSink  # noqa: PLC0415 - rarely used
    from serdes.console.client import open_client  # noqa: PLC0415
    from serdes.message.subject import Naming  # noqa: PLC0415
    from serdes.serialization import SerializationContext  # noqa: PLC0415

    settings = gather_properties(options)
    client = open_client(settings.client, config)
    subject = client.drive(Naming().subject(client.endpoints, SerializationContext(options.topic, "value"), None))
    latest = client.version(subject).schema
    if latest.schema_type != AVRO:
        raise Failure(f"--output-file: the latest schema of {subject} is of type {latest.schema_type}, not AVRO")
    resolved = (latest, client.dependencies(latest, subject))
    try:
        return ContainerSink(options.output_file, options.codec, client, resolved, settings.serde, adapt_rules)
    except OSError as error:
        raise Failure(f"--output-file {options.output_file} cannot be written: {error.strerror}") from error


def _line(options: argparse.Namespace, config: dict[str, Any], adapt_rules: AdaptRules) -> Callable[[Any], bytes]:
    from magicbyte.cli.records.json_lines import RecordLines  # noqa: PLC0415 - while the consumer connects
    from serdes.console.client import open_client  # noqa: PLC0415
    from serdes.console.properties import LOGICAL_TYPES  # noqa: PLC0415
    from serdes.text import TextOptions  # noqa: PLC0415
    from serdes.text.field_reader import FieldReader  # noqa: PLC0415

    settings = gather_properties(options, ("preserve.json.field.name", LOGICAL_TYPES))
    client = open_client(settings.client, config)
    is_plain = options.avro_json == "plain"
    text_options = TextOptions(
        plain_unions=is_plain,
        defaults=is_plain,
        proto_names=settings.flag("preserve.json.field.name"),
        logical=settings.has_logical_texts,
    )
    readers = [
        _FORMATS[chosen](FieldReader(client, part, None, settings.serde, text_options, adapt_rules=adapt_rules))
        for part, chosen in (("key", options.key_format), ("value", options.value_format))
    ]
    lines = RecordLines(*readers)
    return lines.record if options.output == "records" else lines.value


def _plain(reader: FieldReader, java_class: str) -> FieldReader:
    import json  # noqa: PLC0415 - rarely used

    to_text = plain("--key-format", java_class)[1]
    reader.plain = lambda data: json.dumps(to_text(data), ensure_ascii=False)
    return reader


def _auto(reader: FieldReader) -> FieldReader:
    reader.text_without_frame = True
    return reader


#: How a format wraps the reader of schemas.
_FORMATS: dict[str, Callable[[FieldReader], FieldReader]] = {
    "auto": _auto,
    "schema": lambda reader: reader,
    "string": lambda reader: _plain(reader, "String"),
}


def milliseconds(text: str, option: str, parser: argparse.ArgumentParser) -> int:
    """Parse the time in an option, in milliseconds since 1970; a text that is not a time ends the program."""
    if re.fullmatch(r"\d+", text):
        return int(text)
    from datetime import datetime  # noqa: PLC0415 - rarely used

    try:
        # A time without a zone is local time.
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except ValueError:
        parser.error(f"{option} must be milliseconds since 1970 or ISO 8601, not {text!r}")
