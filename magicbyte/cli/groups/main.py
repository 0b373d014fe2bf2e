"""`magicbyte groups`: list and describe consumer groups, reset their offsets, and delete them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from magicbyte.cli.admin_options import add_client, add_output, topic_name
from magicbyte.cli.subcommands import Subcommand, run
from magicbyte.kit.kafka.client_settings import may_be_group
from serdes.console.options import number
from serdes.console.outcome import carried_out

PROGRAM = "magicbyte groups"


def _list_options(parser: argparse.ArgumentParser) -> None:
    add_output(parser)
    add_client(parser)


def _describe_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("groups", metavar="GROUP", type=_group, nargs="+", help="consumer groups")
    add_output(parser)
    add_client(parser)


def _reset_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("group", metavar="GROUP", type=_group, help="the consumer group")
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument(
        "--topic",
        action="append",
        dest="topics",
        type=_partitions,
        metavar="TOPIC",
        help="a topic, or some of its partitions as TOPIC:0,1; may be given many times",
    )
    topics.add_argument("--all-topics", action="store_true", help="all partitions that have a committed offset")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--to-earliest", action="store_true", help="to the first record")
    target.add_argument("--to-latest", action="store_true", help="to the end: the group reads only new records")
    target.add_argument("--to-offset", type=number, metavar="N", help="to this offset")
    target.add_argument(
        "--to-timestamp",
        metavar="TIME",
        help="to the first record that is not older: milliseconds since 1970, or ISO 8601",
    )
    target.add_argument("--shift-by", type=int, metavar="N", help="forward by N records, or backward if N is negative")
    add("--execute", action="store_true", help="commit the new offsets; without it, they are only shown")
    add_output(parser)
    add_client(parser)


def _delete_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("groups", metavar="GROUP", type=_group, nargs="+", help="consumer groups")
    add("--yes", action="store_true", help="do not ask")
    add_client(parser)


def _group(text: str) -> str:
    """The type of arguments that name a group."""
    if not may_be_group(text):
        raise argparse.ArgumentTypeError("a group's name must not be empty or begin with whitespace")
    return text


def _partitions(text: str) -> tuple[str, frozenset[int]]:
    """The type of --topic: the topic, and the partitions; none are all."""
    topic, colon, numbers = text.partition(":")
    try:
        return topic_name(topic), frozenset(map(number, numbers.split(","))) if colon else frozenset()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not TOPIC or TOPIC:0,1") from None


_COMMANDS = {
    "list": Subcommand("list groups with their states", _list_options, "", "magicbyte.cli.groups.showing:run_list"),
    "describe": Subcommand(
        "show members, committed offsets and lags",
        _describe_options,
        "billing",
        "magicbyte.cli.groups.showing:run_describe",
    ),
    "reset": Subcommand(
        "commit other offsets for a group without members",
        _reset_options,
        "billing --topic orders --to-timestamp 2026-01-01T00:00:00Z --execute",
        "magicbyte.cli.groups.changing:run_reset",
    ),
    "delete": Subcommand(
        "delete groups without members, with their committed offsets",
        _delete_options,
        "billing",
        "magicbyte.cli.groups.changing:run_delete",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out a command for consumer groups; returns an exit code of the console tools."""
    return carried_out(PROGRAM, lambda: run(PROGRAM, __doc__, _COMMANDS, arguments))
