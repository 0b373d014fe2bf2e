"""`magicbyte produce`: send JSON lines as records, with a given schema or the subject's latest."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.cli.flags import kafka_properties
from magicbyte.cli.records.consume import add_connection, gather_properties
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.console import properties
from serdes.console.client import open_client
from serdes.console.kafka import producer_config
from serdes.console.options import number
from serdes.console.outcome import BAD_DATA, OK, Ended, carried_out, tell_explanations
from serdes.console.produce.loop import DLQ, FAIL, SKIP, Sending, ToRecord, convert, open_source, produce, send_all
from serdes.console.produce.outbox import Record
from serdes.console.produce.rule_letters import RuleLetters, console_rules, no_letters
from serdes.console.produce.writing import Serialize, writer
from serdes.error import SubjectNotFound, VersionNotFound
from serdes.schema import Schema
from serdes.serialization import SerializationContext
from serdes.text import TextOptions
from serdes.text.text_serdes import AdaptRules

PROGRAM = "magicbyte produce"
#: The file name ending of Avro container files.
ENDING = ".avro"
_TYPES = {"avro": AVRO, "json": JSON, "protobuf": PROTOBUF}


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} TOPIC [OPTION ...]",
        description=__doc__,
        examples=(
            "magicbyte produce orders --file orders.jsonl --value-schema @order.avsc",
            "magicbyte consume orders --until-end | magicbyte produce copy --input records",
        ),
    )
    add = parser.add_argument
    add("topic", metavar="TOPIC", help="the topic to produce to")
    add_connection(parser)
    add("--file", metavar="FILE", help="read lines from a file instead of stdin")
    add(
        "--input",
        metavar="values|records|FILE.avro",
        default="values",
        help="a line is a value, or what consume writes; or the values are the records of an Avro container file",
    )
    add("--avro-json", choices=("plain", "tagged"), default="plain", help="how unions' values stand (default plain)")
    for part in ("value", "key"):
        add(f"--{part}-schema", metavar="TEXT|@FILE", help=f"register this schema for the {part}")
        add(f"--{part}-schema-id", type=number, metavar="ID", help="use this schema of the registry's")
        add(f"--{part}-schema-version", type=number, metavar="N", help="use this version of the subject")
        framing = "the schema's id before the data, or its guid in a header (default prefix)"
        add(f"--{part}-framing", choices=("prefix", "header"), help=framing)
    add("--key-format", choices=("string", "schema"), help="keys as text, or with the subject's schema")
    add("--value-format", choices=("string", "schema"), help="values as text, without a registry, or with a schema")
    add("--schema-type", choices=sorted(_TYPES), help="of a schema given as text (default: what it looks like)")
    add("--message", metavar="NAME", help="the full name of the Protobuf message (default: the file's first)")
    add("--on-error", choices=(FAIL, SKIP, DLQ), default=FAIL, help="what becomes of a bad line (default fail)")
    add("--dlq-topic", metavar="TOPIC", help="where --on-error dlq sends bad lines")
    add("--dry-run", action="store_true", help="convert all lines, register and send nothing")
    add(
        "--explain",
        action="store_true",
        help="show the rules that records would pass, and on which fields; send nothing",
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Send all lines; returns an exit code of serdes.console.outcome."""
    return carried_out(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.on_error == DLQ) != (options.dlq_topic is not None):
        parser.error("--on-error dlq and --dlq-topic need each other")
    is_container = options.input.endswith(ENDING)
    if not is_container and options.input not in {"values", "records"}:
        parser.error(f"--input is values, records or a file that ends in {ENDING}, not {options.input}")
    if is_container and (options.file or options.value_schema or options.schema_type or options.message):
        parser.error("an Avro container file has its own records and schema")
    if options.input != "records" and (_has_key_schema(options) or options.key_format):
        parser.error("lines have keys with --input records only")
    if options.value_format == "string" and (is_container or _has_schema("value", options) or options.value_framing):
        parser.error("--value-format string sends text: it excludes an Avro file and the options of the value's schema")
    if options.key_framing and not _has_key_schema(options):
        parser.error("--key-framing is for keys with a schema: name one, or say --key-format schema")
    if options.explain:
        return _explain(options)
    kafka = kafka_properties(options)
    config = producer_config(options.bootstrap_servers, kafka, {})
    sending = Sending(
        options.topic, config, options.on_error, options.dlq_topic, dry_run=options.dry_run, with_counts=True
    )
    if is_container:
        return _produce_container(options, sending)
    try:
        source = open_source(options.file)
    except OSError as error:
        raise Failure(f"--file {options.file} cannot be read: {error.strerror}") from error
    with source:
        return produce(PROGRAM, source, sending, lambda: _to_record(options, config))


