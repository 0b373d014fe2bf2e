"""Rules of CEL and REDACT that the JVM carries out: whether they reject a value, and the value that they make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.contracts.cel.declarations import field_variables, message_variables
from compat.contracts.cel.expression import compile_expression
from serdes.rules.cel.guarded import options_of
from serdes.rules.redact import REDACTED
from spark_avro.plan.rules.cel import times
from spark_avro.plan.rules.cel.nodes import Name, Node, read_nodes
from spark_avro.plan.rules.cel.terms import Term, literal, of_column
from spark_avro.plan.rules.cel.translating import Variables, translate
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.fields import FieldColumns, Leaf
from spark_avro.plan.rules.listed import ListedRule
from spark_avro.plan.rules.narrowing import narrowed
from spark_avro.plan.rules.shapes import Form, Items, Kind, Scalar, Shape


@dataclass(frozen=True, slots=True)
class JvmRule:
    """A rule that the JVM carries out on values that are not NULL.

    Attributes:
        listed: The rule.
        rejected: From a value to the path of what the rule rejects, empty for the whole value; NULL if nothing.
        changed: From a value to the value after the rule; None if the rule only tests.
    """

    listed: ListedRule
    rejected: Callable[[Column], Column]
    changed: Callable[[Column], Column] | None = None


@dataclass(frozen=True, slots=True)
class _Text:
    """The nodes of a rule's guard and expression."""

    guard: Node | None
    expression: Node

    @classmethod
    def of(cls, listed: ListedRule, *, on_fields: bool) -> _Text:
        context = listed.context
        text = context.rule.expr or ""
        guard, expression = options_of(context).split(text)
        declared = field_variables() if on_fields else message_variables()

        def nodes(part: str) -> Node:
            return read_nodes(compile_expression(part, declared).tree().expr)

        return cls(None if guard is None else nodes(guard), nodes(expression))

    def is_guarded(self, variables: Variables) -> Column | None:
        """Whether the guard lets the expression run; None without a guard. A guard that fails does not."""
        if self.guard is None:
            return None
        return F.coalesce(translate(self.guard, variables).expect(Kind.BOOL), F.lit(False))

    def holds(self, variables: Variables) -> Column:
        """Whether a condition holds, never NULL."""
        holds = F.coalesce(translate(self.expression, variables).expect(Kind.BOOL), F.lit(False))
        guarded = self.is_guarded(variables)
        return holds if guarded is None else ~guarded | holds


def jvm_rule(listed: ListedRule, shape: Shape) -> JvmRule:
    """The rule for values of a shape.

    Raises:
        Untranslatable: Columns cannot compute all of it exactly as the engine does.
    """
    make = _RULES.get((listed.context.type, listed.context.is_condition))
    if make is None:
        raise Untranslatable(f"rules of type {listed.context.rule.type}")
    rule = make(listed, shape)
    # A part without a column raises now, not when the value is known.
    rule.rejected(F.col("value"))
    if rule.changed is not None:
        rule.changed(F.col("value"))
    return rule


def _condition(listed: ListedRule, shape: Shape) -> JvmRule:
    text = _Text.of(listed, on_fields=False)

    def rejected(value: Column) -> Column:
        return F.when(~text.holds(_message_variables(value, shape)), F.lit(""))

    return JvmRule(listed, rejected)


def _transform(listed: ListedRule, shape: Shape) -> JvmRule:  # noqa: ARG001 - the signature of all
    if _Text.of(listed, on_fields=False).expression != Name("message"):
        raise Untranslatable("a new message")
    return JvmRule(listed, lambda _: F.lit(None).cast("string"))


def _field_condition(listed: ListedRule, shape: Shape) -> JvmRule:
    text = _Text.of(listed, on_fields=True)
    fields = FieldColumns(frozenset(listed.context.rule.tags))

    def rejects(leaf: Leaf) -> Column:
        return ~text.holds(_field_variables(leaf))

    return JvmRule(listed, lambda value: fields.rejected_path(shape, value, rejects))


def _field_transform(listed: ListedRule, shape: Shape) -> JvmRule:
    text = _Text.of(listed, on_fields=True)
    fields = FieldColumns(frozenset(listed.context.rule.tags))

    def made(leaf: Leaf) -> tuple[Column, Column | None]:
        variables = _field_variables(leaf)
        return narrowed(translate(text.expression, variables), leaf.shape), text.is_guarded(variables)

    def rejects(leaf: Leaf) -> Column:
        new, guarded = made(leaf)
        return new.isNull() if guarded is None else guarded & new.isNull()

    def changes(leaf: Leaf) -> Column:
        new, guarded = made(leaf)
        return new if guarded is None else F.when(guarded, new).otherwise(leaf.column)

    return JvmRule(
        listed,
        lambda value: fields.rejected_path(shape, value, rejects),
        lambda value: fields.changed(shape, value, changes),
    )


def _redaction(listed: ListedRule, shape: Shape) -> JvmRule:
    fields = FieldColumns(frozenset(listed.context.rule.tags))

    def changes(leaf: Leaf) -> Column:
        redacted = _REDACTIONS.get(leaf.shape.type_name)
        if redacted is not None and leaf.shape.form is not Form.PLAIN:
            raise Untranslatable("a decimal to redact")
        return leaf.column if redacted is None else F.when(leaf.column.isNotNull(), F.lit(redacted))

    return JvmRule(listed, lambda _: F.lit(None).cast("string"), lambda value: fields.changed(shape, value, changes))


#: What becomes of the leaves of a type; others stay.
_REDACTIONS: Mapping[str, str | bytes] = {"STRING": REDACTED, "BYTES": REDACTED.encode()}

#: Executor, and whether the rule is a condition -> its columns.
_RULES: Mapping[tuple[str, bool], Callable[[ListedRule, Shape], JvmRule]] = {
    ("CEL", True): _condition,
    ("CEL", False): _transform,
    ("CEL_FIELD", True): _field_condition,
    ("CEL_FIELD", False): _field_transform,
    ("REDACT", False): _redaction,
}


def _message_variables(value: Column, shape: Shape) -> Variables:
    return {"message": lambda: of_column(value, shape, is_certain=True), "now": times.now}


def _field_variables(leaf: Leaf) -> Variables:
    field, shape = leaf.field, leaf.shape
    tags = sorted(field.tags)
    return {
        "value": lambda: of_column(leaf.column, shape, is_certain=True),
        "message": lambda: leaf.record,
        "fullName": lambda: literal(field.full_name),
        "name": lambda: literal(field.name),
        "typeName": lambda: _type_name(leaf),
        "tags": lambda: _texts(tags),
        "now": times.now,
    }


def _type_name(leaf: Leaf) -> Term:
    """The type of the leaf's value: that of the branch null for null."""
    name = literal(leaf.shape.type_name)
    if not leaf.shape.nullable or leaf.shape.kind is Kind.NULL:
        return name
    return Term(F.when(leaf.column.isNull(), F.lit("NULL")).otherwise(name.column), name.shape, is_certain=True)


def _texts(texts: list[str]) -> Term:
    column = F.array(*map(F.lit, texts)) if texts else F.array().cast("array<string>")
    return Term(column, Items(Scalar(Kind.STRING, "STRING")), is_certain=True, value=tuple(texts))
