"""The parsers of all commands, for their completion and their pages."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from magicbyte.cli.main import COMMANDS
from magicbyte.kit.command_line import CommandParser, parser_of_main

#: Commands that have a parser of their own for a first argument.
_MORE: Mapping[str, tuple[str, ...]] = {"check": ("explain",)}
#: The tools that take the place of Confluent's, by what they make of records.
_TOOLS = ("avro", "json-schema", "protobuf")


def parsers() -> dict[str, CommandParser]:
    """The parser of each command and subcommand, by what a user types."""
    found: dict[str, CommandParser] = {}
    for name, command in COMMANDS.items():
        main = importlib.import_module(command.module).main
        for first in ((), *((more,) for more in _MORE.get(name, ()))):
            parser = parser_of_main(main, [*first])
            found |= dict(_with_subcommands(" ".join(("magicbyte", name, *first)), parser))
    return found


def tool_parsers() -> dict[str, CommandParser]:
    """The parsers of the tools under Confluent's names, by their names."""
    from serdes.console.consume.tool import parser as consumer  # noqa: PLC0415 - only for these
    from serdes.console.produce.tool import parser as producer  # noqa: PLC0415

    names = [(f"kafka-{form}-console-{kind}", kind) for form in _TOOLS for kind in ("producer", "consumer")]
    return {name: (producer if kind == "producer" else consumer)(name) for name, kind in names}


def _with_subcommands(name: str, parser: CommandParser) -> Iterator[tuple[str, CommandParser]]:
    yield name, parser
    for subcommand, its_parser in parser.subcommands.items():
        yield from _with_subcommands(f"{name} {subcommand}", its_parser)
