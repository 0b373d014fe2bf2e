"""Records on their way to the brokers, and their outcomes: the batch of a request, and a single record."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import count

from confluent_kafka import KafkaError, Message

from rest_proxy.errors import OUTCOME_UNKNOWN, delivery_error
from rest_proxy.exchange.dialect import Failed, Outcome
from rest_proxy.metrics import ACKNOWLEDGED, FAILED, RECORDS, UNKNOWN, RecordTally
from rest_proxy.produce.loop_producer import LoopProducer


class Batch:
    """The records of a v1 or v2 request, which are answered together.

    Attributes:
        outcomes: In the order of the records; None for a record that is not settled.
        done: Set when all records are settled, or when nobody waits for the others any more.
        is_late: Whether nobody waits any more.
    """

    __slots__ = (
        "_bytes",
        "_has_errors",
        "_number",
        "_producer",
        "_started",
        "_tally",
        "_was_never_sent",
        "done",
        "is_late",
        "outcomes",
        "size",
    )

    def __init__(self, length: int, size: int, producer: LoopProducer, tally: RecordTally, data_bytes: int) -> None:
        """Expect the outcomes of records.

        Args:
            length: How many records there are.
            size: The bytes that are reserved for them.
            producer: Sends them.
            tally: Counts them.
            data_bytes: The bytes of their keys and values.
        """
        self._tally = tally
        self._bytes = data_bytes
        self._started = time.perf_counter()
        self.outcomes: list[Outcome | None] = [None] * length
        self.size = size
        self.done: asyncio.Future[None] = producer.loop.create_future()
        self.is_late = False
        self._has_errors = False
        self._producer = producer
        producer.begin()
        self._was_never_sent = producer.never_sends
        #: Counts settled records; `next` of it is atomic.
        self._number = count(1)

    @property
    def has_arrived(self) -> bool:
        """Whether the brokers have acknowledged the last record."""
        last = self.outcomes[-1]
        return last is not None and last[2] is None

    def settle(self, index: int, error: KafkaError | None, message: Message | None) -> None:
        """Note the outcome of a record."""
        if error is None:
            assert message is not None
            offset = message.offset()
            # The offset is unknown without acks, or if an earlier attempt had delivered the record: -1, as in Java.
            self.outcomes[index] = (message.partition(), -1 if offset is None else offset, None, None)
        else:
            told = self._producer.undelivered(error, was_never_sent=self._was_never_sent)
            self.outcomes[index] = (None, None, *delivery_error(told))
            self._has_errors = True
        if next(self._number) == len(self.outcomes):
            self._producer.finish(self)

    def complete(self) -> None:
        """Wake the request."""
        RECORDS.acknowledged(time.perf_counter() - self._started)
        if not self.done.done():
            self._count()
            self.done.set_result(None)

    def give_up(self) -> None:
        """Stop waiting for the remaining delivery reports."""
        if not self.done.done():
            self.is_late = True
            self._count()
            self.done.set_result(None)

    def _count(self) -> None:
        """Count the records as their client is told of them."""
        outcomes, tally = self.outcomes, self._tally
        if not (self._has_errors or self.is_late):
            tally.add(ACKNOWLEDGED, len(outcomes), self._bytes)
            return
        acknowledged = unknown = 0
        for outcome in outcomes:
            if outcome is None:
                unknown += 1
            elif outcome[2] is None:
                acknowledged += 1
            elif outcome[2] == OUTCOME_UNKNOWN.code:
                unknown += 1
        if acknowledged:
            # The sizes of single records are not kept.
            tally.add(ACKNOWLEDGED, acknowledged, self._bytes * acknowledged // len(outcomes))
        if unknown:
            tally.add(UNKNOWN, unknown)
            RECORDS.count_unknown_outcomes(unknown)
        if failed := len(outcomes) - acknowledged - unknown:
            tally.add(FAILED, failed)


class SentRecord:
    """One record with an outcome of its own.

    Attributes:
        message: The delivery report of an acknowledged record.
        error: The error of a failed record. Both are None until the record is settled.
    """

    __slots__ = (
        "_bytes",
        "_on_settled",
        "_producer",
        "_started",
        "_tally",
        "_was_never_sent",
        "error",
        "message",
        "size",
    )

    def __init__(
        self, size: int, producer: LoopProducer, on_settled: Callable[[], None], tally: RecordTally, data_bytes: int
    ) -> None:
        """Expect the outcome of a record.

        Args:
            size: The bytes that are reserved for it.
            producer: Sends it.
            on_settled: Called on the event loop.
            tally: Counts it.
            data_bytes: The bytes of its key and value.
        """
        self._tally = tally
        self._bytes = data_bytes
        self._started = time.perf_counter()
        self.message: Message | None = None
        self.error: KafkaError | None = None
        self.size = size
        self._producer = producer
        producer.begin()
        self._on_settled = on_settled
        self._was_never_sent = producer.never_sends

    @property
    def is_settled(self) -> bool:
        """Whether the outcome is known."""
        return self.message is not None or self.error is not None

    @property
    def has_arrived(self) -> bool:
        """Whether the brokers have acknowledged the record."""
        return self.error is None

    def settle(self, error: KafkaError | None, message: Message | None) -> None:
        """Note the outcome."""
        if error is None:
            self.message = message
        else:
            self.error = self._producer.undelivered(error, was_never_sent=self._was_never_sent)
        self._producer.finish(self)

    def complete(self) -> None:
        """Count the record and tell the owner."""
        RECORDS.acknowledged(time.perf_counter() - self._started)
        if self.error is None:
            self._tally.add(ACKNOWLEDGED, 1, self._bytes)
        elif delivery_error(self.error)[0] == OUTCOME_UNKNOWN.code:
            self._tally.add(UNKNOWN)
            RECORDS.count_unknown_outcomes(1)
        else:
            self._tally.add(FAILED)
        self._on_settled()


def unknown_outcome(milliseconds: int) -> Failed:
    """The outcome of a record without a delivery report at the end of the request's timeout."""
    code, _ = delivery_error(KafkaError(KafkaError._TIMED_OUT))
    text = f"Unknown: no answer from the broker within {milliseconds} ms; the record may or may not be in the topic."
    return None, None, code, text


def outcomes_in_time(batch: Batch, timeout_ms: int) -> Sequence[Outcome]:
    """The outcomes of a batch after the wait for it, which was at most `timeout_ms`."""
    if not batch.is_late:
        return batch.outcomes  # type: ignore[return-value]  # all are filled in
    unknown = unknown_outcome(timeout_ms)
    return [outcome or unknown for outcome in batch.outcomes]
