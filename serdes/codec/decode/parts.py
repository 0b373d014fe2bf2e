"""Analysis of plans and defaults before the text of a generated decoder is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serdes.codec.forms.records import Records
from serdes.codec.resolve.plan import Plan
from serdes.codec.schema import Node
from serdes.codec.source import SourceText
from serdes.records.table import Bound


def shared_records(root: Plan) -> frozenset[int]:
    """The ids of the records' plans that are used more than once, recursive plans included."""
    seen: set[int] = set()
    shared: set[int] = set()

    def visit(plan: Plan) -> None:
        if plan.kind == "record":
            if id(plan) in seen:
                shared.add(id(plan))
                return
            seen.add(id(plan))
        for _, child in (*plan.steps, *plan.branches):
            visit(child)
        if plan.child is not plan:
            visit(plan.child)

    visit(root)
    return frozenset(shared)


def ends_with_buffer(node: Node) -> bool:
    """Whether reading a value past the buffer's end surely raises an exception: slices alone do not."""
    if node.kind == "record":
        return any(ends_with_buffer(field.node) for field in node.fields if field.node.kind != "record")
    return node.kind not in {"null", "fixed"}


def literal(value: Any, bind: Callable[[Any], str], records: Records | None = None) -> str:
    """An expression that makes a new copy of the value, so that data never share a default's list, dict or record."""
    if isinstance(value, list):
        return "[" + ", ".join(literal(item, bind, records) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item, bind, records)}" for key, item in value.items()) + "}"
    copied = None if records is None else records.default(value, lambda part: literal(part, bind, records), bind)
    return bind(value) if copied is None else copied


def instance_of(source: SourceText, plan: Plan, bound: Bound, values: Mapping[int, str]) -> str:
    """Writes statements that make an instance of a record's class; returns its variable.

    Args:
        source: The text under construction; it binds `new` to `object.__new__`.
        plan: The record's plan.
        bound: The class.
        values: The expressions of the values of the reader's fields, by index.
    """
    fields = {
        bound.attributes[field.name]: values[index]
        for index, field in enumerate(plan.fields)
        if field.name in bound.attributes
    }
    made, cls = source.fresh("o"), source.bind(bound.cls)
    if not bound.stores or len(fields) != len(bound.attributes):
        source.line(f"{made} = {cls}({', '.join(f'{name}={value}' for name, value in fields.items())})")
        return made
    # Stores into slots take a third of the time of a call of __init__.
    source.line(f"{made} = new({cls if bound.twin is None else source.bind(bound.twin)})")
    for name, value in fields.items():
        source.line(f"{made}.{name} = {value}")
    if bound.twin is not None:
        source.line(f"{made}.__class__ = {cls}")
    return made
