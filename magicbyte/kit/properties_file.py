"""Java's .properties files, for servers and for commands that must start fast."""

from __future__ import annotations

import re
from pathlib import Path


def read_properties_file(path: Path) -> dict[str, str]:
    """Read a Java .properties file: `name=value`, `name: value`, comments, continued lines and escapes."""
    return {name: value for name, value, _ in read_property_lines(path)}


def read_property_lines(path: Path) -> list[tuple[str, str, int]]:
    """Read a Java .properties file: each name with its value and the number of its first line, in the file's order."""
    logical_lines: list[tuple[str, int]] = []
    pending = ""
    start = 0
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = pending + text.lstrip()
        start = start if pending else number
        pending = ""
        if not line or (line[0] in "#!" and not pending):
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = line[:-1]
            continue
        logical_lines.append((line, start))
    if pending:
        logical_lines.append((pending, start))
    properties = []
    for line, number in logical_lines:
        name, value = re.match(r"((?:\\.|[^=:\s\\])*)\s*[=:]?\s*(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
        properties.append((_unescape(name), _unescape(value), number))
    return properties


def _unescape(text: str) -> str:
    escapes = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}

    def replace(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else escapes.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", replace, text)
