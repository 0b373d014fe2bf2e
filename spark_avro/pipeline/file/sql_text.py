"""SQL in a pipeline file: its text and place, and the errors that can be found without Spark's parser."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from magicbyte.kit.settings.place import Place
from spark_avro.pipeline.file.place import NOWHERE


class SqlRole(enum.Enum):
    """The role of a piece of SQL."""

    EXPRESSION = "an SQL expression"
    ITEM = "a column or an SQL expression with `as name`"
    QUERY = "an SQL query that selects from this"


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL.

    Attributes:
        text: The SQL.
        role: What it is.
        setting: The path of its setting, for messages.
        within: From an offset in the text to the position in the file.
    """

    text: str
    role: SqlRole = SqlRole.EXPRESSION
    setting: str = field(default="", compare=False, repr=False)
    within: Callable[[int], Place] = field(default=lambda _: NOWHERE, compare=False, repr=False)

    @property
    def place(self) -> Place:
        """The position of its first character."""
        return self.within(0)

    def __str__(self) -> str:
        return self.text


_TOKEN = re.compile(
    r"""
      '(?:[^'\\]|\\.|'')*'          # a text
    | "(?:[^"\\]|\\.|"")*"
    | `(?:[^`]|``)*`                # a name
    | --[^\n]*                      # a comment
    | /\*.*?\*/
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<loose>['"`]|/\*)          # one that does not end
    | (?P<semicolon>;)
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {")": "(", "]": "["}
_NAMES = {"'": "text", '"': "text", "`": "name", "/*": "comment"}


def syntax_error(sql: str) -> tuple[int, str] | None:
    """The first error in an SQL text that can be found without a parser: offset and problem; None if there is none.

    Such errors are: only blanks; a text, name or comment that does not end; brackets that do not match; a semicolon.
    """
    if not sql.strip():
        return 0, "must not be empty"
    opened: list[tuple[str, int]] = []
    for match in _TOKEN.finditer(sql):
        at = match.start()
        if match["loose"]:
            return at, f"the {_NAMES[match['loose']]} that begins with {match['loose']} does not end"
        if match["semicolon"]:
            return at, "has a semicolon; give one expression or query"
        if match["open"]:
            opened.append((match["open"], at))
        elif match["close"] and (not opened or opened.pop()[0] != _PAIRS[match["close"]]):
            return at, f"the {match['close']} has no {_PAIRS[match['close']]} before it"
    if opened:
        bracket, at = opened[-1]
        return at, f"the {bracket} is not closed"
    return None
