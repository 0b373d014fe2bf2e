"""`magicbyte dead-letter`: what could not be processed, and why; and sending it back once it can be.

It reads the letters of pipelines and console tools, of Kafka Connect, Kafka Streams, Spring and share groups.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from magicbyte.cli.flags import add_bootstrap_servers, add_schema_registry_url, add_time_range
from magicbyte.cli.records.consume import add_client_properties
from magicbyte.cli.subcommands import Subcommand, function_of, parser_of
from magicbyte.kit.kafka.client_settings import may_be_topic
from serdes.console.options import number
from serdes.console.outcome import carried_out

PROGRAM = "magicbyte dead-letter"
_BY = ("reason", "topic", "schema-id", "pipeline")
_FORMATS = ("auto", "schema", "json", "bytes")


def _add_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", help="the topic of dead letters")
    add_bootstrap_servers(parser)
    add_client_properties(parser)


def _add_where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--where", metavar="SQL", help="only letters that fit, such as \"stage = 'TASK_PUT' and schema_id = 7\""
    )
    add_time_range(parser, since="only letters with a timestamp since: milliseconds since 1970, or ISO 8601")


def _add_registry(parser: argparse.ArgumentParser) -> None:
    add_schema_registry_url(parser, "where schemas are looked up (default http://localhost:8081)")


def _list_options(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    add = parser.add_argument
    _add_where(parser)
    add("--by", choices=_BY, default="reason", help="what is counted (default reason, without its numbers)")
    add("--output", choices=("table", "json"), default="table", help="the form of the output (default table)")


def _show_options(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    add = parser.add_argument
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument(
        "--at", metavar="PARTITION:OFFSET", help="partition and offset of the letter; `list` shows examples"
    )
    add("--output", choices=("text", "json"), default="text", help="the form of the output (default text)")
    _add_registry(parser)


def _replay_options(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    add = parser.add_argument
    _add_where(parser)
    add(
        "--to-topic",
        metavar="TOPIC",
        default="original",
        help="send to this topic (default: original, each to its own)",
    )
    fix = parser.add_mutually_exclusive_group()
    fix.add_argument(
        "--fix-with", metavar="FILE.py", help="a Python file with fix(value, letter) or fix_key(key, letter)"
    )
    fix.add_argument("--schema-id", type=number, metavar="N", help="the id of the schema that it was written with")
    add("--part", choices=("key", "value"), default="value", help="what --schema-id is for (default value)")
    add("--key-format", choices=_FORMATS, default="auto", help="what keys must be (default auto: by their frames)")
    add("--value-format", choices=_FORMATS, default="auto", help="what values must be (default auto: by their frames)")
    add("--force", action="store_true", help="send also what would fail again")
    add("--again", action="store_true", help="send also letters that were replayed before")
    add("--max-attempts", type=number, default=2, metavar="N", help="refuse records that were replayed N times (2)")
    add("--dry-run", action="store_true", help="tell what would be sent, and send nothing")
    add("--max-messages", type=number, metavar="N", help="send N letters at the most")
    add("--rate", type=number, metavar="N", help="send N letters a second at the most")
    add("--output", choices=("text", "json"), default="text", help="the form of the output (default text)")
    _add_registry(parser)


def _purge_options(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    add = parser.add_argument
    add("--replayed", action="store_true", required=True, help="delete replayed letters up to the first that was not")
    add("--dry-run", action="store_true", help="tell what would be deleted, and delete nothing")
    add("--output", choices=("text", "json"), default="text", help="the form of the output (default text)")


_COMMANDS = {
    "list": Subcommand(
        "count letters by the reason of their failure",
        _list_options,
        "orders-dead --by topic",
        "magicbyte.cli.dead_letter.listing:run",
    ),
    "show": Subcommand(
        "show one letter, and how far its key and value decode",
        _show_options,
        "orders-dead --at 0:42",
        "magicbyte.cli.dead_letter.showing:run",
    ),
    "replay": Subcommand(
        "send records back, decoded first",
        _replay_options,
        "orders-dead --fix-with fix.py --dry-run",
        "magicbyte.cli.dead_letter.replaying:run",
    ),
    "purge": Subcommand(
        "delete letters that were replayed",
        _purge_options,
        "orders-dead --replayed",
        "magicbyte.cli.dead_letter.purging:run",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out a command for dead letters; returns an exit code of the console tools, or 100 for findings."""
    return carried_out(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = parser_of(PROGRAM, __doc__, _COMMANDS)
    options = parser.parse_args(arguments)
    for name in {options.topic, getattr(options, "to_topic", "original")}:
        if not may_be_topic(name):
            parser.error(f"{name!r} is no topic's name")
    if getattr(options, "max_messages", None) == 0 or getattr(options, "rate", None) == 0:
        parser.error("--max-messages and --rate must be at least 1")
    code: int = function_of(_COMMANDS[options.command])(parser, options)
    return code
