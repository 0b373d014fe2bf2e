"""Writes a page for each command into docs/commands/: name, synopsis, options, exit codes and examples."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from magicbyte.cli.exit_codes import EXIT_CODES
from magicbyte.cli.main import COMMANDS
from magicbyte.cli.parsers import parsers
from magicbyte.kit.command_line import CommandParser

_WIDTH = 100


def page_of(name: str) -> str:
    """The address of a command's page in docs/, such as `commands/topics.md#magicbyte-topics-list`."""
    command = name.split()[1]
    return f"commands/{command}.md" + (f"#{name.replace(' ', '-')}" if name.count(" ") > 1 else "")


def help_pages() -> dict[str, str]:
    """The pages by file name."""
    known = parsers()
    pages = {}
    for command in COMMANDS:
        name = f"magicbyte {command}"
        below = {path: parser for path, parser in known.items() if path == name or path.startswith(f"{name} ")}
        pages[f"{command}.md"] = "\n".join(_page(command, below))
    return pages


def write_help_pages(folder: Path) -> None:
    """Write all pages into a folder, and remove those of commands that are gone."""
    folder.mkdir(exist_ok=True)
    pages = help_pages()
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def _page(command: str, parsers_below: Mapping[str, CommandParser]) -> Iterator[str]:
    name = f"magicbyte {command}"
    yield f"# `{name}`\n"
    yield f"{_sentence(COMMANDS[command].help)}\n"
    for path, parser in parsers_below.items():
        if path != name:
            yield f"## `{path}`\n"
        yield from _command(path, parser, is_top=path == name)
    yield "## Exit codes\n"
    yield "| code | when |\n|---|---|"
    yield from (f"| {code} | {text} |" for code, text in sorted(EXIT_CODES[command].items()))
    yield ""


def _command(path: str, parser: CommandParser, *, is_top: bool) -> Iterator[str]:
    if parser.description:
        yield f"{_description(path, parser.description, is_top=is_top)}\n"
    yield "**Synopsis**\n"
    yield f"```text\n{_synopsis(path, parser)}\n```\n"
    arguments = [action for action in parser.arguments if action.nargs != argparse.PARSER]
    if arguments:
        yield "**Arguments**\n"
        yield from (f"- `{_argument(action)}`: {_help(action)}" for action in arguments)
        yield ""
    if parser.options:
        yield "**Options**\n"
        yield from (f"- `{', '.join(_spelled(action))}`: {_help(action)}" for action in parser.options)
        yield ""
    if parser.epilog:
        yield f"{parser.epilog.strip()}\n"
    if parser.examples:
        yield "**Examples**\n" if len(parser.examples) > 1 else "**Example**\n"
        lines = "\n".join(parser.examples)
        yield f"```sh\n{lines}\n```\n"


def _description(path: str, text: str, *, is_top: bool) -> str:
    """The description without the name that the heading has."""
    stripped = text.strip()
    before = f"`{path}`: "
    return _sentence(stripped.removeprefix(before), dot=False) if is_top and stripped.startswith(before) else stripped


def _synopsis(path: str, parser: CommandParser) -> str:
    if parser.subcommands:
        # Options of a command with subcommands stand before them.
        return f"{path} {' | '.join(parser.subcommands)}"
    words = [_optional(action) for action in parser.options]
    words += [_argument(action) for action in parser.arguments]
    lines, indent = [path], " " * (len(path) + 1)
    for word in words:
        if len(lines[-1]) + len(word) >= _WIDTH:
            lines.append(indent.rstrip("\n")[:-1])
        lines[-1] += f" {word}"
    return "\n".join(lines)


def _optional(action: argparse.Action) -> str:
    text = _spelled(action)[0]
    return text if action.required else f"[{text}]"


def _spelled(action: argparse.Action) -> list[str]:
    """The names of an option, each with its value."""
    if action.nargs == 0:
        return list(action.option_strings)
    value = _value(action)
    joined = f"[={value}]" if action.nargs == "?" else f" {value}"
    return [name + joined for name in action.option_strings]


def _argument(action: argparse.Action) -> str:
    value = _value(action)
    return {"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} [{value} ...]"}.get(str(action.nargs), value)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "|".join(map(str, action.choices)) if action.choices is not None else action.dest.upper()


def _help(action: argparse.Action) -> str:
    text = " ".join((action.help or "").split()).replace("%%", "%")
    return text.replace("<", "&lt;").replace("*", "\\*").replace("|", "\\|")


def _sentence(text: str, *, dot: bool = True) -> str:
    return f"{text[0].upper()}{text[1:]}" + ("." if dot and not text.endswith(".") else "")