def _produce_container(options: argparse.Namespace, sending: Sending) -> int:
    """Send the records of a container file; its schema is registered first, or in a dry run checked."""
    from magicbyte.check.project.avro_file import NoContainer, header_schema, payloads  # noqa: PLC0415 - lines need none of it
    from magicbyte.cli.records.avro_records import container_serializer, to_record  # noqa: PLC0415
    from serdes.console.produce.writing import DrySerializer  # noqa: PLC0415
    from serdes.message.serializer import Serializer  # noqa: PLC0415

    settings = gather_properties(options)
    client = open_client(settings.client, dict(sending.config))
    try:
        with Path(options.input).open("rb") as file:
            file_schema = Schema(header_schema(file))
            file.seek(0)
            conf: dict[str, Any] = {**settings.serde, **_framing("value", options)}
            subject = client.drive(_subject(client, "value", options))
            if options.value_schema_id is not None or options.value_schema_version is not None:
                conf |= _schema(client, "value", options)[2]
            elif options.dry_run:
                _check(client, subject, file_schema)
            kind = DrySerializer if options.dry_run else Serializer
            serializer = container_serializer(client, file_schema, conf, kind, _rules(options, sending.config))
            client.drive(serializer.chosen(SerializationContext(options.topic, "value", [])))

            def record(payload: bytes, number: int) -> Record:
                value, headers = to_record(serializer, options.topic, payload, number)
                return Record(None, value, headers)

            items = enumerate(payloads(file), 1)
            return send_all(PROGRAM, items, sending, lambda: record, "record", is_finite=True)
    except OSError as error:
        raise Failure(f"--input {options.input} cannot be read: {error.strerror}") from error
    except NoContainer as error:
        raise Ended(BAD_DATA, f"{options.input}: {error}") from error


def _check(client: RegistryClient, subject: str, file_schema: Schema) -> None:
    """Stop if the subject's versions are incompatible with a schema; a dry run registers nothing."""
    try:
        verdict = client.check_compatibility(subject, file_schema.text, explain=True)
    except (SubjectNotFound, VersionNotFound):
        return
    if not verdict:
        tell_explanations(PROGRAM, verdict.explanations)
        raise Ended(BAD_DATA, f"subject {subject} would refuse the file's schema: {'; '.join(verdict.messages)}")


def _to_record(options: argparse.Namespace, config: dict[str, Any]) -> ToRecord:
    settings = gather_properties(options, (properties.LOGICAL_TYPES,))
    # A client connects with its first request: none is sent if both key and value are text.
    client = open_client(settings.client, config)
    adapt = _rules(options, config)
    value = None if options.value_format == "string" else _serializer(client, "value", options, settings, adapt)
    if options.input == "values":
        if value is None:
            return lambda text, _: Record(None, text.encode())

        def of_value(text: str, number: int) -> Record:
            headers: list[tuple[str, bytes | None]] = []
            data = convert(lambda text: value(text, headers), text, number, 1, "value")
            return Record(None, data, headers)

        return of_value
    key = None
    if _has_key_schema(options):
        key = _serializer(client, "key", options, settings, adapt)

    from magicbyte.cli.records.json_lines import record_of_line  # noqa: PLC0415 - values need none of it

    return lambda text, number: record_of_line(text, number, key, value)


