"""Conversion of a rule's result to an Avro schema: texts become bytes, dates or decimals if the schema says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compat.contracts.walk.avro_branches import PYTHON_TYPES
from serdes.codec.errors import EncodeError
from serdes.codec.forms.branch import Choose, data_chooser, plain_chooser
from serdes.codec.forms.check import Unfit
from serdes.codec.logical import presenter
from serdes.codec.readable import CHECKS
from serdes.codec.schema import MISSING, Node
from serdes.rules.context import READ, WRITE
from serdes.rules.jsonata.document import datum
from serdes.rules.jsonata.traced_values import HeldBranch, HeldText

_BINARY = (bytes, bytearray, memoryview)


class Fitter:
    """Takes results of rules as values of one schema.

    After READ, a field that a record lacks gets its default. Encoders do that after the other operations.

    Args:
        root: The schema.
        mode: The rules' operation. After WRITE, a union's value has its branch's name if an encoder would choose
            another branch. After READ it has the name that it had before. After a migration it always has one, because
            it is encoded next; a record that fits two branches is refused.
    """

    def __init__(self, root: Node, mode: str) -> None:
        self._root = root
        self._mode = mode
        self._migrates = mode not in (READ, WRITE)
        self._choosers: dict[int, tuple[Choose, Choose]] = {}

    def fit(self, value: Any) -> Any:
        """The datum of a document or a datum.

        Raises:
            EncodeError: It does not fit the schema.
            TypeError: It has a function.
        """
        return self._fit(self._root, value, "$")

    def _fit(self, node: Node, value: Any, path: str) -> Any:
        if node.kind == "union":
            return self._union(node, value, path)
        if isinstance(value, HeldBranch) and isinstance(value, dict | list):
            value = _plain_container(value)
        if node.kind == "record":
            return self._record(node, value, path)
        if node.kind == "map" and isinstance(value, Mapping):
            return {key: self._fit(node.item, item, f"{path}[{key!r:.80}]") for key, item in value.items()}
        if node.kind == "array" and isinstance(value, list | tuple | range):
            return [self._fit(node.item, item, f"{path}[{index}]") for index, item in enumerate(value)]
        if node.kind in ("map", "array"):
            raise _unfit(node, value, path)
        return _leaf(node, value, path)

    def _record(self, node: Node, value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _unfit(node, value, path)
        nodes = {field.name: field.node for field in node.fields}
        fitted = {}
        for key, item in value.items():
            if key in nodes:
                fitted[key] = self._fit(nodes[key], item, f"{path}.{key}")
            elif key == "-type" or self._mode == WRITE:
                # The encoder decides on fields that the schema lacks.
                fitted[key] = datum(item)
            else:
                detail = f"{node.words()} has no such field: the rule must leave it out"
                raise EncodeError(f"{path}.{key}"[:200], _type_name(item), "no value", detail)
        if self._mode == READ:
            for field in node.fields:
                if field.name not in value:
                    if field.default is MISSING:
                        raise EncodeError(f"{path}.{field.name}", "nothing", field.node.words())
                    fitted[field.name] = self._fit(field.node, field.default, f"{path}.{field.name}")
        return fitted

    def _union(self, node: Node, value: Any, path: str) -> Any:
        if isinstance(value, HeldBranch):
            named = value.branch, value
        elif isinstance(value, tuple) and len(value) == 2:
            named = value
        else:
            named = None
        by_name = {branch.branch: branch for branch in node.branches}
        if named is not None and named[0] in by_name:
            return named[0], self._fit(by_name[named[0]], _unnamed(named[1]), path)
        index, inner = self._choose(node, _unnamed(value) if named is None else _unnamed(named[1]), path)
        branch = node.branches[index]
        fitted = self._fit(branch, inner, path)
        if fitted is None:
            return None
        return (branch.branch, fitted) if self._needs_name(node, index, fitted) else fitted

    def _needs_name(self, node: Node, index: int, fitted: Any) -> bool:
        if self._mode == READ:
            return False
        try:
            return self._migrates or self._choosers[id(node)][0](fitted)[0] != index
        except Unfit:
            return True

    def _choose(self, node: Node, value: Any, path: str) -> tuple[int, Any]:
        if id(node) not in self._choosers:
            self._choosers[id(node)] = (data_chooser(node), plain_chooser(node, defaults=True, checks=CHECKS))
        of_data, of_json = self._choosers[id(node)]
        reason = ""
        # What a rule makes is JSON; what it did not touch is the codec's data.
        for choose in (of_json, of_data) if self._migrates and not isinstance(value, HeldText) else (of_data, of_json):
            try:
                index, inner = choose(value if choose is of_json else datum(value))
            except Unfit as error:
                reason = reason or str(error)
                if reason and self._migrates:
                    break
            else:
                return index, inner if choose is of_json else value
        raise _unfit(node, value, path, reason)


def _unnamed(value: Any) -> Any:
    """The value without its branch's name."""
    if isinstance(value, HeldText):
        text = HeldText(value)
        text.original = value.original
        return text
    if isinstance(value, HeldBranch):
        return datum(value)[1] if not isinstance(value, dict | list) else _plain_container(value)
    return value


def _plain_container(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else list(value)


def _leaf(node: Node, value: Any, path: str) -> Any:
    original = value.original if isinstance(value, HeldText) else value
    if isinstance(original, PYTHON_TYPES.get(node.logical or "", ())):
        return original
    if isinstance(original, _BINARY):
        if node.kind in ("bytes", "fixed"):
            return original
        if node.kind == "string":
            return _decoded(node, bytes(original), path)
    if isinstance(value, _BINARY):
        raise _unfit(node, value, path)
    present: Callable[[Any], Any] | None = presenter(node) if node.logical else None
    try:
        stored = CHECKS[node.kind](node, value)
    except Unfit as error:
        # The reasons of these types have the value.
        has_value = node.kind == "enum" or node.logical is not None
        raise _unfit(node, value, path, "" if has_value else str(error)) from None
    try:
        return stored if present is None else present(stored)
    except (ValueError, OverflowError):
        return stored


def _decoded(node: Node, value: bytes, path: str) -> str:
    """Bytes as a text, as Avro promotes them."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _unfit(node, value, path, "they are not UTF-8") from None


def _unfit(node: Node, value: Any, path: str, detail: str = "") -> EncodeError:
    return EncodeError(path, _type_name(value), node.words(), detail)


def _type_name(value: Any) -> str:
    """The name of a value's type; the library has classes of its own for lists and functions."""
    shown = value.original if isinstance(value, HeldText) else value
    plain = next((base for base in (dict, list, bool, int, float, str) if isinstance(shown, base)), None)
    if plain is not None:
        return plain.__name__
    return "function" if type(shown).__module__.startswith("jsonata") else type(shown).__name__
