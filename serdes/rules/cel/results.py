"""Results of expressions as messages of each schema type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.message import Message as ProtobufMessage

from compat.contracts.cel.data.values import from_cel, to_cel
from compat.contracts.cel.errors import EvaluationFailed
from compat.schema import AVRO, JSON, PROTOBUF
from serdes.rules.context import MIGRATION_RULES, RuleContext
from serdes.rules.error import ValueRejected

#: Takes a result and the message before; returns the new message. Parts that are equal to the message's stay as they
#: are. It raises ValueRejected if the result does not fit the schema.
WriteBack = Callable[[Any, Any], Any]


def write_back(context: RuleContext) -> WriteBack:
    """The function from results to messages of a rule's schema; in a migration, to data between two schemas."""
    if context.phase == MIGRATION_RULES:
        return _restored
    return _TYPES[context.ruled.schema.schema_type](context)


def without_names(datum: Any) -> Any:
    """The datum of a migration without the names of branches, which stand in pairs with the values of unions."""
    if isinstance(datum, tuple) and _is_named(datum):
        return without_names(datum[1])
    if isinstance(datum, Mapping):
        return {key: without_names(item) for key, item in datum.items()}
    return [without_names(item) for item in datum] if isinstance(datum, list) else datum


def _is_named(pair: tuple[Any, ...]) -> bool:
    return len(pair) == len(("name", "value")) and isinstance(pair[0], str)


def _json(_: RuleContext) -> WriteBack:
    return _restored


def _protobuf(_: RuleContext) -> WriteBack:
    def written_back(result: Any, original: Any) -> Any:
        from serdes.rules.cel.protobuf import message_of  # noqa: PLC0415  # conditions do not need it

        if not isinstance(original, ProtobufMessage):
            raise ValueRejected(f"a Protobuf message is expected, not {type(original).__name__}", value=original)
        return message_of(result, type(original), "")

    return written_back


def _avro(context: RuleContext) -> WriteBack:
    from serdes.rules.cel.avro import AvroResults  # noqa: PLC0415  # each type loads its own

    return AvroResults(context.parsed()).written_back


def _restored(result: Any, original: Any) -> Any:
    """The result, in which what is equal to the original is the original: real numbers without a fraction stay ints."""
    if (
        isinstance(original, tuple)
        and _is_named(original)
        and isinstance(original[1], Mapping)
        and isinstance(result, dict)
    ):
        inner = _restored(result, original[1])
        return original if inner is original[1] else (original[0], inner)
    if isinstance(result, dict) and isinstance(original, Mapping):
        restored = {key: _restored(item, original[key]) if key in original else item for key, item in result.items()}
        return original if _is_same(restored, original) else restored
    if isinstance(result, list) and isinstance(original, list | tuple) and len(result) == len(original):
        items = [_restored(*pair) for pair in zip(result, original, strict=True)]
        return original if all(item is old for item, old in zip(items, original, strict=True)) else items
    if isinstance(result, bool) != isinstance(original, bool):
        return result
    try:
        return original if result == from_cel(to_cel(original)) else result
    except EvaluationFailed:
        return result


def _is_same(restored: Mapping[Any, Any], original: Mapping[Any, Any]) -> bool:
    return restored.keys() == original.keys() and all(item is original[key] for key, item in restored.items())


_TYPES: Mapping[str, Callable[[RuleContext], WriteBack]] = {AVRO: _avro, JSON: _json, PROTOBUF: _protobuf}
