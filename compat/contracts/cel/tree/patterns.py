"""The regular expressions of an expression that clients read differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compat.contracts.cel.tree.places import place
from compat.contracts.cel.tree.walk import descendants


def unanchored_patterns(tree: Any, text: str) -> Iterator[tuple[str, int, int]]:
    """The literal patterns of `matches` without `^` at the start or `$` at the end, with their lines and columns.

    CEL searches for a part of the text, and Java's client demands that the whole text matches.

    Args:
        tree: The `cel.expr.CheckedExpr`.
        text: The expression's text.
    """
    for part in sorted(descendants(tree.expr), key=lambda part: tree.source_info.positions.get(part.id, 0)):
        if part.WhichOneof("expr_kind") != "call_expr" or part.call_expr.function != "matches":
            continue
        pattern = part.call_expr.args[-1]
        if pattern.const_expr.HasField("string_value"):
            literal = pattern.const_expr.string_value
            if not (literal.startswith(("^", "\\A")) and _ends_anchored(literal)):
                yield literal, *place(tree.source_info, pattern, text)


def _ends_anchored(pattern: str) -> bool:
    """Whether a pattern ends with an anchor that no backslash quotes."""
    if pattern.endswith("\\z"):
        return True
    before = pattern.removesuffix("$")
    return before != pattern and (len(before) - len(before.rstrip("\\"))) % 2 == 0
