"""`magicbyte config`: what settings there are, where values come from, and what a server would refuse."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.config.references import FORMATS, WHOSE
from magicbyte.cli.config.servers import SERVERS
from magicbyte.cli.subcommands import Subcommand, function_of, parser_of
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.extras import ExtraMissing, require
from magicbyte.kit.failure import Failure
from serdes.console.outcome import BAD_USAGE, Ended, carried_out

PROGRAM = "magicbyte config"
_EXAMPLES = {
    "registry": "--config registry.properties",
    "rest-proxy": "--config rest-proxy.properties",
    "ui": "--schema-registry-url https://registry.example.com",
}


def _reference(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("whose", metavar="WHOSE", choices=WHOSE, help=f"one of {', '.join(WHOSE)}")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="md",
        help="md: a page; properties: a file with all defaults; env: the same as environment variables;"
        " json-schema: for editors and Helm values (default md)",
    )


def _explain(parser: argparse.ArgumentParser) -> None:
    for added in _add_servers(parser, "explain"):
        _add_output(added)


def _check(parser: argparse.ArgumentParser) -> None:
    for added in _add_servers(parser, "check"):
        _add_output(added)


def _add_servers(parser: argparse.ArgumentParser, command: str) -> list[CommandParser]:
    """Add a command for each server, which takes the options of that server."""
    parsers = parser.add_subparsers(dest="server", metavar=" | ".join(SERVERS), required=True)
    added = []
    for name, server in SERVERS.items():
        of_server = parsers.add_parser(
            name,
            help=f"the settings of `magicbyte {name}`, with its options",
            description=f"As {PROGRAM} {command}, for the options of `magicbyte {name}`.",
            examples=(f"{PROGRAM} {command} {name} {_EXAMPLES[name]}",),
        )
        assert isinstance(of_server, CommandParser)
        server.add_options(of_server)
        added.append(of_server)
    return added


def _from_confluent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="schema-registry.properties, kafka-rest.properties, or a compose file",
    )
    parser.add_argument(
        "--server", choices=("registry", "rest-proxy"), help="whose settings they are (default: by their names)"
    )
    parser.add_argument("--service", metavar="NAME", help="the service of a compose file, if several have settings")
    parser.add_argument("--output-file", "-o", type=Path, metavar="FILE", help="write our properties to a file")
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", choices=("text", "json"), default="text", help="the form of the output (default text)"
    )


COMMANDS = {
    "reference": Subcommand(
        "print all settings of a server, of a client or of pipeline files",
        _reference,
        "registry --format properties",
        "magicbyte.cli.config.references:print_reference",
    ),
    "explain": Subcommand(
        "show each value of a server's settings with its source",
        _explain,
        "registry --config registry.properties",
        "magicbyte.cli.config.explaining:explain",
    ),
    "check": Subcommand(
        "name all that a server would refuse at its start, without starting it",
        _check,
        "rest-proxy --config rest-proxy.properties",
        "magicbyte.cli.config.checking:check",
    ),
    "from-confluent": Subcommand(
        "sort Confluent's settings into honoured, without effect and refused, and write ours",
        _from_confluent,
        "schema-registry.properties -o registry.properties",
        "magicbyte.cli.config.converting:convert",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Carry out a command for settings; returns an exit code of the console tools."""
    return carried_out(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = parser_of(PROGRAM, __doc__, COMMANDS)
    options = parser.parse_args(arguments)
    if options.command != "reference":
        require("server", user=f"`{PROGRAM} {options.command}`")
    try:
        code: int = function_of(COMMANDS[options.command])(options)
    except ExtraMissing:
        raise
    except Failure as failure:
        raise Ended(BAD_USAGE, str(failure)) from failure
    return code
