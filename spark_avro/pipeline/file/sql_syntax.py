"""Spark SQL is parsed without Spark, by sqlglot's dialect; only `lint` does so, since Spark's own parser is the judge.

sqlglot refuses a little that Spark parses, mostly keywords that stand for names: for Spark, `a and` is the column `a`
with the name `and`. So a text that parses with a keyword in backquotes is doubtful, not wrong. Forms that sqlglot
does not know at all are replaced by others of the same length, so that offsets stay.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, SqlglotError

from magicbyte.kit.settings.place import nearest
from spark_avro.pipeline.file.sql_text import SqlRole

_DIALECT = Spark()
#: It warns on stderr of statements that it does not know.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_SELECT = "SELECT "
#: The words that begin a query.
_STATEMENTS = ("select", "with", "from", "values", "table")
_REFUSED = "does not parse as Spark SQL"
#: Texts with more keywords are not parsed again for each of them.
_MOST_WORDS = 200
#: A text, a name in backquotes, or a comment.
_OPAQUE = r"""
      '(?:[^'\\]|\\.|'')*'
    | "(?:[^"\\]|\\.|"")*"
    | `(?:[^`]|``)*`
    | --[^\n]*
    | /\*.*?\*/
    """
_BRACKET = re.compile(rf"{_OPAQUE} | (?P<open>[(\[]) | (?P<close>[)\]]) | (?P<comma>,)", re.VERBOSE | re.DOTALL)
_TOKEN = re.compile(
    rf"""
      [xX](?P<gap>\s+)(?=')         # binary digits after a space
    | {_OPAQUE}
    | (?P<shift>>>>)
    | (?P<empty>\(\s*\))
    | (?P<word>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.DOTALL,
)
#: Words that sqlglot does not take at their place, and words of the same length that it takes.
_WORDS = {"void": "date", "insert": "concat"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as sqlglot understands it.

    Attributes:
        tree: The expression; None if it does not parse.
        problem: Why it does not parse; empty if it does.
        offset: The offset of the problem in the text.
        doubtful: Whether it parses if a keyword is a name, so that Spark may take it.
    """

    tree: Any = None
    problem: str = ""
    offset: int = 0
    doubtful: bool = False


def parsed(text: str, role: SqlRole) -> Parsed:
    """The tree of a text, or why it does not parse.

    Args:
        text: The SQL.
        role: What it is; expressions are parsed as the one column of a query.
    """
    before = "" if role is SqlRole.QUERY else _SELECT
    first = re.match(r"\s*(\w+)", text)
    if not before and first is not None:
        hint = "" if first[1].lower() in _STATEMENTS else nearest(first[1], _STATEMENTS)
        if hint:
            return Parsed(problem=f"{_REFUSED}: {first[1]} begins no query{hint}", offset=first.start(1))
    known = before + _TOKEN.sub(_known, text)
    try:
        tree = _tree(known)
    except SqlglotError as error:
        offset, problem = _position_and_text(error, known)
        return Parsed(problem=problem, offset=max(0, offset - len(before)), doubtful=_is_doubtful(known, len(before)))
    comma = _outer_comma(known) if before else None
    if comma is not None and tree is not None:
        return Parsed(problem="has several expressions; give one", offset=comma - len(before))
    return Parsed(tree)


def offset_of(node: Any, role: SqlRole) -> int:
    """The offset of a name in the text that `parsed` got."""
    start: int = node.meta.get("start", 0)
    return max(0, start - (0 if role is SqlRole.QUERY else len(_SELECT)))


def _tree(text: str) -> Any:
    """The tree; None if sqlglot fails in another way than by refusing the text.

    Raises:
        SqlglotError: it does not parse.
    """
    try:
        trees = _DIALECT.parse(text)
    except SqlglotError:
        raise
    except Exception:  # noqa: BLE001 - a defect or a bound of sqlglot says nothing about the text
        return None
    return trees[0] if len(trees) == 1 else None


def _known(match: re.Match[str]) -> str:
    if match["gap"]:
        return " " * len(match[0])
    if match["shift"]:
        return " >>"
    return _WORDS.get(match[0].lower(), match[0]) if match["word"] else match[0]


def _is_doubtful(text: str, start: int) -> bool:
    """Whether a text parses if one of its words is in backquotes, or if functions without arguments have one."""
    if _parses(_TOKEN.sub(lambda match: "(1)" if match["empty"] else match[0], text)):
        return True
    words = [match for match in _TOKEN.finditer(text, start) if match["word"]]
    if len(words) > _MOST_WORDS:
        return True
    return any(_parses(f"{text[: word.start()]}`{word[0]}`{text[word.end() :]}") for word in words)


def _parses(text: str) -> bool:
    try:
        _tree(text)
    except SqlglotError:
        return False
    return True


def _position_and_text(error: SqlglotError, text: str) -> tuple[int, str]:
    """The offset and the words of an error."""
    if isinstance(error, ParseError) and error.errors and error.errors[0].get("line") is not None:
        found = error.errors[0]
        word = found["highlight"]
        lines = text.split("\n")
        # sqlglot's column is that of the token's last character, from 1.
        end = sum(len(line) + 1 for line in lines[: found["line"] - 1]) + found["col"]
        is_short = not text[end:].strip() and "Unexpected" not in found["description"]
        why = f"something is missing after {word}" if is_short else f"{word} is not expected here"
        return max(0, end - len(word)), f"{_REFUSED}: {why}"
    return 0, _REFUSED


def _outer_comma(text: str) -> int | None:
    """The offset of the first comma outside of brackets, texts, names and comments."""
    depth = 0
    for match in _BRACKET.finditer(text):
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth -= 1
        elif match["comma"] and not depth:
            return match.start()
    return None
