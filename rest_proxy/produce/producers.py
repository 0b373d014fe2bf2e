"""The proxy's Kafka producers: one per `acks`, a limit on undelivered bytes, and delivery reports."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy.errors import BUFFER_FULL, RECORD_TOO_LARGE, delivery_error, refuses

log = logging.getLogger("rest_proxy.produce.producers")

#: The memory for an undelivered record without key and value: librdkafka's message, our callback and its outcome.
RECORD_OVERHEAD = 512
#: How long the thread waits for a delivery report before it checks whether to stop, in seconds.
_POLL_SECONDS = 0.2


#: A record's key, value and partition; -1 if the partitioner chooses it. A bare tuple because there are many.
Record = tuple[bytes | None, bytes | None, int]
#: Partition and offset of an acknowledged record, or `error_code` and `error` of a failed one.
Delivered = tuple[int, int, None, None]
Failed = tuple[None, None, int, str]
Outcome = Delivered | Failed


class Budget:
    """The limit on undelivered bytes in all producers together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Reserve bytes.

        Raises:
            ApiError: BUFFER_FULL, with Retry-After, if they exceed the limit together with the reserved bytes.
        """
        with self._lock:
            if self.used and self.used + size > self.limit:
                error = BUFFER_FULL(detail=f"{self.used} of {self.limit} bytes (producer.buffer.memory) wait.")
                raise error.with_headers(Retry_After="1")
            self.used += size

    def give_back(self, size: int) -> None:
        """Release reserved bytes."""
        with self._lock:
            self.used -= size


class Sending:
    """The outcomes of a request's records; the delivery thread fills them in, the event loop awaits them."""

    __slots__ = ("_lane", "_never_sent", "_remaining", "done", "late", "outcomes", "size")

    def __init__(self, count: int, size: int, done: asyncio.Future[None], lane: Lane) -> None:
        self.outcomes: list[Outcome | None] = [None] * count
        self.size = size
        self.done = done
        self.late = False
        self._remaining = count
        self._lane = lane
        # No record can have been sent if the brokers refuse the producer, or have never accepted a record from it.
        self._never_sent = lane.denied is not None or not lane.has_delivered

    @property
    def has_arrived(self) -> bool:
        """Whether the last record was acknowledged."""
        last = self.outcomes[-1]
        return last is not None and last[2] is None

    def give_up(self) -> None:
        """Stop waiting for the remaining delivery reports; called on the event loop."""
        if not self.done.done():
            self.late = True
            self.done.set_result(None)

    def settle(self, index: int, error: KafkaError | None, message: Message | None) -> None:
        """Note a record's delivery report or refusal; called on the delivery thread only."""
        if error is None:
            assert message is not None
            offset = message.offset()
            # The offset is unknown without acks, or if an earlier attempt had delivered the record: -1, as in Java.
            self.outcomes[index] = (message.partition(), -1 if offset is None else offset, None, None)
        else:
            if error.code() == KafkaError._PURGE_QUEUE and self._never_sent:
                error = self._lane.denied or error
            self.outcomes[index] = (None, None, *delivery_error(error))
        self._remaining -= 1
        if not self._remaining:
            self._lane.finish(self)


