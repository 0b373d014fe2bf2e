"""TOML files, with the positions of faults in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from magicbyte.kit.bounded_file import read_bounded
from magicbyte.kit.failure import Failure

_PLACE = re.compile(r"(?P<problem>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A TOML file: its name for messages, its text, and our table in it."""

    name: str
    text: str
    table: dict[str, Any]

    def fail(self, problem: str, *words: object) -> NoReturn:
        """Stop at a problem.

        Args:
            problem: The fault, in words.
            words: Keys or values in the file at the fault; the first one found gives the line and column.

        Raises:
            Failure: always.
        """
        line, column = self._place(words)
        raise Failure(f"{self.name}:{line}:{column}: {problem}")

    def _place(self, words: Iterable[object]) -> tuple[int, int]:
        for word in words:
            shown = str(word)
            for literal in (f'"{shown}"', f"'{shown}'", shown):
                offset = self.text.find(literal)
                if offset >= 0:
                    return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)
        return 1, 1


def read_toml(name: str, text: str, *, path: tuple[str, ...] = ()) -> TomlFile | None:
    """Read a text; None if it has no table at the path.

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
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return TomlFile(name, text, table) if isinstance(table, dict) else None


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
