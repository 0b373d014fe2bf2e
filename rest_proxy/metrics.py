"""The metrics of the REST proxy: what is counted as it happens, and what a collector reads at each scrape."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from magicbyte.kit.metrics import COUNTER, GAUGE, HISTOGRAM, SECONDS, MetricTable

#: The largest number of topics that the label `topic` has; the records of further ones have an empty label.
MOST_TOPICS = 200
#: Directions and outcomes of records.
PRODUCE, CONSUME = "produce", "consume"
ACKNOWLEDGED, FAILED, UNKNOWN, REFUSED, READ = "acknowledged", "failed", "unknown", "refused", "read"
#: The format of records whose types are guessed one by one.
ANY = "any"

TABLE = MetricTable()

# Buffers and instances, which rest_proxy/http/metrics.py reads at each scrape
BUFFERED = TABLE.declare(GAUGE, "magicbyte_rest_buffered_bytes", "Bytes that wait for the brokers.")
BUFFER_LIMIT = TABLE.declare(GAUGE, "magicbyte_rest_buffer_limit_bytes", "Bytes that may wait for the brokers.")
STREAMS = TABLE.declare(GAUGE, "magicbyte_rest_record_streams", "Streams of records that are open.")
INSTANCES = TABLE.declare(GAUGE, "magicbyte_rest_consumer_instances", "Consumer instances that are open.")
INSTANCES_LIMIT = TABLE.declare(
    GAUGE, "magicbyte_rest_consumer_instances_limit", "Consumer instances that may be open."
)

# Records
_RECORDS = TABLE.declare(
    COUNTER,
    "magicbyte_rest_records_total",
    "Records by direction (`produce`, `consume`), format of the value and outcome: `acknowledged`, `failed`, `unknown`"
    " (it may or may not be in the topic) and `refused` (a record of v3 that was not sent); `read`."
    " A read that is repeated counts again.",
    "direction",
    "format",
    "outcome",
    "topic",
)
_BYTES = TABLE.declare(
    COUNTER,
    "magicbyte_rest_bytes_total",
    "Bytes of acknowledged records, and of the values of records that were read.",
    "direction",
    "format",
    "topic",
)
_ACK_SECONDS = TABLE.declare(
    HISTOGRAM,
    "magicbyte_rest_produce_ack_seconds",
    "Time from queueing the records of a v2 request, or a record of v3, to the brokers' last answer.",
)
_UNKNOWN = TABLE.declare(
    COUNTER,
    "magicbyte_rest_unknown_outcomes_total",
    "Records that the client was told of that they may or may not be in the topic.",
)
_UNDECODABLE = TABLE.declare(
    COUNTER, "magicbyte_rest_deserialization_errors_total", "Records that could not be decoded for a client."
)

RULES = TABLE.declare(
    COUNTER,
    "magicbyte_rest_rules_total",
    "Keys and values by the subject of their schema, the rule and its verdict: `passed`, `failed`, or `ignored` if the"
    " rule failed and its action let the record pass.",
    "subject",
    "rule",
    "verdict",
)

# Consumers, other nodes, limits
EXPIRED = TABLE.counter(
    "magicbyte_rest_consumer_expired_total", "Consumer instances that were closed because no client used them."
)
REBALANCES = TABLE.counter(
    "magicbyte_rest_consumer_rebalances_total",
    "Number of times that a consumer instance was assigned partitions by its group.",
)
PASSED_ON = TABLE.counter(
    "magicbyte_rest_forwarded_total",
    "Requests for a consumer instance of another node: `answered`, or `failed` because the node did not answer.",
    "outcome",
)
RATE_LIMITED = TABLE.counter(
    "magicbyte_rest_rate_limited_total",
    "Requests (`rate.limit.*`), and records of v3 (`api.v3.produce.rate.limit.*`), that exceeded a rate.",
    "limit",
)

# Series that exist from the start: Prometheus does not see the first increase of a series that begins above 0.
for _outcome in ("answered", "failed"):
    PASSED_ON.labels(_outcome)
for _limit in ("requests", "records"):
    RATE_LIMITED.labels(_limit)


class Message(Protocol):
    """A record; its length is that of its value."""

    def topic(self) -> str:
        """The topic's name."""

    def __len__(self) -> int: ...


