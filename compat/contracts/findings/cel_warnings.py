"""Expressions that are valid and probably not meant: constants, unreachable branches, patterns without anchors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from compat.contracts.cel.expression import Program
from compat.contracts.cel.tree.places import place
from compat.contracts.cel.tree.syntax import checked_expression
from compat.contracts.cel.tree.walk import children, descendants
from compat.contracts.findings.contract import MIGRATION, Contract, PlacedRule
from compat.contracts.findings.finding import Finding
from compat.contracts.findings.paths import paths_of

_COMPARISONS = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})
_STARTS = ("^", "\\A", "(?i)^", "(?s)^")
_ENDS = ("$", "\\z")
#: A quoted character, a class of characters, or one character of a pattern.
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


class Part(NamedTuple):
    """The guard or the expression of a rule.

    Attributes:
        whole: The rule's text.
        text: The part's text.
        start: Where it begins in the rule's text.
        is_guard: Whether it is the guard.
    """

    whole: str
    text: str
    start: int
    is_guard: bool

    def place(self, line: int, column: int) -> tuple[int, int]:
        """The line and column in the rule's text, of a line and column in the part's text."""
        first = self.whole.count("\n", 0, self.start) + 1
        before = self.start - self.whole.rfind("\n", 0, self.start) - 1
        return first + line - 1, column + (before if line == 1 else 0)


def warnings_of(placed: PlacedRule, contract: Contract, part: Part, program: Program) -> Iterator[Finding]:
    """The warnings about a part of a rule that was compiled."""
    tree = checked_expression(program.serialized)
    if (part.is_guard or not placed.is_transform) and not program.reads:
        what = "guard" if part.is_guard else "condition"
        yield placed.warn(
            "constant-condition",
            f"the {what} is the same for every message",
            f"read a field in it, or remove the {'guard' if part.is_guard else 'rule'}",
            "expr",
            part.place(*place(tree.source_info, tree.expr, part.text)),
        )
    is_of_message = placed.type == "CEL" and placed.phase != MIGRATION
    for node in descendants(tree.expr):
        if node.WhichOneof("expr_kind") == "call_expr":
            at = part.place(*place(tree.source_info, node, part.text))
            yield from _call(placed, node, at)
            if is_of_message:
                yield from _outside_enum(placed, contract, node, at)
    if is_of_message:
        yield from _undeclared(placed, contract, program)


def _call(placed: PlacedRule, node: Any, at: tuple[int, int]) -> Iterator[Finding]:
    call = node.call_expr
    operands = _operands(call)
    if call.function == "matches" and len(operands) == 2:
        pattern = _constant(operands[1])
        if isinstance(pattern, str) and not _is_anchored(pattern):
            yield placed.warn(
                "pattern-not-anchored",
                "the pattern has no anchor at one of its ends: Java matches the whole text, other clients a part",
                "begin it with ^ and end it with $; put .* where any text may stand",
                "expr",
                at,
            )
    if call.function in _COMPARISONS and len(operands) == 2:
        left, right = map(_key, operands)
        if left == right and _constant(operands[0]) is None:
            yield placed.warn(
                "constant-condition",
                "a value is compared with itself",
                "compare it with something else",
                "expr",
                at,
            )


def _outside_enum(placed: PlacedRule, contract: Contract, node: Any, at: tuple[int, int]) -> Iterator[Finding]:
    call = node.call_expr
    operands = _operands(call)
    if len(operands) != 2 or call.function not in {"_==_", "_!=_", "@in"}:
        return
    for one, other in (operands, operands[::-1]):
        path = _path(one)
        symbols = paths_of(contract.version).symbols(path) if path else None
        if symbols is None:
            continue
        for literal in _literals(other):
            if literal not in symbols:
                yield placed.warn(
                    "outside-enum",
                    f"'{literal}' is no symbol of the enum {'.'.join(path)}: the comparison has one result",
                    f"use one of {', '.join(sorted(symbols)[:10])}",
                    "expr",
                    at,
                )


def _undeclared(placed: PlacedRule, contract: Contract, program: Program) -> Iterator[Finding]:
    """Fields that no version declares; schemas other than JSON's refuse them when types are checked."""
    for path in program.reads.get("message") or ():
        versions = (contract.version, *contract.earlier)
        is_refused = paths_of(contract.version).forbids(path)
        if path and not is_refused and not any(paths_of(version).may_have(path) for version in versions):
            yield placed.warn(
                "field-never-written",
                f"no version of the schema declares the field {'.'.join(path)}",
                "correct the name, or declare the field",
                "expr",
            )


def _operands(call: Any) -> list[Any]:
    return [*([call.target] if call.HasField("target") else ()), *call.args]


def _constant(node: Any) -> Any:
    if node.WhichOneof("expr_kind") != "const_expr":
        return None
    kind = node.const_expr.WhichOneof("constant_kind")
    return getattr(node.const_expr, kind) if kind else None


def _literals(node: Any) -> list[str]:
    constant = _constant(node)
    if isinstance(constant, str):
        return [constant]
    if node.WhichOneof("expr_kind") == "list_expr":
        return [literal for element in node.list_expr.elements if isinstance(literal := _constant(element), str)]
    return []


def _path(node: Any) -> tuple[str, ...]:
    """The fields that a node selects from the message; empty if it is something else."""
    names: list[str] = []
    while node.WhichOneof("expr_kind") == "select_expr" and not node.select_expr.test_only:
        names.append(node.select_expr.field)
        node = node.select_expr.operand
    is_message = node.WhichOneof("expr_kind") == "ident_expr" and node.ident_expr.name == "message"
    return tuple(reversed(names)) if is_message else ()


def _is_anchored(pattern: str) -> bool:
    """Whether a pattern has to match the whole text."""
    is_quoted = (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 0
    ends = pattern.endswith(_ENDS) and not (pattern.endswith("$") and is_quoted)
    return pattern.startswith(_STARTS) and ends and not _has_alternatives(pattern)


def _has_alternatives(pattern: str) -> bool:
    """Whether a pattern has a `|` outside of groups, so that an anchor belongs to one alternative alone."""
    depth = 0
    for part in _PARTS.findall(pattern):
        if part == "|" and not depth:
            return True
        depth += {"(": 1, ")": -1}.get(part, 0)
    return False


def _key(node: Any) -> Any:
    """A value that is equal for expressions of the same form."""
    kind = node.WhichOneof("expr_kind")
    own: Mapping[str, Callable[[Any], Any]] = {
        "const_expr": lambda constant: constant.SerializeToString(),
        "ident_expr": lambda identifier: identifier.name,
        "select_expr": lambda select: (select.field, select.test_only),
        "call_expr": lambda call: (call.function, call.HasField("target")),
        "struct_expr": lambda made: (made.message_name, tuple(entry.field_key for entry in made.entries)),
        "comprehension_expr": lambda loop: (loop.iter_var, loop.accu_var),
    }
    made = own[kind](getattr(node, kind)) if kind in own else None
    return kind, made, tuple(map(_key, children(node)))
