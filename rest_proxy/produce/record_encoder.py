"""Encoding records: all records of a request or none (v1, v2), or each by itself (v3)."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from magicbyte.kit.errors import ApiError
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import INVALID_SCHEMA, SERIALIZING_FAILED, VALIDATION_UNAVAILABLE
from rest_proxy.exchange.bodies import MISSING
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.plain import DataError, Options
from rest_proxy.formats.ruled import RecordInHand, RuleRefusal
from rest_proxy.formats.schemas import Side, Source
from rest_proxy.formats.writers import Encode, Encoding, MayTakeLong, QuickWriter, Writer
from rest_proxy.produce.loop_producer import Record
from rest_proxy.produce.parts import Producing
from rest_proxy.produce.ruled_records import RefusedRecord, encode_ruled_records
from rest_proxy.produce.time_limit import TimeLimit
from serdes.error import SchemaCompileError, ValidationUnavailable

T = TypeVar("T")


class EncodesValues(Protocol):
    """An encoder of keys or values, such as a `Writer`."""

    @property
    def encode(self) -> Encode:
        """Encodes a value."""

    @property
    def quick(self) -> QuickWriter | None:
        """The part of `encode` for the event loop, if `encode` may take long."""


#: The encoding of keys or values of a request without their schema, which are all null.
_NO_SCHEMA = Encoding(lambda _null: None)


class RecordEncoder:
    """Encodes records for one topic: on the event loop if that is certain to be quick, else on a thread."""

    __slots__ = ("_limit", "_misfit", "_options", "_parts", "_topic")

    def __init__(
        self, parts: Producing, topic: str, options: Options, limit: TimeLimit, misfit: Callable[[str], ApiError]
    ) -> None:
        """Prepare.

        Args:
            parts: The source of writers, and the threads.
            topic: The topic.
            options: How schema data is written in JSON.
            limit: Limits the time on threads.
            misfit: Makes the error for a key or value that its format or schema refuses, from a text with its place.
        """
        self._parts = parts
        self._topic = topic
        self._options = options
        self._limit = limit
        self._misfit = misfit

    def writer(
        self, form: EmbeddedFormat | None, side: str, source: Source, rights: ProxyRights | None
    ) -> Awaitable[Writer]:
        """Find the writer of a schema for the keys or values; see `Schemas.writer`."""
        return self._parts.schemas.writer(form, Side(self._topic, side), source, self._options, rights)

    async def encode_all(
        self, records: Sequence[Any], key: Writer | None, value: Writer | None, *, partition: int, json_size: int
    ) -> list[Record]:
        """Encode all records of a request, whose keys and values are parsed JSON and whose schemas have no rules.

        Args:
            records: The records.
            key: Encodes the keys; None if all are null.
            value: Encodes the values; None if all are null.
            partition: The partition of records that name none; -1 if the partitioner chooses it.
            json_size: The length of the request, in bytes of JSON.

        Raises:
            ApiError: A record is refused: the misfit with its number, INVALID_SCHEMA, VALIDATION_UNAVAILABLE or
                VALIDATION_BUSY.
        """
        encode_key, encode_value = key or _NO_SCHEMA, value or _NO_SCHEMA
        if encode_key.quick is None and encode_value.quick is None:
            return encode_records(records, encode_key.encode, encode_value.encode, self._misfit, partition=partition)

        def encode(encode_key: Encode, encode_value: Encode) -> list[Record]:
            return encode_records(records, encode_key, encode_value, self._misfit, partition=partition)

        return await self._run(encode, (encode_key, encode_value), json_size, len(records))

    async def encode_ruled(
        self, records: Sequence[Any], key: Writer | None, value: Writer | None, *, partition: int, json_size: int
    ) -> list[Record | RefusedRecord]:
        """As `encode_all` if a schema has rules; a refusal is in the place of a record that a rule stops."""
        record = RecordInHand()
        encodings = [_NO_SCHEMA if writer is None else writer.of_record(record) for writer in (key, value)]

        def encode(encode_key: Encode, encode_value: Encode) -> list[Record | RefusedRecord]:
            return encode_ruled_records(
                records, encode_key, encode_value, self._misfit, record=record, partition=partition
            )

        return await self._run(encode, encodings, json_size, len(records))

    async def encode_one(
        self, data: Any, writer: Writer, side: str, json_size: int, record: RecordInHand
    ) -> bytes | None:
        """Encode one key or value.

        Args:
            data: The key or value, as parsed JSON.
            writer: Encodes it.
            side: `key` or `value`.
            json_size: The length of the data, in bytes of JSON.
            record: The rest of its record, as far as it is known.

        Raises:
            ApiError: The data is refused: the misfit, SERIALIZING_FAILED by a rule, INVALID_SCHEMA,
                VALIDATION_UNAVAILABLE or VALIDATION_BUSY.
        """
        try:
            return await self._run(lambda encode: encode(data), (writer.of_record(record),), json_size, 1)
        except RuleRefusal as error:
            raise SERIALIZING_FAILED(detail=str(error)) from None
        except DataError as error:
            raise self._misfit(error.within(side)) from None

    async def _run(self, encode: Callable[..., T], encodings: Sequence[EncodesValues], json_size: int, count: int) -> T:
        """Run a function that encodes `count` values of each of some encodings, which are its arguments."""
        quick = [encoding.quick for encoding in encodings if encoding.quick is not None]
        try:
            if all(part.covers(json_size, count) for part in quick):
                with contextlib.suppress(MayTakeLong):
                    return encode(*map(_on_loop, encodings))
            self._limit.check()
            limited = [self._limit.limited(encoding.encode) for encoding in encodings]
            return await self._parts.threads.run(partial(encode, *limited))
        except SchemaCompileError as error:
            raise INVALID_SCHEMA(detail=error.detail) from None
        except ValidationUnavailable as error:
            raise VALIDATION_UNAVAILABLE(detail=str(error)) from None


def _on_loop(encoding: EncodesValues) -> Encode:
    return encoding.encode if encoding.quick is None else encoding.quick.encode


def encode_records(
    records: Sequence[Any],
    encode_key: Encode,
    encode_value: Encode,
    misfit: Callable[[str], ApiError],
    *,
    partition: int,
    are_texts: bool = False,
) -> list[Record]:
    """Encode all records of a request, without a limit on the time.

    Args:
        records: The records as the request has them.
        encode_key: Encodes a key; raises DataError.
        encode_value: Encodes a value; raises DataError.
        misfit: As for a `RecordEncoder`.
        partition: The partition of records that name none; -1 if the partitioner chooses it.
        are_texts: Whether keys and values are JSON text; if not, they are parsed JSON.

    Raises:
        ApiError: The misfit of a record, with its number.
    """
    # This loop takes most of the time of a large request, so it does little per record.
    missing = MISSING if are_texts else None
    encoded: list[Record] = []
    append = encoded.append
    side = "value"
    try:
        for record in records:
            key = record.key
            if key is missing:
                key = None if are_texts else encode_key(None)
            else:
                side = "key"
                key = encode_key(bytes(key) if are_texts else key)
                side = "value"
            own_partition = record.partition
            value = record.value
            append(
                (
                    key,
                    encode_value(bytes(value) if are_texts else value),
                    partition if own_partition is None else own_partition,
                    0,
                    None,
                )
            )
    except DataError as error:
        raise misfit(error.within(f"records[{len(encoded)}].{side}")) from None
    return encoded
