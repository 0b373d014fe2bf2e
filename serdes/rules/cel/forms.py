"""The form in which an expression sees messages of each schema type, and how its results become messages again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from google.protobuf.message import Message as ProtobufMessage

from compat.schema import AVRO, JSON, PROTOBUF
from serdes.rules.context import RuleContext
from serdes.rules.error import ValueRejected


class MessageForm(Protocol):
    """Messages of one schema, as expressions see them."""

    def viewer(self, names: frozenset[str] | None) -> Callable[[Any], Any]:
        """The function from a message to what an expression sees.

        Args:
            names: The fields that the expression reads; None if it reads the whole message.
        """

    def written_back(self, result: Any, original: Any) -> Any:
        """The message for an expression's result; parts that are equal to the original stay the original's.

        Raises:
            ValueRejected: The result does not fit the schema.
        """


def message_form(context: RuleContext) -> MessageForm:
    """The form of the messages of a rule's schema.

    Raises:
        InvalidSchema: The schema's text cannot be parsed.
    """
    return _FORMS[context.ruled.schema.schema_type](context)


@dataclass(frozen=True, slots=True)
class JsonForm:
    """JSON, as it is parsed."""

    def viewer(self, names: frozenset[str] | None) -> Callable[[Any], Any]:  # noqa: ARG002  # as MessageForm
        """The message itself."""
        return lambda datum: datum

    def written_back(self, result: Any, original: Any) -> Any:
        """The result as it is."""
        return original if _same(result, original) else result


@dataclass(frozen=True, slots=True)
class ProtobufForm:
    """Protobuf messages, as they are."""

    def viewer(self, names: frozenset[str] | None) -> Callable[[Any], Any]:  # noqa: ARG002  # as MessageForm
        """The message itself."""
        return lambda datum: datum

    def written_back(self, result: Any, original: Any) -> Any:
        """A new message from a map, or the message that the result is."""
        from serdes.rules.cel.protobuf import message_of  # noqa: PLC0415  # conditions do not need it

        if not isinstance(original, ProtobufMessage):
            raise ValueRejected(f"a Protobuf message is expected, not {type(original).__name__}", value=original)
        return message_of(result, type(original), "")


def _avro(context: RuleContext) -> MessageForm:
    from serdes.rules.cel.avro import avro_form  # noqa: PLC0415  # each type loads its own

    return avro_form(context)


def _same(result: Any, original: Any) -> bool:
    """Whether two values of JSON are equal, and so are their types: True is not 1."""
    if type(result) is not type(original):
        return False
    if isinstance(result, dict):
        return result.keys() == original.keys() and all(_same(result[key], original[key]) for key in result)
    if isinstance(result, list):
        return len(result) == len(original) and all(map(_same, result, original))
    return bool(result == original)


_FORMS: Mapping[str, Callable[[RuleContext], MessageForm]] = {
    AVRO: _avro,
    JSON: lambda _: JsonForm(),
    PROTOBUF: lambda _: ProtobufForm(),
}
