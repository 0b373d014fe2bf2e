"""`--against topic:`: whether a schema can read the records that a topic still has."""

from __future__ import annotations

import itertools
import os
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from compat.schema import AVRO, JSON, SchemaText
from serdes.client.clients import RegistryClient
from serdes.console.client import DEFAULT_URL
from serdes.message import wire
from tests.topics import create_topics

_numbers = itertools.count()
#: 2026-01-01T00:00:00Z.
NEW_YEAR = 1_767_225_600_000
DAY = 86_400_000
#: No record is that old when a test runs, so the broker deletes nothing.
LONG = 100 * 365 * DAY


def flight(*fields: str) -> str:
    lines = ",\n  ".join(fields)
    return f'{{"type": "record", "name": "Flight", "fields": [\n  {lines}\n]}}\n'


NUMBER = '{"name": "number", "type": "int"}'
NUMBER_TEXT = '{"name": "number", "type": "string", "default": ""}'
DELAY = '{"name": "delay", "type": "int", "default": 0}'


class Cluster:
    """A topic, and its subjects in a registry."""

    def __init__(self, kafka: str, url: str) -> None:
        self.kafka, self.url = kafka, url
        self.topic = f"flights-{os.getpid()}-{next(_numbers)}"
        self.subject = f"{self.topic}-value"
        self.client = RegistryClient(url)

    def make(self, **config: str) -> None:
        admin = AdminClient({"bootstrap.servers": self.kafka})
        settings = {name.replace("_", "."): value for name, value in config.items()}
        create_topics(admin, NewTopic(self.topic, 1, 1, config=settings))

    def register(self, *texts: str, subject: str | None = None, schema_type: str = AVRO) -> list[int]:
        self.client.put_config({"compatibility": "NONE"}, subject or self.subject)
        return [self.client.register(subject or self.subject, SchemaText(schema_type, text)).id for text in texts]

    def send(self, *records: tuple[int, int], part: str = "value") -> None:
        producer = Producer({"bootstrap.servers": self.kafka})
        for schema_id, day in records:
            framed = {part: wire.prefix(schema_id) + b"x"}
            producer.produce(self.topic, timestamp=NEW_YEAR + day * DAY, **framed)
        assert producer.flush(20) == 0

    def arguments(self, *topics: str) -> list[str]:
        named = ",".join(topics or (self.topic,))
        return ["--against", f"topic:{named}", "--bootstrap-servers", self.kafka, "--schema-registry-url", self.url]


@pytest.fixture
def cluster(kafka: str, registry_url: str) -> Cluster:
    return Cluster(kafka, registry_url)


def test_an_old_record_breaks_a_schema_that_the_registry_would_accept(project: Any, cluster: Cluster):
    cluster.make(retention_ms=str(LONG))
    first, second = cluster.register(flight(NUMBER), flight(DELAY))
    cluster.client.put_config({"compatibility": "BACKWARD"}, cluster.subject)
    cluster.send((first, 1), (first, 2), (second, 3))
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT, DELAY))
    assert project.places("--against", f"registry:{cluster.url}") == (0, [])
    code, (finding,) = project.check(*cluster.arguments())
    assert code == 100
    assert (finding["rule"], finding["version"], finding["severity"]) == (
        "TYPE_MISMATCH", f"version 1 (id {first})", "error",
    )  # fmt: skip
    last = NEW_YEAR + 2 * DAY
    assert finding["retained"] == [{"topic": cluster.topic, "records": 2, "last": last, "retainedUntil": last + LONG}]
    code, out, _ = project.run("check", *cluster.arguments())
    assert (
        f"\n    data:    2 records of topic {cluster.topic}, the last of 2026-01-03T00:00:00Z, "
        "retained until 2125-12-10T00:00:00Z\n"
    ) in out
    comment = project.run("check", *cluster.arguments(), "--format", "github-markdown")[1]
    assert "**Data:** 2 records of topic flights-" in comment
    annotation = project.run("check", *cluster.arguments(), "--format", "github")[1]
    assert f"Concerns 2 records of topic {cluster.topic}, the last of" in annotation


