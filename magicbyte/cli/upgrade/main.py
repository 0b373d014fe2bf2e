"""`magicbyte upgrade`: check an upgrade before it begins, and let the leader give up the lead."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.flags import add_kafka_properties
from magicbyte.cli.source_options import SOURCES, add_output, ending
from magicbyte.cli.subcommands import Subcommand, run

PROGRAM = "magicbyte upgrade"


def _check_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", nargs="?", help=f"what the registry reads: {SOURCES}")
    add("--to", metavar="VERSION", help="the release to go to, or back to (default: this one)")
    add("--server", choices=("registry", "rest-proxy"), default="registry", help="whose settings --config has")
    add(
        "--config",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a .properties file of the server; may be given many times",
    )
    add(
        "--node",
        action="append",
        default=[],
        dest="nodes",
        metavar="URL",
        help="a running node; may be given many times",
    )
    add_output(parser)
    _client_options(parser)
    add_kafka_properties(parser)


def _step_down_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="the node that is to give up the lead, by its own URL")
    _client_options(parser)


def _client_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the registry's client, such as basic.auth.user.info=${file:PATH:KEY}",
    )


_COMMANDS = {
    "check": Subcommand(
        "name what a release would treat otherwise: settings, records, nodes",
        _check_options,
        "--config registry.properties kafka:localhost:9092",
        "magicbyte.cli.upgrade.checking:run_check",
    ),
    "step-down": Subcommand(
        "let a node give up the lead, and wait until another node has it",
        _step_down_options,
        "http://registry-0:8081",
        "magicbyte.cli.upgrade.stepping_down:run_step_down",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out a command; returns 0, 3 if an end is out of reach, or 100 if there are problems."""
    return ending(lambda: run(PROGRAM, __doc__, _COMMANDS, arguments))
