"""Java's .properties files, for servers and for commands that must start fast."""

from __future__ import annotations

import re
from pathlib import Path


def read_properties_file(path: Path) -> dict[str, str]:
    """Read a Java .properties file: `name=value`, `name: value`, comments, continued lines and escapes."""
    logical_lines: list[str] = []
    pending = ""
    for text in path.read_text(encoding="utf-8").splitlines():
        line = pending + text.lstrip()
        pending = ""
        if not line or (line[0] in "#!" and not pending):
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = line[:-1]
            continue
        logical_lines.append(line)
    if pending:
        logical_lines.append(pending)
    properties: dict[str, str] = {}
    for line in logical_lines:
        name, value = re.match(r"((?:\\.|[^=:\s\\])*)\s*[=:]?\s*(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
        properties[_unescape(name)] = _unescape(value)
    return properties


def _unescape(text: str) -> str:
    escapes = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}

    def replace(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else escapes.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", replace, text)