def test_a_break_with_no_record_left_is_a_note(project: Any, cluster: Cluster):
    first, second = cluster.register(flight(NUMBER), flight(DELAY))
    cluster.send((second, 1))
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT, DELAY))
    code, out, _ = project.run("check", *cluster.arguments())
    assert code == 0
    assert out == (
        f"note: {cluster.subject}.avsc breaks version 1 of {cluster.subject} (TYPE_MISMATCH at /fields/0/type), "
        "of which there are no records\n"
        "1 schema checked, 0 findings\n"
    )
    assert first != second


def test_the_latest_text_itself_has_to_read_older_records(project: Any, cluster: Cluster):
    """A registry accepts what is a version already; data ask for more."""
    first, second = cluster.register(flight(NUMBER), flight(NUMBER_TEXT))
    cluster.send((first, 1), (second, 2))
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT))
    assert project.places("--against", f"registry:{cluster.url}") == (0, [])
    assert project.places(*cluster.arguments()) == (100, [f"{cluster.subject}.avsc:2:22 TYPE_MISMATCH"])
    # Whatever the level: NONE holds for the subject.
    assert cluster.client.config(cluster.subject)["compatibilityLevel"] == "NONE"


def test_versions_with_the_same_break_share_one_finding(project: Any, cluster: Cluster):
    cluster.make(cleanup_policy="compact")
    ids = cluster.register(flight(NUMBER), flight(NUMBER, DELAY), flight(DELAY))
    producer = Producer({"bootstrap.servers": cluster.kafka})
    for number, schema_id in enumerate((ids[0], ids[1], ids[1], ids[2])):
        producer.produce(cluster.topic, wire.prefix(schema_id), b"k%d" % number, timestamp=NEW_YEAR)
    producer.flush()
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT))
    _, (finding,) = project.check(*cluster.arguments())
    assert finding["retained"] == [{"topic": cluster.topic, "records": 3, "last": NEW_YEAR, "retainedUntil": None}]
    # Against the version that most of the records have.
    assert finding["version"] == f"version 2 (id {ids[1]})"
    out = project.run("check", *cluster.arguments())[1]
    assert "the last of 2026-01-01T00:00:00Z, retained until newer records of the same keys replace them\n" in out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"retention_ms": "-1"}, "retained for ever"),
        ({"retention_ms": "-1", "retention_bytes": "123456789"}, "while a partition has less than 123,456,789 bytes"),
    ],
)
def test_a_topic_may_keep_records_for_ever(project: Any, cluster: Cluster, settings: dict[str, str], said: str):
    cluster.make(**settings)
    (first,) = cluster.register(flight(NUMBER))
    cluster.send((first, 1))
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT))
    assert said in project.run("check", *cluster.arguments())[1]


def test_check_reports_a_break_of_two_baselines_once(project: Any, cluster: Cluster):
    (first,) = cluster.register(flight(NUMBER))
    cluster.send((first, 1))
    file = f"{cluster.subject}.avsc"
    project.write(file, flight(NUMBER))
    project.write("other.avsc", flight(NUMBER))
    project.commit()
    project.write(file, flight(NUMBER_TEXT))
    project.write("other.avsc", flight(NUMBER_TEXT))
    code, findings = project.check("--against", "git:main", *cluster.arguments())
    assert code == 100
    told = [(finding["file"], finding["version"][:4], len(finding["retained"])) for finding in findings]
    assert told == [(file, "main", 1), ("other.avsc", "main", 0)]


def test_check_looks_ids_up_in_the_baseline_registry(project: Any, cluster: Cluster):
    (first,) = cluster.register(flight(NUMBER))
    cluster.send((first, 1))
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT))
    topic = ("--against", f"topic:{cluster.topic}", "--bootstrap-servers", cluster.kafka)
    code, (finding,) = project.check(*topic, "--against", f"registry:{cluster.url}")
    assert (code, finding["retained"][0]["records"]) == (100, 1)


