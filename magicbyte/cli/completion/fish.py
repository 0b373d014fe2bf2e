"""The completion for fish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from magicbyte.cli.completion.table import FILES, FOLDERS, Entry, Option, Value

_HEAD = """# Completion of magicbyte for fish, from `magicbyte completion fish`.

# Prints the options of a command that have a value.
function __magicbyte_valued
    switch "$argv"
"""
_SUBCOMMANDS = """    end
end

# Prints the subcommands of a command.
function __magicbyte_subcommands
    switch "$argv"
"""
_AT = """    end
end

# Whether the cursor is after a command, and not after its subcommands.
function __magicbyte_at
    set -l words (commandline -opc)
    set -l at (string replace -r '.*/' '' -- $words[1])
    set -l skip 0
    for word in $words[2..]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            contains -- $word (__magicbyte_valued $at); and set skip 1
        else if contains -- $word (__magicbyte_subcommands $at)
            set at "$at $word"
        end
    end
    test "$at" = "$argv"
end

"""


def script(entries: Mapping[str, Entry]) -> str:
    """The script for all commands."""
    parts = [_HEAD]
    for name, entry in entries.items():
        valued = [option for item in entry.options if item.value is not None for option in item.names]
        parts += _case(name, valued)
    parts.append(_SUBCOMMANDS)
    for name, entry in entries.items():
        parts += _case(name, list(entry.subcommands))
    parts.append(_AT)
    for program in (name for name in entries if " " not in name):
        parts.append(f"complete -c {program} -f\n")
    for name, entry in entries.items():
        parts += _completions(name, entry)
    return "".join(parts)


def _case(name: str, words: list[str]) -> Iterator[str]:
    if words:
        yield f"        case {_quoted(name)}\n            printf '%s\\n' {' '.join(words)}\n"


def _completions(name: str, entry: Entry) -> Iterator[str]:
    start = f"complete -c {name.partition(' ')[0]} -n {_quoted(f'__magicbyte_at {name}')}"
    for subcommand, text in entry.subcommands.items():
        yield f"{start} -a {subcommand} -d {_quoted(text)}\n"
    if entry.argument != Value():
        yield f"{start}{_values(entry.argument)}\n"
    for option in entry.options:
        yield f"{start}{_option(option)} -d {_quoted(option.help)}\n"


def _option(option: Option) -> str:
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    return names if option.value is None else f"{names} -r{_values(option.value) or ' -f'}"


def _values(value: Value) -> str:
    words = f" -a {_quoted(' '.join(value.words))}" if value.words else ""
    paths = {FILES: " -F", FOLDERS: " -f -a '(__fish_complete_directories)'"}.get(value.paths, " -f" if words else "")
    return words + paths


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
