"""`magicbyte serve`: the server that the environment variables configure, as Confluent's images choose it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from magicbyte.cli.servers.configured import SERVERS, servers_of_environment
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.environment import variable_of
from magicbyte.kit.failure import say
from serdes.console.outcome import BAD_USAGE


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(prog="magicbyte serve", description=__doc__, examples=("magicbyte serve",))
    parser.parse_args(arguments)
    names = servers_of_environment()
    if len(names) != 1:
        say(_both() if names else _none())
        return BAD_USAGE
    run: Callable[[Sequence[str]], int] = importlib.import_module(
        f"magicbyte.cli.servers.{names[0].replace('-', '_')}"
    ).main
    return run([])


def _none() -> str:
    needed = (
        f"{' or '.join(variable_of(server.prefix, name) for name in server.needed)} for the {title}"
        for title, server in zip(("schema registry", "REST proxy"), SERVERS.values(), strict=True)
    )
    return f"no variable tells which server to run: set {', '.join(needed)}; or name the command, such as `registry`"


def _both() -> str:
    return "the variables configure a schema registry and a REST proxy; name the command, `registry` or `rest-proxy`"
