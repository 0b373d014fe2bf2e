"""`magicbyte systemd`: the systemd units of the registry and of the REST proxy.

Exit codes: 0, 1 if a file cannot be written, 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from magicbyte.cli.subcommands import Subcommand, function_of, parser_of
from magicbyte.cli.systemd.units import SERVERS
from magicbyte.kit.failure import say
from serdes.console.outcome import Ended

PROGRAM = "magicbyte systemd"


def _print_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("server", choices=SERVERS, help="the server whose unit to print")


def _install_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("servers", choices=SERVERS, nargs="+", metavar="SERVER", help=f"{' or '.join(SERVERS)}")
    parser.add_argument(
        "--root", type=Path, metavar="DIR", default=Path("/"), help="the folder that stands for /, as of an image"
    )


_COMMANDS = {
    "print": Subcommand("print a unit", _print_options, "registry", "magicbyte.cli.systemd.main:print_unit"),
    "install": Subcommand(
        "write units, and settings to begin with",
        _install_options,
        "registry rest-proxy",
        "magicbyte.cli.systemd.install:install",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Run the subcommand and return the exit code."""
    options = parser_of(PROGRAM, __doc__, _COMMANDS).parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = function_of(_COMMANDS[options.command])
    try:
        return run(options)
    except Ended as ended:
        say(str(ended))
        return ended.code


def print_unit(options: argparse.Namespace) -> int:
    """Print a unit, for this installation's command."""
    from magicbyte.cli.systemd.unit_text import installed_program  # noqa: PLC0415  not for --help
    from magicbyte.cli.systemd.units import hidden_place, unit_of  # noqa: PLC0415  as above

    program = installed_program()
    hidden = hidden_place(program[0], sys.base_prefix)
    if hidden:
        say(f"the unit does not see {hidden}, so it cannot run; install Magicbyte elsewhere, such as in /opt/magicbyte")
    sys.stdout.write(unit_of(options.server, program))
    return 0
