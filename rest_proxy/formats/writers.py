"""Encoders and decoders of schema data for requests: null may be a tombstone, and invalid data is a DataError."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from compat.schema import AVRO, SchemaText
from rest_proxy.formats.frame_places import Header
from rest_proxy.formats.plain import DataError
from rest_proxy.formats.ruled import RecordInHand, RuledWriting, RuleRefusal, TopicSide
from serdes.client.flow import Later
from serdes.codec import EncodeError
from serdes.error import PayloadError, SchemaCompileError, SerdesError
from serdes.message.reading import Decode
from serdes.message.writing import Chosen
from serdes.text.form import ERRORS, JSON_TYPES, Unfit

#: Turns parsed JSON into a record's bytes; None is a tombstone.
Encode = Callable[[Any], bytes | None]


class MayTakeLong(Exception):
    """A value must not be encoded on the event loop; `later` continues its encoding."""

    def __init__(self, later: Later) -> None:
        super().__init__()
        self.later = later


class QuickWriter(NamedTuple):
    """The part of a writer for the event loop, if the writer may take long.

    `covers` is called with a total length of JSON and a number of values, and tells whether these are certain to take
    little time. `encode` raises MayTakeLong for a refused value, because explaining the refusal may take long.
    """

    covers: Callable[[int, int], bool]
    encode: Encode


@dataclass(slots=True)
class Null:
    """Whether null is a tombstone: if the settings say so, or once the schema has refused null."""

    is_tombstone: bool

    def refused(self, value: Any, error: Exception) -> bytes | None:
        """Note that the schema refuses null; raises DataError for another value."""
        if value is not None:
            raise _misfit(error) from None
        self.is_tombstone = True
        return None


class Encoding(NamedTuple):
    """The encoding of keys or values; `quick` is the part for the event loop if `encode` may take long."""

    encode: Encode
    quick: QuickWriter | None = None


class Writer(NamedTuple):
    """The writer of a request's keys or values; without `quick`, `encode` never takes long.

    `encode` raises DataError, or SchemaCompileError if the schema only now proves invalid. `header` belongs to each
    record with such a key or value; None if their frames are before the data. `ruled` is None if the schema has no
    rules to carry out; else use `of_record`, whose functions raise RuleRefusal. With `needs_digits`, numbers that have
    more digits than a float keeps must be parsed as `WrittenFloat`.
    """

    schema_id: int
    subject: str
    encode: Encode
    quick: QuickWriter | None
    schema_type: str
    version: int | None
    header: Header | None = None
    ruled: RuledWriting | None = None
    null: Null | None = None
    needs_digits: bool = False

    def of_record(self, record: RecordInHand) -> Encoding:
        """The functions that encode a key or value of a record, of which rules may see more than the value."""
        ruled = self.ruled
        if ruled is None or self.null is None:
            return Encoding(self.encode, self.quick)
        return _of_ruled(ruled, record, self.null)


def writing(
    chosen: Chosen,
    schema: SchemaText,
    version: int | None,
    header_name: str | None,
    place: TopicSide,
    *,
    null_is_tombstone: bool,
) -> Writer:
    """Make the writer for a schema.

    Args:
        chosen: The schema's encoder, id and subject.
        schema: The schema.
        version: The subject's version of the schema.
        header_name: The header for the frame; None if it goes before the data.
        place: Where the data goes.
        null_is_tombstone: Treat null as a tombstone even if the schema accepts null.

    Raises:
        SerializationError: The frame goes into a header, and the registry gave no guid for it.
    """
    assert chosen.id is not None
    header = None if header_name is None else (header_name, chosen.header)
    prefix = chosen.prefix if header is None else b""
    null = Null(is_tombstone=null_is_tombstone)
    ruled, quick = None, None
    if chosen.rules is not None:
        ruled = RuledWriting(chosen.rules, chosen.subject, prefix, place)
        encode, quick = _of_ruled(ruled, RecordInHand(), null)
    elif chosen.encoder.covers is not None:
        quick = QuickWriter(chosen.encoder.covers, _quickly(chosen, prefix, null))
        encode = _or_later(quick.encode, prefix, null)
    else:
        encode = _at_once(chosen, prefix, null)
    return Writer(
        chosen.id,
        chosen.subject,
        encode,
        quick,
        schema.schema_type,
        version,
        header,
        ruled,
        None if ruled is None else null,
        needs_digits=_may_have_decimals(schema),
    )


def _may_have_decimals(schema: SchemaText) -> bool:
    """Tell quickly, without parsing, whether a schema may have a decimal of Avro; most schemas cannot."""
    # A backslash may spell the word with escapes, and references have texts of their own.
    return schema.schema_type == AVRO and (bool(schema.references) or "decimal" in schema.text or "\\" in schema.text)


@dataclass(frozen=True, slots=True)
class _OfRecord:
    """Encodes a key or value of a record, with rules."""

    ruled: RuledWriting
    record: RecordInHand
    null: Null

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value; it may wait."""
        payload = self._encoded(lambda: self.ruled.encode(value, self.record), value)
        encoded: bytes | None = self._encoded(payload.function, value) if isinstance(payload, Later) else payload
        return encoded

    def encode_now(self, value: Any) -> bytes | None:
        """The bytes of a value; raises MayTakeLong."""
        payload: bytes | Later | None = self._encoded(lambda: self.ruled.encode(value, self.record), value)
        if isinstance(payload, Later):
            raise MayTakeLong(payload)
        return payload

    def _encoded(self, function: Callable[[], Any], value: Any) -> Any:
        if value is None and self.null.is_tombstone:
            return None
        try:
            return function()
        except (RuleRefusal, SchemaCompileError):
            raise
        except ERRORS as error:
            return self.null.refused(value, error)


