"""A topic as the origin: its log is checked, ids are sampled, and the rights of the client are asked for."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from magicbyte.cli.main import main
from magicbyte.operations.migration.kafka_rights import check_rights
from magicbyte.operations.migration.preflight import Request, run_preflight
from magicbyte.testing import temporary_broker
from tests.topics import create_topics

#: A topic as Karapace writes it: the fields of keys in its order.
KARAPACE = [
    (
        b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}',
        b'{"subject":"a","version":1,"id":1,"schema":"\\"int\\"","deleted":false}',
    ),
    (b'{"keytype":"CONFIG","subject":null,"magic":0}', b'{"compatibilityLevel":"FULL"}'),
]
#: The same version by another key, as compaction keeps them both.
OTHER_KEY = (b'{"subject":"a","version":1,"magic":1,"keytype":"SCHEMA"}', None)


def made_topic(kafka: str, records: Sequence[tuple[bytes | None, bytes | None]], **configs: str) -> str:
    """A new topic with records."""
    name = f"migration-{uuid.uuid4()}"
    config = {"cleanup.policy": "compact", "max.message.bytes": "8388608", **configs}
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(name, 1, 1, config=config))
    producer = Producer({"bootstrap.servers": kafka})
    for key, value in records:
        producer.produce(name, key=key, value=value)
    producer.flush()
    return name


def codes(kafka: str, topic: str, **more: object) -> list[str]:
    """The codes of the findings on a topic, without those on the single replica of the tests' broker."""
    outcome = run_preflight(Request(f"kafka:{kafka}/{topic}", **more))  # type: ignore[arg-type]
    return [one.code for one in outcome.findings if "TOPIC:" not in one.sentence]


def test_a_topic_of_karapace_is_ready(kafka: str) -> None:
    assert codes(kafka, made_topic(kafka, KARAPACE)) == []


def test_a_finding_of_fsck_stops_the_move(kafka: str, capsys: pytest.CaptureFixture[str]) -> None:
    topic = made_topic(kafka, [*KARAPACE, OTHER_KEY])
    assert "LOG" in codes(kafka, topic)
    assert main(["migrate", "preflight", "--from", f"kafka:{kafka}/{topic}"]) == 100
    said = capsys.readouterr().out
    assert "stop theirs, start ours" in said
    assert f"magicbyte fsck kafka:{kafka}/{topic}" in said


def test_ids_of_a_topic_are_sampled(kafka: str) -> None:
    schemas = made_topic(kafka, KARAPACE)
    values: Mapping[str, list[bytes]] = {
        "IDS": [b"\0\0\0\0\x01x"] * 3,
        "IDS_UNKNOWN": [b"\0\0\0\0\x09x"],
        "FRAMES_8": [b"\0\0\0\0\0\0\0\0\x01x"],
    }
    for code, records in values.items():
        topic = made_topic(kafka, [(b"k", value) for value in records])
        consumer = {"bootstrap.servers": kafka, "group.id": "magicbyte-migrate"}
        assert codes(kafka, schemas, topics=[topic], consumer=consumer) == [code]


def test_a_topic_that_does_not_exist(kafka: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "preflight", "--from", f"kafka:{kafka}/none-{uuid.uuid4()}"]) == 1
    assert "has no topic" in capsys.readouterr().err


#: What is denied -> the words of the finding.
DENIED = [
    (ResourceType.TOPIC, "t", AclOperation.WRITE, "lacks WRITE on topic t"),
    (ResourceType.GROUP, "magicbyte-g", AclOperation.READ, "lacks READ on group magicbyte-g"),
    (ResourceType.TRANSACTIONAL_ID, "magicbyte-g", AclOperation.WRITE, "on the transactional id magicbyte-g"),
]


@pytest.mark.slow
def test_the_preflight_reports_denied_rights() -> None:
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with temporary_broker(properties=properties) as broker:
        client = {"bootstrap.servers": broker.bootstrap_servers}
        admin = AdminClient(client)
        create_topics(admin, NewTopic("t", 1, 1))

        def told() -> list[str]:
            return [finding.sentence for finding in check_rights(client, "t", "g", is_ours=False)]

        assert told() == []
        for kind, name, operation, words in DENIED:
            where = (kind, name, ResourcePatternType.LITERAL)
            rules = [
                AclBinding(*where, "User:*", "*", AclOperation.ALL, AclPermissionType.ALLOW),
                AclBinding(*where, "User:*", "*", operation, AclPermissionType.DENY),
            ]
            for future in admin.create_acls(rules).values():
                future.result()
            end = time.monotonic() + 60
            while not any(words in sentence for sentence in told()):
                assert time.monotonic() < end, words
        assert len(told()) == len(DENIED)
