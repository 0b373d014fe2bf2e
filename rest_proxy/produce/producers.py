"""The proxy's Kafka producers: one for each acks in use, a bound on what waits, and delivery reports."""

# ruff: noqa: SLF001  (the codes of librdkafka itself are named with an underscore)

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from magicbyte.kit import kafka
from rest_proxy.errors import BUFFER_FULL, RECORD_TOO_LARGE, delivery_error, refuses

log = logging.getLogger("rest_proxy.produce.producers")

#: What a waiting record costs besides its bytes: librdkafka's message, our callback and its outcome.
RECORD_OVERHEAD = 512
#: How long the thread waits for a delivery before it looks whether to stop, in seconds.
_POLL_SECONDS = 0.2


#: A record's key, value and partition, -1 where the partitioner chooses it. A bare tuple: there are many.
Record = tuple[bytes | None, bytes | None, int]
#: Partition and offset of an acknowledged record, or `error_code` and `error` of another.
Delivered = tuple[int, int, None, None]
Failed = tuple[None, None, int, str]
Outcome = Delivered | Failed


class Budget:
    """How many bytes may wait for the brokers, in all producers together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Reserve bytes.

        Raises:
            ApiError: BUFFER_FULL, with Retry-After, where they do not fit beside what is waiting.
        """
        with self._lock:
            if self.used and self.used + size > self.limit:
                error = BUFFER_FULL(detail=f"{self.used} of {self.limit} bytes (producer.buffer.memory) wait.")
                raise error.with_headers(Retry_After="1")
            self.used += size

    def give_back(self, size: int) -> None:
        """Free bytes that were taken."""
        with self._lock:
            self.used -= size


class Sending:
    """The records of one request on their way; filled in by the delivery thread, awaited on the event loop."""

    __slots__ = ("_lane", "_never_sent", "_remaining", "done", "late", "outcomes", "size")

    def __init__(self, count: int, size: int, done: asyncio.Future[None], lane: Lane) -> None:
        self.outcomes: list[Outcome | None] = [None] * count
        self.size = size
        self.done = done
        self.late = False
        self._remaining = count
        self._lane = lane
        # Nothing can have been sent for this while the brokers refuse the producer, nor before they ever took anything.
        self._never_sent = lane.denied is not None or not lane.has_delivered

    @property
    def has_arrived(self) -> bool:
        """Whether the last record was acknowledged."""
        last = self.outcomes[-1]
        return last is not None and last[2] is None

    def give_up(self) -> None:
        """Let who waits go on without the rest; on the event loop."""
        if not self.done.done():
            self.late = True
            self.done.set_result(None)

    def settle(self, index: int, error: KafkaError | None, message: Message | None) -> None:
        """Take one record's delivery report, or its refusal; on the delivery thread only."""
        if error is None:
            assert message is not None
            offset = message.offset()
            # Without acks, and where the broker has the record from an earlier try, no offset is known: Java's -1.
            self.outcomes[index] = (message.partition(), -1 if offset is None else offset, None, None)
        else:
            if error.code() == KafkaError._PURGE_QUEUE and self._never_sent:
                error = self._lane.denied or error
            self.outcomes[index] = (None, None, *delivery_error(error))
        self._remaining -= 1
        if not self._remaining:
            self._lane.finish(self)


class Lane:
    """One producer, and the thread that takes its delivery reports to the event loop in batches."""

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
        """Queue records, for which `size` bytes of the budget are taken; they are given back when all are settled."""
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
        """Take a request of which every record is settled."""
        if sending.has_arrived:
            self.has_delivered, self.denied = True, None
        self._budget.give_back(sending.size)
        self._finished.append(sending)

    def _run(self) -> None:
        poll = self._producer.poll
        while not self._stopping:
            try:
                poll(_POLL_SECONDS)
            except Exception:  # a report that cannot be taken must not keep the others from being taken
                log.exception("a delivery report could not be taken")
            while self._refused:
                sending, index, error = self._refused.popleft()
                sending.settle(index, error, None)
            if self._finished:
                finished, self._finished = self._finished, []
                try:
                    self._loop.call_soon_threadsafe(self._wake, finished)
                except RuntimeError:  # the loop is closed: nobody waits any more
                    return

    @staticmethod
    def _wake(finished: Sequence[Sending]) -> None:
        for sending in finished:
            if not sending.done.done():
                sending.done.set_result(None)

    def _on_error(self, error: KafkaError) -> None:
        if refuses(error):
            # Nothing can be sent: say so at once instead of trying again until the records are too old.
            self.denied = error
            self._producer.purge(in_queue=True, in_flight=False, blocking=False)
        if error.fatal():
            self.fatal = error.str()
        log.warning("producer: %s", error.str())

    def close(self, seconds: float) -> int:
        """Wait for what is under way, at most that long; return how many records are then left undecided."""
        left = self._producer.flush(seconds)
        self._stopping = True
        self._thread.join(_POLL_SECONDS * 5)
        return int(left)


class Producers:
    """Sends records with the acks that a request asks for: at most three producers, made when first used."""

    def __init__(self, config: Callable[[str], kafka.Config], *, buffer_memory: int, max_record_bytes: int) -> None:
        """Nothing is connected yet.

        Args:
            config: librdkafka's configuration for `0`, `1` or `all`.
            buffer_memory: Bytes that may wait for the brokers.
            max_record_bytes: The largest key and value together that is taken.
        """
        self._config = config
        self._max_record_bytes = max_record_bytes
        self._lanes: dict[str, Lane] = {}
        self.budget = Budget(buffer_memory)

    def send(self, topic: str, records: Sequence[Record], acks: str) -> Sending:
        """Queue the records, all or none, and return what becomes of them.

        Raises:
            ApiError: RECORD_TOO_LARGE naming the record; BUFFER_FULL.
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
        """Wait for what is under way, at most that long."""
        loop = asyncio.get_running_loop()
        lanes, self._lanes = self._lanes, {}
        left = sum(await asyncio.gather(*(loop.run_in_executor(None, lane.close, seconds) for lane in lanes.values())))
        if left:
            log.warning("%d records were left undecided at the stop", left)


def unknown_outcome(milliseconds: int) -> Failed:
    """The outcome of a record for which the answer could not wait any longer."""
    code, _ = delivery_error(KafkaError(KafkaError._TIMED_OUT))
    text = f"Unknown: no answer from the broker within {milliseconds} ms; the record may or may not be in the topic."
    return None, None, code, text
