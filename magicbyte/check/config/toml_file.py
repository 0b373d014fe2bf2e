"""TOML files, with the places of their keys and values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte.kit.bounded_file import read_bounded
from magicbyte.kit.failure import Failure
from magicbyte.kit.settings.nodes import Entry, ListNode, MapNode, Node, value_node
from magicbyte.kit.settings.place import Place

_PLACE = re.compile(r"(?P<problem>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)


def read_toml(name: str, text: str, *, path: tuple[str, ...] = ()) -> MapNode | None:
    """Read a table of a text; None if it has no table at the path. Empty texts and lists count as not given.

    Raises:
        Failure: it is not TOML.
    """
    import tomllib  # noqa: PLC0415 - many projects have no configuration

    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _PLACE.fullmatch(str(error))
        problem, line, column = match.group("problem", "line", "column") if match else (str(error), None, None)
        last = text.count("\n") + 1
        raise Failure(f"{name}:{line or last}:{column or 1}: {problem}") from None
    except RecursionError:
        raise Failure(f"{name}:1:1: is nested too deeply") from None
    except ValueError:
        raise Failure(f"{name}:1:1: has a number with too many digits") from None
    reader = _Reader(name, text)
    place = Place(name, 1, 1)
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
        place = reader.key(key)
    return MapNode(place, reader.entries(table)) if isinstance(table, dict) else None


@dataclass(slots=True)
class _Reader:
    """Searches the text, because tomllib tells no places; each search begins where the one before ended."""

    file: str
    text: str
    at: int = 0

    def entries(self, table: dict[str, Any]) -> dict[str, Entry]:
        given = {name: value for name, value in table.items() if value not in ("", [])}
        return {name: Entry(key := self.key(name), self.node(value, key)) for name, value in given.items()}

    def node(self, value: Any, place: Place) -> Node:
        if isinstance(value, dict):
            return MapNode(place, self.entries(value))
        if isinstance(value, list):
            return ListNode(place, tuple(self.item(item, place) for item in value))
        word = re.escape(str(value).lower() if isinstance(value, bool) else str(value))
        return value_node(value, self.next(rf"(?:\"{word}\"|'{word}'|(?<![\w-]){word}(?![\w-]))"))

    def item(self, value: Any, place: Place) -> Node:
        node = self.node(value, place)
        # A table in a list begins with its first key.
        first = next(iter(node.entries.values())).key if isinstance(node, MapNode) and node.entries else place
        return MapNode(first, node.entries) if isinstance(node, MapNode) else node

    def key(self, name: str) -> Place:
        return self.next(rf"(?<![\w-])[\"']?{re.escape(name)}[\"']?(?=\s*[=.\]])")

    def next(self, pattern: str) -> Place:
        found = re.compile(pattern).search(self.text, self.at) or re.search(pattern, self.text)
        self.at = found.start() if found else self.at
        return Place(self.file, self.text.count("\n", 0, self.at) + 1, self.at - self.text.rfind("\n", 0, self.at))


def read_text(path: Path, name: str) -> str:
    """Read a file of UTF-8 text.

    Raises:
        Failure: there is no regular file, it is too long, or it is not UTF-8; with the line and column of the first
            wrong byte.
    """
    try:
        content = read_bounded(path)
    except OSError as error:
        raise Failure(f"{name}:1:1: cannot be read: {error.strerror}") from None
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise Failure(f"{name}:{line}:{column}: is not UTF-8 text") from None