def _explain(options: argparse.Namespace) -> int:
    """Write the rules of the versions that records would be written with."""
    from magicbyte.cli.records.rule_plans import write_rules  # noqa: PLC0415 - rarely used

    client = open_client(gather_properties(options).client, {})
    parts = ["value"] if options.value_format != "string" else []
    if _has_key_schema(options):
        parts.insert(0, "key")
    for part in parts:
        subject = client.drive(_subject(client, part, options))
        schema_id, version = getattr(options, f"{part}_schema_id"), getattr(options, f"{part}_schema_version")
        if schema_id is not None:
            versions = [one.version for one in client.versions_of(schema_id) if one.subject == subject]
            if not versions:
                raise Failure(f"--{part}-schema-id {schema_id}: it is no version of subject {subject}")
            version = max(versions)
        write_rules(client, subject, version or "latest", ("WRITE",))
    return OK


def _rules(options: argparse.Namespace, config: Mapping[str, Any]) -> AdaptRules:
    return console_rules(no_letters if options.dry_run else RuleLetters(config))


def _has_key_schema(options: argparse.Namespace) -> bool:
    return options.key_format == "schema" or _has_schema("key", options)


def _has_schema(part: str, options: argparse.Namespace) -> bool:
    return any(getattr(options, f"{part}_{name}") is not None for name in ("schema", "schema_id", "schema_version"))


def _framing(part: str, options: argparse.Namespace) -> dict[str, str]:
    """The setting of the serializer that says where the frame goes; empty if the option is missing."""
    framing: str | None = getattr(options, f"{part}_framing")
    return {} if framing is None else {f"{part}.schema.id.serializer": framing}


def _serializer(
    client: RegistryClient,
    part: str,
    options: argparse.Namespace,
    settings: properties.Properties,
    adapt_rules: AdaptRules,
) -> Serialize:
    schema, schema_type, conf = _schema(client, part, options)
    is_plain = options.avro_json == "plain"
    text_options = TextOptions(
        plain_unions=is_plain, defaults=is_plain, message=options.message, logical=settings.has_logical_texts
    )
    return writer(
        client,
        schema,
        schema_type,
        {**conf, **settings.serde, **_framing(part, options)},
        text_options,
        options.topic,
        part,
        dry_run=options.dry_run,
        adapt_rules=adapt_rules,
    )


def _schema(
    client: RegistryClient, part: str, options: argparse.Namespace
) -> tuple[Schema | None, str, dict[str, Any]]:
    """The schema to register, or None; its type; and the setting that selects a registered schema."""
    text: str | None = getattr(options, f"{part}_schema")
    if text is not None:
        if text.startswith("@"):
            try:
                text = Path(text[1:]).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Failure(f"--{part}-schema {text} cannot be read: {error}") from error
        schema_type = _TYPES[options.schema_type] if options.schema_type else _looks_like(text)
        return Schema(text, schema_type), schema_type, {}
    schema_id = getattr(options, f"{part}_schema_id")
    if schema_id is None:
        subject = client.drive(_subject(client, part, options))
        version = getattr(options, f"{part}_schema_version")
        schema_id = client.version(subject, "latest" if version is None else version).id
    info = client.schema_by_id(schema_id, f"{options.topic}-{part}")
    return None, info.schema.schema_type, {"use.schema.id": schema_id}


def _subject(client: RegistryClient, part: str, options: argparse.Namespace) -> Any:
    from serdes.message.subject import Naming  # noqa: PLC0415 - imported by then

    return Naming().subject(client.endpoints, SerializationContext(options.topic, part), None)


def _looks_like(text: str) -> str:
    """The type of a schema's text: Protobuf is not JSON; a JSON Schema has $schema or keywords that Avro lacks."""
    import json  # noqa: PLC0415 - imported by then

    try:
        schema = json.loads(text)
    except ValueError:
        return AVRO if text.strip().isalpha() else PROTOBUF
    if isinstance(schema, bool):
        return JSON
    if not isinstance(schema, dict):
        return AVRO
    if schema.keys() & {"$schema", "$id", "$ref", "properties", "anyOf", "allOf", "oneOf"} or schema.get("type") in {
        "object",
        "number",
        "integer",
    }:
        return JSON
    return AVRO
