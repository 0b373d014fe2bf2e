"""`magicbyte groups` on a real broker."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

#: 2026-01-01T00:00:00Z.
NEW_YEAR = 1_767_225_600_000
HOUR = 3_600_000


@pytest.fixture
def groups(run: Any, kafka: str) -> Any:
    return lambda command, *arguments: run("groups", command, *arguments, "--bootstrap-servers", kafka)


@pytest.fixture
def records(run: Any, kafka: str, topic: str) -> str:
    """A topic with five records in partition 0, one each hour of the new year, and two in partition 1."""
    create = ("topics", "create", topic, "--partitions", "2", "--config", "retention.ms=-1")
    assert run(*create, "--bootstrap-servers", kafka).code == 0
    producer = Producer({"bootstrap.servers": kafka})
    for partition, count in ((0, 5), (1, 2)):
        for hour in range(count):
            producer.produce(topic, b"x", partition=partition, timestamp=NEW_YEAR + hour * HOUR)
    assert producer.flush(20) == 0
    return topic


def commit(kafka: str, group: str, topic: str, *offsets: int) -> None:
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": group})
    places = [TopicPartition(topic, partition, offset) for partition, offset in enumerate(offsets)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


def join(consumer: Consumer, topic: str) -> None:
    """Join a group, and wait for partitions."""
    consumer.subscribe([topic])
    end = time.monotonic() + 60
    while not consumer.assignment():
        consumer.poll(0.1)
        assert time.monotonic() < end


@pytest.fixture
def member(kafka: str, records: str) -> Iterator[Consumer]:
    """The only member of the group that is called like the topic."""
    settings = {"bootstrap.servers": kafka, "group.id": records, "client.id": "app", "enable.auto.commit": False}
    consumer = Consumer(settings)
    join(consumer, records)
    yield consumer
    consumer.close()


def committed(groups: Any, group: str) -> dict[int, int]:
    (value,) = json.loads(groups("describe", group, "--output", "json").out)["groups"]
    return {one["partition"]: one["committed"] for one in value["partitions"]}


def test_list_shows_states(groups: Any, kafka: str, records: str, member: Consumer):
    commit(kafka, f"{records}-empty", records, 1, 1)
    listed = json.loads(groups("list", "--output", "json").out)["groups"]
    assert {"group": records, "state": "Stable", "type": "classic"} in listed
    assert {"group": f"{records}-empty", "state": "Empty", "type": "classic"} in listed
    assert [records, "Stable", "classic"] in [line.split() for line in groups("list").out.splitlines()]


def test_describe_shows_members_and_lags(groups: Any, records: str, member: Consumer):
    member.commit(offsets=[TopicPartition(records, 0, 3)], asynchronous=False)
    (value,) = json.loads(groups("describe", records, "--output", "json").out)["groups"]
    (one,) = value.pop("members")
    assert value.pop("coordinator") == 1
    assert value == {
        "group": records,
        "state": "Stable",
        "type": "classic",
        "assignor": "range",
        "lag": 2,
        "partitions": [
            {"topic": records, "partition": 0, "committed": 3, "end": 5, "lag": 2, "member": one["member"]},
            {"topic": records, "partition": 1, "committed": None, "end": 2, "lag": None, "member": one["member"]},
        ],
    }
    assert (one["client"], one["host"], one["instance"]) == ("app", "127.0.0.1", None)
    head, columns, first, second = groups("describe", records).out.splitlines()
    assert head == f"{records}: Stable, 1 member, lag 2, classic range"
    assert columns.split() == ["topic", "partition", "committed", "end", "lag", "member", "client", "host"]
    assert first.split() == [records, "0", "3", "5", "2", one["member"], "app", "127.0.0.1"]
    assert second.split()[1:5] == ["1", "-", "2", "-"]


@pytest.mark.slow
def test_describe_shows_members_without_partitions(groups: Any, kafka: str, records: str, member: Consumer):
    others = [Consumer({"bootstrap.servers": kafka, "group.id": records, "client.id": f"other-{n}"}) for n in range(2)]
    for other in others:
        other.subscribe([records])
    end = time.monotonic() + 60
    rows: list[list[str]] = []
    while not any(row[:5] == ["-"] * 5 for row in rows):
        for consumer in (member, *others):
            consumer.poll(0.1)
        rows = [line.split() for line in groups("describe", records).out.splitlines()]
        assert time.monotonic() < end
    for other in others:
        other.close()


def test_describe_shows_a_group_without_members(groups: Any, kafka: str, records: str):
    commit(kafka, records, records, 4, 0)
    assert groups("describe", records).out == (
        f"{records}: Empty, no members, lag 3, classic\n"
        f"  {'topic':{len(records)}}  partition  committed  end  lag\n"
        f"  {records}          0          4    5    1\n"
        f"  {records}          1          0    2    2\n"
    )


def test_names_of_groups_cannot_command_the_terminal(groups: Any, kafka: str, records: str):
    name = f"{records}\x1b[2J"
    commit(kafka, name, records, 1)
    assert groups("describe", name).out.startswith(f"{records}\\x1b[2J: Empty, no members, lag 4")
    for shown in (groups("list").out, groups("list", "--output", "json").out):
        assert "\x1b" not in shown
        assert "x1b[2J" in shown or "u001b[2J" in shown


def test_offsets_of_a_deleted_topic_are_shown_without_an_end(run: Any, groups: Any, kafka: str, records: str):
    kept = f"{records}-kept"
    run("topics", "create", kept, "--bootstrap-servers", kafka)
    commit(kafka, f"{records}-group", kept, 0)
    commit(kafka, f"{records}-group", records, 4)
    run("topics", "delete", records, "--yes", "--bootstrap-servers", kafka)
    (value,) = json.loads(groups("describe", f"{records}-group", "--output", "json").out)["groups"]
    # The broker forgets the offsets of a deleted topic a moment later.
    assert {one["topic"]: (one["end"], one["lag"]) for one in value["partitions"]} | {records: (None, None)} == {
        kept: (0, 0),
        records: (None, None),
    }


RESETS = [
    (["--to-earliest"], {0: 0, 1: 0}),
    (["--to-latest"], {0: 5, 1: 2}),
    (["--to-offset", "1"], {0: 1, 1: 1}),
    (["--to-timestamp", str(NEW_YEAR + 1)], {0: 1, 1: 1}),
    (["--to-timestamp", "2026-01-01T01:30:00Z"], {0: 2, 1: 2}),
    (["--to-timestamp", "2036-01-01T00:00:00Z"], {0: 5, 1: 2}),
    (["--shift-by", "-1"], {0: 2, 1: 0}),
    (["--shift-by", "1"], {0: 4, 1: 2}),
]


@pytest.mark.parametrize(("target", "expected"), RESETS, ids=[" ".join(case[0]) for case in RESETS])
def test_reset_shows_the_plan_and_executes_it_on_request(
    groups: Any, kafka: str, records: str, target: list[str], expected: dict[int, int]
):
    commit(kafka, records, records, 3, 1)
    plan = groups("reset", records, "--topic", records, *target, "--output", "json")
    assert (plan.code, plan.err) == (
        0,
        "magicbyte groups: nothing was changed: --execute commits these offsets\n",
    )
    value = json.loads(plan.out)
    assert (value["group"], value["executed"]) == (records, False)
    assert {one["partition"]: one["new"] for one in value["partitions"]} == expected
    assert [(one["committed"], one["begin"], one["end"]) for one in value["partitions"]] == [(3, 0, 5), (1, 0, 2)]
    assert committed(groups, records) == {0: 3, 1: 1}
    done = groups("reset", records, "--all-topics", *target, "--output", "json", "--execute")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {**value, "executed": True}
    assert committed(groups, records) == expected


def test_reset_of_some_partitions_leaves_the_remaining_partitions(groups: Any, kafka: str, records: str):
    commit(kafka, records, records, 3, 1)
    done = groups("reset", records, "--topic", f"{records}:1", "--to-offset", "9", "--execute")
    assert (done.code, done.err) == (
        0,
        f"magicbyte groups: {records} 1: offset 9 is after the end; 2 is used\n",
    )
    assert done.out == (
        f"{records}: 1 of 1 offsets changed\n"
        f"  {'topic':{len(records)}}  partition  committed  new  begin  end  lag\n"
        f"  {records}          1          1    2      0    2    0\n"
    )
    assert committed(groups, records) == {0: 3, 1: 2}


def test_reset_moves_a_too_small_offset_to_the_first_record(groups: Any, kafka: str, records: str):
    commit(kafka, records, records, 3, 1)
    done = groups(
        "reset", records, "--topic", f"{records}:0", "--topic", f"{records}:1", "--shift-by", "-2", "--execute"
    )
    assert f"{records} 1: offset -1 is before the first record; 0 is used\n" in done.err
    assert "2 of 2 offsets changed" in done.out
    assert committed(groups, records) == {0: 1, 1: 0}


def test_reset_of_a_group_that_does_not_exist_says_so_and_creates_it(groups: Any, records: str):
    plan = groups("reset", records, "--topic", records, "--to-latest")
    assert plan.err == (
        "magicbyte groups: nothing was changed: --execute commits these offsets;"
        f" group {records} does not exist and would be created\n"
    )
    assert groups("describe", records).code == 3
    assert groups("reset", records, "--topic", records, "--to-latest", "--execute").code == 0
    assert committed(groups, records) == {0: 5, 1: 2}


def test_a_group_with_members_is_neither_reset_nor_deleted(groups: Any, records: str, member: Consumer):
    said = f"magicbyte groups: group {records} has 1 member; stop them first\n"
    for command in (
        ("reset", records, "--topic", records, "--to-earliest"),
        ("reset", records, "--topic", records, "--to-earliest", "--execute"),
        ("delete", records, "--yes"),
    ):
        done = groups(*command)
        assert (done.code, done.out, done.err) == (3, "", said)
    assert committed(groups, records) == {0: None, 1: None}


def test_a_group_is_deleted(groups: Any, kafka: str, records: str):
    commit(kafka, records, records, 3, 1)
    asked = groups("delete", records)
    assert (asked.code, asked.out) == (2, "")
    assert asked.err == "magicbyte groups: nothing was deleted: without a terminal to ask on, --yes is needed\n"
    done = groups("delete", records, "--yes")
    assert (done.code, done.out) == (0, f"group {records} deleted\n")
    assert groups("describe", records).code == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("describe", "{}"), 3, "group {} does not exist"),
        (("delete", "{}", "--yes"), 3, "group {} does not exist"),
        (("reset", "{}", "--topic", "no-such-topic", "--to-latest"), 3, "topic no-such-topic does not exist"),
        (("reset", "{}", "--topic", "{}:7", "--to-latest"), 2, "topic {} has no partition 7"),
        (("reset", "{}", "--all-topics", "--to-latest"), 3, "group {} has committed no offsets; name the topics"),
        (
            ("reset", "{}", "--topic", "{}", "--shift-by", "1"),
            2,
            "nothing is committed for {} 0: there is no offset to shift",
        ),
    ],
)
def test_a_refusal_is_one_sentence(groups: Any, records: str, arguments: tuple[str, ...], code: int, said: str):
    done = groups(*(word.format(records) for word in arguments))
    assert (done.code, done.out, done.err) == (code, "", f"magicbyte groups: {said.format(records)}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["describe", ""], "a group's name must not be empty or begin with whitespace"),
        (["reset", "g", "--to-latest"], "one of the arguments --topic --all-topics is required"),
        (["reset", "g", "--topic", "t"], "--to-earliest --to-latest --to-offset --to-timestamp --shift-by is required"),
        (["reset", "g", "--topic", "t", "--to-latest", "--shift-by", "1"], "not allowed with argument"),
        (["reset", "g", "--topic", "t:x", "--to-latest"], "'t:x' is not TOPIC or TOPIC:0,1"),
        (["reset", "g", "--topic", "t", "--to-timestamp", "noon"], "--to-timestamp must be milliseconds since 1970"),
        ([], "list | describe | reset | delete"),
    ],
)
def test_wrong_calls_exit_with_2(run: Any, arguments: list[str], said: str):
    done = run("groups", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
