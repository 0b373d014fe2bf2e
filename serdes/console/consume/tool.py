"""The flags and properties of kafka-*-console-consumer, and the run that they select."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.kafka.client_settings import Config, may_be_group
from serdes.console import properties
from serdes.console.options import LEGACY, PAIR, add_common, bootstrap_of, names_format, number
from serdes.console.outcome import tell
from serdes.error import ConfigError
from serdes.setting_kinds import placing

_FORMATTERS = {
    "AvroMessageFormatter": AVRO,
    "JsonSchemaMessageFormatter": JSON,
    "ProtobufMessageFormatter": PROTOBUF,
}


def parser(program: str) -> CommandParser:
    """The parser of the flags."""
    flags = CommandParser(
        prog=program,
        formatter_class=argparse.HelpFormatter,
        examples=(
            f"{program} --bootstrap-server localhost:9092 --topic orders --from-beginning --max-messages 10",
            f"{program} --bootstrap-server localhost:9092 --topic orders --property print.key=true",
        ),
        usage=f"{program} --bootstrap-server HOST:PORT --topic TOPIC [OPTION ...]",
        description="Reads records that were written with a schema, and writes one line for each to stdout.",
        epilog="Formatter properties: print.timestamp, print.key, print.partition, print.offset, print.headers, "
        "print.schema.ids, print.remarks, key.separator, line.separator, headers.separator, schema.id.separator, "
        "null.literal, key.deserializer, headers.deserializer, schema.registry.url, and the deserializer's settings.",
    )
    add_common(flags, LEGACY["consumer"])
    add = flags.add_argument
    add("--topic", help="the topic to read")
    add("--include", "--whitelist", metavar="REGEX", help="read all topics whose name matches")
    add("--partition", type=number, metavar="N", help="read this partition only")
    add("--offset", metavar="earliest|latest|N", help="where to begin in the partition (default latest)")
    add("--from-beginning", action="store_true", help="begin with the first record if the group has no offset")
    add("--max-messages", type=number, metavar="N", help="end after N records")
    add("--timeout-ms", type=number, metavar="MS", help="end after this time without a record")
    add("--skip-message-on-error", action="store_true", help="go on after a record that cannot be decoded")
    add(
        "--isolation-level",
        choices=("read_uncommitted", "read_committed"),
        help="whether records of open and aborted transactions are shown (default read_uncommitted)",
    )
    add("--group", metavar="ID", help="join this consumer group and commit its offsets")
    add("--key-deserializer", metavar="CLASS", help="as the property key.deserializer")
    add("--value-deserializer", metavar="CLASS", help="accepted; values are always decoded with their schema")
    add("--formatter", metavar="CLASS", help="the name of Java's formatter class: Avro, JSON Schema or Protobuf")
    add("--formatter-property", "--property", dest="pairs", action="append", default=[], **PAIR)
    add("--formatter-config", metavar="FILE", help="a .properties file of formatter properties")
    add("--enable-systest-events", action="store_true", help="write shutdown_complete at the end")
    add("--dlq-topic", metavar="TOPIC", help="send records that cannot be decoded to this topic, and go on")
    add("--fail-if-empty", action="store_true", help="exit with 4 if there was no record")
    return flags


def run(program: str, schema_type: str, arguments: Sequence[str]) -> int:
    """Runs the tool; returns the exit code."""
    flags = parser(program)
    options = flags.parse_args(arguments)
    _check(options, flags)
    schema_type = names_format("--formatter", options.formatter, _FORMATTERS) or schema_type
    from serdes.console.consume.columns import PROPERTIES  # noqa: PLC0415  # not needed if a flag is wrong

    pairs = properties.read_file("--formatter-config", options.formatter_config)
    pairs |= properties.parse_pairs("--property", options.pairs)
    if options.key_deserializer is not None:
        pairs["key.deserializer"] = options.key_deserializer
    if options.value_deserializer is not None:
        tell(program, "--value-deserializer is ignored: values are decoded with their schema")
    sorted_ = properties.sort(
        pairs, (*PROPERTIES, properties.LOGICAL_TYPES), ("key.deserializer.", "headers.deserializer.")
    )
    kafka = properties.read_file("--command-config", options.client_file)
    kafka |= properties.parse_pairs("--command-property", options.client_pairs)
    with placing({**kafka, **pairs}):
        code = _run(program, schema_type, options, bootstrap_of(options, flags), sorted_, kafka)
    if options.enable_systest_events:
        sys.stdout.write("shutdown_complete\n")
    return code


def _check(options: argparse.Namespace, flags: argparse.ArgumentParser) -> None:
    """Ends with the usage if flags contradict each other, as Kafka's tool does."""
    if (options.topic is None) == (options.include is None):
        flags.error("exactly one of --topic and --include is required")
    if options.partition is not None and options.topic is None:
        flags.error("--partition needs --topic")
    if options.partition is not None and options.group is not None:
        flags.error("--partition and --group exclude each other")
    if options.offset is not None:
        if options.partition is None:
            flags.error("--offset needs --partition")
        if options.from_beginning:
            flags.error("--from-beginning and --offset exclude each other")
        if not re.fullmatch(r"earliest|latest|\d+", options.offset.lower()):
            flags.error(f"--offset must be earliest, latest or a number that is not negative, not {options.offset!r}")
    if options.include is not None:
        try:
            re.compile(options.include)
        except re.error as error:
            flags.error(f"--include is no regular expression: {error}")


