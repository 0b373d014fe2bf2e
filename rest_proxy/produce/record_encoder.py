"""Encoding records: all records of a request or none (v1, v2), or each by itself (v3)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from magicbyte.kit.errors import ApiError
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import INVALID_SCHEMA, VALIDATION_UNAVAILABLE
from rest_proxy.exchange.bodies import MISSING
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.plain import DataError, Options
from rest_proxy.formats.schemas import Side, Source
from rest_proxy.formats.writers import Encode, MayTakeLong, QuickWriter, Writer
from rest_proxy.produce.lane import Record
from rest_proxy.produce.parts import Producing
from rest_proxy.produce.time_limit import TimeLimit
from serdes.error import SchemaCompileError, ValidationUnavailable

T = TypeVar("T")


class Encoding(NamedTuple):
    """How keys or values become bytes; `quick` is the part for the event loop, if `encode` may take long."""

    encode: Encode
    quick: QuickWriter | None = None

    @property
    def on_loop(self) -> Encode:
        """The function for the event loop; raises MayTakeLong if another thread has to encode a value."""
        return self.encode if self.quick is None else self.quick.encode


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

    async def writer(
        self, form: EmbeddedFormat | None, side: str, source: Source, rights: ProxyRights | None
    ) -> Writer:
        """Find the writer of a schema for the keys or values; see `Schemas.writer`."""
        return await self._parts.schemas.writer(form, Side(self._topic, side), source, self._options, rights)

    async def encode_all(
        self,
        records: Sequence[Any],
        key: Encoding,
        value: Encoding,
        *,
        partition: int | None,
        json_size: int,
        are_texts: bool,
    ) -> list[Record]:
        """Encode all records of a request.

        Args:
            records: The records as the request has them.
            key: Encodes the keys.
            value: Encodes the values.
            partition: The partition of records that name none.
            json_size: The length of the request, in bytes of JSON.
            are_texts: Whether keys and values are JSON text; if not, they are parsed JSON.

        Raises:
            ApiError: A record is refused: the misfit with its number, INVALID_SCHEMA, VALIDATION_UNAVAILABLE or
                VALIDATION_BUSY.
        """
        encode = partial(self._all, records, partition=-1 if partition is None else partition, are_texts=are_texts)
        return await self._run(encode, (key, value), json_size, len(records))

    async def encode_one(self, data: Any, encoding: Encoding, side: str, json_size: int) -> bytes | None:
        """Encode one key or value.

        Args:
            data: The key or value, as `encoding` takes it.
            encoding: How to encode it.
            side: `key` or `value`.
            json_size: The length of the data, in bytes of JSON.

        Raises:
            ApiError: The data is refused: the misfit, INVALID_SCHEMA, VALIDATION_UNAVAILABLE or VALIDATION_BUSY.
        """
        try:
            return await self._run(lambda encode: encode(data), (encoding,), json_size, 1)
        except DataError as error:
            raise self._misfit(error.within(side)) from None

    async def _run(self, encode: Callable[..., T], encodings: Sequence[Encoding], json_size: int, count: int) -> T:
        """Run a function that encodes `count` values of each of some encodings, which are its arguments."""
        slow = [encoding.quick for encoding in encodings if encoding.quick is not None]
        if not slow:
            return encode(*(encoding.encode for encoding in encodings))
        try:
            if all(quick.covers(json_size, count) for quick in slow):
                with contextlib.suppress(MayTakeLong):
                    return encode(*(encoding.on_loop for encoding in encodings))
            self._limit.check()
            limited = [self._limit.limited(encoding.encode) for encoding in encodings]
            return await self._parts.threads.run(partial(encode, *limited))
        except SchemaCompileError as error:
            raise INVALID_SCHEMA(detail=error.detail) from None
        except ValidationUnavailable as error:
            raise VALIDATION_UNAVAILABLE(detail=str(error)) from None

    def _all(
        self, records: Sequence[Any], encode_key: Encode, encode_value: Encode, *, partition: int, are_texts: bool
    ) -> list[Record]:
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
            raise self._misfit(error.within(f"records[{len(encoded)}].{side}")) from None
        return encoded
