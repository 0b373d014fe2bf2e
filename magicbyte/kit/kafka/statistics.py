"""Metrics from the statistics of librdkafka's clients, by the role of a client."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from magicbyte.kit.metrics import COUNTER, GAUGE, MetricTable

INTERVAL_MS = 10_000
#: A client that has reported nothing for so many seconds is closed.
_GONE_SECONDS = 3.5 * INTERVAL_MS / 1000

_ONLY = "with `magicbyte.metrics.librdkafka`"
TABLE = MetricTable()
_CLIENTS = TABLE.declare(GAUGE, "magicbyte_kafka_clients", "Kafka clients that report.", "role", only=_ONLY)
_RTT = TABLE.declare(
    GAUGE,
    "magicbyte_kafka_client_rtt_seconds",
    "The mean time of a broker's answers in the last 10 seconds; of the slowest client.",
    "role",
    "broker",
    only=_ONLY,
)
_MESSAGES = TABLE.declare(
    COUNTER, "magicbyte_kafka_client_messages_total", "Records, `sent` and `received`.", "role", "direction", only=_ONLY
)
_QUEUED = TABLE.declare(
    GAUGE, "magicbyte_kafka_client_queue_messages", "Records that wait in the clients.", "role", only=_ONLY
)
_QUEUED_BYTES = TABLE.declare(
    GAUGE, "magicbyte_kafka_client_queue_bytes", "Bytes of these records.", "role", only=_ONLY
)


@dataclass(slots=True)
class _Client:
    role: str
    heard_at: float = 0.0
    sent: int = 0
    received: int = 0
    queued: int = 0
    queued_bytes: int = 0
    #: The mean time of a broker's answers in seconds, by the broker's id.
    rtt: dict[str, float] = field(default_factory=dict)


class Statistics(Collector):
    """The last statistics of each client, and how many records all clients have sent and received."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._clients: dict[str, _Client] = {}
        self._messages: Counter[tuple[str, str]] = Counter()

    def of_role(self, role: str) -> dict[str, Any]:
        """The properties of a client that reports; it must be polled, or its reports fill the memory."""
        return {"statistics.interval.ms": INTERVAL_MS, "stats_cb": lambda text: self.add(role, text)}

    def add(self, role: str, text: str) -> None:
        """Take the report of a client."""
        report = json.loads(text)
        with self._lock:
            client = self._clients.setdefault(report["name"], _Client(role))
            client.heard_at = self._now()
            # A client's counts begin at 0 and only grow.
            self._messages[role, "sent"] += report["txmsgs"] - client.sent
            self._messages[role, "received"] += report["rxmsgs"] - client.received
            client.sent, client.received = report["txmsgs"], report["rxmsgs"]
            client.queued, client.queued_bytes = report["msg_cnt"], report["msg_size"]
            client.rtt = {
                str(broker["nodeid"]): broker["rtt"]["avg"] / 1e6
                for broker in report["brokers"].values()
                if broker["nodeid"] >= 0 and broker["rtt"]["cnt"]
            }

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics; none if no client reports."""
        with self._lock:
            oldest = self._now() - _GONE_SECONDS
            self._clients = {name: client for name, client in self._clients.items() if client.heard_at >= oldest}
            clients, messages = list(self._clients.values()), sorted(self._messages.items())
        if not messages:
            return
        counts: Counter[str] = Counter()
        queued: Counter[str] = Counter()
        queued_bytes: Counter[str] = Counter()
        rtt: dict[tuple[str, str], float] = {}
        for client in clients:
            counts[client.role] += 1
            queued[client.role] += client.queued
            queued_bytes[client.role] += client.queued_bytes
            for broker, seconds in client.rtt.items():
                rtt[client.role, broker] = max(seconds, rtt.get((client.role, broker), 0.0))
        yield _MESSAGES.samples(messages)
        for metric, by_role in ((_CLIENTS, counts), (_QUEUED, queued), (_QUEUED_BYTES, queued_bytes)):
            yield metric.samples([((role,), value) for role, value in sorted(by_role.items())])
        yield _RTT.samples(sorted(rtt.items()))


#: The statistics of this process.
STATISTICS = Statistics()
