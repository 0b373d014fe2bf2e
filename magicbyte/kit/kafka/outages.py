"""One line for a broker's outage: Kafka's clients log each failed attempt to connect, and this counts the others."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from magicbyte.kit.kafka.log_lines import kind_of, no_connection
from magicbyte.kit.logs.repeats import Repeats

log = logging.getLogger("magicbyte.kafka")

#: Seconds between two lines about the same thing.
_INTERVAL = 60.0
#: Seconds between two looks at the brokers that cannot be reached.
_LOOK = 1.0
#: Seconds without a failed attempt after which a broker that accepts a connection counts as reachable.
_QUIET = 3.0


@dataclass(slots=True)
class _Outage:
    """A broker that cannot be reached.

    Attributes:
        began: When it began.
        logged_at: When it was logged last.
        failed: When an attempt failed last.
        causes: The causes that were logged.
        unwritten: How many lines were left out since it was logged.
    """

    began: float
    logged_at: float
    failed: float
    causes: set[str] = field(default_factory=set)
    unwritten: int = 0


class Outages(logging.Filter):
    """A filter for the loggers of Kafka's clients.

    A broker that cannot be reached is one line for each cause. While that lasts, there is a line with a count each
    minute, and one when the broker can be reached again. Of other lines, the first of each kind is written, and then
    one in each minute, with the number of those that were left out.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        connects: Callable[[str], bool] | None = None,
        start_thread: bool = True,
    ) -> None:
        """Begin without an outage.

        Args:
            clock: A monotonic clock, in seconds.
            connects: Tells whether an address accepts connections.
            start_thread: Whether a thread calls `look` during outages.
        """
        super().__init__()
        self._clock = clock
        self._connects = connects or _accepts
        self._start_thread = start_thread
        self._lock = threading.Lock()
        self._outages: dict[str, _Outage] = {}
        self._repeats: Repeats[_Kind] = Repeats(_tell_count, clock=clock, start_timer=start_thread)
        self._is_watched = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; the line about an outage gets one form for all clients."""
        line = record.getMessage()
        failure = no_connection(line)
        if failure is None:
            return self._is_new(record, line)
        with self._lock:
            now = self._clock()
            outage = self._outages.setdefault(failure.address, _Outage(now, now, now))
            outage.failed = now
            if failure.cause in outage.causes:
                outage.unwritten += 1
                return False
            outage.causes.add(failure.cause)
            outage.logged_at = now
            if self._start_thread and not self._is_watched:
                self._is_watched = True
                threading.Thread(target=self._watch, name="kafka-outages", daemon=True).start()
        record.msg, record.args = "no connection to the Kafka broker %s: %s; trying again", tuple(failure)
        record.event, record.broker = "broker_unreachable", failure.address
        return True

    def look(self) -> bool:
        """Log what has changed, and counts that are due; returns whether an outage goes on."""
        with self._lock:
            addresses = list(self._outages)
        for address in addresses:
            is_reachable = self._connects(address)
            with self._lock:
                outage, now = self._outages[address], self._clock()
                count = outage.unwritten
                is_over = is_reachable and now - outage.failed >= _QUIET
                is_due = not is_over and now - outage.logged_at >= _INTERVAL
                if is_over:
                    del self._outages[address]
                elif is_due:
                    outage.logged_at, outage.unwritten = now, 0
            seconds = now - outage.began
            if is_over:
                log.warning(
                    "the Kafka broker %s can be reached again, after %.0f s (%d attempts)",
                    address,
                    seconds,
                    count,
                    extra={"event": "broker_reachable", "broker": address, "seconds": seconds, "attempts": count},
                )
            elif is_due:
                log.warning(
                    "no connection to the Kafka broker %s for %.0f s (%d more attempts)",
                    address,
                    seconds,
                    count,
                    extra={
                        "event": "broker_still_unreachable",
                        "broker": address,
                        "seconds": seconds,
                        "attempts": count,
                    },
                )
        with self._lock:
            self._is_watched = bool(self._outages)
            return self._is_watched

    def _watch(self) -> None:
        going_on = True
        while going_on:
            time.sleep(_LOOK)
            going_on = self.look()

    def _is_new(self, record: logging.LogRecord, line: str) -> bool:
        """Whether a line is the first of its kind for a minute."""
        unwritten = self._repeats.unwritten((record.name, record.levelno, kind_of(line)))
        if unwritten is None:
            return False
        if unwritten:
            record.repeats = unwritten
        return True


#: The logger, the level, and the line without the parts that differ each time.
_Kind = tuple[str, int, str]


def _tell_count(kind: _Kind, count: int) -> None:
    """Write how many lines of a kind were left out, because no further one came to tell it."""
    _, level, line = kind
    log.log(level, "%s", line, extra={"event": "kafka_client_message", "repeats": count})


def count_outages(*loggers: str) -> None:
    """Let some loggers of this process, which Kafka's clients write to, have one filter for outages."""
    outages = Outages()
    for name in loggers:
        logger = logging.getLogger(name)
        for former in [item for item in logger.filters if isinstance(item, Outages)]:
            logger.removeFilter(former)
        logger.addFilter(outages)


def _accepts(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host.strip("[]"), int(port)), timeout=2.0):
        return True
    return False