def test_keys_and_subjects_of_other_names(project: Any, cluster: Cluster):
    (key,) = cluster.register('"string"', subject=f"{cluster.topic}-key")
    # The subject is the record's name.
    record = f"com.example.Flight{next(_numbers)}"
    (value,) = cluster.register(flight(NUMBER), subject=record)
    cluster.send((key, 1), part="key")
    cluster.send((value, 1))
    project.write(f"{cluster.topic}-key.avsc", '"int"')
    project.write(f"{record}.avsc", flight(NUMBER_TEXT))
    project.write("unrelated.avsc", flight(NUMBER_TEXT))
    code, findings = project.check(*cluster.arguments())
    told = {finding["file"]: finding["retained"][0]["records"] for finding in findings}
    assert (code, told) == (100, {f"{cluster.topic}-key.avsc": 1, f"{record}.avsc": 1})


def test_another_schema_type_in_the_topic(project: Any, cluster: Cluster):
    (first,) = cluster.register('{"type": "object"}', schema_type=JSON)
    cluster.send((first, 1))
    project.write(f"{cluster.subject}.avsc", flight(NUMBER))
    code, (finding,) = project.check(*cluster.arguments())
    assert (code, finding["rule"], finding["retained"][0]["records"]) == (100, "SCHEMA_TYPE_CHANGED", 1)


def test_check_notes_unreadable_records(project: Any, cluster: Cluster):
    (first,) = cluster.register(flight(NUMBER))
    cluster.send((first, 1), (2_000_000_001, 1))
    producer = Producer({"bootstrap.servers": cluster.kafka})
    producer.produce(cluster.topic, b"plain")
    producer.flush()
    project.write("else.avsc", flight(NUMBER))
    code, out, _ = project.run("check", *cluster.arguments())
    assert code == 0
    topic = f"note: topic {cluster.topic}:"
    assert out.splitlines() == [
        f"{topic} the registry does not have id 2000000001, so 1 record cannot be read by anybody",
        f"{topic} 1 record with values that name no schema",
        f"{topic} no file stands for a schema of its records",
        "1 schema checked, 0 findings",
    ]


def test_a_deleted_version_still_counts_while_records_have_it(project: Any, cluster: Cluster):
    first, second = cluster.register(flight(NUMBER), flight(DELAY))
    cluster.send((first, 1), (second, 1))
    cluster.client.delete_version(cluster.subject, 1)
    project.write(f"{cluster.subject}.avsc", flight(NUMBER_TEXT, DELAY))
    code, (finding,) = project.check(*cluster.arguments())
    assert (code, finding["version"]) == (100, f"version 1 (id {first})")


def test_a_fix_removes_the_finding_of_an_old_record(project: Any, cluster: Cluster):
    (first,) = cluster.register(flight(DELAY))
    cluster.send((first, 1))
    file = f"{cluster.subject}.avsc"
    project.write(file, flight(DELAY, NUMBER))
    assert project.run("check", *cluster.arguments(), "--fix")[0] == 0
    assert '"default"' in (project.folder / file).read_text().splitlines()[2]


def test_check_names_a_missing_registry_or_topic(project: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch):
    project.write("a.avsc", '"int"')
    url, servers = ("--schema-registry-url", cluster.url), ("--bootstrap-servers", cluster.kafka)
    assert DEFAULT_URL == "http://localhost:8081"
    # Somebody's registry may run at the usual address.
    monkeypatch.setattr("serdes.console.client.DEFAULT_URL", "http://127.0.0.1:1")
    for arguments, said in (
        (("--against", "topic:t", *servers), "127.0.0.1:1: ConnectError"),
        (("--against", "topic:absent", *url, "--bootstrap-server", cluster.kafka), "topic absent does not exist"),
        (("--against", "topic:,", *servers, *url), "--against topic: names no topic"),
        (("--against", "topic:absent", *servers, *url), "topic absent does not exist"),
        (("--against", "topic:t", *servers, "--schema-registry-url", "http://127.0.0.1:1"), "127.0.0.1:1"),
        (("--against", "topic:t", *servers, *url, "--command-config", "absent.properties"), "absent.properties"),
        (("--against", "topic:t", *servers, *url, "--command-property", "nonsense"), "must be name=value"),
        (("--against", "topic:t", *servers, *url, "--command-property", "default.api.timeout.ms=x"), "'x'"),
    ):
        code, out, err = project.run("check", *arguments)
        assert (code, out) == (1, ""), arguments
        assert said in err
