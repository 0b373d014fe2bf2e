"""The right to write the schemas topic, and the consequences when somebody else does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry
from registry.cluster.lead.leadership import Leadership, Role
from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, LogReplaced, NotLeader, Record, WriteConflict
from registry.log.topic import prepare_topic
from registry.log.topic_watch import TopicWatch
from tests.topics import create_topics
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[3]
NOOP = Record(b'{"keytype":"NOOP","magic":0}', b"{}", 0)


def test_an_epoch_that_has_ended_is_neither_established_nor_ended_again() -> None:
    leadership = Leadership()
    first = leadership.begin()
    assert leadership.standing == (Role.TAKING_OVER, 1)
    assert not leadership.leads
    second = leadership.begin()
    with pytest.raises(NotLeader, match="leader epoch 1 ended before"):
        leadership.establish(first)
    leadership.establish(second)
    assert leadership.leads
    assert not leadership.end(first)
    assert leadership.standing == (Role.LEADING, 2)
    leadership.require(second)
    assert leadership.end(second)
    assert not leadership.end(second)
    assert leadership.standing == (Role.FOLLOWING, 2)
    with pytest.raises(NotLeader, match="leader epoch 2 has ended"):
        leadership.require(second)


@pytest.fixture
def log(kafka: str) -> Any:
    """A log on a topic of its own, with a writer of epoch 1 that has written one record."""
    topic, client = f"schemas-{uuid.uuid4()}", {"bootstrap.servers": kafka}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    log = KafkaLog(client, topic, f"writer-{topic}")
    log.open_writer(1)
    assert log.settle([NOOP], BEGINNING, 1) == 0
    yield log
    log.close()


def write_beside(log: KafkaLog, kafka: str, count: int = 1) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    for number in range(count):
        producer.produce(log._topic, key=f"theirs-{number}", value="x", partition=0)
    producer.flush()


@pytest.mark.slow
def test_a_node_that_cannot_lead_names_the_open_transaction(kafka: str) -> None:
    cluster = {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}
    topic = cluster["kafkastore.topic"]
    prepare_topic({"bootstrap.servers": kafka}, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, key=NOOP.key, value=NOOP.value, partition=0)
    producer.flush()
    with running_registry("kafka:", bootstrap_servers=kafka, properties=cluster) as node:
        deadline = time.monotonic() + PATIENCE
        expected = f"{topic} has an open transaction of another program that began at offset 0"
        while expected not in (problem := httpx.get(f"{node.url}/health/ready", timeout=60).json()["problem"]):
            assert time.monotonic() < deadline, problem
            time.sleep(0.1)
        assert problem.endswith(
            f"abort it with kafka-transactions.sh --bootstrap-server {kafka} abort --topic {topic} --partition 0 "
            "--start-offset 0"
        )
        # The node's status names the problem before its log does.
        until(lambda: any(expected in line for line in node.last_lines(200)))
        deadline = time.monotonic() + PATIENCE
        producer.abort_transaction()
        answer = httpx.post(f"{node.url}/subjects/s/versions", json={"schema": '"int"'}, timeout=30)
        while answer.status_code != 200:
            assert time.monotonic() < deadline, answer.text
            answer = httpx.post(f"{node.url}/subjects/s/versions", json={"schema": '"int"'}, timeout=30)


def test_records_of_another_program_are_read_before_anything_is_written(log: KafkaLog, kafka: str) -> None:
    assert log.append([NOOP], 0, 1) == 2
    write_beside(log, kafka, 2)
    assert not log.written_up_to(log.end_position(committed=False))
    with pytest.raises(WriteConflict, match="another writer's records stand before offset 6"):
        log.append([NOOP], 2, 1)
    entries = list(log.read(2))
    assert [(entry.offset, entry.key) for entry in entries] == [(4, b"theirs-0"), (5, b"theirs-1")]
    with pytest.raises(WriteConflict, match="this writer's last record is at 5, not at 2"):
        log.append([NOOP], 2, 1)
    assert log.append([NOOP, NOOP], 5, 1) == 9
    assert [entry.offset for entry in log.read(BEGINNING)] == [0, 2, 4, 5, 8, 9]
    assert log.foreign_records == 2


def test_a_record_of_another_program_amid_a_batch_is_a_conflict(
    log: KafkaLog, kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first record is at the expected offset; a record of another program comes before the last one."""
    writer = log._writer
    assert writer is not None
    produce = writer._producer.produce

    class Interrupted:
        def __getattr__(self, name: str) -> Any:
            return getattr(original, name)

        def produce(self, *arguments: Any, **named: Any) -> None:
            produce(*arguments, **named)
            original.flush()
            write_beside(log, kafka)

    original = writer._producer
    monkeypatch.setattr(writer, "_producer", Interrupted())
    with pytest.raises(WriteConflict, match="another writer's records"):
        log.append([NOOP, NOOP], 0, 1)
    assert [entry.key for entry in log.read(0)] == [b"theirs-0", b"theirs-0"]


