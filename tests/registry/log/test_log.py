"""One suite that every log passes."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from registry.log.kafka import KafkaLog
from registry.log.memory import MemoryLog
from registry.log.port import BEGINNING, Log, LogEntry, NotLeader, Record, RecordTooLarge, WriteConflict
from registry.log.reader import TopicReader
from registry.log.sql import SqlLog
from registry.log.topic import prepare_topic, wait_for_topic_id

Opener = Callable[[], Log]


def record(number: int) -> Record:
    return Record(b"key-%d" % number, b"value-%d" % number, 1_700_000_000_000 + number)


def test_an_empty_log_has_no_entries(open_log: Opener) -> None:
    log = open_log()
    assert list(log.read(BEGINNING)) == []
    assert log.end() == BEGINNING


def test_the_log_returns_records_in_order_with_key_value_and_time(open_log: Opener) -> None:
    log = open_log()
    first = log.append([record(1), record(2)], BEGINNING)
    second = log.append([record(3)], first)
    entries = list(log.read(BEGINNING))
    assert [(entry.key, entry.value, entry.timestamp) for entry in entries] == [
        (b"key-1", b"value-1", 1_700_000_000_001),
        (b"key-2", b"value-2", 1_700_000_000_002),
        (b"key-3", b"value-3", 1_700_000_000_003),
    ]
    assert [entries[1].offset, entries[2].offset] == [first, second]
    assert entries[0].offset == first - 1


def test_reading_goes_on_after_an_offset(open_log: Opener) -> None:
    log = open_log()
    last = log.append([record(1), record(2), record(3)], BEGINNING)
    assert [entry.key for entry in log.read(last - 2)] == [b"key-2", b"key-3"]
    assert list(log.read(last)) == []
    assert [entry.key for entry in log.read(BEGINNING)] == [b"key-1", b"key-2", b"key-3"]


def test_a_tombstone_is_an_entry_without_a_value(open_log: Opener) -> None:
    log = open_log()
    log.append([record(1), Record(b"key-1", None, 5)], BEGINNING)
    assert [entry.value for entry in log.read(BEGINNING)] == [b"value-1", None]


def test_bytes_are_kept_as_they_are(open_log: Opener) -> None:
    log = open_log()
    log.append([Record(bytes(range(256)), "\x00ä\U0001f600".encode(), 0)], BEGINNING)
    (entry,) = log.read(BEGINNING)
    assert (entry.key, entry.value) == (bytes(range(256)), b"\x00\xc3\xa4\xf0\x9f\x98\x80")


def test_a_log_opened_again_has_all_that_was_appended(open_log: Opener) -> None:
    open_log().append([record(1)], BEGINNING)
    assert [entry.key for entry in open_log().read(BEGINNING)] == [b"key-1"]


def test_the_older_of_two_writers_is_refused(open_log: Opener) -> None:
    """By the offset if any node may write, by the broker's fence if one leads."""
    older = open_log()
    older.append([record(1)], BEGINNING)
    newer = open_log()
    (entry,) = newer.read(BEGINNING)
    newer.append([record(2)], entry.offset)
    with pytest.raises((WriteConflict, NotLeader)):
        older.append([record(3), record(4)], entry.offset)
    assert [entry.key for entry in newer.read(BEGINNING)] == [b"key-1", b"key-2"]


def test_of_many_appends_after_one_offset_one_succeeds(open_log: Opener) -> None:
    if isinstance(open_log(), KafkaLog):
        return  # one writer at a time: the fence is shown above
    outcomes: list[bool] = []

    def append(number: int) -> None:
        try:
            open_log().append([record(number)], BEGINNING)
        except WriteConflict:
            outcomes.append(False)
        else:
            outcomes.append(True)

    threads = [threading.Thread(target=append, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 7 + [True]
    assert len(list(open_log().read(BEGINNING))) == 1


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_record_too_large_for_the_broker_fails_its_whole_batch(kafka: str, position: int) -> None:
    topic, client = f"schemas-{uuid.uuid4()}", {"bootstrap.servers": kafka}
    prepare_topic(
        client, topic, replication=1, configs={"max.message.bytes": "5000"}, skip_validation=False, timeout=10
    )
    log = KafkaLog(client, topic, f"writer-{topic}")
    log.open_writer()
    last = log.settle([record(0)], BEGINNING)
    batch = [record(1), record(2), record(3)]
    batch[position] = Record(b"large", bytes(10_000), 0)
    with pytest.raises(RecordTooLarge):
        log.append(batch, last)
    assert [entry.key for entry in log.read(BEGINNING)] == [b"key-0"]
    log.close()


def test_a_reader_that_brings_nothing_is_replaced(kafka: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, client = f"schemas-{uuid.uuid4()}", {"bootstrap.servers": kafka}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    log = KafkaLog(client, topic, f"writer-{topic}")
    log.open_writer()
    last = log.settle([record(0), record(1)], BEGINNING)
    first = next(entry for entry in log.read(BEGINNING)).offset
    polled: list[TopicReader] = []

    def poll(reader: TopicReader, timeout: float) -> list[LogEntry]:
        polled.append(reader)
        return [] if reader is polled[0] else deliver(reader, timeout)

    deliver = TopicReader.poll
    monkeypatch.setattr(TopicReader, "poll", poll)
    monkeypatch.setattr("registry.log.kafka._STALL_SECONDS", 0.2)
    assert [entry.offset for entry in log.read(first)] == [last]
    polled.clear()
    assert log.follow(BEGINNING, 0.1) == []
    log.renew_reader()
    assert [entry.offset for entry in log.follow(BEGINNING, 10)] == [first, last]
    log.close()


def test_a_log_keeps_an_id_that_no_other_log_has(open_log: Opener) -> None:
    log = open_log()
    again = open_log()
    assert again.log_id == log.log_id
    assert log.log_id not in ("", MemoryLog().log_id)
    assert not set(log.log_id) & set(":, ")


def test_a_topic_that_is_made_anew_is_another_log(kafka: str) -> None:
    topic = f"schemas-{uuid.uuid4()}"
    client = {"bootstrap.servers": kafka}
    admin = AdminClient(client)
    ids = []
    for _ in range(2):
        prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
        ids.append(wait_for_topic_id(admin, topic))
        admin.delete_topics([topic])[topic].result()
    assert len(set(ids)) == 2


def test_nodes_that_make_a_database_at_once_agree_on_its_id(postgresql: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        logs = list(pool.map(SqlLog, [postgresql] * 8))
    assert len({log.log_id for log in logs}) == 1
    for log in logs:
        log.close()


def test_a_copy_of_a_file_is_the_same_log(tmp_path: Path) -> None:
    log = SqlLog(f"sqlite:///{tmp_path}/log.db")
    log.append([record(1)], BEGINNING)
    log_id = log.log_id
    log.close()
    shutil.copy(tmp_path / "log.db", tmp_path / "copy.db")
    copy = SqlLog(f"sqlite:///{tmp_path}/copy.db")
    assert copy.log_id == log_id
    copy.close()
