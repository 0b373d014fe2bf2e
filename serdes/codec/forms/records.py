"""Generated records as a form of a datum: the class of each type, and the branch of a union that a value stands for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID

from serdes.codec.forms.branch import Choose, data_chooser
from serdes.codec.forms.check import Unfit
from serdes.codec.logical import Convert, preparer, presenter
from serdes.codec.resolve.plan import CONVERT, Plan
from serdes.codec.schema import Node
from serdes.records.kinds import LOGICAL, Kind, wrapped
from serdes.records.table import Bound, Classes
from serdes.records.values import Branch, Duration, Fixed


def kind_of(node: Node) -> Kind:
    """The node as the rules of Python types see it."""
    return Kind(node.kind, node.meaning, node.name)


class Records:
    """The classes of a codec's types.

    Args:
        classes: The classes of a generated record.
        root: The full name of the codec's outermost type, which the classes' root stands for by any name.
    """

    def __init__(self, classes: Classes, root: str | None) -> None:
        self._classes = classes
        self._root = root
        self._wrapped: dict[int, tuple[Node, frozenset[str]]] = {}

    def class_of(self, node: Node) -> type | None:
        """The class of a named type whose values have one; None for all other types."""
        if node.name is None or kind_of(node).python is not None:
            return None
        base: type = {"record": object, "enum": Enum, "fixed": Fixed}[node.kind]
        cls = self._classes.of(node.name) or (self._classes.root if node.name == self._root else None)
        return cls if cls is not None and issubclass(cls, base) else None

    def record(self, node: Node) -> Bound | None:
        """Return the binding to the class that stands for a record; None if no dataclass does."""
        cls = self.class_of(node)
        return self._classes.bound(cls) if cls is not None and dataclasses.is_dataclass(cls) else None

    def symbols(self, node: Node) -> Mapping[str, Any]:
        """The symbols of an enumeration as members of its class; a symbol that the class lacks stays a text."""
        cls = self.class_of(node)
        known: Mapping[str, Any] = {} if cls is None else {member.value: member for member in cls}  # type: ignore[attr-defined]
        return {symbol: known.get(symbol, symbol) for symbol in node.symbols}

    def wrapped(self, union: Node) -> frozenset[str]:
        """The names of the branches whose values are in a Branch."""
        held = self._wrapped.get(id(union))
        if held is None:
            # The node is held, too: its id must not become another node's.
            held = self._wrapped[id(union)] = (union, wrapped(map(kind_of, union.branches)))
        return held[1]

    def accepted(self, branch: Node) -> type | None:
        """The exact type of values that stand for a branch without a Branch; None for a type without a class."""
        return kind_of(branch).python or self.class_of(branch)

    def chooser(self, union: Node) -> Choose:
        """The choice of a branch: by a Branch, by the class, else as for plain data."""
        by_name = {branch.branch: index for index, branch in enumerate(union.branches)}
        classes = [(index, cls) for index, branch in enumerate(union.branches) if (cls := self.class_of(branch))]
        others = [index for index, branch in enumerate(union.branches) if self.class_of(branch) is None]
        plain_union = Node("union")
        plain_union.branches = tuple(union.branches[index] for index in others)
        plain = data_chooser(plain_union)

        def choose(value: Any) -> tuple[int, Any]:
            if isinstance(value, Branch):
                if value.name not in by_name:
                    raise Unfit(f"it has no branch {value.name!r:.80}")
                return by_name[value.name], value.value
            for index, cls in classes:
                if isinstance(value, cls):
                    return index, value
            if isinstance(value, tuple):
                raise Unfit("a branch is named by a Branch")
            index, inner = plain(value)
            return others[index], inner

        return choose

    def fields(self, node: Node, value: Any) -> dict[str, Any]:
        """The fields of an instance by the schema's names.

        Raises:
            Unfit: It is not an instance of the record's class.
        """
        bound = self.record(node)
        if bound is None:
            raise Unfit(f"{self._classes.root.__name__} has no class for it")
        if not isinstance(value, bound.cls):
            raise Unfit
        return {name: getattr(value, attribute) for name, attribute in bound.attributes.items()}

    def unknown(self, node: Node) -> str | None:
        """A field of the record's class that the type does not have; None if there is none."""
        bound, names = self.record(node), {field.name for field in node.fields}
        return None if bound is None else next((name for name in bound.attributes if name not in names), None)

    def made(self, node: Node, values: Mapping[str, Any]) -> Any:
        """An instance of a record's class, from its fields by the schema's names.

        Raises:
            Unfit: No class stands for the record, or it has fields that the schema does not have.
        """
        bound = self.record(node)
        if bound is None:
            raise Unfit(f"{self._classes.root.__name__} has no class for {node.branch}")
        known = {bound.attributes[name]: value for name, value in values.items() if name in bound.attributes}
        try:
            return bound.cls(**known)
        except TypeError as error:
            raise Unfit(f"{bound.cls.__name__} cannot be made: {error}") from None

    def shown(self, union: Node, tag: str | None, value: Any) -> Any:
        """A union's value, in a Branch if its type does not tell the branch."""
        return Branch(tag, value) if tag is not None and tag in self.wrapped(union) else value

    def prepare(self, node: Node) -> Convert | None:
        """The conversion of a value to what Avro stores; None if it is stored as it is."""
        if node.kind == "fixed" and node.meaning == "uuid":
            return lambda value: value.bytes if isinstance(value, UUID) else value
        if node.kind == "fixed" and node.meaning == "duration":
            return lambda value: value.to_bytes() if isinstance(value, Duration) else value
        return preparer(node) if node.logical else None

    def present(self, plan: Plan) -> Convert | None:
        """The conversion of a stored value to the type of the class's field; None if it is only promoted.

        The writer's unit and scale count if both schemas have a logical type of one Python type: a decimal of another
        scale is the same number.
        """
        writer, target = plan.node, plan.target
        if target.kind == "fixed" and (cls := self.class_of(target)) is not None:
            return partial(bytes.__new__, cls)
        wanted = LOGICAL.get((target.kind, target.meaning or ""))
        if wanted is None:
            return None
        if LOGICAL.get((writer.kind, writer.meaning or "")) is wanted:
            return _in_zone(_presenter(writer), writer, target) if wanted is datetime else _presenter(writer)
        return _composed(CONVERT.get(plan.convert or ""), _presenter(target))

    def default(self, value: Any, literal: Callable[[Any], str], bind: Callable[[Any], str]) -> str | None:
        """An expression that makes a new copy of a default that may be changed; None if it is no record or Branch."""
        if isinstance(value, Branch):
            return f"{bind(Branch)}({value.name!r}, {literal(value.value)})"
        if not dataclasses.is_dataclass(value) or isinstance(value, type | Duration):
            return None
        names = self._classes.bound(type(value)).attributes.values()
        return f"{bind(type(value))}({', '.join(f'{name}={literal(getattr(value, name))}' for name in names)})"


def presented(node: Node) -> Convert | None:
    """The conversion of a stored value to Python's value of the logical type that generated records have, if any."""
    return _presenter(node) if (node.kind, node.meaning or "") in LOGICAL else None


def _presenter(node: Node) -> Convert:
    if node.kind == "fixed" and node.meaning == "uuid":
        return lambda value: UUID(bytes=value)
    if node.kind == "fixed" and node.meaning == "duration":
        return Duration.from_bytes
    return presenter(node)


def _is_local(node: Node) -> bool:
    return (node.meaning or "").startswith("local-")


def _in_zone(present: Convert, writer: Node, target: Node) -> Convert:
    if _is_local(writer) == _is_local(target):
        return present
    zone = None if _is_local(target) else UTC
    return lambda value: present(value).replace(tzinfo=zone)


def _composed(first: Convert | None, second: Convert) -> Convert:
    return second if first is None else lambda value: second(first(value))