class Lane:
    """A producer, and the thread that passes its delivery reports to the event loop in batches."""

    def __init__(self, config: kafka.Config, loop: asyncio.AbstractEventLoop, budget: Budget) -> None:
        self._producer = Producer({**config, "error_cb": self._on_error, "logger": log})
        self._loop = loop
        self._budget = budget
        self._finished: list[Sending] = []
        self._refused: deque[tuple[Sending, int, KafkaError]] = deque()
        self._stopping = False
        self.fatal: str | None = None
        self.denied: KafkaError | None = None
        self.has_delivered = False
        self._thread = threading.Thread(target=self._run, name=f"deliveries-acks-{config['acks']}", daemon=True)
        self._thread.start()

    def send(self, topic: str, records: Sequence[Record], size: int) -> Sending:
        """Queue records, for which `size` bytes are reserved; they are released when all records are settled."""
        sending = Sending(len(records), size, self._loop.create_future(), self)
        produce = self._producer.produce
        settle = sending.settle
        for index, (key, value, partition) in enumerate(records):
            try:
                produce(topic, value, key, partition, partial(settle, index))
            except KafkaException as error:
                self._refused.append((sending, index, error.args[0]))
            except BufferError:
                self._refused.append((sending, index, KafkaError(KafkaError._QUEUE_FULL)))
        return sending

    def finish(self, sending: Sending) -> None:
        """Complete a request; all its records are settled."""
        if sending.has_arrived:
            self.has_delivered, self.denied = True, None
        self._budget.give_back(sending.size)
        self._finished.append(sending)

    def _run(self) -> None:
        poll = self._producer.poll
        while not self._stopping:
            try:
                poll(_POLL_SECONDS)
            except Exception:  # a report that fails must not prevent the others
                log.exception("a delivery report could not be processed")
            while self._refused:
                sending, index, error = self._refused.popleft()
                sending.settle(index, error, None)
            if self._finished:
                finished, self._finished = self._finished, []
                try:
                    self._loop.call_soon_threadsafe(self._wake, finished)
                except RuntimeError:  # the loop is closed, so no request waits any more
                    return

    @staticmethod
    def _wake(finished: Sequence[Sending]) -> None:
        for sending in finished:
            if not sending.done.done():
                sending.done.set_result(None)

    def _on_error(self, error: KafkaError) -> None:
        if refuses(error):
            # The brokers refuse this client: fail the queued records now instead of retrying until they expire.
            self.denied = error
            self._producer.purge(in_queue=True, in_flight=False, blocking=False)
        if error.fatal():
            self.fatal = error.str()
        log.warning("producer: %s", error.str())

    def close(self, seconds: float) -> int:
        """Wait up to `seconds` for queued records; return how many have no outcome then."""
        unsettled = self._producer.flush(seconds)
        self._stopping = True
        self._thread.join(_POLL_SECONDS * 5)
        return int(unsettled)


class Producers:
    """Sends records with the `acks` of a request: at most three producers, made on first use."""

    def __init__(self, config: Callable[[str], kafka.Config], *, buffer_memory: int, max_record_bytes: int) -> None:
        """Prepare the producers without connecting.

        Args:
            config: Returns librdkafka's configuration for `0`, `1` or `all`.
            buffer_memory: The limit on undelivered bytes.
            max_record_bytes: The largest sum of a record's key and value, in bytes.
        """
        self._config = config
        self._max_record_bytes = max_record_bytes
        self._lanes: dict[str, Lane] = {}
        self.budget = Budget(buffer_memory)

    def send(self, topic: str, records: Sequence[Record], acks: str) -> Sending:
        """Queue all records or none; the result receives their outcomes.

        Raises:
            ApiError: RECORD_TOO_LARGE, which names the record; BUFFER_FULL.
        """
        sizes = [(len(key) if key else 0) + (len(value) if value else 0) for key, value, _ in records]
        largest = max(sizes)
        if largest > self._max_record_bytes:
            raise RECORD_TOO_LARGE(
                detail=f"records[{sizes.index(largest)}] is {largest} bytes when serialized which is larger than "
                f"{self._max_record_bytes}, which is the value of the max.request.size configuration."
            )
        size = sum(sizes) + RECORD_OVERHEAD * len(sizes)
        self.budget.take(size)
        try:
            return self._lane(acks).send(topic, records, size)
        except BaseException:
            self.budget.give_back(size)
            raise

    def _lane(self, acks: str) -> Lane:
        lane = self._lanes.get(acks)
        if lane is not None and lane.fatal is not None:
            log.error("the producer with acks=%s is replaced after a fatal error: %s", acks, lane.fatal)
            threading.Thread(target=lane.close, args=(0.0,), daemon=True).start()
            lane = None
        if lane is None:
            lane = self._lanes[acks] = Lane(self._config(acks), asyncio.get_running_loop(), self.budget)
        return lane

    async def close(self, seconds: float) -> None:
        """Wait up to `seconds` for queued records, and close the producers."""
        loop = asyncio.get_running_loop()
        lanes, self._lanes = self._lanes, {}
        closing = (loop.run_in_executor(None, lane.close, seconds) for lane in lanes.values())
        unsettled = sum(await asyncio.gather(*closing))
        if unsettled:
            log.warning("%d records had no delivery report at the stop", unsettled)


def unknown_outcome(milliseconds: int) -> Failed:
    """The outcome of a record without a delivery report at the end of the request's timeout."""
    code, _ = delivery_error(KafkaError(KafkaError._TIMED_OUT))
    text = f"Unknown: no answer from the broker within {milliseconds} ms; the record may or may not be in the topic."
    return None, None, code, text
