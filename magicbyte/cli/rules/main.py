"""`magicbyte rules`: show which rules a schema has, check them, and try them on messages.

Nothing is registered, and no message is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from magicbyte.cli.flags import add_bootstrap_servers, add_schema_registry_url, add_time_range
from magicbyte.cli.records.consume import add_client_properties
from magicbyte.cli.registry_options import add_client_settings
from magicbyte.cli.subcommands import Subcommand, run
from serdes.console.client import DEFAULT_URL
from serdes.console.options import number
from serdes.console.outcome import carried_out

PROGRAM = "magicbyte rules"
_PLACES = ("CLIENT", "GATEWAY")


def _add_registry(parser: argparse.ArgumentParser) -> None:
    add_schema_registry_url(parser, f"the schema registry (default {DEFAULT_URL})")


def _explain_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("subject", metavar="SUBJECT", help="the subject")
    add("--version", metavar="N", default="latest", help="the version (default latest)")
    add("--environment", choices=_PLACES, default="CLIENT", help="where the rules would run (default CLIENT)")
    add("--output", choices=("text", "json"), default="text", help="the form of the output (default text)")
    _add_registry(parser)
    add_client_settings(parser)


def _add_cases(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", metavar="CASES.yaml", help="messages, and what the rules must make of them")
    _add_registry(parser)
    add_client_settings(parser, properties_of="the registry's client or of rules")


def _bench_options(parser: argparse.ArgumentParser) -> None:
    _add_cases(parser)
    parser.add_argument(
        "--seconds", type=float, default=0.5, metavar="S", help="time for which each rule runs (default 0.5)"
    )


def _check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="files of rules, or schema files with rules beside them"
    )


def _dry_run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("subject", metavar="SUBJECT", help="the subject whose latest schema the rules are for")
    add("--topic", required=True, metavar="TOPIC", help="the topic whose retained records are read")
    add("--rules", metavar="FILE", help="a rule set that is not registered (default: the latest version's)")
    add("--mode", choices=("WRITE", "READ"), default="WRITE", help="the rules to try (default WRITE)")
    add("--environment", choices=_PLACES, default="CLIENT", help="where they would run (default CLIENT)")
    add("--last", type=number, metavar="N", help="the newest N records (default 1000)")
    add_time_range(parser, since="all records since a time: milliseconds since 1970, or ISO 8601")
    add(
        "--examples",
        type=number,
        default=5,
        metavar="N",
        help="maximum number of offsets of each failure that are shown (default 5)",
    )
    add("--output", choices=("table", "json"), default="table", help="the form of the output (default table)")
    add_bootstrap_servers(parser)
    _add_registry(parser)
    add_client_properties(parser)


_COMMANDS = {
    "explain": Subcommand(
        "show the rules of a version in the order in which they run",
        _explain_options,
        "people-value --version 3",
        "magicbyte.cli.rules.explaining:run",
    ),
    "test": Subcommand(
        "try rules on messages, and compare the outcomes with the expected ones",
        _add_cases,
        "people.cases.yaml",
        "magicbyte.cli.rules.testing:run",
    ),
    "check": Subcommand(
        "check files of rules as the registry does",
        _check_options,
        "schemas/person.rules.yaml",
        "magicbyte.cli.rules.checking:run",
    ),
    "dry-run": Subcommand(
        "try rules on the retained records of a topic, and count the failures",
        _dry_run_options,
        "people-value --topic people --rules person.rules.yaml --last 1000",
        "magicbyte.cli.rules.dry_run:run",
    ),
    "bench": Subcommand(
        "measure how long each rule takes on the messages of a file of cases",
        _bench_options,
        "people.cases.yaml",
        "magicbyte.cli.rules.measuring:run",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out a command for rules; returns an exit code of the console tools, or 100 for findings."""
    return carried_out(PROGRAM, lambda: run(PROGRAM, __doc__, _COMMANDS, arguments))