def _run(
    program: str,
    schema_type: str,
    options: argparse.Namespace,
    bootstrap: str,
    sorted_: properties.Properties,
    kafka: dict[str, str],
) -> int:
    from serdes.console.consume.loop import Records, Selection, Showing, consume  # noqa: PLC0415  # as above
    from serdes.console.consume.start import OFFSET_BEGINNING, OFFSET_END, Start  # noqa: PLC0415
    from serdes.console.kafka import consumer_config, producer_config, take_patience  # noqa: PLC0415

    group, reset = _group(options, kafka)
    offsets = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END}
    start = offsets[reset]
    if options.offset is not None:
        start = offsets[options.offset.lower()] if options.offset.lower() in offsets else int(options.offset)
    selection = Selection(
        options.topic,
        options.include,
        options.partition,
        Start(start),
        group=group is not None,
        limit=options.max_messages,
        idle_seconds=None if options.timeout_ms is None else options.timeout_ms / 1000,
    )
    patience = take_patience(kafka)
    if options.isolation_level is not None:
        kafka["isolation.level"] = options.isolation_level
    name = group or f"console-consumer-{int.from_bytes(os.urandom(4)) % 100000}"
    committing = group is not None and kafka.pop("enable.auto.commit", "true").lower() != "false"
    kafka.pop("enable.auto.commit", None)
    kafka["auto.offset.reset"] = reset
    config = consumer_config(bootstrap, kafka, group=name, committing=committing)
    # First, so that the consumer connects while the rest is imported.
    records = Records(program, config, selection, patience)
    records.begin()
    line = _line(schema_type, sorted_, config, producer_config(bootstrap, kafka, {}))
    dead_letter = None
    if options.dlq_topic is not None:
        from serdes.console.consume.dead_letters import DeadLetters  # noqa: PLC0415  # rarely used

        dead_letter = DeadLetters(program, options.dlq_topic, producer_config(bootstrap, kafka, {}))
    showing = Showing(
        line, options.skip_message_on_error, dead_letter, fail_if_empty=options.fail_if_empty, quiet=options.quiet
    )
    return consume(program, records, selection, showing)


def _group(options: argparse.Namespace, kafka: dict[str, str]) -> tuple[str | None, str]:
    """The group from the flag or the property, and where to begin if it has no offset."""
    named = {name for name in (options.group, kafka.pop("group.id", None)) if name is not None}
    if len(named) > 1:
        raise ConfigError("--group", f"names another group than group.id: {', '.join(sorted(named))}")
    if not all(map(may_be_group, named)):
        raise ConfigError("--group", "must not be empty or begin with whitespace")
    if named and options.partition is not None:
        raise ConfigError("--partition", "cannot be used with a group")
    reset = kafka.get("auto.offset.reset", "earliest" if options.from_beginning else "latest").lower()
    if reset not in {"earliest", "latest"}:
        raise ConfigError("auto.offset.reset", f"must be earliest or latest, not {reset}")
    if options.from_beginning and reset != "earliest":
        raise ConfigError("--from-beginning", f"contradicts auto.offset.reset={reset}")
    return (named.pop() if named else None), reset


def _line(schema_type: str, sorted_: properties.Properties, config: Config, letters: Config) -> Callable[[Any], bytes]:
    from serdes.console.client import open_client  # noqa: PLC0415  # while the consumer connects
    from serdes.console.consume.columns import columns  # noqa: PLC0415
    from serdes.console.produce.rule_letters import RuleLetters, console_rules  # noqa: PLC0415
    from serdes.text import TextOptions  # noqa: PLC0415
    from serdes.text.field_reader import FieldReader  # noqa: PLC0415

    client = open_client(sorted_.client, config)
    options = TextOptions(
        proto_names=sorted_.flag("preserve.json.field.name"),
        logical=sorted_.has_logical_texts,
    )
    conf = dict(sorted_.serde)
    if schema_type == JSON:
        # Java's formatter shows records whether or not they are valid.
        conf.setdefault("json.fail.invalid.schema", "false")
    with_remarks = sorted_.flag("print.remarks")
    adapt = console_rules(RuleLetters(letters))
    key = FieldReader(client, "key", schema_type, conf, options, with_remarks=with_remarks, adapt_rules=adapt)
    if "key.deserializer" in sorted_.tool:
        from serdes.console.plain import plain  # noqa: PLC0415  # rarely used

        key.plain = plain("key.deserializer", sorted_.tool["key.deserializer"])[1]
    value = FieldReader(client, "value", schema_type, conf, options, with_remarks=with_remarks, adapt_rules=adapt)
    return columns(sorted_, key, value).line
