"""Text that neither a terminal nor a CI runner takes for a command."""

from __future__ import annotations

import re

#: Control characters, and the characters that break lines or change the direction of text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
#: GitHub takes a line that begins with `::` for a command, after any space, and older runners `##[` anywhere; Azure
#: Pipelines and TeamCity have such words too.
_COMMAND = re.compile(r"^(?P<space>\s*):(?=:)|#(?=#(?:\[|vso\[|teamcity\[))")


def inert_line(text: str) -> str:
    r"""Return one line: control characters and the beginnings of commands are escaped, such as `\n` and `\x3a:`."""
    return escape_controls(_COMMAND.sub(_escaped_command, text))


def inert_lines(text: str) -> str:
    """Return the same lines, each as `inert_line` returns it."""
    return "\n".join(map(inert_line, text.split("\n")))


def escape_controls(text: str) -> str:
    r"""Escape control characters as Python does, such as `\x1b`; a line break is one."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def inert_json(text: str) -> str:
    """Return JSON text of the same value without commands; its line breaks stay."""
    escaped = "\n".join(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line) for line in text.split("\n"))
    return escaped.replace("##", "\\u0023#")


def inert_markdown(text: str) -> str:
    """Return Markdown without commands: a space of no width parts them, because code blocks know no escapes."""
    return "\n".join(
        escape_controls(_COMMAND.sub(lambda match: f"{match[0]}\u200b", line).replace("\t", "    "))
        for line in text.split("\n")
    )


def _escaped_command(match: re.Match[str]) -> str:
    return "\\x23" if match[0] == "#" else f"{match['space']}\\x3a"
