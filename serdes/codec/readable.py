"""Avro JSON for people: decimals with all their digits, dates and times in ISO-8601.

A decimal is a text such as "12.50", because many JSON parsers round numbers. A stored value that has no such text, for
example a timestamp after the year 9999, stays as it is stored. When encoding, both forms are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Self

from serdes.codec.codec import AvroCodec, decoder
from serdes.codec.decode.plan import Plan
from serdes.codec.encode import walk as encode_walk
from serdes.codec.encode.branch import plain_chooser, tag_chooser
from serdes.codec.encode.check import JSON, Check, Unfit
from serdes.codec.errors import DecodeError
from serdes.codec.form import Form
from serdes.codec.logical import MAX_POWER, Convert, preparer, presenter
from serdes.codec.schema import Node

#: The number of schemas whose decoders are cached.
_CACHED = 100
_MILLIS, _MICROS = 1_000, 1_000_000


class WrittenFloat(float):
    """A number with a fraction or an exponent, with its text, for `json.loads(parse_float=)`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Keep the text beside the number."""
        number = super().__new__(cls, text)
        number.text = text
        return number


def _decimal_text(node: Node) -> Convert | None:
    if node.scale > MAX_POWER:
        return None

    def show(value: bytes) -> str:
        unscaled = int.from_bytes(value, "big", signed=True)
        # Not `str(int)`, which refuses more than 4300 digits.
        digits = format(Decimal(abs(unscaled)), "f").rjust(node.scale + 1, "0")
        whole, fraction = digits[: len(digits) - node.scale], digits[len(digits) - node.scale :]
        return f"{'-' if unscaled < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"

    return show


def _instant_text(node: Node) -> Convert:
    present = presenter(node)
    digits = "milliseconds" if str(node.logical).endswith("millis") else "microseconds"

    def show(value: int) -> Any:
        try:
            moment = present(value)
        except (ValueError, OverflowError):
            return value
        if isinstance(moment, datetime | time_of_day):
            return moment.isoformat(timespec=digits).replace("+00:00", "Z")
        return moment.isoformat()

    return show


def _present(plan: Plan) -> Convert | None:
    node = plan.node
    if node.logical is None or node.logical == "uuid":
        return None
    return _decimal_text(node) if node.logical == "decimal" else _instant_text(node)


def _stored_decimal(node: Node, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unfit
    try:
        number = Decimal(getattr(value, "text", None) or (repr(value) if isinstance(value, float) else value))
    except InvalidOperation:
        raise Unfit('a decimal is written with its digits, such as "12.50"') from None
    if not number.is_finite():
        raise Unfit("it is no finite number")
    try:
        stored: Any = preparer(node)(number)
    except ValueError as error:
        raise Unfit(str(error)) from None
    return stored


def _moment(node: Node, value: str) -> date | time_of_day:
    name = str(node.logical)
    if name == "date":
        return date.fromisoformat(value)
    moment = time_of_day.fromisoformat(value) if name.startswith("time-") else datetime.fromisoformat(value)
    if (moment.tzinfo is not None) != name.startswith("timestamp-"):
        raise Unfit(f"{name} is written {'with' if name.startswith('timestamp-') else 'without'} a zone, such as Z")
    if name.endswith("millis") and moment.microsecond % _MILLIS:
        raise Unfit("it is more precise than a millisecond")
    return moment


def _stored_moment(node: Node, value: str) -> Any:
    try:
        return preparer(node)(_moment(node, value))
    except Unfit:
        raise
    except (ValueError, OverflowError) as error:
        raise Unfit(f"it is no {node.logical} in ISO-8601: {error}") from None


def _integer(check: Check, node: Node, value: Any) -> Any:
    if node.logical and isinstance(value, str):
        value = _stored_moment(node, value)
    return check(node, value)


def _bytes(check: Check, node: Node, value: Any) -> Any:
    return _stored_decimal(node, value) if node.logical == "decimal" else check(node, value)


_CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        **JSON,
        **{kind: partial(_integer, JSON[kind]) for kind in ("int", "long")},
        **{kind: partial(_bytes, JSON[kind]) for kind in ("bytes", "fixed")},
    }
)


def _form(*, plain: bool, defaults: bool) -> Form:
    chooser = partial(plain_chooser, defaults=defaults, checks=_CHECKS) if plain else tag_chooser
    return Form(_CHECKS, chooser, json=True, tagged=not plain, defaults=defaults, closed=True, present=_present)


@lru_cache(maxsize=_CACHED)
def readable_decoder(codec: AvroCodec, *, plain_unions: bool) -> Callable[[bytes, int], bytes]:
    """The function from a buffer and an offset to the JSON text in UTF-8; it raises DecodeError.

    Args:
        codec: The writer's codec.
        plain_unions: Whether unions have no tags.
    """
    import orjson  # noqa: PLC0415  (as in the codec: its import is slow)

    decode, words = decoder(codec.plan, _form(plain=plain_unions, defaults=False)), codec.schema.words()

    def show(buffer: bytes, offset: int = 0) -> bytes:
        value = decode(buffer, offset)
        try:
            return orjson.dumps(value)
        except orjson.JSONEncodeError as error:
            raise DecodeError("$", offset, words, f"no JSON: {error}") from None

    return show


def readable_encoder(codec: AvroCodec, *, plain_unions: bool, defaults: bool) -> Callable[[Any], bytes]:
    """The function from parsed JSON to bytes; it raises EncodeError.

    Args:
        codec: The writer's codec.
        plain_unions: Whether unions have no tags.
        defaults: Whether a missing field gets its default.
    """
    form = _form(plain=plain_unions, defaults=defaults)
    return lambda value: encode_walk.encode(codec.schema, value, form)