class RecordTally:
    """Counts the records of one direction, format and topic by outcome, and their bytes."""

    __slots__ = ("direction", "form", "outcomes", "size", "topic")

    def __init__(self, direction: str, form: str, topic: str = "") -> None:
        self.direction = direction
        self.form = form
        self.topic = topic
        self.outcomes: dict[str, int] = {}
        self.size = 0

    def add(self, outcome: str, records: int = 1, size: int = 0) -> None:
        """Count records with one outcome, and their bytes."""
        outcomes = self.outcomes
        outcomes[outcome] = outcomes.get(outcome, 0) + records
        self.size += size


class RecordCounts(Collector):
    """Counts records; only the event loop uses it.

    Without a pattern of topics there is no label for them.
    """

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self._topics: set[str] = set()
        self._tallies: dict[tuple[str, str, str], RecordTally] = {}
        self._unknown = 0
        self._undecodable = 0
        self._ack_count = [0] * (len(SECONDS) + 1)
        self._ack_seconds = 0.0

    def name_topics(self, pattern: str) -> None:
        """Add the label `topic` for the topics whose whole names match a pattern; empty for none."""
        self._pattern = re.compile(pattern) if pattern else None
        self._topics = set()

    def tally(self, direction: str, form: str, topic: str) -> RecordTally:
        """The counts of a request's records, by the values of their labels."""
        key = (direction, form, "" if self._pattern is None else self._label(topic))
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = RecordTally(*key)
        return tally

    def _label(self, topic: str) -> str:
        if topic in self._topics:
            return topic
        assert self._pattern is not None
        if len(self._topics) >= MOST_TOPICS or self._pattern.fullmatch(topic) is None:
            return ""
        self._topics.add(topic)
        return topic

    def acknowledged(self, seconds: float) -> None:
        """Note how long the brokers took to settle the records of a request, or a record."""
        self._ack_count[bisect_left(SECONDS, seconds)] += 1
        self._ack_seconds += seconds

    def count_unknown_outcomes(self, records: int) -> None:
        """Count records whose client is told that their outcome is unknown."""
        self._unknown += records

    def count_read(self, messages: Sequence[Message], form: str) -> None:
        """Count records of one or more topics that a client has read."""
        if self._pattern is not None:
            for message in messages:
                self.tally(CONSUME, form, message.topic()).add(READ, 1, len(message))
        elif messages:
            self.tally(CONSUME, form, "").add(READ, len(messages), sum(map(len, messages)))

    def undecodable(self, records: int) -> None:
        """Count records that do not decode."""
        self._undecodable += records

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        has_topics = self._pattern is not None
        records, sizes = _family(_RECORDS, has_topics=has_topics), _family(_BYTES, has_topics=has_topics)
        for _, tally in sorted(self._tallies.items()):
            topic = (tally.topic,) if has_topics else ()
            for outcome, count in sorted(tally.outcomes.items()):
                records.add_metric([tally.direction, tally.form, outcome, *topic], count)
            if tally.size:
                sizes.add_metric([tally.direction, tally.form, *topic], tally.size)
        yield records
        yield sizes
        yield _UNKNOWN.single(self._unknown)
        yield _UNDECODABLE.single(self._undecodable)
        acks, below, buckets = _ACK_SECONDS.family(), 0, list[tuple[str, float]]()
        for bound, count in zip((*map(str, map(float, SECONDS)), "+Inf"), self._ack_count, strict=True):
            below += count
            buckets.append((bound, float(below)))
        acks.add_metric((), buckets, self._ack_seconds)
        yield acks


def _family(declared: Any, *, has_topics: bool) -> CounterMetricFamily:
    labels = declared.labels if has_topics else declared.labels[:-1]
    return CounterMetricFamily(declared.name, declared.text, labels=labels)


#: The records of this process.
RECORDS = RecordCounts()
