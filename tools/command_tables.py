"""The tables of docs/commands.md: all commands of `magicbyte`, and all options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from magicbyte.cli.flag_meanings import FLAGS
from magicbyte.cli.parsers import parsers
from tools.help_pages import page_of


def commands_table() -> str:
    """A table of all commands with their first examples."""
    lines = [
        f"| [`{name.removeprefix('magicbyte ')}`]({page_of(name)}) | `{_cell(parser.examples[0])}` |\n"
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
