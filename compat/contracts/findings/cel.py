"""Checks of CEL: the expressions parse, their types fit the schema, and conditions are conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compat.contracts.cel.checking import check_expression
from compat.contracts.cel.declarations import CelType, field_variables, message_variables
from compat.contracts.cel.engine import EngineMissing
from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.expression import Program, compile_program
from compat.contracts.cel.options import CelOptions, cel_options
from compat.contracts.findings.cel_types import field_types, message_types
from compat.contracts.findings.cel_warnings import Part, warnings_of
from compat.contracts.findings.contract import MIGRATION, Contract, PlacedRule, SchemaVersion
from compat.contracts.findings.finding import Finding
from compat.contracts.findings.paths import paths_of
from compat.schema import JSON, InvalidSchema

_CONDITION_TYPES = frozenset({"bool", "wrapper(bool)", "dyn"})
#: Names in an expression that may tell the fields apart, so that it need not fit each of them.
_TELLS_APART = ("typeName", "fullName", "name", "tags", "type(")
_NO_ENGINE = "install the extra: pip install 'magicbyte[rules]'"


def parts_of(placed: PlacedRule, options: CelOptions) -> list[Part]:
    """The guard, if there is one, and the expression of a rule."""
    whole = placed.rule.expr or ""
    guard, expression = options.split(whole)
    parts = [] if guard is None else [Part(whole, guard, 0, is_guard=True)]
    return [*parts, Part(whole, expression, len(whole) - len(expression), is_guard=False)]


def cel_findings(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    """The findings about the expression of a rule of type CEL or CEL_FIELD."""
    try:
        options = cel_options(contract.parameters(placed.rule))
    except ExpressionInvalid as error:
        yield placed.refuse("cel-parameter", error.detail, "correct the parameter, or leave it out", "params")
        options = CelOptions()
    try:
        for part in parts_of(placed, options):
            yield from _part_findings(placed, contract, part, options)
    except EngineMissing:
        yield placed.warn("not-checked", "the expression was not checked: CEL is not installed", _NO_ENGINE, "expr")


def _part_findings(placed: PlacedRule, contract: Contract, part: Part, options: CelOptions) -> Iterator[Finding]:
    if not part.text.strip():
        yield placed.refuse("no-expression", "the rule has no expression", "give it one after the guard", "expr")
        return
    variables = field_variables() if placed.type == "CEL_FIELD" else message_variables()
    try:
        untyped = compile_program(part.text, variables)
    except ExpressionInvalid as error:
        code = "cel-syntax" if "yntax error" in error.detail else "cel-type"
        remedy = (
            "correct the expression" if code == "cel-syntax" else f"use {', '.join(variables)}, and CEL's functions"
        )
        yield placed.refuse(code, error.detail, remedy, "expr", part.place(error.line, error.column))
        return
    check = _typed_fields if placed.type == "CEL_FIELD" else _typed_message
    programs: list[Program] = []
    yield from check(placed, contract, part, options, programs, untyped)
    if part.is_guard or not placed.is_transform:
        yield from _condition(placed, part, programs or [untyped])
    if not placed.rule.disabled:
        yield from warnings_of(placed, contract, part, untyped)


def _typed_message(
    placed: PlacedRule, contract: Contract, part: Part, _: CelOptions, programs: list[Program], untyped: Program
) -> Iterator[Finding]:
    """Check a part against the messages of the schema; `programs` gets those that fit."""
    version = _input(placed, contract)
    if version is None:
        return
    refusals: list[ExpressionInvalid] = []
    for variables in message_types(version):
        try:
            programs.append(_checked(part, variables, contract))
        except ExpressionInvalid as error:
            refusals.append(error)
    if refusals and not programs and not _is_open(refusals[0], version, untyped):
        refusal = refusals[0]
        remedy = "correct the expression, or the schema: messages have the schema's types"
        yield placed.refuse("cel-type", refusal.detail, remedy, "expr", part.place(refusal.line, refusal.column))


def _is_open(refusal: ExpressionInvalid, version: SchemaVersion, untyped: Program) -> bool:
    """Whether an undefined field may be there all the same: JSON objects may have more than the declared fields."""
    if version.schema.schema_type != JSON or not refusal.detail.startswith("undefined field"):
        return False
    paths = paths_of(version)
    return not any(paths.forbids(path) for path in untyped.reads.get("message") or ())


def _input(placed: PlacedRule, contract: Contract) -> SchemaVersion | None:
    """The version whose data a rule reads; None if that is not known."""
    if placed.phase != MIGRATION:
        return contract.version
    before = contract.rule_set.migration_rules[: placed.index]
    if any(rule.kind != "CONDITION" and not rule.disabled for rule in before):
        return None
    return {"UPGRADE": contract.previous, "DOWNGRADE": contract.version}.get(placed.rule.mode or "")


def _typed_fields(
    placed: PlacedRule, contract: Contract, part: Part, options: CelOptions, programs: list[Program], _: Program
) -> Iterator[Finding]:
    """Check a part against the fields that the rule selects; `programs` gets those that fit.

    A rule that tells the fields apart has to fit one of them.
    """
    try:
        leaves = [leaf for leaf in contract.walk.leaves if placed.selects(leaf)]
    except InvalidSchema:
        return
    refused = None
    for leaf, variables in field_types(contract.version, leaves, options):
        try:
            programs.append(_checked(part, variables, contract))
        except ExpressionInvalid as error:
            refused = refused or (leaf, error)
    tells_apart = len(parts_of(placed, options)) > 1 or any(name in part.whole for name in _TELLS_APART)
    if refused is not None and not (tells_apart and programs):
        leaf, invalid = refused
        yield placed.refuse(
            "cel-type",
            f"{invalid.detail}; the rule selects the field {leaf.full_name} of type {leaf.type_name}",
            "correct the expression, or select other fields by tags or by a guard such as typeName == 'STRING'",
            "expr",
            part.place(invalid.line, invalid.column),
        )


def _checked(part: Part, variables: Mapping[str, CelType], contract: Contract) -> Program:
    contract.spend(len(part.text))
    return check_expression(part.text, variables)


def _condition(placed: PlacedRule, part: Part, programs: list[Program]) -> Iterator[Finding]:
    wrong = next((program for program in programs if program.result_type not in _CONDITION_TYPES), None)
    if wrong is not None:
        what = "the guard" if part.is_guard else "the condition"
        yield placed.refuse(
            "condition-type",
            f"{what} has the type {wrong.result_type}, not bool",
            "compare the value with something, such as message.name != ''",
            "expr",
            part.place(1, 1 + len(part.text) - len(part.text.lstrip(" "))),
        )
