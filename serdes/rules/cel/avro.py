"""Avro data as expressions see them: records with all their fields, values of unions without their tags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from compat.avro.nodes import Array, Map, Node, Record, Union
from compat.avro.schema import parse
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.values import from_cel, to_cel
from compat.contracts.walk.avro_branches import chooser, indices_by_name
from compat.contracts.walk.avro_defaults import value_if_absent
from compat.contracts.walk.leaf import LeafFailed, RecordAccess
from compat.contracts.walk.steps import ABSENT
from serdes.rules.cel.avro_results import AvroResults
from serdes.rules.cel.narrowing import in_type
from serdes.rules.context import RuleContext

#: Takes a value of a schema's type; returns what an expression sees.
View = Callable[[Any], Any]


class AvroForm:
    """Avro data of one schema; see MessageForm.

    Args:
        root: The schema's outermost type.
        records: How to handle records that are not mappings.
    """

    def __init__(self, root: Node, records: RecordAccess | None) -> None:
        self._root = root
        self._records = records
        self._views: dict[int, View] = {}

    def viewer(self, names: frozenset[str] | None) -> View:
        """The function from a datum to what an expression sees: only the fields that it reads."""
        if isinstance(self._root, Record) and names is not None:
            return self._record(self._root, names)
        return self._view(self._root) or _same

    def written_back(self, result: Any, original: Any) -> Any:
        """The datum for a result: a map becomes a record, and absent fields get their defaults."""
        return AvroResults(self.plain, self._records).of(self._root, result, original)

    def plain(self, node: Node, value: Any) -> Any:
        """A value of a type as an expression would return it; ABSENT if it has no such form."""
        try:
            return from_cel(to_cel((self._view(node) or _same)(value)))
        except (EvaluationFailed, LeafFailed):
            return ABSENT

    def _view(self, node: Node) -> View | None:
        """The view of a type; None if expressions see its values as they are."""
        match node:
            case Record():
                if id(node) not in self._views:
                    # A recursive type gets this function while its view is being made.
                    self._views[id(node)] = lambda value: self._views[id(node)](value)  # noqa: PLW0108  # not made yet
                    self._views[id(node)] = self._record(node, None)
                return self._views[id(node)]
            case Array():
                item = self._view(node.items)
                return None if item is None else lambda value: [item(part) for part in value]
            case Map():
                entry = self._view(node.values)
                return None if entry is None else lambda value: {key: entry(part) for key, part in value.items()}
            case Union():
                return self._union(node)
        type_name = node.type.upper()
        return (lambda value: in_type(type_name, value)) if type_name in _CONVERTED else None

    def _record(self, node: Record, names: frozenset[str] | None) -> View:
        fields = [
            (field.name, self._view(field.type), value_if_absent(field))
            for field in node.fields
            if names is None or field.name in names
        ]
        access = self._records

        def view(value: Any) -> Any:
            get: Callable[[str, Any], Any]
            if isinstance(value, Mapping):
                get = value.get
            elif access is not None and access.is_record(value):
                get = partial(access.get, value)
            else:
                return value
            seen = {}
            for name, convert, missing in fields:
                part = get(name, missing)
                if part is not ABSENT:
                    seen[name] = part if convert is None or part is None else convert(part)
            return seen

        return view

    def _union(self, node: Union) -> View:
        views = [self._view(branch) for branch in node.branches]
        by_name = indices_by_name(node)
        single = next((view for branch, view in zip(node.branches, views, strict=True) if branch.type != "null"), None)
        is_nullable = len(views) - ("null" in node.types) == 1
        choose = chooser(node) if any(views) else None

        def view(value: Any) -> Any:
            if value.__class__ is tuple and len(value) == len(("name", "value")) and value[0] in by_name:
                convert = views[by_name[value[0]]]
                return value[1] if convert is None else convert(value[1])
            if value is None or choose is None:
                return value
            convert = single if is_nullable else views[choose(value)]
            return value if convert is None else convert(value)

        return view


def avro_form(context: RuleContext) -> AvroForm:
    """The form of a rule's schema.

    Raises:
        InvalidSchema: The schema's text cannot be parsed.
    """
    root = parse(context.ruled.schema, context.ruled.dependencies, strict=False).root
    return AvroForm(root, context.records)


def _same(value: Any) -> Any:
    return value


#: Types whose values may have to be converted: real numbers that are given as ints, and times of day.
_CONVERTED = frozenset({"FLOAT", "DOUBLE", "INT", "LONG"})
