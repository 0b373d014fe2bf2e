"""From the nodes of an expression to a term: one function for each kind of node, and for each function of CEL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.arithmetic import ARITHMETIC
from spark_avro.plan.rules.cel.comparing import COMPARING
from spark_avro.plan.rules.cel.macros import MACROS
from spark_avro.plan.rules.cel.nodes import Call, Constant, ListOf, Loop, MapOf, Name, Node, Select
from spark_avro.plan.rules.cel.terms import Term, field_of, literal, of_column, scalar, select
from spark_avro.plan.rules.cel.texts import TEXTS
from spark_avro.plan.rules.cel.times import TIMES
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Entries, Items, Kind, Record

#: The variables of an expression; a variable without a column raises Untranslatable when it is read.
Variables = Mapping[str, Callable[[], Term]]

_FUNCTIONS: Mapping[str, Callable[..., Term]] = MappingProxyType({**COMPARING, **ARITHMETIC, **TEXTS, **TIMES})


def translate(node: Node, variables: Variables) -> Term:
    """The term of an expression.

    Raises:
        Untranslatable: A part of it has no column that computes exactly what CEL does.
    """
    return _NODES[type(node)](node, variables)


def _constant(node: Constant, _: Variables) -> Term:
    return literal(node.value)


def _name(node: Name, variables: Variables) -> Term:
    if node.name not in variables:
        raise Untranslatable(f"the variable {node.name}")
    return variables[node.name]()


def _select(node: Select, variables: Variables) -> Term:
    operand = translate(node.operand, variables)
    if not isinstance(operand.shape, Record):
        return _key_select(node, operand)
    if not node.is_test:
        return select(operand, node.field)
    field = field_of(operand, node.field)
    has = operand.column.getField(node.field).isNotNull() if field.may_be_absent else F.lit(True)
    return scalar(has if operand.is_certain else F.when(operand.column.isNotNull(), has), Kind.BOOL)


def _key_select(node: Select, operand: Term) -> Term:
    if not isinstance(operand.shape, Entries):
        raise Untranslatable(f"the field {node.field} of a value that is no record")
    key = literal(node.field)
    if node.is_test:
        return scalar(F.map_contains_key(operand.column, key.column), Kind.BOOL)
    return _entry(operand, key)


def _entry(operand: Term, key: Term) -> Term:
    assert isinstance(operand.shape, Entries)
    column = key.expect(Kind.STRING)
    exists = F.coalesce(F.map_contains_key(operand.column, column), F.lit(False))
    return of_column(F.try_element_at(operand.column, column), operand.shape.value, exists=exists)


def _index(operand: Term, index: Term) -> Term:
    """`operand[index]`: of a list by number, of a map by key, of a record by the name of a field."""
    match operand.shape:
        case Record() if isinstance(index.value, str):
            return select(operand, index.value)
        case Entries():
            return _entry(operand, index)
        case Items():
            number = index.expect(Kind.INT)
            is_inside = (number >= 0) & (number < F.size(operand.column))
            item = F.get(operand.column, F.when(is_inside, number).cast("int"))
            return of_column(item, operand.shape.item, exists=F.coalesce(is_inside, F.lit(False)))
    raise Untranslatable("an index of this value")


def _call(node: Call, variables: Variables) -> Term:
    arguments = [translate(argument, variables) for argument in node.arguments]
    if node.function == "_[_]":
        return _index(*arguments)
    function = _FUNCTIONS.get(node.function)
    if function is None:
        raise Untranslatable(f"the function {node.function}")
    try:
        return function(*arguments)
    except TypeError as error:
        if "positional argument" not in str(error):
            raise
        raise Untranslatable(f"{node.function} with {len(arguments)} arguments") from None


def _list(node: ListOf, variables: Variables) -> Term:
    items = [translate(item, variables) for item in node.items]
    kinds = {item.kind for item in items}
    if len(kinds) != 1 or not all(item.is_literal for item in items) or Kind.NULL in kinds:
        raise Untranslatable("a list that has not literals of one type as its items")
    columns: list[Column] = [item.column for item in items]
    return Term(F.array(*columns), Items(items[0].shape), is_certain=True, value=tuple(item.value for item in items))


def _loop(node: Loop, variables: Variables) -> Term:
    around = translate(node.range, variables)
    if isinstance(around.shape, Entries):
        around = of_column(F.map_keys(around.column), Items(literal("").shape))
    if not isinstance(around.shape, Items):
        raise Untranslatable("a macro over this value")
    item_shape = around.shape.item

    def inner(part: Node) -> Callable[[Column], Term]:
        def made(column: Column) -> Term:
            item = of_column(column, item_shape, is_certain=True)
            return translate(part, {**variables, node.variable: lambda: item})

        return made

    condition = None if node.condition is None else inner(node.condition)
    result = None if node.result is None or node.result == Name(node.variable) else inner(node.result)
    return MACROS[node.macro](around, condition, result)


def _map(_: MapOf, __: Variables) -> Term:
    raise Untranslatable("a map literal here")


_NODES: Mapping[type, Callable[[Any, Variables], Term]] = {
    Constant: _constant,
    Name: _name,
    Select: _select,
    Call: _call,
    ListOf: _list,
    MapOf: _map,
    Loop: _loop,
}