def _of_ruled(ruled: RuledWriting, record: RecordInHand, null: Null) -> Encoding:
    encoding = _OfRecord(ruled, record, null)
    return Encoding(encoding.encode, QuickWriter(ruled.covers, encoding.encode_now))


# The functions below take most of the time of a record, so they do little per record.


def _at_once(chosen: Chosen, prefix: bytes, null: Null) -> Encode:
    convert = chosen.encoder.encode

    def encode(value: Any) -> bytes | None:
        if value is None and null.is_tombstone:
            return None
        try:
            return prefix + convert(value)  # type: ignore[no-any-return]
        except ERRORS as error:
            return null.refused(value, error)

    return encode


def _quickly(chosen: Chosen, prefix: bytes, null: Null) -> Encode:
    convert = chosen.encoder.encode

    def encode(value: Any) -> bytes | None:
        if value is None and null.is_tombstone:
            return None
        try:
            payload = convert(value)
        except ERRORS as error:
            return null.refused(value, error)
        if payload.__class__ is Later:
            raise MayTakeLong(payload)
        return prefix + payload  # type: ignore[no-any-return]

    return encode


def _or_later(encode: Encode, prefix: bytes, null: Null) -> Encode:
    def encode_or_wait(value: Any) -> bytes | None:
        try:
            return encode(value)
        except MayTakeLong as error:
            later = error.later
        try:
            return prefix + later.function()  # type: ignore[no-any-return]
        except SchemaCompileError:
            raise
        except ERRORS as error:
            return null.refused(value, error)

    return encode_or_wait


def reading(decode: Decode) -> Callable[[bytes, int], bytes]:
    """Make a decoder that turns a message, from the offset of its payload, into JSON text, or raises DataError."""

    def read(message: bytes, offset: int) -> bytes:
        try:
            text: bytes = decode(message, offset)
        except PayloadError as error:
            raise DataError("", error.problem) from None
        except (SerdesError, *ERRORS) as error:
            raise DataError("", str(error)) from None
        return text

    return read


def _misfit(error: Exception) -> DataError:
    """The API's error for a value that the schema refuses."""
    if isinstance(error, Unfit):
        return DataError("", error.said)
    path = str(getattr(error, "path", "")).removeprefix("$").removeprefix(".")
    if isinstance(error, EncodeError):
        detail = f" ({error.detail})" if error.detail else ""
        value_type = JSON_TYPES.get(error.value_type, error.value_type)
        return DataError(path, f"expected {error.expected}, got {value_type}{detail}")
    refusal = getattr(error, "refusal", None)
    return DataError(path, str(error) if refusal is None else refusal.reason)
