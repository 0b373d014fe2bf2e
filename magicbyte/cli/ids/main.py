"""`magicbyte ids`: the schema ids that a topic's records really have, and how many records have each.

A registry lists what was registered. Only the topic shows which versions may be deleted, and which readers need.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_bootstrap_servers, add_schema_registry_url, add_time_range, kafka_properties
from magicbyte.cli.records.consume import add_client_properties, gather_properties, milliseconds
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.kafka.client_settings import may_be_topic
from serdes.console.kafka import consumer_config, take_patience
from serdes.console.options import number
from serdes.console.outcome import Ended, carried_out, tell

if TYPE_CHECKING:
    from magicbyte.topic_ids.names import Named
    from magicbyte.topic_ids.scan import Progress, Scan, Scanner, Selection
    from serdes.client.clients import RegistryClient

PROGRAM = "magicbyte ids"
#: The exit code of --fail-unknown for unknown ids.
UNKNOWN = 100
_OUTPUTS = ("table", "json")
#: Seconds between two lines of progress.
_TICK = 0.5


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} TOPIC [TOPIC ...] [OPTION ...]",
        description=__doc__,
        examples=(
            "magicbyte ids orders payments",
            "magicbyte ids orders --unused",
        ),
    )
    add = parser.add_argument
    add("topics", metavar="TOPIC", nargs="+", help="topics")
    add_bootstrap_servers(parser)
    add_schema_registry_url(
        parser, "where ids are looked up (default: http://localhost:8081 if it answers); none: nowhere"
    )
    add_client_properties(parser)
    add("--key", action="store_true", help="count the ids of keys instead of values")
    add_time_range(
        parser,
        since="begin at a time: milliseconds since 1970, or ISO 8601",
        until="end before a time (default: the end of the topic as it is now)",
    )
    add("--sample", type=number, metavar="N", help="read 100 records at N places of each partition instead of all")
    add("--output", choices=_OUTPUTS, default="table", help="the form of the output (default table)")
    add("--unused", action="store_true", help="list the versions of the topic's subjects that no record uses")
    add("--fail-unknown", action="store_true", help=f"exit with {UNKNOWN} if the registry lacks an id")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Count a topic's records by schema id, and write the counts; returns the exit code."""
    return carried_out(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    _refuse_contradictions(options, parser)
    kafka = kafka_properties(options)
    patience = take_patience(kafka)
    config = consumer_config(options.bootstrap_servers, kafka, group="magicbyte-ids", committing=False)
    from magicbyte.cli.ids.outputs import OUTPUTS  # noqa: PLC0415 - not for --help
    from magicbyte.topic_ids.scan import Scanner, Selection  # noqa: PLC0415

    client = _client(options, config)
    selection = Selection(options.key, _time(options, "since", parser), _time(options, "until", parser), options.sample)
    scanner = Scanner(config, patience)
    counts: list[Named] = []
    try:
        ended = _count(scanner, options.topics, selection, counts, client, unused=options.unused)
    finally:
        scanner.close()
    sys.stdout.write(OUTPUTS[options.output](counts))
    if ended is not None:
        raise ended
    unknown = any(schema.is_unknown for named in counts for schema in named.schemas)
    return UNKNOWN if options.fail_unknown and unknown else 0


def _refuse_contradictions(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    for topic in options.topics:
        if not may_be_topic(topic):
            parser.error(f"{topic!r} is no topic's name")
    if options.unused and (options.since or options.until or options.sample is not None):
        parser.error("--unused needs all records: it excludes --from, --to and --sample")
    if options.sample == 0:
        parser.error("--sample must be at least 1")
    if options.schema_registry_url == "none" and (options.unused or options.fail_unknown):
        parser.error("--unused and --fail-unknown need a registry")


def _count(
    scanner: Scanner,
    topics: Sequence[str],
    selection: Selection,
    counts: list[Named],
    client: RegistryClient | None,
    *,
    unused: bool,
) -> BaseException | None:
    """Append each topic's counts to a list; if an error ends the last count early, returns it and keeps the counts."""
    from magicbyte.topic_ids.names import Names, unnamed  # noqa: PLC0415 - not for --help
    from serdes.error import SerdesError  # noqa: PLC0415

    for topic in topics:
        scan = scanner.open(topic, selection)
        ended: BaseException | None = None
        try:
            scanner.run(scan, _progress(scan))
        except (Ended, KeyboardInterrupt) as error:
            ended = error
        try:
            whole = unused and ended is None
            counts.append(unnamed(scan) if client is None else Names(client).name(scan, unused=whole))
        except SerdesError as error:
            # Keep the counts so far, because they may have taken minutes.
            counts.append(unnamed(scan))
            ended = ended or error
        if ended is not None:
            return ended
    return None


def _client(options: argparse.Namespace, config: Mapping[str, object]) -> RegistryClient | None:
    """The registry's client; None without one. A registry named by the user must answer before records are read."""
    if options.schema_registry_url == "none":
        return None
    from serdes.console.client import DEFAULT_URL, open_client  # noqa: PLC0415 - not for --help
    from serdes.error import RegistryUnavailable  # noqa: PLC0415

    properties = gather_properties(options)
    url = properties.client.get("schema.registry.url")
    client = open_client(properties.client, config)
    try:
        client.schema_types()
    except RegistryUnavailable:
        if url or options.unused or options.fail_unknown:
            raise
        tell(PROGRAM, f"no registry at {DEFAULT_URL}: ids are counted, and not looked up")
        return None
    return client


def _time(options: argparse.Namespace, name: str, parser: argparse.ArgumentParser) -> int | None:
    text: str | None = getattr(options, name)
    return None if text is None else milliseconds(text, {"since": "--from", "until": "--to"}[name], parser)


def _progress(scan: Scan) -> Progress:
    """Return a function that writes the progress and the remaining time to a terminal's stderr."""
    if not sys.stderr.isatty() or scan.selection.sample is not None:
        return lambda _: None
    began = told = time.monotonic()

    def tell_progress(offsets: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < _TICK or not offsets:
            return
        told = now
        left = (scan.offsets - offsets) * (now - began) / offsets
        sys.stderr.write(f"\r{scan.topic}: {offsets:,} of {scan.offsets:,} offsets, {left:.0f} s left \x1b[K\r")

    return tell_progress
