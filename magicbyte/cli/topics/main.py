"""`magicbyte topics`: list, create, describe, alter and delete topics."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from magicbyte.cli.admin_options import add_client, add_output, topic_name
from magicbyte.cli.subcommands import Subcommand, run
from magicbyte.kit.command_line import accept_hidden_names
from serdes.console.outcome import carried_out

PROGRAM = "magicbyte topics"


def _list_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--internal", action="store_true", help="list also the topics in which Kafka keeps its own state")
    add_output(parser)
    add_client(parser)


def _create_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topic", metavar="TOPIC", type=topic_name, help="the topic")
    add(
        "--partitions",
        type=_positive,
        metavar="N",
        help="the number of partitions (default: the broker's num.partitions)",
    )
    add(
        "--replication-factor",
        type=_positive,
        metavar="N",
        help="the replicas of each partition (default: the broker's default.replication.factor)",
    )
    _add_configs(parser)
    add("--if-not-exists", action="store_true", help="change nothing and exit with 0 if the topic exists")
    add_client(parser)


def _describe_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topics", metavar="TOPIC", type=topic_name, nargs="*", help="topics (default: all that are not internal)")
    add("--under-replicated", action="store_true", help="show only partitions with a replica that is not in sync")
    add_output(parser)
    add_client(parser)


def _alter_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topic", metavar="TOPIC", type=topic_name, help="the topic")
    add(
        "--partitions",
        type=_positive,
        metavar="N",
        help="add partitions until there are N; new records of a key may then go to another partition than old ones",
    )
    _add_configs(parser)
    add("--delete-config", action="append", default=[], metavar="NAME", help="return a config to its default")
    add_client(parser)


def _delete_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topics", metavar="TOPIC", type=topic_name, nargs="+", help="topics")
    add("--if-exists", action="store_true", help="leave out topics that do not exist")
    add("--yes", action="store_true", help="do not ask")
    add_client(parser)


def _add_configs(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument(
        "--topic-config",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a config of the topic, such as retention.ms=86400000",
    )
    # Its name in Kafka's own tool; other commands read a file by it.
    accept_hidden_names(parser, option, "--config")


def _positive(text: str) -> int:
    """The type of flags that are integers from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


_COMMANDS = {
    "list": Subcommand("list topics", _list_options, "--internal", "magicbyte.cli.topics.showing:run_list"),
    "create": Subcommand(
        "create a topic",
        _create_options,
        "orders --partitions 6 --replication-factor 3 --topic-config retention.ms=86400000",
        "magicbyte.cli.topics.changing:run_create",
    ),
    "describe": Subcommand(
        "show partitions, replicas, offsets and configs",
        _describe_options,
        "orders",
        "magicbyte.cli.topics.showing:run_describe",
    ),
    "alter": Subcommand(
        "add partitions and change configs",
        _alter_options,
        "orders --partitions 12 --delete-config retention.ms",
        "magicbyte.cli.topics.changing:run_alter",
    ),
    "delete": Subcommand(
        "delete topics with their records", _delete_options, "orders", "magicbyte.cli.topics.changing:run_delete"
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out a command for topics; returns an exit code of the console tools."""
    return carried_out(PROGRAM, lambda: run(PROGRAM, __doc__, _COMMANDS, arguments))
