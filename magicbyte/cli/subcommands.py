"""The commands of a command, as rows of a table: each with its help, its options, an example and its function."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.command_line import CommandParser

#: The most names that the line of usage shows.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A command of a command.

    Attributes:
        help: Its line in --help.
        add_options: Adds its options.
        example: The arguments of an example.
        run: Its function, as `module:function`; the module is imported only to run it.
    """

    help: str
    add_options: Callable[[argparse.ArgumentParser], None]
    example: str
    run: str


def parser_of(program: str, description: str | None, commands: Mapping[str, Subcommand]) -> CommandParser:
    """Make the parser of a command with subcommands, which it puts into `command`.

    Args:
        program: The command as it is typed.
        description: What it is for.
        commands: Name -> subcommand; the first one is the command's own example.
    """
    first, subcommand = next(iter(commands.items()))
    parser = CommandParser(prog=program, description=description, examples=(_line(program, first, subcommand),))
    names = " | ".join(commands) if len(commands) <= _SHOWN else "COMMAND"
    parsers = parser.add_subparsers(dest="command", metavar=names, required=True)
    for name, subcommand in commands.items():
        text = subcommand.help
        added = parsers.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            examples=(_line(program, name, subcommand),),
        )
        subcommand.add_options(added)
    return parser


def run(program: str, description: str | None, commands: Mapping[str, Subcommand], arguments: Sequence[str]) -> int:
    """Parse the arguments of a command, and call its subcommand with the parser and the options; returns its exit code.

    The arguments of the call are those of `parser_of`, and those of the command.
    """
    parser = parser_of(program, description, commands)
    options = parser.parse_args(arguments)
    code: int = function_of(commands[options.command])(parser, options)
    return code


def function_of(subcommand: Subcommand) -> Callable[..., Any]:
    """Import the function of a subcommand."""
    module, _, name = subcommand.run.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _line(program: str, name: str, subcommand: Subcommand) -> str:
    return f"{program} {name} {subcommand.example}".rstrip()
