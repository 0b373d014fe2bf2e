"""Topics on a real broker: their settings, aborted transactions, and repairs by the leader and without one."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.cli.fsck.main import main
from magicbyte.cli.main import main as magicbyte
from magicbyte.operations.fsck.checks import run_checks, severity_of
from magicbyte.operations.fsck.evidence import gather
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from registry.repair.finding import Finding
from tests.operations.fsck.planted import PLANTED, Pair, key, mark, spaced, value
from tests.topics import create_topics, delete_topic

SETTLED = (b'{"keytype":"MAGICBYTE_SETTLED","magic":0}', b"{}")


def new_topic(kafka: str, partitions: int = 1, **configs: str) -> str:
    topic = f"fsck-{uuid.uuid4()}"
    named = {name.replace("_", "."): text for name, text in configs.items()}
    settings = {"cleanup.policy": "compact", "max.message.bytes": str(8 * 1024 * 1024), **named}
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(topic, partitions, 1, config=settings))
    return topic


def write(kafka: str, topic: str, *pairs: Pair, committed: bool | None = None) -> None:
    """Write records; in a transaction that is committed or aborted, if that is given."""
    transactional = {} if committed is None else {"transactional.id": topic}
    producer = Producer({"bootstrap.servers": kafka, **transactional})
    if committed is not None:
        producer.init_transactions()
        producer.begin_transaction()
    for raw, encoded in pairs:
        producer.produce(topic, key=raw, value=encoded, partition=0)
    producer.flush()
    if committed is not None:
        (producer.commit_transaction if committed else producer.abort_transaction)()


def found(kafka: str, topic: str) -> list[Finding]:
    with open_source(f"kafka:{kafka}/{topic}", Properties()) as source:
        return run_checks(gather(source))


def state(kafka: str, topic: str) -> State:
    with open_source(f"kafka:{kafka}/{topic}", Properties()) as source:
        return source.read().state


def codes(findings: list[Finding]) -> list[str]:
    """The codes of findings, without the advice for a cluster of one broker."""
    return [finding.code for finding in findings if severity_of(finding) != "note"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """Run the command with JSON output: the exit code, and what it has written."""
    code = main([*arguments, "--output", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("configs", "settings"),
    [
        ({}, []),
        ({"max_message_bytes": "8388607"}, ["max.message.bytes=8388607"]),
        ({"cleanup_policy": "compact,delete", "retention_ms": "-1"}, ["cleanup.policy=compact,delete"]),
        (
            {"cleanup_policy": "delete", "retention_ms": "5", "retention_bytes": "6"},
            ["cleanup.policy=delete", "retention.ms=5", "retention.bytes=6"],
        ),
        ({"retention_ms": "5"}, []),
        ({"unclean_leader_election_enable": "true"}, ["unclean.leader.election.enable=true"]),
        ({"min_insync_replicas": "2"}, ["min.insync.replicas=2"]),
        ({"partitions": "2"}, ["partitions=2"]),
    ],
)
def test_fsck_finds_topic_settings_that_lose_schemas(kafka: str, configs: dict[str, str], settings: list[str]) -> None:
    topic = new_topic(kafka, int(configs.pop("partitions", "1")), **configs)
    findings = found(kafka, topic)
    assert {finding.code for finding in findings} == {"TOPIC"}
    told = [finding.sentence.split(" has ")[1].split(": ")[0] for finding in findings]
    # The broker is the only one.
    assert told == sorted([*settings, "replication.factor=1"], key=told.index)
    for finding in findings:
        setting = finding.sentence.split(" has ")[1].split("=")[0]
        assert (f"--entity-name {topic} --add-config {setting}=" in finding.remedy) == (
            setting not in ("partitions", "replication.factor")
        )
    # Tests of a cluster's health count topics that have fewer replicas than they ask for.
    delete_topic(AdminClient({"bootstrap.servers": kafka}), topic)


def test_settings_are_repaired_only_by_name(kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = new_topic(kafka, cleanup_policy="delete", retention_ms="1000000", max_message_bytes="1000")
    source, backup = f"kafka:{kafka}/{topic}", str(tmp_path / "backup.ndjson")
    code, report = run(capsys, source, "--repair", "--offline")
    assert (code, report["repair"]["topicConfigs"]) == (100, {})
    code, report = run(capsys, source, "--repair", "TOPIC", "--dry-run")
    assert (code, report["repair"]["topicConfigs"]) == (
        100,
        {"cleanup.policy": "compact", "retention.ms": "-1", "max.message.bytes": "8388608"},
    )
    assert "TOPIC" in codes(found(kafka, topic))
    code, report = run(capsys, source, "--repair", "TOPIC", "--offline", "--backup", backup)
    assert (code, codes(found(kafka, topic))) == (0, [])


ABORTED: list[tuple[list[Pair], list[str]]] = [
    ([(key("a", 1), value("a", 1, 7, "long"))], ["ABORTED_TAIL"]),
    ([(key("b", 1), value("b", 1, 7, "long")), (key("b", 1), None)], ["ABORTED_TAIL"]),
    ([SETTLED, (b'{"keytype":"NOOP","magic":0}', None), (b"hello", b"{}")], []),
]


@pytest.mark.parametrize(("aborted", "expected"), ABORTED)
def test_fsck_finds_aborted_records_that_other_readers_believe(
    kafka: str, aborted: list[Pair], expected: list[str]
) -> None:
    topic = new_topic(kafka)
    write(kafka, topic, (key("a", 1), value("a", 1, 1)), SETTLED, committed=True)
    write(kafka, topic, *aborted, committed=False)
    assert codes(found(kafka, topic)) == expected
    # What is committed later under the same bytes is what all readers believe.
    write(kafka, topic, *aborted[:1])
    assert "ABORTED_TAIL" not in codes(found(kafka, topic))


def test_an_open_transaction_is_no_aborted_one(kafka: str) -> None:
    topic = new_topic(kafka)
    write(kafka, topic, (key("a", 1), value("a", 1, 1)), SETTLED, committed=True)
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, key=key("a", 1), value=value("a", 1, 7, "long"), partition=0)
    producer.flush()
    assert codes(found(kafka, topic)) == []
    producer.abort_transaction()
    assert codes(found(kafka, topic)) == ["ABORTED_TAIL"]


def test_aborted_records_are_repaired_offline(kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = new_topic(kafka)
    write(kafka, topic, (key("a", 1), value("a", 1, 1)), SETTLED, committed=True)
    write(kafka, topic, (key("a", 1), value("a", 1, 7, "long")), committed=False)
    before = state(kafka, topic)
    source = f"kafka:{kafka}/{topic}"
    code, report = run(
        capsys, source, "--repair", "ABORTED_TAIL", "--offline", "--node-group", topic, "--backup", str(tmp_path / "b")
    )
    assert (code, report["findings"][0]["code"], report["repair"]["written"]) == (0, "TOPIC", 3)
    after = state(kafka, topic)
    assert {name: one.text for name, one in after.versions.items()} == {
        name: one.text for name, one in before.versions.items()
    }
    assert after.contexts["."].highest_id == 7


def test_the_topics_that_use_an_id_of_two_schemas_are_counted(kafka: str, capsys: pytest.CaptureFixture[str]) -> None:
    schemas, records, others = new_topic(kafka), new_topic(kafka, partitions=2), new_topic(kafka)
    write(kafka, schemas, *PLANTED["an id of two texts"][1], (key("c", 1), value("c", 1, 2, "string")))
    frames = [b"\0\0\0\0%cx" % number for number in (1, 1, 1, 2, 2)]
    write(kafka, records, *((frame, frame) for frame in frames[:3]), *((b"k", frame) for frame in frames))
    write(kafka, others, (b"k", frames[-1]), (b"k", b"no frame"))
    source = f"kafka:{kafka}/{schemas}"
    code, report = run(capsys, source, "--topics", f"{records},{others}")
    (finding,) = [one for one in report["findings"] if one["code"] == "ID_TWO_CONTENTS"]
    assert code == 100
    assert f"6 records in values of {records}, 3 records in keys of {records}" in finding["text"]
    assert others not in finding["text"]
    code, report = run(capsys, source, "--topics", others)
    (finding,) = [one for one in report["findings"] if one["code"] == "ID_TWO_CONTENTS"]
    assert (code, others in finding["text"]) == (100, False)
    assert magicbyte(["fsck", source, "--topics", "nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.fixture(scope="module")
def cluster(kafka: str) -> Iterator[tuple[ServerProcess, ServerProcess, str]]:
    """Two nodes on a topic, with the topic's name; the first one leads."""
    topic = new_topic(kafka)
    properties = {"kafkastore.topic": topic, "schema.registry.group.id": topic}
    with (
        running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as leader,
        running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as follower,
    ):
        yield leader, follower, topic


