"""Checks of CEL: the expressions parse, their types fit the schema, and conditions are conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from compat.contracts.cel.declarations import DYN, STRING, TIMESTAMP, CelType, field_variables, message_variables
from compat.contracts.cel.engine import EngineMissing
from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.expression import Expression, compile_expression
from compat.contracts.cel.guard import split_guard
from compat.contracts.findings.cel_warnings import warnings_of
from compat.contracts.findings.contract import MIGRATION, Contract, PlacedRule, SchemaVersion
from compat.contracts.findings.finding import Finding
from compat.contracts.walk.leaf import PRIMITIVE, Leaf
from compat.schema import JSON, InvalidSchema

_CONDITION_TYPES = frozenset({"bool", "wrapper(bool)", "dyn"})
_VALUE_TYPES: Mapping[str, CelType] = {
    "STRING": STRING,
    "BYTES": CelType("bytes"),
    "INT": CelType("int"),
    "LONG": CelType("int"),
    "FLOAT": CelType("double"),
    "DOUBLE": CelType("double"),
    "BOOLEAN": CelType("bool"),
}
#: Names in an expression that may tell the fields apart, so that it need not fit each of them.
_TELLS_APART = ("typeName", "fullName", "name", "tags", "type(")
_NO_ENGINE = "install the extra: pip install 'magicbyte[rules]'"


class Part(NamedTuple):
    """The guard or the expression of a rule.

    Attributes:
        text: Its text.
        start: Where it begins in the rule's text.
        is_guard: Whether it is the guard.
    """

    text: str
    start: int
    is_guard: bool


def parts_of(placed: PlacedRule, contract: Contract) -> list[Part]:
    """The guard, if there is one, and the expression of a rule."""
    text = placed.rule.expr or ""
    if contract.parameters(placed.rule).get("cel.ignore.guard.separator", "").lower() == "true":
        return [Part(text, 0, is_guard=False)]
    guard, expression = split_guard(text)
    parts = [] if guard is None else [Part(guard, 0, is_guard=True)]
    return [*parts, Part(expression, len(text) - len(expression), is_guard=False)]


def cel_findings(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    """The findings about the expression of a rule of type CEL or CEL_FIELD."""
    if contract.parameters(placed.rule).get("cel.regex.engine", "").lower() == "pcre":
        yield placed.refuse(
            "cel-regex", "cel.regex.engine=pcre is not supported", "write patterns for RE2, and leave it out", "params"
        )
    try:
        for part in parts_of(placed, contract):
            yield from _part_findings(placed, contract, part)
    except EngineMissing:
        yield placed.warn("not-checked", "the expression was not checked: CEL is not installed", _NO_ENGINE, "expr")


def _part_findings(placed: PlacedRule, contract: Contract, part: Part) -> Iterator[Finding]:
    whole = placed.rule.expr or ""
    if not part.text.strip():
        yield placed.refuse("no-expression", "the rule has no expression", "give it one after the guard", "expr")
        return
    try:
        untyped = compile_expression(part.text, _untyped(placed))
    except ExpressionInvalid as error:
        code = "cel-syntax" if "yntax error" in error.detail else "cel-type"
        remedy = "correct the expression" if code == "cel-syntax" else f"use {', '.join(_untyped(placed))}"
        yield placed.refuse(code, error.detail, remedy, "expr", _place(whole, part, error))
        return
    compiled: list[Expression] = []
    yield from _typed(placed, contract, part, compiled)
    expressions = compiled or [untyped]
    if part.is_guard or not placed.is_transform:
        yield from _condition(placed, part, expressions)
    if not placed.rule.disabled:
        yield from warnings_of(placed, contract, part.start, untyped, is_guard=part.is_guard)


def _untyped(placed: PlacedRule) -> Mapping[str, CelType]:
    return field_variables() if placed.type == "CEL_FIELD" else message_variables()


def _typed(placed: PlacedRule, contract: Contract, part: Part, compiled: list[Expression]) -> Iterator[Finding]:
    """Check a part against the types of the schema; `compiled` gets the expressions that fit."""
    if placed.type == "CEL_FIELD":
        yield from _typed_fields(placed, contract, part, compiled)
        return
    version = _input(placed, contract)
    if version is None:
        return
    try:
        compiled.append(compile_expression(part.text, _declarations(version)))
    except InvalidSchema:
        return
    except ExpressionInvalid as error:
        whole = placed.rule.expr or ""
        remedy = "correct the expression, or the schema: messages have the schema's types"
        yield placed.refuse("cel-type", error.detail, remedy, "expr", _place(whole, part, error))


def _declarations(version: SchemaVersion) -> Mapping[str, CelType]:
    from compat.contracts.cel.schema_types import schema_types  # noqa: PLC0415  it loads the descriptors' library

    return schema_types(version.schema, version.dependencies)


def _input(placed: PlacedRule, contract: Contract) -> SchemaVersion | None:
    """The version whose data a rule reads; None if that is not known."""
    if placed.phase != MIGRATION:
        return contract.version
    before = contract.rule_set.migration_rules[: placed.index]
    if any(rule.kind != "CONDITION" and not rule.disabled for rule in before):
        return None
    return {"UPGRADE": contract.previous, "DOWNGRADE": contract.version}.get(placed.rule.mode or "")


def _typed_fields(placed: PlacedRule, contract: Contract, part: Part, compiled: list[Expression]) -> Iterator[Finding]:
    """Check a part against the type of each field that the rule selects.

    A rule that tells the fields apart has to fit one of them.
    """
    leaves: dict[CelType, Leaf] = {}
    for leaf in contract.walk.leaves:
        if leaf.type_name in PRIMITIVE - {"NULL"} and placed.selects(leaf):
            leaves.setdefault(_value_type(leaf, contract), leaf)
    refused: list[tuple[Leaf, ExpressionInvalid]] = []
    for value_type, leaf in leaves.items():
        try:
            compiled.append(compile_expression(part.text, field_variables(value_type)))
        except ExpressionInvalid as error:
            refused.append((leaf, error))
    whole = placed.rule.expr or ""
    tells_apart = len(parts_of(placed, contract)) > 1 or any(name in whole for name in _TELLS_APART)
    if refused and not (tells_apart and len(refused) < len(leaves)):
        leaf, error = refused[0]
        yield placed.refuse(
            "cel-type",
            f"{error.detail}: the rule selects the field {leaf.full_name} of type {leaf.type_name}",
            "correct the expression, or select other fields by tags or by a guard such as typeName == 'STRING'",
            "expr",
            _place(whole, part, error),
        )


def _value_type(leaf: Leaf, contract: Contract) -> CelType:
    """The type that the value of a leaf has in an expression."""
    logical = leaf.logical_type
    if logical is None:
        # A number of JSON is an int if it has no fraction.
        is_any = leaf.type_name == "DOUBLE" and contract.version.schema.schema_type == JSON
        return DYN if is_any else _VALUE_TYPES[leaf.type_name]
    if logical.startswith(("timestamp", "local-timestamp")):
        return DYN if logical.endswith("nanos") else TIMESTAMP
    if logical == "date" or logical.startswith("time-"):
        return _VALUE_TYPES["INT"]
    return STRING if logical == "uuid" else DYN


def _condition(placed: PlacedRule, part: Part, expressions: list[Expression]) -> Iterator[Finding]:
    wrong = next((found for found in expressions if found.result_type not in _CONDITION_TYPES), None)
    if wrong is not None:
        what = "the guard" if part.is_guard else "the condition"
        yield placed.refuse(
            "condition-type",
            f"{what} has the type {wrong.result_type}, not bool",
            "compare the value with something, such as message.name != ''",
            "expr",
            position(placed.rule.expr or "", part.start + len(part.text) - len(part.text.lstrip())),
        )


def _place(whole: str, part: Part, error: ExpressionInvalid) -> tuple[int, int]:
    """The line and column of an error in the text of the rule."""
    line, column = position(whole, part.start)
    return line + error.line - 1, (column + error.column - 1 if error.line == 1 else error.column)


def position(text: str, offset: int) -> tuple[int, int]:
    """The line and column of an offset in a text, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
