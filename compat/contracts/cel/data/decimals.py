"""Decimals as the engine carries them: messages of type `confluent.type.Decimal`."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool

from compat.contracts.cel.errors import EvaluationFailed

DECIMAL = "confluent.type.Decimal"
#: The digits that a decimal may have; conversions to bytes and back are quadratic.
DIGITS = 4300
#: The scale that a decimal may have, and its negative; so no sum of two decimals has many more digits.
SCALE = 10_000
#: Arithmetic that drops no digit.
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_FIELD = descriptor_pb2.FieldDescriptorProto
_FIELDS = (("value", _FIELD.TYPE_BYTES), ("precision", _FIELD.TYPE_UINT32), ("scale", _FIELD.TYPE_INT32))


@cache
def decimal_pool() -> DescriptorPool:
    """The pool of expressions that need no other messages."""
    return with_decimal(DescriptorPool())


def with_decimal(pool: DescriptorPool) -> DescriptorPool:
    """A pool, to which the type of decimals is added if it lacks it."""
    try:
        pool.FindMessageTypeByName(DECIMAL)
    except KeyError:
        pool.AddSerializedFile(_decimal_file())
    return pool


def decimal_message(value: Decimal) -> Any:
    """The message of a decimal.

    Raises:
        EvaluationFailed: It is not finite, or too long.
    """
    if not value.is_finite():
        raise EvaluationFailed("a decimal that is not finite has no form in CEL")
    exponent = int(value.as_tuple().exponent)
    digits = value.adjusted() - exponent + 1
    if digits > DIGITS or abs(exponent) > SCALE:
        raise EvaluationFailed("a decimal with too many digits, or with too large an exponent, has no form in CEL")
    unscaled = int(value.scaleb(-exponent, EXACT))
    length = (unscaled.bit_length() + 8) // 8
    return _decimal_class()(value=unscaled.to_bytes(length, "big", signed=True), precision=digits, scale=-exponent)


def is_decimal(value: Any) -> bool:
    """Whether a value of the engine is a decimal."""
    return getattr(getattr(value, "DESCRIPTOR", None), "full_name", None) == DECIMAL


def decimal_of(message: Any) -> Decimal:
    """The decimal of a message."""
    return Decimal(int.from_bytes(message.value, "big", signed=True)).scaleb(-message.scale, EXACT)


def _decimal_file() -> bytes:
    file = descriptor_pb2.FileDescriptorProto(
        name="confluent/type/decimal.proto", package="confluent.type", syntax="proto3"
    )
    message = file.message_type.add(name="Decimal")
    for number, (name, scalar) in enumerate(_FIELDS, start=1):
        message.field.add(name=name, number=number, type=scalar, label=_FIELD.LABEL_OPTIONAL)
    return file.SerializeToString()


@cache
def _decimal_class() -> Any:
    return message_factory.GetMessageClass(decimal_pool().FindMessageTypeByName(DECIMAL))