def test_an_append_of_another_epoch_is_refused(log: KafkaLog) -> None:
    for epoch in (0, 2):
        with pytest.raises(NotLeader, match=f"does not write the log in leader epoch {epoch}"):
            log.append([NOOP], 0, epoch)
    log.open_writer(2)
    with pytest.raises(NotLeader, match="has not taken over yet in leader epoch 2"):
        log.append([NOOP], 0, 2)
    with pytest.raises(NotLeader, match="leader epoch 1 has ended"):
        log.open_writer(1)
    log.close_writer(1)
    assert [entry.offset for entry in log.read(BEGINNING)] == [0]
    assert log.settle([NOOP], 0, 2) == 2
    log.close_writer(2)
    with pytest.raises(NotLeader):
        log.append([NOOP], 2, 2)


def test_a_log_that_is_shorter_than_what_was_read_is_refused(log: KafkaLog, kafka: str) -> None:
    before = log.topic_id(5)
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.delete_topics([log._topic])[log._topic].result()
    until(lambda: log.topic_id(5) is None)
    create_topics(admin, NewTopic(log._topic, 1, 1, config={"cleanup.policy": "compact"}))
    until(lambda: log.topic_id(5) not in (None, before))
    with pytest.raises(LogReplaced, match="ends at 0, before 2, which this node has read"):
        log.append([NOOP], 0, 1)
    assert list(KafkaLog({"bootstrap.servers": kafka}, log._topic, "nobody").read(BEGINNING)) == []


def test_a_node_waits_for_a_missing_topic_and_ends_if_the_topic_id_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.log.topic_watch._LOOK_SECONDS", 0.0)
    ids: list[str | None] = ["a", "a", None, "a", "b", "a"]
    watch = TopicWatch("t", lambda _timeout: ids.pop(0))
    watch.begin()
    problems = []
    for _ in range(5):
        watch.look()
        problems.append((watch.problem[:28], watch.failure[:46]))
    replaced = "the topic t has been deleted and made anew; st"
    assert problems == [
        ("", ""),
        ("the topic t has been deleted", ""),
        ("", ""),
        (replaced[:28], replaced),
        (replaced[:28], replaced),
    ]
    assert not watch.fail("again")


@pytest.mark.slow
def test_an_id_of_another_program_is_not_given_again_and_both_nodes_agree(kafka: str) -> None:
    topic = f"_schemas-{uuid.uuid4()}"
    cluster = {"kafkastore.topic": topic, "schema.registry.group.id": str(uuid.uuid4())}
    with (
        running_registry("kafka:", bootstrap_servers=kafka, properties=cluster) as one,
        running_registry("kafka:", bootstrap_servers=kafka, properties=cluster) as other,
    ):
        answer = httpx.post(f"{one.url}/subjects/s/versions", json={"schema": '"int"'}, timeout=30)
        assert answer.json()["id"] == 1
        key = {"keytype": "SCHEMA", "subject": "theirs", "version": 1, "magic": 1}
        value = {**key, "id": 103, "schema": '"string"', "deleted": False}
        producer = Producer({"bootstrap.servers": kafka})
        producer.produce(topic, key=json.dumps(key), value=json.dumps(value), partition=0)
        producer.flush()
        answer = httpx.post(f"{one.url}/subjects/s2/versions", json={"schema": '"long"'}, timeout=30)
        assert answer.json()["id"] == 104
        for node in (one, other):
            assert httpx.get(f"{node.url}/schemas/ids/103").json()["schema"] == '"string"'
            assert httpx.get(f"{node.url}/schemas/ids/104").json()["schema"] == '"long"'
        metrics = [httpx.get(f"{node.url}/metrics").text for node in (one, other)]
        assert sum("magicbyte_registry_foreign_records 1.0" in text for text in metrics) == 1
        warnings = [line for node in (one, other) for line in node.last_lines(1000) if "another program writes" in line]
        assert len(warnings) == 1
        # Without a write, the leader reads them too.
        key["subject"] = "theirs-too"
        producer.produce(topic, key=json.dumps(key), value=json.dumps({**value, "id": 105}), partition=0)
        producer.flush()
        for node in (one, other):
            until(lambda node=node: "theirs-too" in httpx.get(f"{node.url}/subjects").json())


@pytest.mark.parametrize("fault", ["pauses", "foreign", "stalls", "recreated"])
@pytest.mark.slow
def test_faults_beneath_a_leader_lose_nothing(fault: str) -> None:
    """The chaos run in short."""
    command = [sys.executable, "-P", str(ROOT / "tests/chaos/registry_leadership.py"), "--rounds", "1", "--only", fault]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.endswith("0 problems\n")
