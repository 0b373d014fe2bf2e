"""The completions after each command: subcommands, options and their values, and files."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte.cli.main import COMMANDS
from magicbyte.cli.parsers import parsers, tool_parsers
from magicbyte.kit.command_line import CommandParser

FILES, FOLDERS = "files", "folders"
_FILE = re.compile(r"(.*\|)?(FILE(\.\w+)?|PATH|PROPERTIES|RULES|CONFIG\.json)(\|.*)?")
_WORD = re.compile(r"[a-z][a-z-]*")


@dataclass(frozen=True, slots=True)
class Value:
    """The completions of a value.

    Attributes:
        words: Words to offer.
        paths: FILES, FOLDERS, or empty.
    """

    words: tuple[str, ...] = ()
    paths: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option.

    Attributes:
        names: Its names.
        help: Its help, as one line.
        value: Its value; None if the next word is not its value.
    """

    names: tuple[str, ...]
    help: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Entry:
    """The completions after a command.

    Attributes:
        subcommands: Its subcommands -> the help of each.
        options: Its options.
        argument: What its arguments may be.
    """

    subcommands: Mapping[str, str] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    argument: Value = Value()


def entries() -> dict[str, Entry]:
    """The entries of all commands and tools, by what a user types."""
    known = parsers()
    found = {"magicbyte": _top()}
    for name, parser in known.items():
        more = {
            path.removeprefix(f"{name} "): one_line(sub.description)
            for path, sub in known.items()
            if path.rpartition(" ")[0] == name
        }
        found[name] = _entry(parser, more)
    return found | {name: _entry(parser, {}) for name, parser in tool_parsers().items()}


def one_line(text: str | None) -> str:
    """The first sentence of a help, without the name of its command."""
    line = " ".join((text or "").partition("\n\n")[0].split())
    return re.sub(r"^`[^`]*`: ", "", line)


def _top() -> Entry:
    options = (
        Option(("--help", "-h"), "list the commands", None),
        Option(("--version", "-V"), "print the version", None),
    )
    return Entry({name: command.help for name, command in COMMANDS.items()}, options)


def _entry(parser: CommandParser, subcommands: Mapping[str, str]) -> Entry:
    options = [Option(("--help", "-h"), "show the help", None)]
    options += [_option(action) for action in parser.options]
    arguments = [action for action in parser.arguments if action.nargs != argparse.PARSER]
    values = [_value(action) for action in arguments]
    words = tuple(word for value in values for word in value.words)
    return Entry(subcommands, tuple(options), Value(words, max((value.paths for value in values), default="")))


def _option(action: argparse.Action) -> Option:
    names = tuple(action.option_strings)
    has_value = action.nargs not in (0, "?")
    return Option(names, one_line(action.help).replace("%%", "%"), _value(action) if has_value else None)


def _value(action: argparse.Action) -> Value:
    if action.choices is not None:
        return Value(tuple(map(str, action.choices)))
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    words = tuple(word for word in metavar.split("|") if _WORD.fullmatch(word))
    if metavar == "DIR":
        return Value(words, FOLDERS)
    return Value(words, FILES if _FILE.fullmatch(metavar) or action.type is Path else "")
