"""Checks of expressions against the types of a schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from compat.contracts.cel.declarations import CelType, evaluated
from compat.contracts.cel.engine import compile_text, parse_text
from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.expression import Program, compile_program
from compat.contracts.cel.tree.places import part_at
from compat.contracts.cel.tree.reads import chains
from compat.contracts.cel.tree.syntax import parsed_expression

#: What an expression may do with a map, and not with a message: at evaluations, records are maps.
_AS_MAP = re.compile(
    r"no matching overload for '(?P<operator>_\[_\]|@in|size|_[!=]=_)' applied to '\((?P<arguments>.*)\)'"
    r"|expression of type '(?P<range>[^']*)' cannot be the range"
)
_UNDEFINED = re.compile(r"undefined field '(?P<field>[^']*)'")
#: The type of an argument: a name, and whatever is in parentheses after it.
_ARGUMENT = re.compile(r"[\w.]+(?:\(.*?\)+(?=, |$))?")


def check_expression(text: str, declarations: Mapping[str, CelType]) -> Program:
    """Check an expression with the types of a schema.

    Args:
        text: The expression, without its guard.
        declarations: The variables, with their types for checks.

    Returns:
        The checked program; its types are those of the check.

    Raises:
        ExpressionInvalid: The text does not parse, its types do not fit, or it could not be evaluated.
        EngineMissing: The extra `rules` is not installed.
    """
    try:
        checked = compile_program(text, declarations)
    except ExpressionInvalid as error:
        if not _takes_records_for_maps(error.detail, declarations):
            raise _naming_fields(error, text, declarations) from None
        return compile_program(text, evaluated(declarations))
    # For its errors alone: the engine evaluates with these types.
    compile_text(evaluated(declarations), text)
    return checked


def _takes_records_for_maps(detail: str, declarations: Mapping[str, CelType]) -> bool:
    """Whether the checker refuses only what a map allows, such as `message["first-name"]`."""
    undefined = _UNDEFINED.search(detail)
    if undefined is not None:
        return not undefined["field"].isidentifier()
    found = _AS_MAP.search(detail)
    if found is None:
        return False
    if found["range"] is not None:
        return _is_record(found["range"], declarations)
    arguments = _ARGUMENT.findall(found["arguments"])
    if found["operator"] in ("_==_", "_!=_") and not any(argument.startswith("map(") for argument in arguments):
        return False
    return any(_is_record(argument, declarations) for argument in arguments)


def _is_record(name: str, declarations: Mapping[str, CelType]) -> bool:
    for declared in declarations.values():
        if declared.pool is not None and declared.shape is not None:
            try:
                return declared.pool.FindMessageTypeByName(name).file.name == "schema.proto"
            except KeyError:
                return False
    return False


def _naming_fields(error: ExpressionInvalid, text: str, declarations: Mapping[str, CelType]) -> ExpressionInvalid:
    """The error, with the fields of the operation that it is about."""
    if "overload" not in error.detail:
        return error
    parsed: Any = parsed_expression(parse_text(declarations, text))
    part = part_at(parsed, text, error.line, error.column)
    fields = [] if part is None else chains(part, parsed.expr, declarations)
    return ExpressionInvalid(
        f"{error.detail}: {', '.join(fields)}" if fields else error.detail, error.line, error.column
    )
