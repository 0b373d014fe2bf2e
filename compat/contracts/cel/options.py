"""The parameters of a rule that change how its expression is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.guard import split_guard

_ENGINE, _UNSIGNED, _NO_GUARD = "cel.regex.engine", "cel.unsigned.field.type", "cel.ignore.guard.separator"


@dataclass(frozen=True, slots=True)
class CelOptions:
    """The options of a rule.

    Attributes:
        unsigned: The type of `value` in field rules for Protobuf's unsigned fields: `int` or `uint`.
        ignores_guard: Whether `;` in the expression separates no guard.
    """

    unsigned: str = "int"
    ignores_guard: bool = False

    def split(self, text: str) -> tuple[str | None, str]:
        """The guard, or None, and the expression of a rule's text."""
        return (None, text) if self.ignores_guard else split_guard(text)


def cel_options(params: Mapping[str, str]) -> CelOptions:
    """The options that a rule's parameters ask for.

    Raises:
        ExpressionInvalid: A parameter has a value that is not supported.
    """
    engine = params.get(_ENGINE, "re2").lower()
    if engine != "re2":
        raise ExpressionInvalid(
            f"{_ENGINE}={engine} is not supported: matches() searches with RE2, as CEL specifies; write the pattern for"
            " RE2 and anchor it with ^ and $, then it means the same in all clients"
        )
    unsigned = params.get(_UNSIGNED, "int").lower()
    if unsigned not in ("int", "uint"):
        raise ExpressionInvalid(f"{_UNSIGNED}={unsigned} is unknown; use int or uint")
    return CelOptions(unsigned, params.get(_NO_GUARD, "false").lower() == "true")
