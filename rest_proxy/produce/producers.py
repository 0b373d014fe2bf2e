"""The proxy's Kafka producers, with one limit on the size of records and one on undelivered bytes.

Each `acks` has a producer that sends records at once, and one that gathers them for a moment, for the batches of many
clients at the same time. An idempotent producer has at most five requests to a broker under way, and librdkafka's
thread spins when more records wait: with 32 clients it takes more CPU than the rest of the request, and gathering
makes them faster. A single client would wait longer.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial

from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy.errors import RECORD_TOO_LARGE
from rest_proxy.formats.frame_places import Headers
from rest_proxy.metrics import PRODUCE, RECORDS
from rest_proxy.produce.budget import Budget
from rest_proxy.produce.loop_producer import LoopProducer, Record
from rest_proxy.produce.sent import Batch, SentRecord
from rest_proxy.produce.trace_headers import traced_records

log = logging.getLogger("rest_proxy.produce.producers")

#: The memory for an undelivered record besides key and value: librdkafka's message, our callback and its outcome.
RECORD_OVERHEAD = 512


#: With so many batches under way, the next ones go to the producer that gathers, for so many seconds: clients that are
#: answered together send together, so there are few under way for a moment.
_MANY = 16
_GATHERING_SECONDS = 0.01
#: How long that one gathers, in ms. librdkafka rounds the time up to a whole ms if nothing else wakes it.
_GATHERING: kafka.Config = {"linger.ms": 0.2}


class Producers:
    """Sends records with the `acks` of a request: at most two producers for each, made on first use."""

    def __init__(
        self,
        config: Callable[[str], kafka.Config],
        *,
        buffer_memory: int,
        max_record_bytes: int,
        trace_headers: bool = False,
    ) -> None:
        """Prepare the producers without connecting.

        Args:
            config: Returns librdkafka's configuration for `0`, `1` or `all`.
            buffer_memory: The limit on undelivered bytes.
            max_record_bytes: The largest sum of a record's key and value, in bytes.
            trace_headers: Whether records get the headers of their request's trace.
        """
        self._config = config
        self._trace_headers = trace_headers
        self._max_record_bytes = max_record_bytes
        self._producers: dict[tuple[str, bool], LoopProducer] = {}
        #: By `acks`: not if the settings say how long to wait for more records.
        self._may_gather: dict[str, bool] = {}
        self._gathering_until = 0.0
        self.budget = Budget(buffer_memory)
        #: The producers that create no topics, made on first use.
        self._of_existing_topics: Producers | None = None

    def of_sender(self, *, may_create: bool) -> Producers:
        """Return the producers for a sender: those of a sender that may not create topics do not create any.

        Brokers create a topic for a producer that asks for it, whoever has deleted it a moment before. The two share
        one budget of memory.
        """
        if may_create:
            return self
        if self._of_existing_topics is None:
            existing = Producers(
                self._config_without_creation,
                buffer_memory=0,
                max_record_bytes=self._max_record_bytes,
                trace_headers=self._trace_headers,
            )
            existing.budget = self.budget
            self._of_existing_topics = existing
        return self._of_existing_topics

    def _config_without_creation(self, acks: str) -> kafka.Config:
        return {**self._config(acks), "allow.auto.create.topics": False}

    def send_batch(self, topic: str, records: Sequence[Record], acks: str, form: str) -> Batch:
        """Queue all records or none.

        Args:
            topic: The topic.
            records: The records.
            acks: `0`, `1` or `all`.
            form: The name of their format.

        Raises:
            ApiError: RECORD_TOO_LARGE, which names the record; BUFFER_FULL.
        """
        if self._trace_headers:
            records = traced_records(records)
        sizes = [
            (len(key) if key else 0) + (len(value) if value else 0) + (_size_of_headers(headers) if headers else 0)
            for key, value, _, _, headers in records
        ]
        largest = max(sizes)
        if largest > self._max_record_bytes:
            raise self._too_large(f"records[{sizes.index(largest)}]", largest)
        data_bytes = sum(sizes)
        size = data_bytes + RECORD_OVERHEAD * len(sizes)
        self.budget.take(size)
        try:
            producer = self._producer_of_batches(acks)
        except BaseException:
            self.budget.give_back(size)
            raise
        batch = Batch(len(records), size, producer, RECORDS.tally(PRODUCE, form, topic), data_bytes)
        send, settle = producer.send, batch.settle
        for index, record in enumerate(records):
            send(topic, record, partial(settle, index))
        return batch

    def send(
        self, topic: str, record: Record, size: int, acks: str, on_settled: Callable[[], None], form: str
    ) -> SentRecord:
        """Queue one record.

        Args:
            topic: The topic.
            record: The record.
            size: `size_of` the record.
            acks: `0`, `1` or `all`.
            on_settled: Called on the event loop when the record is settled, after this method has returned.
            form: The name of the value's format.

        Raises:
            ApiError: BUFFER_FULL, unless the budget has had room for the size.
        """
        self.budget.take(size)
        try:
            producer = self._producer(acks)
        except BaseException:
            self.budget.give_back(size)
            raise
        sent = SentRecord(size, producer, on_settled, RECORDS.tally(PRODUCE, form, topic), size - RECORD_OVERHEAD)
        if self._trace_headers:
            (record,) = traced_records((record,))
        producer.send(topic, record, sent.settle)
        return sent

    def size_of(self, record: Record) -> int:
        """The memory for an undelivered record, in bytes.

        Raises:
            ApiError: RECORD_TOO_LARGE.
        """
        key, value, _, _, headers = record
        size = (len(key) if key else 0) + (len(value) if value else 0)
        if headers:
            size += _size_of_headers(headers)
        if size > self._max_record_bytes:
            raise self._too_large("The message", size)
        return size + RECORD_OVERHEAD

    def _too_large(self, what: str, size: int) -> ApiError:
        return RECORD_TOO_LARGE(
            detail=f"{what} is {size} bytes when serialized which is larger than {self._max_record_bytes}, which is "
            "the value of the max.request.size configuration."
        )

    def _producer_of_batches(self, acks: str) -> LoopProducer:
        """The producer for a batch; one that gathers if there are many batches, unless the settings say how long."""
        producer = self._producer(acks)
        gathering = self._producers.get((acks, True))
        now = producer.loop.time()
        if producer.under_way + (gathering.under_way if gathering else 0) >= _MANY and self._may_gather[acks]:
            self._gathering_until = now + _GATHERING_SECONDS
        return self._producer(acks, gathers=True) if now < self._gathering_until else producer

    def _producer(self, acks: str, *, gathers: bool = False) -> LoopProducer:
        producer = self._producers.get((acks, gathers))
        if producer is not None and producer.fatal is not None:
            log.error(
                "the producer with acks=%s is replaced after a fatal error: %s",
                acks,
                producer.fatal,
                extra={"event": "producer_replaced", "acks": acks, "error": producer.fatal},
            )
            threading.Thread(target=producer.close, args=(0.0,), daemon=True).start()
            producer = None
        if producer is None:
            config = self._config(acks)
            self._may_gather[acks] = config["linger.ms"] == 0
            config |= _GATHERING if gathers else {}
            loop = asyncio.get_running_loop()
            producer = self._producers[acks, gathers] = LoopProducer(
                config, loop, self.budget.give_back, gathers=gathers
            )
        return producer

    async def close(self, seconds: float) -> None:
        """Wait up to `seconds` for queued records, and close the producers."""
        loop = asyncio.get_running_loop()
        producers, self._producers = list(self._producers.values()), {}
        if self._of_existing_topics is not None:
            producers += self._of_existing_topics._producers.values()  # noqa: SLF001  its own class
        closing = (loop.run_in_executor(None, producer.close, seconds) for producer in producers)
        unsettled = sum(await asyncio.gather(*closing))
        if unsettled:
            log.warning(
                "%d records had no delivery report at the stop",
                unsettled,
                extra={"event": "records_unsettled", "records": unsettled},
            )


def _size_of_headers(headers: Headers) -> int:
    return sum(len(name) + (len(content) if content else 0) for name, content in headers)
