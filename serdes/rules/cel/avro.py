"""Results of expressions as Avro data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compat.avro.nodes import Array, Enum, Fixed, Map, Node, Record, Union
from compat.avro.schema import AvroSchema
from compat.contracts.cel.data.values import from_cel
from compat.contracts.cel.data.views import binder
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.schema_types.avro import avro_shape
from compat.contracts.walk.avro_branches import indices_by_name
from compat.contracts.walk.avro_defaults import value_if_absent
from compat.contracts.walk.steps import ABSENT
from compat.schema import ParsedSchema
from serdes.rules.cel.narrowing import narrowed
from serdes.rules.error import ValueRejected


class AvroResults:
    """Turns results into data; parts that are equal to the original's stay as they are.

    Args:
        schema: The schema.
    """

    def __init__(self, schema: ParsedSchema) -> None:
        assert isinstance(schema, AvroSchema)
        self._root = schema.root
        self._seen: dict[int, Callable[[Any], Any]] = {}

    def written_back(self, result: Any, original: Any) -> Any:
        """The datum for a result: a map becomes a record, and absent fields get their defaults.

        Raises:
            ValueRejected: The result does not fit the schema.
        """
        return self.of(self._root, result, original)

    def _plain(self, node: Node, value: Any) -> Any:
        """A value of a type as an expression would return it; ABSENT if it has no such form."""
        if id(node) not in self._seen:
            self._seen[id(node)] = binder(None, avro_shape(node))
        try:
            return from_cel(self._seen[id(node)](value))
        except EvaluationFailed:
            return ABSENT

    def of(self, node: Node, result: Any, original: Any, path: str = "") -> Any:
        """The datum of a type for a result.

        Raises:
            ValueRejected: The result does not fit the type.
        """
        if original is not ABSENT and _equal(self._plain(node, original), result):
            return original
        match node:
            case Record():
                datum = self._record(node, result, original, path)
            case Array():
                items = original if isinstance(original, list | tuple) else ()
                padded = [*items, *[ABSENT] * (len(_list(result, path)) - len(items))]
                datum = [
                    self.of(node.items, item, padded[index], f"{path}[{index}]") for index, item in enumerate(result)
                ]
            case Map():
                entries = original if isinstance(original, Mapping) else {}
                datum = {
                    key: self.of(node.values, item, entries.get(key, ABSENT), f"{path}[{key!r}]")
                    for key, item in _map(result, path).items()
                }
            case Union():
                datum = self._union(node, result, original, path)
            case Enum():
                if result not in node.symbols:
                    raise ValueRejected(f"the result is no symbol of the enum {node.name.full}", path, original)
                datum = result
            case Fixed():
                if not isinstance(result, bytes) or len(result) != node.size:
                    raise ValueRejected(f"the result is not a fixed of {node.size} bytes", path, original)
                datum = result
            case _:
                datum = self._leaf(node.type.upper(), result, original, path)
        return datum

    def _leaf(self, type_name: str, result: Any, original: Any, path: str) -> Any:
        if (result is None) != (type_name == "NULL"):
            raise ValueRejected(f"the result is {type(result).__name__}, and the field is of type {type_name}", path)
        try:
            return narrowed(type_name, None if original is ABSENT else original, result)
        except ValueRejected as error:
            raise ValueRejected(error.detail, path, error.value) from None

    def _record(self, node: Record, result: Any, original: Any, path: str) -> Any:
        known = node.by_name
        for name in _map(result, path):
            if name not in known and name != "-type":
                # The name may be a value of the message: the expression computed it.
                raise ValueRejected(f"the result has a field that the record {node.name.full} lacks", path)
        values = {}
        for name, field in known.items():
            below = f"{path}.{name}" if path else name
            if name not in result:
                values[name] = value_if_absent(field)
                if values[name] is ABSENT:
                    raise ValueRejected("the result lacks the field, which has no default", below)
                continue
            old = original.get(name, ABSENT) if isinstance(original, Mapping) else ABSENT
            values[name] = self.of(field.type, result[name], old, below)
        return {**({"-type": result["-type"]} if "-type" in result else {}), **values}

    def _union(self, node: Union, result: Any, original: Any, path: str) -> Any:
        if result is None and "null" in node.types:
            return None
        by_name = indices_by_name(node)
        if isinstance(original, tuple) and len(original) == len(("name", "value")) and original[0] in by_name:
            branch = node.branches[by_name[original[0]]]
            return (original[0], self.of(branch, result, original[1], path))
        branches = [branch for branch in node.branches if branch.type != "null"]
        if len(branches) == 1:
            return self.of(branches[0], result, ABSENT if original is None else original, path)
        return result


def _equal(plain: Any, result: Any) -> bool:
    """Whether two values are equal, and so are their types: 1 is neither 1.0 nor true."""
    if type(plain) is not type(result):
        return False
    if isinstance(plain, dict):
        return plain.keys() == result.keys() and all(_equal(plain[key], result[key]) for key in plain)
    if isinstance(plain, list):
        return len(plain) == len(result) and all(map(_equal, plain, result))
    return bool(plain == result)


def _list(result: Any, path: str) -> list[Any]:
    if not isinstance(result, list):
        raise ValueRejected(f"the result is {type(result).__name__}, expected a list", path)
    return result


def _map(result: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(result, Mapping):
        raise ValueRejected(f"the result is {type(result).__name__}, expected a map", path)
    return result
