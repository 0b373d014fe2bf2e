"""The text of a systemd unit: quoting, and the refusal of what a unit cannot hold.

The rules are in systemd.syntax(7) and systemd.service(5).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from serdes.console.outcome import BAD_USAGE, Ended

_BARE = re.compile(r"[A-Za-z0-9_./:=,@+\-%$]+")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,30}|[0-9]+")

Section = Sequence[tuple[str, str]]


def installed_program() -> list[str]:
    """The absolute path of this installation's command, and the words that come before its arguments."""
    script = Path(sys.executable).parent / "magicbyte"
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "magicbyte.cli.main"]


def unit_text(head: Sequence[str], sections: Mapping[str, Section]) -> str:
    """The unit.

    Args:
        head: The lines of the comment at its top.
        sections: The settings of each section by its name, with values as `plain` and `command` make them.
    """
    blocks = ["\n".join(f"# {line}".rstrip() for line in head)]
    for name, settings in sections.items():
        blocks.append("\n".join([f"[{name}]", *(f"{key}={value}" for key, value in settings)]))
    return "\n\n".join(blocks) + "\n"


def plain(text: str) -> str:
    """A value that reaches to the end of its line, such as a path.

    Raises:
        Ended: systemd would not read this text back.
    """
    if re.search(r"[\x00-\x1f\x7f]", text) or text != text.strip() or text.endswith("\\"):
        raise Ended(BAD_USAGE, f"{text!r} cannot stand in a systemd unit; rename it")
    return text.replace("%", "%%")


def command(program: str, arguments: Sequence[str]) -> str:
    """The value of `ExecStart`: systemd expands `%` in all words, and `$` in those after the first.

    Raises:
        Ended: a word has control characters, or systemd runs no program of this name.
    """
    if re.search(r"[\"'`\\*?\[]", program):
        raise Ended(BAD_USAGE, f"systemd runs no program whose path has quotes, backslashes or wildcards: {program}")
    return " ".join([_quoted(program), *(_quoted(word.replace("$", "$$")) for word in arguments)])


def user(name: str) -> str:
    """A user's name.

    Raises:
        Ended: systemd takes no such name.
    """
    if not _USER.fullmatch(name):
        raise Ended(BAD_USAGE, f"--user: {name!r} is no user's name")
    return name


def _quoted(word: str) -> str:
    if re.search(r"[\x00-\x1f\x7f]", word):
        raise Ended(BAD_USAGE, f"{word!r} cannot stand in a systemd unit: it has control characters")
    word = word.replace("%", "%%")
    if _BARE.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
