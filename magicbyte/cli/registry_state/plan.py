"""`magicbyte plan`: show what `magicbyte apply` would change in the registry.

Exit code 0, 100 if a schema cannot be registered, 1 for failures.
"""

from __future__ import annotations

from collections.abc import Sequence

from magicbyte.cli.registry_state.apply import run
from magicbyte.cli.registry_state.project import add_options
from magicbyte.kit.command_line import CommandParser


def main(arguments: Sequence[str]) -> int:
    """Print the plan and return the exit code."""
    parser = CommandParser(
        prog="magicbyte plan",
        description=__doc__,
        examples=("magicbyte plan --delete --schema-registry-url http://localhost:8081",),
    )
    parser.add_argument("--delete", action="store_true", help="with the deletion of what no file stands for")
    add_options(parser)
    options = parser.parse_args(arguments)
    return run(options, dry_run=True)
