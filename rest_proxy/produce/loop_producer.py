"""A Kafka producer that takes records one by one, and passes their delivery reports to the event loop."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy.errors import refuses
from rest_proxy.formats.frame_places import Headers

log = logging.getLogger("rest_proxy.produce.loop_producer")

#: How long the thread waits for a delivery report before it checks whether to stop, in seconds.
_POLL_SECONDS = 0.2
#: How long a record waits for a connection while the brokers refuse the producer, in seconds. librdkafka tries to
#: connect once a second, but reports only once that it gets no token.
_REFUSED_SECONDS = 3.0

#: Key, value, partition, timestamp and headers of a record. The partition is -1 if the partitioner chooses it; the
#: timestamp is in ms since the epoch, 0 for now. A bare tuple because there are many.
Record = tuple[bytes | None, bytes | None, int, int, Headers | None]
#: Takes a record's delivery report, or the error with which it was refused; called once, on any thread.
Settle = Callable[[KafkaError | None, Message | None], None]


class Settled(Protocol):
    """A batch or record that was sent and is settled."""

    #: The bytes reserved for it.
    size: int

    @property
    def has_arrived(self) -> bool:
        """Whether the brokers have acknowledged a record of it."""

    def complete(self) -> None:
        """Continue with the outcome; called on the event loop."""


class LoopProducer:
    """A producer, and the thread that takes its delivery reports.

    Attributes:
        loop: The event loop of everything that sends.
        under_way: How many batches and single records were begun and are not complete.
        fatal: The error after which the producer can send nothing more; None if there was none.
        denied: The error with which the brokers refuse the producer; None if they accept it.
        has_delivered: Whether a record was ever acknowledged.
    """

    def __init__(
        self,
        config: kafka.Config,
        loop: asyncio.AbstractEventLoop,
        on_settled: Callable[[int], None],
        *,
        gathers: bool = False,
    ) -> None:
        """Start the thread.

        Args:
            config: librdkafka's configuration.
            loop: The event loop of everything that sends.
            on_settled: Called on the event loop with the bytes that were reserved for settled records.
            gathers: Whether the thread's name says that this producer waits for more records.
        """
        self._producer = Producer({**config, "error_cb": self._on_error, "logger": log})
        self._produce = self._producer.produce
        self.loop = loop
        self._on_settled = on_settled
        self._finished: deque[Settled] = deque()
        self.under_way = 0
        #: Whether the event loop was told of finished items and has not taken them yet.
        self._is_told = False
        #: Whether a timer will fail the records that were queued after a refusal.
        self._will_fail_queued = False
        self._stopping = False
        self.fatal: str | None = None
        self.denied: KafkaError | None = None
        self.has_delivered = False
        name = f"deliveries-acks-{config['acks']}{'-gathering' if gathers else ''}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Note that a batch or single record will be sent; `finish` takes it later. Called on the event loop."""
        self.under_way += 1

    @property
    def never_sends(self) -> bool:
        """Whether no record can leave now: the brokers refuse the producer, or have never accepted a record."""
        return self.denied is not None or not self.has_delivered

    def send(self, topic: str, record: Record, settle: Settle) -> None:
        """Queue one record; it is settled later, never during this call."""
        key, value, partition, timestamp, headers = record
        try:
            self._produce(topic, value, key, partition, settle, None, timestamp, headers)
        except KafkaException as error:
            self.loop.call_soon(self._refuse, settle, error.args[0])
        except BufferError:
            self.loop.call_soon(self._refuse, settle, KafkaError(KafkaError._QUEUE_FULL))
        # Checked after the record is queued: `_on_error` fails what was queued before the refusal.
        if self.denied is not None and not self._will_fail_queued:
            self._will_fail_queued = True
            self.loop.call_later(_REFUSED_SECONDS, self._fail_queued_if_denied)

    def _refuse(self, settle: Settle, error: KafkaError) -> None:
        settle(error, None)
        self._complete()

    def undelivered(self, error: KafkaError, *, was_never_sent: bool) -> KafkaError:
        """The error to report for a record; one dropped from the queue reports why the brokers refuse the producer.

        Args:
            error: The error of the record's delivery report.
            was_never_sent: `never_sends` at the time when the record was queued.
        """
        if error.code() == KafkaError._PURGE_QUEUE and was_never_sent:
            return self.denied or error
        return error

    def finish(self, sent: Settled) -> None:
        """Take something whose records are all settled; called by the last `Settle`."""
        if sent.has_arrived:
            self.has_delivered, self.denied = True, None
        self._finished.append(sent)

    def _run(self) -> None:
        poll = self._producer.poll
        while not self._stopping:
            try:
                poll(_POLL_SECONDS)
            except Exception:  # a report that fails must not prevent the others
                log.exception("a delivery report could not be processed", extra={"event": "delivery_report_failed"})
            # Waking the loop costs about as much as serving a report, so it is woken once for all that it can take.
            if self._finished and not self._is_told:
                self._is_told = True
                try:
                    self.loop.call_soon_threadsafe(self._complete)
                except RuntimeError:  # the loop is closed, so no request waits any more
                    return

    def _complete(self) -> None:
        # Clear this first: an item that finishes from now on may come too late for the loop below.
        self._is_told = False
        finished, size = self._finished, 0
        while finished:
            sent = finished.popleft()
            size += sent.size
            self.under_way -= 1
            sent.complete()
        self._on_settled(size)

    def _on_error(self, error: KafkaError) -> None:
        if refuses(error):
            # The brokers refuse this client: fail the queued records now instead of retrying until they expire.
            self.denied = error
            self._fail_queued()
        if error.fatal():
            self.fatal = error.str()
        log.warning("producer: %s", error.str(), extra={"event": "producer_error", "error": error.str()})

    def _fail_queued(self) -> None:
        self._producer.purge(in_queue=True, in_flight=False, blocking=False)

    def _fail_queued_if_denied(self) -> None:
        self._will_fail_queued = False
        if self.denied is not None:
            self._fail_queued()

    def close(self, seconds: float) -> int:
        """Wait up to `seconds` for queued records; return how many have no outcome then."""
        unsettled = self._producer.flush(seconds)
        self._stopping = True
        self._thread.join(_POLL_SECONDS * 5)
        return int(unsettled)
