"""The errors of expressions, made from the texts of the engine."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The limits of the engine: steps of loops in one evaluation, and levels of nesting in an expression.
LOOP_STEPS = 9_999
NESTING = 32

#: One error of the parser or the checker, with its line and column.
_INVALID = re.compile(
    r"(?:^|^[A-Z_]+: )ERROR: <input>:(?P<line>-?\d+):(?P<column>-?\d+): (?P<detail>.*)$", re.MULTILINE
)
#: The status that ends a text, and the one that begins it, too.
_TRAILING_STATUS = re.compile(r" \[[A-Z_]+\]$")
_STATUS = re.compile(r"^(?P<status>[A-Z]+(?:_[A-Z]+)*): (?P<text>.*?)(?: \[(?P=status)\])?$", re.DOTALL)
#: What a parser would have accepted instead: a list of tokens that says nothing to people.
_EXPECTED = re.compile(r" expecting \{.*\}$")
#: A part of a text that may be a value: in quotes, or a number; names such as `int64` are none.
_QUOTED = re.compile(r"\".*\"|'.*'|(?<!\w)-?\d[\w.]*", re.DOTALL)


@dataclass
class ExpressionInvalid(ValueError):
    """An expression that does not parse, or whose types do not fit.

    Attributes:
        detail: The reason, on one line, in the words of the engine.
        line: The line of the fault in the expression's text; 1 is the first.
        column: The column of the fault; 1 is the first.
    """

    detail: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.detail}"


@dataclass
class EvaluationFailed(Exception):
    """An expression that could not be evaluated for a message; `detail` says why, and shows no value of the message."""

    detail: str

    def __str__(self) -> str:
        return self.detail


def invalid(text: str) -> ExpressionInvalid:
    """The error for a text with which the engine refuses an expression."""
    text = _TRAILING_STATUS.sub("", text)
    found = _INVALID.search(text)
    if "recursion" in text:
        return ExpressionInvalid(f"the expression is nested deeper than {NESTING} levels")
    if found is None:
        return ExpressionInvalid(_without_status(text))
    detail = _EXPECTED.sub("", found["detail"]).replace(" (in container '')", "")
    return ExpressionInvalid(detail, max(int(found["line"]), 1), max(int(found["column"]), 1))


def failed(text: str, shown: frozenset[str]) -> EvaluationFailed:
    """The error for a text with which the engine ends an evaluation.

    Args:
        text: The engine's text; it may quote values.
        shown: The names and literals of the expression, which may be shown.
    """
    if "teration budget exceeded" in text:
        return EvaluationFailed(f"the expression took more than {LOOP_STEPS} loop steps")
    if text.startswith("basic_string: construction from null"):
        return EvaluationFailed("a text with half of a surrogate pair has no form in CEL")
    detail = _without_status(text)
    if detail.startswith("invalid regular expression: "):
        return EvaluationFailed(": ".join(detail.split(": ")[:2]))
    return EvaluationFailed(_QUOTED.sub(lambda quoted: quoted[0] if quoted[0].strip("\"'") in shown else "...", detail))


def _without_status(text: str) -> str:
    found = _STATUS.match(text)
    return (found["text"] if found else text).strip()
