"""The JSON form of Avro's logical types: decimals with all their digits, dates and times in ISO-8601.

All tools use it: `magicbyte produce` and `consume`, the console tools, the REST proxy, the page and Spark's `as_json`.
docs/json-values.md describes it.

A decimal is a text such as "12.50", because many JSON parsers round numbers. A duration is an object such as
`{"months": 1, "days": 2, "milliseconds": 3}`, because its three numbers have no common unit. A stored value that has no
such text, for example a timestamp after the year 9999, stays as it is stored. When encoding, numbers are accepted as
well: digits for a decimal, the stored number for dates and times. The text of a decimal's bytes, as in Avro's own JSON,
is refused, because "12.50" would be both; the settings `avro.logical.types=stored` choose that form.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

from serdes.codec.codec import AvroCodec, decoder, encoder, text_decoder
from serdes.codec.forms.branch import plain_chooser, tag_chooser
from serdes.codec.forms.check import JSON, Check, Unfit
from serdes.codec.forms.form import Form
from serdes.codec.logical import MAX_DIGITS, Convert, preparer, presenter, unscaled_digits
from serdes.codec.resolve.plan import Plan
from serdes.codec.schema import Node

#: The number of schemas whose decoders are cached.
_CACHED = 100
_MILLIS, _MICROS = 1_000, 1_000_000
#: The parts of a duration in their order: unsigned, 4 bytes each, the lowest byte first.
_DURATION = ("months", "days", "milliseconds")
_LARGEST_PART = 2**32 - 1

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
#: The longest text of a decimal: its digits, a sign, a point and an exponent.
_LONGEST = MAX_DIGITS + 20
_NO_DECIMAL = (
    'a decimal is written with its digits, such as "12.50"; with avro.logical.types=stored, as the text of its bytes'
)
#: `fromisoformat` drops digits beyond microseconds.
_TOO_PRECISE = re.compile(r"[.,][0-9]{7}")


def _decimal_text(node: Node) -> Convert | None:
    scale = node.scale
    if scale > MAX_DIGITS:
        return None

    def show(value: bytes) -> str:
        digits = unscaled_digits(value)
        sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
        if not scale:
            return sign + digits
        digits = digits.rjust(scale + 1, "0")
        return f"{sign}{digits[:-scale]}.{digits[-scale:]}"

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


def _duration_parts(value: bytes) -> dict[str, int]:
    return dict(zip(_DURATION, struct.unpack("<3I", value), strict=True))


def _present(plan: Plan) -> Convert | None:
    node = plan.node
    if node.meaning == "duration":
        return _duration_parts
    if node.logical is None or node.logical == "uuid":
        return None
    return _decimal_text(node) if node.logical == "decimal" else _instant_text(node)


def _stored_decimal(node: Node, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unfit
    text = value if isinstance(value, str) else getattr(value, "text", None) or repr(value)
    if len(text) > _LONGEST:
        raise Unfit(f"{len(text)} characters exceed the limit of {MAX_DIGITS} digits")
    if not _DECIMAL.fullmatch(text):
        raise Unfit(_NO_DECIMAL if isinstance(value, str) else "it is no finite number")
    try:
        stored: Any = preparer(node)(Decimal(text))
    except InvalidOperation:
        raise Unfit(f"its exponent exceeds the limit of {MAX_DIGITS} digits") from None
    except ValueError as error:
        raise Unfit(str(error)) from None
    return stored


def _moment(node: Node, value: str) -> date | time_of_day:
    name = str(node.logical)
    if name == "date":
        return date.fromisoformat(value)
    if _TOO_PRECISE.search(value):
        raise Unfit("it is more precise than a microsecond")
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


def _stored_duration(value: dict[str, Any]) -> bytes:
    if set(value) != set(_DURATION):
        raise Unfit("a duration has months, days and milliseconds")
    parts = [value[name] for name in _DURATION]
    if not all(type(part) is int and 0 <= part <= _LARGEST_PART for part in parts):
        raise Unfit(f"the parts of a duration are whole numbers from 0 to {_LARGEST_PART}")
    return struct.pack("<3I", *parts)


def _bytes(check: Check, node: Node, value: Any) -> Any:
    if node.meaning == "duration" and isinstance(value, dict):
        return _stored_duration(value)
    return _stored_decimal(node, value) if node.logical == "decimal" else check(node, value)


#: The checks of parsed JSON in this form.
CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        **JSON,
        **{kind: partial(_integer, JSON[kind]) for kind in ("int", "long")},
        **{kind: partial(_bytes, JSON[kind]) for kind in ("bytes", "fixed")},
    }
)


def readable_form(*, plain: bool, defaults: bool) -> Form:
    """The form: with plain or tagged unions; missing fields with defaults are refused or get them."""
    chooser = partial(plain_chooser, defaults=defaults, checks=CHECKS) if plain else tag_chooser
    return Form(
        CHECKS, chooser, json=True, tagged=not plain, defaults=defaults, closed=True, present=_present, texts=True
    )


@lru_cache(maxsize=_CACHED)
def readable_decoder(codec: AvroCodec, *, plain_unions: bool, most_bytes: int | None = None) -> Callable[..., bytes]:
    """The function from a buffer and an offset to the JSON text in UTF-8; it raises the errors of `text_decoder`.

    Args:
        codec: The writer's codec.
        plain_unions: Whether unions have no tags.
        most_bytes: The most bytes of the text; None for no limit.
    """
    if has_logical_type(codec.schema):
        decode = decoder(codec.plan, readable_form(plain=plain_unions, defaults=False))
        return text_decoder(decode, codec.schema, most_bytes)
    return (
        codec.avro_to_json_bytes if most_bytes is None else text_decoder(codec.avro_to_json, codec.schema, most_bytes)
    )


@lru_cache(maxsize=_CACHED)
def readable_encoder(codec: AvroCodec, *, plain_unions: bool, defaults: bool) -> Callable[..., bytes]:
    """The function from parsed JSON to bytes; it raises EncodeError.

    Args:
        codec: The writer's codec.
        plain_unions: Whether unions have no tags.
        defaults: Whether a missing field gets its default.
    """
    if not has_logical_type(codec.schema):
        return codec.json_to_avro
    return encoder(codec.schema, readable_form(plain=plain_unions, defaults=defaults))


def has_logical_type(root: Node) -> bool:
    """Whether a part of a schema has a logical type with a text of its own."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.logical not in (None, "uuid") or node.meaning == "duration":
            return True
        waiting += [*(field.node for field in node.fields), *node.branches, node.item]
    return False
