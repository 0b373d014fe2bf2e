"""The forms in which JSONATA rules see data, by schema type, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from compat.schema import AVRO, PROTOBUF
from serdes.codec.errors import EncodeError
from serdes.codec.schema import parse
from serdes.rules.context import MIGRATION_RULES, RuleContext
from serdes.rules.error import RuleError
from serdes.rules.jsonata.document import datum, document


class Values(NamedTuple):
    """Conversions between data and documents.

    Attributes:
        document: Takes a datum; returns a copy that has JSON values alone.
        datum: Takes a result and the datum before the rule; returns the datum after it.
    """

    document: Callable[[Any], Any]
    datum: Callable[[Any, Any], Any]


def values_of(context: RuleContext) -> Values:
    """The conversions for the data of a rule.

    A migration has values between two schemas, so only what its rules did not touch gets its type back; the reader's
    schema decides at the end.
    """
    schema_type = context.ruled.schema.schema_type
    if context.phase == MIGRATION_RULES:
        return Values(lambda value: document(value, pairs=True), lambda result, _: datum(result))
    if schema_type == AVRO:
        return _avro(context)
    if schema_type == PROTOBUF:
        return Values(protobuf_document, protobuf_message)
    return Values(document, lambda result, _: datum(result))


def _avro(context: RuleContext) -> Values:
    from serdes.rules.jsonata.fit import Fitter  # noqa: PLC0415  other schema types do not need it

    node = parse(context.ruled.schema.text, [dependency.text for dependency in context.ruled.dependencies])
    fitter = Fitter(node, context.mode)

    def fitted(result: Any, _: Any) -> Any:
        try:
            return fitter.fit(result)
        except EncodeError as error:
            raise RuleError(f"the result does not fit the schema: {error}") from error

    return Values(lambda value: document(value, node), fitted)


def protobuf_document(message: Any, *, defaults: bool = True) -> Any:
    """The JSON form of a Protobuf message; with `defaults` it has all fields without presence."""
    from google.protobuf.json_format import MessageToDict  # noqa: PLC0415  other schema types do not need it

    return MessageToDict(message, always_print_fields_with_no_presence=defaults)


def protobuf_message(result: Any, message: Any) -> Any:
    """A new message of another one's type, from its JSON form.

    Raises:
        RuleError: The result is not the JSON form of such a message.
    """
    from google.protobuf.json_format import ParseDict, ParseError  # noqa: PLC0415  as above

    plain = datum(result)
    if not isinstance(plain, dict):
        raise RuleError(f"the result is {type(plain).__name__}, not the JSON object of a message")
    try:
        return ParseDict(plain, type(message)())
    except ParseError as error:
        raise RuleError(
            f"the result is not the JSON form of {message.DESCRIPTOR.full_name}: {_reason(error)}"
        ) from None


def _reason(error: Exception) -> str:
    """The beginning of a parser's text, which names the field; the rest may have the value."""
    text = str(error).split(":", maxsplit=1)[0]
    return text[:200]
