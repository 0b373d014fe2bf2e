"""Producing a batch of records (v3): each entry succeeds or fails by itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson
from msgspec import Raw, Struct
from msgspec.json import Decoder

from magicbyte.kit.errors import ApiError
from magicbyte.kit.sharing.deadlines import Deadlines
from rest_proxy.errors import INVALID_BATCH, OUTCOME_UNKNOWN, RATE_EXCEEDED, undelivered
from rest_proxy.exchange import bodies
from rest_proxy.exchange.kafka_span import produce_span
from rest_proxy.metrics import PRODUCE, RECORDS, REFUSED
from rest_proxy.produce.entry import BatchEntry, data_form
from rest_proxy.produce.entry_encoder import Encoded, EntryEncoder
from rest_proxy.produce.producers import Producers
from rest_proxy.produce.rate_limit import ProduceRates
from rest_proxy.produce.report import Reports, code_and_message
from rest_proxy.produce.sent import SentRecord, unknown_outcome

_ID = re.compile(r"[0-9A-Za-z_-]{1,80}")


class _Body(Struct, forbid_unknown_fields=True):
    entries: list[BatchEntry] | None = None


class _RawBody(Struct):
    entries: list[Raw]


_BODY = bodies.reader_of(_Body)
_RAW_BODY = Decoder(_RawBody)


def read_batch(body: bytes, max_entries: int) -> Sequence[BatchEntry]:
    """The entries of a body.

    Raises:
        ApiError: INVALID_BATCH for a fault of the batch; 400 or 422 for a fault in an entry's shape.
    """
    if bodies.is_null(body):
        raise INVALID_BATCH(detail="Request body is empty. Data is required.")
    entries: list[BatchEntry] | None = bodies.read(_BODY, body).entries
    if not entries:
        raise INVALID_BATCH(detail="Empty batch.")
    if len(entries) > max_entries:
        raise INVALID_BATCH(detail="Too many entries in batch.")
    for entry in entries:
        if not (isinstance(entry.id, str) and _ID.fullmatch(entry.id)):
            raise INVALID_BATCH(detail="Batch entry identifier is not a valid string.")
    if len({entry.id for entry in entries}) < len(entries):
        raise INVALID_BATCH(detail="Batch entry IDs are not distinct.")
    for entry in entries:
        for side, data in (("key", entry.key), ("value", entry.value)):
            if data is not None:
                data_form(data, side)
    return entries


def sizes_of(body: bytes) -> list[int]:
    """The length of each entry's JSON in a body that `read_batch` has read, in bytes."""
    return [len(bytes(entry)) for entry in _RAW_BODY.decode(body).entries]


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """One batch.

    Attributes:
        producers: Send the records.
        encoder: Encodes them.
        reports: Writes their reports.
        rates: The limits on the rate of all streams and batches; None for none.
        topic: The topic.
        acks: `0`, `1` or `all`.
        timeout_ms: How long the answer waits for the brokers.
        deadlines: End that time.
    """

    producers: Producers
    encoder: EntryEncoder
    reports: Reports
    rates: ProduceRates | None
    topic: str
    acks: str
    timeout_ms: int
    deadlines: Deadlines

    async def produce(self, entries: Sequence[BatchEntry], sizes: Iterable[int]) -> bytes:
        """Send the entries; returns the answer.

        Args:
            entries: The entries.
            sizes: The length of each entry's JSON, in bytes.
        """
        settled = asyncio.Event()
        with produce_span(self.topic, len(entries)):
            results = [await self._send(entry, size, settled) for entry, size in zip(entries, sizes, strict=False)]
            await self._until_settled([result[0] for result in results if not isinstance(result, ApiError)], settled)
        successes, failures = list[bytes](), list[bytes]()
        for entry, result in zip(entries, results, strict=True):
            name = orjson.dumps(entry.id)
            if not isinstance(result, ApiError) and result[0].message is not None:
                successes.append(b'{"id":%b,%b' % (name, self.reports.arrived(*result)))
            else:
                code, message = code_and_message(self._failure(result))
                failures.append(b'{"id":%b,"error_code":%d,"message":%b}' % (name, code, orjson.dumps(message)))
        return b'{"successes":[%b],"failures":[%b]}' % (b",".join(successes), b",".join(failures))

    async def _send(
        self, entry: BatchEntry, json_size: int, settled: asyncio.Event
    ) -> tuple[SentRecord, Encoded] | ApiError:
        try:
            if self.rates is not None and not self.rates.allow(json_size):
                raise RATE_EXCEEDED()
            encoded = await self.encoder.encode(entry)
            record = encoded.record
            size = self.producers.size_of(record)
            return self.producers.send(self.topic, record, size, self.acks, settled.set, encoded.form), encoded
        except ApiError as error:
            RECORDS.tally(PRODUCE, "none", self.topic).add(REFUSED)
            return error

    async def _until_settled(self, records: Sequence[SentRecord], settled: asyncio.Event) -> None:
        """Wait for all outcomes, but not longer than the timeout."""
        is_late = False

        def give_up() -> None:
            nonlocal is_late
            is_late = True
            settled.set()

        deadline = self.deadlines.after(self.timeout_ms / 1000, give_up)
        try:
            while not is_late and not all(record.is_settled for record in records):
                settled.clear()
                await settled.wait()
        finally:
            deadline.cancel()

    def _failure(self, result: tuple[SentRecord, Encoded] | ApiError) -> ApiError:
        if isinstance(result, ApiError):
            return result
        sent, _ = result
        if sent.error is not None:
            return undelivered(sent.error)
        RECORDS.count_unknown_outcomes(1)
        return OUTCOME_UNKNOWN(detail=unknown_outcome(self.timeout_ms)[3])
