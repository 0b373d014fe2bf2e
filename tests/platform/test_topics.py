"""`magicbyte topics` on a real broker."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from magicbyte.cli.topics import showing
from magicbyte.kafka_admin.topics import Partition, Topic
from magicbyte.testing import temporary_broker
from tests.topics import until_known

MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]


@pytest.fixture
def topics(run: Any, kafka: str) -> Any:
    def topics_command(command: str, *arguments: str) -> Any:
        done = run("topics", command, *arguments, "--bootstrap-servers", kafka)
        if command == "create" and done.code == 0:
            until_known(AdminClient({"bootstrap.servers": kafka}), arguments[0])
        return done

    return topics_command


def described(topics: Any, *arguments: str) -> list[dict[str, Any]]:
    done = topics("describe", *arguments, "--output", "json")
    assert (done.code, done.err) == (0, "")
    return list(json.loads(done.out)["topics"])


def test_a_topic_is_created_described_and_deleted(topics: Any, topic: str, kafka: str):
    done = topics(
        "create", topic, "--partitions", "2", "--replication-factor", "1", "--topic-config", "retention.ms=-1"
    )
    assert (done.code, done.out, done.err) == (0, f"topic {topic} created\n", "")
    producer = Producer({"bootstrap.servers": kafka})
    for _ in range(3):
        producer.produce(topic, b"x", partition=1)
    assert producer.flush(20) == 0
    assert topics("describe", topic).out == (
        f"{topic}: 2 partitions, replication factor 1, 3 offsets\n"
        "  partition  leader  replicas  in sync  begin  end  offsets\n"
        "          0       1  1         1            0    0        0\n"
        "          1       1  1         1            0    3        3\n"
        "  retention.ms=-1\n"
    )
    assert described(topics, topic) == [
        {
            "topic": topic,
            "internal": False,
            "partitionCount": 2,
            "replicationFactor": 1,
            "partitions": [
                {"partition": 0, "leader": 1, "replicas": [1], "inSync": [1], "begin": 0, "end": 0},
                {"partition": 1, "leader": 1, "replicas": [1], "inSync": [1], "begin": 0, "end": 3},
            ],
            "configs": {"retention.ms": "-1"},
        }
    ]
    deleted = topics("delete", topic, "--yes")
    assert (deleted.code, deleted.out) == (0, f"topic {topic} deleted\n")
    assert topics("describe", topic).code == 3


def test_list_leaves_out_internal_topics(topics: Any, topic: str):
    assert topics("create", topic, "--partitions", "3").code == 0
    listed = json.loads(topics("list", "--output", "json").out)["topics"]
    assert {"topic": topic, "internal": False, "partitionCount": 3, "replicationFactor": 1} in listed
    assert not [one for one in listed if one["internal"]]
    lines = [line.split() for line in topics("list").out.splitlines()]
    assert lines[0] == ["topic", "partitions", "replicas"]
    assert [topic, "3", "1"] in lines


def test_internal_topics_are_listed_on_request_and_never_deleted(topics: Any):
    listed = json.loads(topics("list", "--internal", "--output", "json").out)["topics"]
    assert "__consumer_offsets" in [one["topic"] for one in listed if one["internal"]]
    refused = topics("delete", "__consumer_offsets", "--yes")
    assert (refused.code, refused.err) == (
        2,
        "magicbyte topics: topic __consumer_offsets holds Kafka's own state and is not deleted\n",
    )


def test_if_not_exists_and_if_exists(topics: Any, topic: str):
    missing = topics("delete", topic, "--if-exists", "--yes")
    assert (missing.code, missing.out) == (0, f"topic {topic} does not exist\n")
    assert topics("create", topic, "--if-not-exists", "--partitions", "2").out == f"topic {topic} created\n"
    again = topics("create", topic, "--if-not-exists", "--partitions", "4")
    assert (again.code, again.out) == (0, f"topic {topic} exists already\n")
    assert described(topics, topic)[0]["partitionCount"] == 2


def test_alter_adds_partitions_and_changes_configs(topics: Any, topic: str):
    assert topics("create", topic, "--config", "retention.ms=1000000", "--config", "segment.ms=2000000").code == 0
    changes = ("--partitions", "3", "--config", "cleanup.policy=compact,delete", "--delete-config", "segment.ms")
    done = topics("alter", topic, *changes)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"topic {topic}: 3 partitions\n"
        f"topic {topic}: cleanup.policy=compact,delete\n"
        f"topic {topic}: segment.ms has its default\n"
    )
    assert described(topics, topic)[0]["configs"] == {
        "cleanup.policy": "compact,delete",
        "retention.ms": "1000000",
    }
    assert described(topics, topic)[0]["partitionCount"] == 3
    same = topics("alter", topic, "--partitions", "3")
    assert (same.code, same.out) == (0, f"topic {topic}: 3 partitions already\n")


REFUSED = [
    (("describe", "no-such-topic"), 3, "topic no-such-topic does not exist"),
    (("alter", "no-such-topic", "--partitions", "2"), 3, "topic no-such-topic does not exist"),
    (("delete", "{}", "no-such-topic", "--yes"), 3, "topic no-such-topic does not exist"),
    (("create", "{}"), 3, "topic {} exists already"),
    (("create", "{}-x", "--config", "retention.mss=1"), 2, "topic {}-x: Unknown topic config name: retention.mss"),
    (("create", "{}-x", "--config", "retention"), 2, "--topic-config: must be name=value, not 'retention'"),
    (("alter", "{}", "--partitions", "1"), 2, "topic {} has 2 partitions; Kafka cannot reduce them to 1"),
    (("alter", "{}", "--config", "nothing=1"), 2, "topic {}: Unknown topic config name: nothing"),
    (
        ("alter", "{}", "--delete-config", "retention.mss"),
        2,
        "topic {}: there is no config retention.mss; did you mean retention.ms?",
    ),
    (("delete", "{}"), 2, "nothing was deleted: without a terminal to ask on, --yes is needed"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), REFUSED, ids=[" ".join(case[0]) for case in REFUSED])
def test_a_refusal_is_one_sentence_and_changes_nothing(
    topics: Any, topic: str, arguments: tuple[str, ...], code: int, said: str
):
    assert topics("create", topic, "--partitions", "2").code == 0
    before = described(topics, topic)
    done = topics(*(word.format(topic) for word in arguments))
    assert (done.code, done.out, done.err) == (code, "", f"magicbyte topics: {said.format(topic)}\n")
    assert described(topics, topic) == before


def test_more_replicas_than_brokers_are_refused(topics: Any, topic: str):
    done = topics("create", topic, "--replication-factor", "3")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"magicbyte topics: topic {topic}: ")
    assert len(done.err.splitlines()) == 1


def test_a_wrong_config_with_more_partitions_changes_neither_setting(topics: Any, topic: str):
    assert topics("create", topic, "--partitions", "1").code == 0
    done = topics("alter", topic, "--partitions", "2", "--config", "retention.ms=x")
    assert (done.code, done.out) == (2, "")
    assert "retention.ms" in done.err
    assert described(topics, topic)[0]["partitionCount"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create", "a b"], "'a b' is no topic's name"),
        (["create", "t", "--partitions", "0"], "'0' is not a number from 1"),
        (["alter", "t"], "topics alter needs --partitions, --topic-config or --delete-config"),
        (["alter", "t", "--config", "a=1", "--delete-config", "a"], "--topic-config and --delete-config both name a"),
        (["delete"], "TOPIC"),
        ([], "list | create | describe | alter | delete"),
    ],
)
def test_wrong_calls_exit_with_2(run: Any, arguments: list[str], said: str):
    done = run("topics", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(
    "command",
    [
        ("topics", "list"),
        ("topics", "create", "t"),
        ("topics", "describe", "t"),
        ("topics", "alter", "t", "--partitions", "2"),
        ("topics", "delete", "t", "--yes"),
        ("groups", "list"),
        ("groups", "describe", "g"),
        ("groups", "reset", "g", "--topic", "t", "--to-latest"),
        ("groups", "delete", "g", "--yes"),
    ],
)
def test_a_broker_that_is_down_exits_with_3_in_time(run: Any, command: tuple[str, ...]):
    # Without this property, the test would take half a minute.
    limit = ("--command-property", "default.api.timeout.ms=500")
    done = run(*command, "--bootstrap-servers", "127.0.0.1:1", *limit)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"magicbyte {command[0]}: the broker cannot be used: 127.0.0.1:1/bootstrap: ")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(("answer", "code", "is_deleted"), [("y", 0, True), ("", 1, False), ("no", 1, False)])
def test_delete_asks_on_a_terminal(topics: Any, topic: str, kafka: str, answer: str, code: int, is_deleted: bool):
    assert topics("create", topic).code == 0
    ours, theirs = pty.openpty()
    command = [*MAGICBYTE, "topics", "delete", topic, "--bootstrap-servers", kafka]
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, timeout=60)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == code
    assert done.stderr.startswith(f"Delete {topic} (1 partition, 0 offsets)? [y/N] ")
    assert done.stdout == (f"topic {topic} deleted\n" if is_deleted else "")
    assert (topics("describe", topic).code == 3) is is_deleted


def test_under_replicated_shows_only_under_replicated_partitions(run: Any, monkeypatch: pytest.MonkeyPatch):
    # A broker alone has no other replicas.
    whole = Partition(0, 1, (1, 2), (1, 2), 0, 10)
    behind = Partition(1, 2, (1, 2), (2,), 5, 8)
    dead = Partition(2, None, (1, 2), (), None, None)
    known = [Topic("a", False, (whole, behind, dead)), Topic("b", False, (whole,))]
    monkeypatch.setattr(showing, "open_admin", lambda _: None)
    monkeypatch.setattr(showing, "all_topics", lambda _: known)
    monkeypatch.setattr(showing, "with_offsets", lambda _, topics: topics)
    monkeypatch.setattr(showing, "own_configs", lambda _, names: dict.fromkeys(names))
    assert run("topics", "describe", "--under-replicated").out == (
        "a: 3 partitions, replication factor 2\n"
        "  partition  leader  replicas  in sync  begin  end  offsets\n"
        "          1       2  1,2       2            5    8        3\n"
        "          2    none  1,2       none         -    -        -\n"
        "  configs: the broker does not show them to this client\n"
    )
    values = json.loads(run("topics", "describe", "--under-replicated", "--output", "json").out)["topics"]
    assert [(value["topic"], value["partitionCount"], value["configs"]) for value in values] == [("a", 3, None)]
    assert [(one["partition"], one["leader"], one["end"]) for one in values[0]["partitions"]] == [
        (1, 2, 8),
        (2, None, None),
    ]


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """A broker that allows everything that no entry is about."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with temporary_broker(properties=properties) as broker:
        yield broker.bootstrap_servers