def register(url: str, subject: str, text: str) -> int:
    answer = httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": text}, timeout=30)
    return int(answer.raise_for_status().json()["id"])


def delete(url: str, path: str) -> None:
    for query in ("", "?permanent=true"):
        httpx.delete(f"{url}{path}{query}", timeout=30).raise_for_status()


def test_fsck_finds_no_fault_in_the_records_of_our_servers(
    kafka: str, cluster: tuple[ServerProcess, ServerProcess, str]
) -> None:
    leader, follower, topic = cluster
    for number, text in enumerate(('"int"', '"long"', '"float"')):
        register(leader.url, f"healthy{number}", text)
        httpx.put(f"{leader.url}/config/healthy{number}", json={"compatibility": "NONE"}).raise_for_status()
        register(leader.url, f"healthy{number}", '"bytes"')
    register(follower.url, ":.eu:healthy", '"int"')
    delete(leader.url, "/subjects/healthy0")
    register(leader.url, "healthy0", '"string"')
    delete(leader.url, "/subjects/healthy1/versions/2")
    httpx.delete(f"{leader.url}/subjects/healthy2").raise_for_status()
    httpx.post(f"{leader.url}/subjects/healthy2/undelete").raise_for_status()
    delete(leader.url, "/subjects/:.eu:healthy")
    httpx.delete(f"{leader.url}/contexts/.eu").raise_for_status()
    assert codes(found(kafka, topic)) == []


