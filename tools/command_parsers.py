"""The parsers of all commands of `magicbyte`, and the list of their options in docs/commands.md."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn
from unittest.mock import patch

from magicbyte.cli.flag_meanings import FLAGS
from magicbyte.cli.main import COMMANDS
from magicbyte.kit.command_line import CommandParser

#: Commands that have a parser of their own for a first argument.
_MORE = {"check": ("explain",)}


class _Asked(Exception):
    """Ends a command when its parser is complete."""

    def __init__(self, parser: CommandParser) -> None:
        self.parser = parser


def _ask(parser: CommandParser, *_: Any) -> NoReturn:
    raise _Asked(parser)


def parsers() -> dict[str, CommandParser]:
    """The parser of each command and subcommand, by what a user types."""
    found: dict[str, CommandParser] = {}
    with patch.object(CommandParser, "parse_args", _ask):
        for name, command in COMMANDS.items():
            main = importlib.import_module(command.module).main
            for more in ("", *_MORE.get(name, ())):
                try:
                    main([more] if more else [])
                except _Asked as asked:
                    found |= dict(_with_subcommands(f"magicbyte {name} {more}".rstrip(), asked.parser))
    return found


def _with_subcommands(name: str, parser: CommandParser) -> Iterator[tuple[str, CommandParser]]:
    yield name, parser
    for subcommand, its_parser in parser.subcommands.items():
        yield from _with_subcommands(f"{name} {subcommand}", its_parser)


def commands_table() -> str:
    """A table of all commands with their first examples."""
    lines = [
        f"| `{name.removeprefix('magicbyte ')}` | `{_cell(parser.examples[0])}` |\n"
        for name, parser in parsers().items()
        if not parser.subcommands
    ]
    return "| command | example |\n|---|---|\n" + "".join(lines)


def flags_table() -> str:
    """A table of all options, with the commands that have them."""
    users: Mapping[str, list[str]] = defaultdict(list)
    for name, parser in parsers().items():
        for action in parser.options:
            users[action.option_strings[0]].append(name.removeprefix("magicbyte "))
    lines = []
    for name, flag in FLAGS.items():
        written = _cell(f"{name} {flag.argument}".rstrip())
        lines.append(f"| `{written}` | {flag.meaning} | {_several(users[name])} |\n")
    return "| option | meaning | commands |\n|---|---|---|\n" + "".join(lines)


def _cell(text: str) -> str:
    """A text in a cell of a table."""
    return text.replace("|", "\\|")


def _several(commands: list[str]) -> str:
    """The commands; subcommands of one command in brackets."""
    groups: dict[str, list[str]] = {}
    for command in commands:
        name, _, subcommand = command.partition(" ")
        groups.setdefault(name, []).append(subcommand)
    return ", ".join(
        f"{name} ({', '.join(subcommands)})" if any(subcommands) else name for name, subcommands in groups.items()
    )