def deny(bootstrap: str, kind: ResourceType, name: str, *operations: AclOperation) -> None:
    """Allow everyone everything but these operations."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    rules = [(AclOperation.ALL, AclPermissionType.ALLOW), *((one, AclPermissionType.DENY) for one in operations)]
    where = (kind, name, ResourcePatternType.LITERAL)
    for future in admin.create_acls([AclBinding(*where, "User:*", "*", *rule) for rule in rules]).values():
        future.result()


def until_refused(run: Any, *command: str) -> Any:
    """Run a command again until the broker, which learns of entries a moment after they were made, refuses."""
    end = time.monotonic() + 60
    while True:
        done = run(*command)
        if done.code:
            return done
        assert time.monotonic() < end


def test_a_right_that_is_refused_exits_with_3(run: Any, guarded: str, topic: str):
    at = ("--bootstrap-servers", guarded)
    assert run("topics", "create", topic, *at).code == 0
    denied = (AclOperation.ALTER_CONFIGS, AclOperation.ALTER, AclOperation.DESCRIBE_CONFIGS)
    deny(guarded, ResourceType.TOPIC, topic, *denied)
    said = f"magicbyte topics: topic {topic}: the broker does not authorize this client\n"
    for change in (("--config", "retention.ms=1"), ("--partitions", "2")):
        done = until_refused(run, "topics", "alter", topic, *change, *at)
        assert (done.code, done.out, done.err) == (3, "", said)
    hidden = "  configs: the broker does not show them to this client\n"
    end = time.monotonic() + 60
    while not run("topics", "describe", topic, *at).out.endswith(hidden):
        assert time.monotonic() < end
    group = f"{topic}-group"
    reset = ("groups", "reset", group, "--topic", topic, "--to-latest", "--execute", *at)
    assert run(*reset).code == 0
    deny(guarded, ResourceType.GROUP, group, AclOperation.READ, AclOperation.DELETE)
    said = f"magicbyte groups: group {group}: the broker does not authorize this client\n"
    for command in (reset, ("groups", "delete", group, "--yes", *at)):
        done = until_refused(run, *command)
        assert (done.code, done.out, done.err) == (3, "", said)
