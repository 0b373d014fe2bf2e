"""Remarks on a JSON message: keys that an object has twice, and the schema's refusal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from serdes.error import SchemaCompileError, ValidationUnavailable
from serdes.json_bytes import loads
from serdes.message.config import DeserializerConfig, JSONDeserializerConfig
from serdes.message.reading import Resolved
from serdes.text.form import TextOptions
from serdes.text.remark import Examine, Remarks
from serdes.validation.refusal import ValueRefused, data_path
from serdes.validation.validator import JsonValidator

Path = tuple[str | int, ...]


def examiner(
    writer: Resolved,
    reader: Resolved | None,
    config: DeserializerConfig,
    options: TextOptions,  # noqa: ARG001  # the signature of all types
) -> Examine:
    """The examiner of the messages of a schema."""
    assert isinstance(config, JSONDeserializerConfig)
    schema, dependencies = reader or writer
    try:
        validator: JsonValidator | None = JsonValidator(schema.text, dependencies, config.dialect)
        problem = ""
    except SchemaCompileError as error:
        validator, problem = None, str(error)

    def examine(message: bytes, offset: int) -> Remarks:
        remarks = Remarks()
        text = message[offset:] or b"null"
        _add_double_keys(text, remarks)
        if validator is None:
            remarks.add("$", "not-examined", f"the value was not validated: {problem}")
        else:
            _add_violation(validator, text, remarks)
        return remarks

    return examine


def _add_violation(validator: JsonValidator, text: bytes, remarks: Remarks) -> None:
    try:
        validator.check(loads(text.decode()), text)
    except ValueRefused as error:
        remarks.add(error.path, "violation", error.refusal.reason)
    except (SchemaCompileError, ValidationUnavailable, RecursionError, ValueError) as error:
        remarks.add("$", "not-examined", f"the value was not validated: {error}")


class _Pairs(tuple[tuple[str, Any], ...]):
    """The members of an object, which is a part of the value where an array is a list."""

    __slots__ = ()


def _add_double_keys(text: bytes, remarks: Remarks) -> None:
    has_double = False

    def members(pairs: list[tuple[str, Any]]) -> _Pairs:
        nonlocal has_double
        has_double = has_double or len(dict(pairs)) < len(pairs)
        return _Pairs(pairs)

    try:
        # Numbers do not matter, and long ones would take long.
        value = json.loads(text, object_pairs_hook=members, parse_int=_skip, parse_float=_skip, parse_constant=_skip)
    except RecursionError:
        remarks.add("$", "not-examined", "the value was not searched for double keys: it is nested too deeply")
        return
    if has_double:
        for path, count in _double_keys(value):
            problem = f"the object has this key {count} times; most readers use the last of its values"
            remarks.add(data_path(path), "double-key", problem)


def _skip(_number: str) -> None:
    return None


def _double_keys(value: Any) -> Iterator[tuple[Path, int]]:
    """The paths of keys that an object has more than once, in the order of the text, and how many times it has them."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, part = stack.pop()
        inner: list[tuple[Path, Any]] = []
        if isinstance(part, _Pairs):
            counts: dict[str, int] = {}
            for key, member in part:
                counts[key] = counts.get(key, 0) + 1
                inner.append(((*path, key), member))
            yield from (((*path, key), count) for key, count in counts.items() if count > 1)
        elif isinstance(part, list):
            inner = [((*path, index), member) for index, member in enumerate(part)]
        stack.extend(reversed([(at, member) for at, member in inner if isinstance(member, (_Pairs, list))]))