def test_the_leader_repairs_its_topic(
    kafka: str,
    cluster: tuple[ServerProcess, ServerProcess, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    leader, follower, topic = cluster
    source, backup = f"kafka:{kafka}/{topic}", tmp_path / "backup.ndjson.zst"
    schema_id = register(leader.url, "forms", '{"type":"fixed","name":"F","size":3}')
    stored = httpx.get(f"{leader.url}/subjects/forms/versions/1").json()
    text = json.dumps(json.dumps(json.loads(stored["schema"]), separators=(",", ":"))).encode()
    planted = b'{"subject":"forms","version":1,"id":%d,"schema":%b,"deleted":false}' % (schema_id, text)
    write(kafka, topic, (spaced("forms", 1), planted))
    assert codes(found(kafka, topic)) == ["KEY_FORMS"]
    before = state(kafka, topic)
    with open_source(source, Properties()) as opened:
        records = list(opened.records())  # type: ignore[attr-defined]
    # The request goes to the follower, which passes it on.
    arguments = (source, "--repair", "--schema-registry-url", follower.url, "--backup", str(backup))
    code, report = run(capsys, *arguments)
    assert (code, codes(found(kafka, topic))) == (0, [])
    assert [one["valueBytes"] is None for one in report["repair"]["records"]][-2:] == [True, False]
    assert state(kafka, topic).versions.keys() == before.versions.keys()
    # The record that was planted has replaced the first one, with its time.
    assert httpx.get(f"{leader.url}/subjects/forms/versions/1").json() | {"ts": 0} == stored | {"ts": 0}
    with open_source(str(backup), Properties()) as opened:
        assert [(one.offset, one.key, one.value) for one in opened.records()] == [  # type: ignore[attr-defined]
            (one.offset, one.key, one.value) for one in records
        ]
    assert run(capsys, *arguments)[0] == 0, "nothing is left, so that no backup is written over the first"


def test_a_repair_offline_fences_the_leader_and_it_takes_over_again(
    kafka: str,
    cluster: tuple[ServerProcess, ServerProcess, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    leader, _, topic = cluster
    number = register(leader.url, "gone", '{"type":"fixed","name":"G","size":3}')
    write(kafka, topic, (key("gone", 1), None))
    assert codes(found(kafka, topic)) == ["MARK_LOW"]
    arguments = (f"kafka:{kafka}/{topic}", "--repair", "MARK_LOW", "--offline", "--node-group", topic)
    code, report = run(capsys, *arguments, "--backup", str(tmp_path / "b"))
    assert (code, [one["code"] for one in report["repair"]["records"]]) == (0, ["MARK_LOW"])
    with open_source(f"kafka:{kafka}/{topic}", Properties()) as opened:
        assert mark(".", number) in [(one.key, one.value) for one in opened.records()]  # type: ignore[attr-defined]
    assert register(leader.url, "later", '{"type":"fixed","name":"L","size":3}') == number + 1
    assert codes(found(kafka, topic)) == []
