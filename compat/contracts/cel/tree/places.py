"""The places of the parts of an expression in its text."""

from __future__ import annotations

from typing import Any

from compat.contracts.cel.tree.walk import descendants
from compat.json.json_text import position


def place(source: Any, part: Any, text: str) -> tuple[int, int]:
    """The line and column of a part of an expression, from 1.

    Args:
        source: The `cel.expr.SourceInfo` of the expression.
        part: The `cel.expr.Expr`.
        text: The expression's text.
    """
    found = position(text, source.positions.get(part.id, 0))
    return found.line, found.column


def part_at(parsed: Any, text: str, line: int, column: int) -> Any | None:
    """The call in a `cel.expr.ParsedExpr` at a line and column; None if there is none."""
    for part in descendants(parsed.expr):
        if part.HasField("call_expr") and place(parsed.source_info, part, text) == (line, column):
            return part
    return None
