"""A reader that paused longer than the topic keeps tombstones is refused until it reads the whole topic."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from registry.log import history
from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, HistoryLost, LogEntry, LogError, Record
from registry.log.topic import prepare_topic

DAY = 86_400
NOOP = Record(b'{"keytype":"NOOP","magic":0}', b"{}", 0)


class Clocks:
    """Both clocks, which a test sets forward or back."""

    def __init__(self) -> None:
        self.running = self.wall = 0.0

    def clock_gettime(self, clock: int) -> float:
        return time.clock_gettime(clock) + self.running

    def time(self) -> float:
        return time.time() + self.wall


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr(history, "time", SimpleNamespace(clock_gettime=clocks.clock_gettime, time=clocks.time))
    return clocks


@pytest.fixture
def log(kafka: str, clocks: Clocks) -> Iterator[KafkaLog]:
    """A log with a record at offset 0, read to its end now."""
    topic, client = f"schemas-{uuid.uuid4()}", {"bootstrap.servers": kafka}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    log = KafkaLog(client, topic, f"writer-{topic}")
    log.open_writer()
    assert log.settle([NOOP], BEGINNING) == 0
    assert [entry.offset for entry in log.read(BEGINNING)] == [0]
    yield log
    log.close()


PAUSES = [
    (0, 0, True, False),
    (59, 59, True, False),
    (61, 61, False, False),
    (DAY - 1, DAY - 1, False, False),
    (DAY, DAY, False, True),
    # The machine was asleep and its clock of running time with it, or its other clock was set back.
    (0, DAY, False, True),
    (DAY, -DAY, False, True),
    (0, -DAY, True, False),
]


@pytest.mark.parametrize(("running", "wall", "answers", "lost"), PAUSES)
def test_after_a_pause_the_clock_that_moved_further_decides(
    log: KafkaLog, clocks: Clocks, running: int, wall: int, answers: bool, lost: bool
) -> None:
    assert log.has_written_all()
    clocks.running, clocks.wall = running, wall
    assert log.history.allows_answers is answers
    for read in (lambda: log.follow(0, 0.01), lambda: list(log.read(0)), log.has_written_all):
        with pytest.raises(HistoryLost, match="deletions may be missing") if lost else nullcontext():
            read()
    assert [entry.offset for entry in log.read(BEGINNING)] == [0]
    assert log.history.allows_answers
    assert list(log.read(0)) == []


def test_a_pause_during_a_read_counts(log: KafkaLog, clocks: Clocks) -> None:
    log.append([NOOP], 0)
    reading = log.read(0)
    assert next(reading).offset == 2
    clocks.running = DAY
    with pytest.raises(HistoryLost, match=r"last read to its end 864\d\d\.\d s ago and keeps tombstones for 86400 s"):
        next(reading)
    whole = log.read(BEGINNING)
    assert next(whole).offset == 0
    clocks.running = 2 * DAY
    assert next(whole).offset == 2
    with pytest.raises(HistoryLost, match=r"reading the whole topic took .*set its delete\.retention\.ms higher"):
        next(whole)
    assert not log.history.allows_answers


def test_a_retention_that_was_lowered_meanwhile_counts(log: KafkaLog, clocks: Clocks, kafka: str) -> None:
    resource = ConfigResource(
        ResourceType.TOPIC,
        log._topic,
        incremental_configs=[ConfigEntry("delete.retention.ms", "60000", incremental_operation=AlterConfigOpType.SET)],
    )
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.incremental_alter_configs([resource])[resource].result()
    clocks.running = 61
    with pytest.raises(HistoryLost, match="keeps tombstones for 60 s"):
        list(log.read(0))


def test_a_follower_counts_its_reads_from_the_last_end_that_it_reached(log: KafkaLog, clocks: Clocks) -> None:
    for _ in range(3):
        clocks.running += DAY / 2
        clocks.wall += DAY / 2
        # The first poll may end before the reader has met the end of the topic.
        while not log.history.allows_answers:
            assert log.follow(0, 0.2) == []


def unreachable() -> int:
    raise LogError("Kafka does not answer")


def fail(log_history: history.History, clocks: Clocks, pauses: list[float]) -> None:
    """Send requests that fail, each after a pause."""
    for pause in pauses:
        clocks.running += pause
        clocks.wall += pause
        with pytest.raises(LogError):
            log_history.reach(unreachable)


@pytest.mark.parametrize(
    ("pauses", "answers"),
    [
        ([40, 10, 12], False),
        ([40, 10, 10, 12], True),
        ([40, 29, 29], True),
        # The process was suspended; the network may be back a moment later.
        ([2 * DAY], False),
        ([2 * DAY, 10, 10], False),
        ([2 * DAY, 10, 10, 12], True),
        ([40, 10, 10, 12, 2 * DAY], False),
        ([40, 10, 10, 12, 31], False),
    ],
)
def test_a_running_node_keeps_answering_while_kafka_is_unreachable(
    clocks: Clocks, pauses: list[float], *, answers: bool
) -> None:
    log_history = history.History(lambda: DAY)
    log_history.complete_anew(log_history.begin_anew())
    fail(log_history, clocks, pauses)
    assert log_history.allows_answers is answers


def test_a_node_that_wakes_up_in_an_outage_does_not_answer(clocks: Clocks) -> None:
    log_history = history.History(lambda: DAY)
    log_history.complete_anew(log_history.begin_anew())
    fail(log_history, clocks, [61, 29, 29])
    assert log_history.allows_answers
    clocks.running += 2 * DAY
    assert not log_history.allows_answers


def test_after_an_outage_a_node_reads_the_log_before_its_first_answer(
    clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = KafkaLog({}, "topic", "writer")
    monkeypatch.setattr(log, "end_position", lambda **_: 1)
    monkeypatch.setattr(log, "_read_up_to", lambda _end, _after: (yield LogEntry(0, NOOP.key, NOOP.value, 0)))
    monkeypatch.setattr(log.history, "_fetch_retention", lambda: DAY)
    fail(log.history, clocks, [61, 29, 29])
    assert log.history.allows_answers
    reading = log.read(BEGINNING)
    assert next(reading).offset == 0
    assert not log.history.allows_answers
    assert list(reading) == []
    assert log.history.allows_answers


def test_a_record_that_is_written_meanwhile_is_no_open_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([5, 6, 6, 7])
    log = KafkaLog({}, "topic", "writer")
    monkeypatch.setattr(log, "end_position", lambda **_: next(ends))
    assert [log.open_transaction() for _ in range(2)] == [None, None]
    monkeypatch.setattr(log, "end_position", lambda *, committed=True: 3 if committed else 5)
    assert log.open_transaction() == 3
