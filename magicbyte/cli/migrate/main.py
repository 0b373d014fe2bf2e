"""`magicbyte migrate preflight`: check an origin before a migration, and print the plan.

Nothing is written: neither at the origin nor in the target.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from magicbyte.cli import subcommands
from magicbyte.cli.source_options import FINDINGS, SOURCES, add_end, add_output, ending, names, progress, properties_of
from magicbyte.cli.subcommands import Subcommand
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from magicbyte.operations.sources.opening import Properties

PROGRAM = "magicbyte migrate"
#: What the options of the target begin with.
_TO = "to-"


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--from", dest="source", required=True, metavar="SOURCE", help=f"the origin: {SOURCES}")
    add(
        "--to", dest="target", metavar="TARGET", help="the URL of the registry that it goes to, if there is one already"
    )
    add(
        "--topics",
        type=names,
        default=(),
        metavar="TOPIC,..",
        help="topics in whose records schema ids are sampled",
    )
    add("--bootstrap-servers", metavar="HOST:PORT,..", help="the brokers of --topics, if A is no topic")
    add(
        "--lookups",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="producers' schemas: SUBJECT.avsc, .json or .proto, a folder of these, or a .jsonl of requests",
    )
    add("--log", type=Path, metavar="FILE", help="an access log of A: its clients are counted by User-Agent")
    add(
        "--node-group",
        metavar="GROUP",
        default="schema-registry",
        help="schema.registry.group.id of the nodes to come (default schema-registry)",
    )
    add("--ignore", type=names, default=(), metavar="NAME,..", help="findings that are left out")
    add_output(parser)
    add_end(parser, of="A")
    add_end(parser, prefix=_TO, of="B")


_COMMANDS = {
    "preflight": Subcommand(
        "check an origin before a migration, and print the plan",
        _add_options,
        "--from http://old:8081 --to http://new:8081",
        f"{__name__}:preflight",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Run a command of `magicbyte migrate`; returns its exit code."""
    return subcommands.run(PROGRAM, __doc__, _COMMANDS, arguments)


def preflight(_parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run the preflight; returns the exit code."""
    return ending(lambda: _preflight(options))


def _preflight(options: argparse.Namespace) -> int:
    from magicbyte.operations.migration.finding import KINDS  # noqa: PLC0415 - not for --help
    from magicbyte.operations.migration.preflight import Request, run_preflight  # noqa: PLC0415
    from magicbyte.operations.migration.report import to_json, to_lines  # noqa: PLC0415

    for code in options.ignore:
        if code not in KINDS:
            raise Failure(f"--ignore {code}: there is no such code; there are {', '.join(KINDS)}")
    properties = properties_of(options)
    request = Request(
        options.source,
        properties,
        options.target,
        properties_of(options, prefix=_TO),
        options.lookups,
        options.log,
        options.topics,
        _consumer(options, properties),
        options.bootstrap_servers or "",
        options.node_group,
        frozenset(options.ignore),
        [str(file) for file in options.config],
        [str(file) for file in options.to_config],
    )
    outcome = run_preflight(request, progress)
    if options.output == "json":
        sys.stdout.write(json.dumps(to_json(outcome), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in to_lines(outcome)))
    return 0 if outcome.is_ready else FINDINGS


def _consumer(options: argparse.Namespace, properties: Properties) -> dict[str, Any]:
    """The configuration of the consumer that samples topics."""
    if not options.topics:
        return {}
    from magicbyte.kit.kafka.client_settings import KafkaSettingsError, client_config  # noqa: PLC0415

    brokers = options.bootstrap_servers
    if not brokers and options.source.startswith("kafka:"):
        brokers = options.source.removeprefix("kafka:").removeprefix("//").partition("/")[0]
    if not brokers:
        raise Failure("--topics needs --bootstrap-servers if A is no topic")
    try:
        client = client_config({**properties.kafka, "bootstrap.servers": brokers})
    except KafkaSettingsError as error:
        raise Failure(str(error)) from None
    return {**client, "group.id": "magicbyte-migrate"}
