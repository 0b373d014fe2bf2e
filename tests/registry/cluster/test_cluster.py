"""Nodes on one topic: any answers, one writes, and what one has answered all know."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from registry.cluster.lead.takeover import amends
from registry.log.kafka import KafkaLog
from registry.log.port import LogError
from registry.log.topic import UnfitTopic, prepare_topic
from registry.state.view import View
from tests.topics import create_topics
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[3]


def own_cluster() -> dict[str, str]:
    return {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}


@contextmanager
def nodes(kafka: str, count: int, properties: dict[str, str] | None = None) -> Iterator[list[ServerProcess]]:
    shared = {**own_cluster(), **(properties or {})}
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_registry("kafka:", bootstrap_servers=kafka, properties=shared))
            for _ in range(count)
        ]


@pytest.fixture(scope="module")
def pair(kafka: str) -> Iterator[list[ServerProcess]]:
    with nodes(kafka, 2) as started:
        yield started


def schema(name: str, *fields: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": field, "type": "int"} for field in fields]})


def register(node: ServerProcess, subject: str, text: str) -> httpx.Response:
    return httpx.post(f"{node.url}/subjects/{subject}/versions", json={"schema": text}, timeout=PATIENCE)


def status(node: ServerProcess) -> Any:
    return httpx.get(f"{node.url}/health/ready", timeout=60).json()


def in_parallel(calls: list[Any]) -> list[Any]:
    results: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(index: int) -> None:
        barrier.wait()
        results[index] = calls[index]()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_one_node_leads_and_the_other_knows_where(pair: list[ServerProcess]) -> None:
    assert register(pair[1], "first", '"int"').status_code == 200
    states = [status(node) for node in pair]
    assert sorted(state["leader"] for state in states) == [False, True]
    assert {state["leaderUrl"] for state in states} <= {node.url for node in pair}
    assert len({state["leaderUrl"] for state in states}) == 1


def test_metrics_count_the_nodes(pair: list[ServerProcess]) -> None:
    for node in pair:
        deadline = time.monotonic() + 30
        # The first answer is that of a node which has not asked the group yet.
        while "kafka_schema_registry_node_count 2.0" not in httpx.get(f"{node.url}/metrics").text.splitlines():
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_node_finds_at_once_a_schema_that_another_node_has_answered(pair: list[ServerProcess]) -> None:
    for number in range(25):
        writer, reader = pair[number % 2], pair[(number + 1) % 2]
        subject = f"read-your-writes-{number}"
        answered = register(writer, subject, schema(f"R{number}")).json()
        assert httpx.get(f"{reader.url}/schemas/ids/{answered['id']}").status_code == 200
        assert httpx.get(f"{reader.url}/subjects/{subject}/versions/1").json()["id"] == answered["id"]


def test_errors_of_the_leader_are_relayed(pair: list[ServerProcess]) -> None:
    register(pair[0], "relayed", schema("R", "a"))
    for node in pair:
        refused = register(node, "relayed", schema("R", "b"))
        assert (refused.status_code, refused.json()["error_code"]) == (409, 409)
        assert httpx.delete(f"{node.url}/subjects/nowhere").json()["error_code"] == 40401


def test_identical_registrations_at_once_through_all_nodes_are_one(pair: list[ServerProcess]) -> None:
    text = schema("Same", "a", "b")
    answers = in_parallel([lambda node=pair[n % 2]: register(node, "same", text).json() for n in range(12)])
    assert {(answer["id"], answer["version"]) for answer in answers} == {(answers[0]["id"], 1)}


def test_of_incompatible_schemas_at_once_through_all_nodes_one_wins(pair: list[ServerProcess]) -> None:
    texts = [schema("R", f"field_{number}") for number in range(10)]
    answers = in_parallel(
        [lambda node=pair[n % 2], text=text: register(node, "contested", text) for n, text in enumerate(texts)]
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 9


@pytest.mark.slow
def test_nodes_on_one_database_all_write_and_agree(postgresql: str) -> None:
    with running_registry(postgresql) as first, running_registry(postgresql) as second:
        both = (first, second)
        same = in_parallel(
            [lambda node=both[n % 2]: register(node, "same", schema("S", "a")).json() for n in range(12)]
        )
        assert {(answer["id"], answer["version"]) for answer in same} == {(1, 1)}
        texts = [schema("R", f"field_{number}") for number in range(8)]
        contested = in_parallel(
            [lambda node=both[n % 2], text=text: register(node, "contested", text) for n, text in enumerate(texts)]
        )
        assert sorted(answer.status_code for answer in contested) == [200] + [409] * 7
        answered = register(first, "fresh", '"int"').json()
        assert httpx.get(f"{second.url}/schemas/ids/{answered['id']}").status_code == 200


def test_a_request_that_was_passed_on_is_not_passed_on_again(pair: list[ServerProcess]) -> None:
    register(pair[0], "loop", '"int"')
    (follower,) = [node for node in pair if not status(node)["leader"]]
    answered = httpx.post(
        f"{follower.url}/subjects/loop/versions", json={"schema": '"long"'}, headers={"X-Forward": "true"}
    )
    assert (answered.status_code, answered.json()["error_code"]) == (500, 50004)


@pytest.mark.slow
def test_workers_on_one_port_are_nodes(kafka: str) -> None:
    with nodes(kafka, 1, {"magicbyte.workers": "2"}) as (server,):
        answered = register(server, "s", '"int"')
        assert answered.status_code == 200
        for _ in range(20):
            with httpx.Client() as client:
                assert client.get(f"{server.url}/subjects/s/versions/1").json()["id"] == answered.json()["id"]


@pytest.mark.slow
def test_faults_among_three_nodes_lose_nothing() -> None:
    """The chaos run in short: the leader killed and restarted, and one stopped and resumed, under writes."""
    command = [sys.executable, "-P", str(ROOT / "tests/chaos/registry_cluster.py"), "--rounds", "2"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "0 problems" in finished.stdout


@pytest.mark.slow
def test_the_broker_killed_and_restarted_under_writes_loses_nothing() -> None:
    with temporary_broker() as broker, nodes(broker.bootstrap_servers, 1) as (server,):
        answered: dict[str, int] = {}
        stop = threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                try:
                    response = register(server, f"s{number}", schema(f"R{number}"))
                except httpx.HTTPError:
                    continue
                if response.status_code == 200:
                    answered[f"s{number}"] = response.json()["id"]

        writer = threading.Thread(target=write)
        writer.start()
        try:
            until(lambda: len(answered) > 20)
            broker.kill()
            until(lambda: status(server)["status"] == "DOWN")
            assert status(server)["problem"]
            broker.start()
            before = len(answered)
            until(lambda: len(answered) > before + 20)
        finally:
            stop.set()
            writer.join()
        ids = {name: httpx.get(f"{server.url}/subjects/{name}/versions/1").json()["id"] for name in answered}
        assert ids == answered
        assert len(set(ids.values())) == len(ids)


@pytest.mark.slow
def test_a_node_reports_a_full_disk_and_loses_nothing(tmp_path: Path) -> None:
    with running_registry(f"sqlite:///{tmp_path}/schemas.db") as server:
        assert register(server, "before", '"int"').status_code == 200
        assert server.pid is not None
        # No file may grow any more, as on a full disk.
        size = sum(path.stat().st_size for path in tmp_path.iterdir())
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        answers = [register(server, f"s{number}", schema(f"R{number}", "a" * 2000)) for number in range(40)]
        refused = [answer for answer in answers if answer.status_code != 200]
        assert {answer.json()["error_code"] for answer in refused} == {50001}
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert register(server, "after", '"long"').status_code == 200
        taken = {f"s{number}" for number, answer in enumerate(answers) if answer.status_code == 200}
        server.kill()
        server.start()
        assert set(httpx.get(f"{server.url}/subjects").json()) == taken | {"before", "after"}


LEGACY = [
    (
        b'{"subject":"old","version":1,"magic":1,"keytype":"SCHEMA"}',
        b'{"subject":"old","version":1,"id":1,"schema":"\\"int\\"","deleted":false}',
    ),
    (b'{"keytype":"CONFIG","subject":null,"magic":0}', b'{"compatibilityLevel":"NONE"}'),
    (b'{"magic":0,"keytype":"NOOP"}', None),
    (b"garbage", b"\xff\xfe"),
    (
        b'{"keytype":"SCHEMA","subject":"new","version":1,"magic":1}',
        b'{"subject":"new","version":1,"id":2,"md5":"AAAAAAAAAAAAAAAAAAAAAA==","schemaType":"JSON","schema":"{}",'
        b'"deleted":false,"unknown":[1]}',
    ),
    (b'{"keytype":"ASSOC","tenant":"default","resourceName":"t","magic":0}', b"{}"),
]


@pytest.mark.slow
def test_topics_of_other_writers_are_read_and_their_keys_repeated(kafka: str) -> None:
    properties = own_cluster()
    topic = properties["kafkastore.topic"]
    client = {"bootstrap.servers": kafka}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    producer = Producer(client)
    for key, value in LEGACY:
        producer.produce(topic, key=key, value=value, partition=0)
    producer.flush()
    with running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as server:
        assert httpx.get(f"{server.url}/subjects").json() == ["new", "old"]
        assert httpx.get(f"{server.url}/config").json() == {"compatibilityLevel": "NONE"}
        assert httpx.delete(f"{server.url}/subjects/old").json() == [1]
        assert httpx.delete(f"{server.url}/subjects/old?permanent=true").json() == [1]
    log = KafkaLog(client, topic, "nobody")
    keys = [entry.key for entry in log.read(-1) if entry.value is None]
    log.close()
    assert LEGACY[0][0] in keys


@pytest.mark.slow
def test_the_highest_id_survives_delete_and_restart(kafka: str) -> None:
    with nodes(kafka, 1) as (server,):
        assert [register(server, "s", text).json()["id"] for text in ('"int"', '"long"')] == [1, 2]
        httpx.delete(f"{server.url}/subjects/s")
        httpx.delete(f"{server.url}/subjects/s?permanent=true")
        server.kill()
        server.start()
        assert register(server, "s", '"string"').json()["id"] == 3


@pytest.mark.parametrize(
    ("partitions", "policy", "reason"),
    [
        (2, "compact", "has 2 partitions"),
        (1, "delete", "cleanup.policy=delete"),
        (1, "compact,delete", "compact,delete"),
    ],
)
def test_a_topic_that_would_lose_schemas_is_refused(kafka: str, partitions: int, policy: str, reason: str) -> None:
    topic = f"unfit-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(topic, partitions, 1, config={"cleanup.policy": policy}))
    with pytest.raises(UnfitTopic, match=reason):
        prepare_topic({"bootstrap.servers": kafka}, topic, replication=1, configs={}, skip_validation=False, timeout=60)


def test_the_registry_repairs_the_effects_of_an_aborted_transaction(kafka: str) -> None:
    topic = f"aborted-{uuid.uuid4()}"
    client = {"bootstrap.servers": kafka}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    committed = b'{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":"\\"int\\"","deleted":false}'
    key = b'{"keytype":"SCHEMA","subject":"s","version":%d,"magic":1}'
    zombie = Producer({**client, "transactional.id": topic})
    zombie.init_transactions()
    zombie.begin_transaction()
    zombie.produce(topic, key=key % 1, value=committed, partition=0)
    zombie.commit_transaction()
    zombie.begin_transaction()
    for number, schema_id in ((1, 7), (2, 8)):
        value = committed.replace(b'"id":1', b'"id":%d' % schema_id).replace(b"int", b"long")
        zombie.produce(topic, key=key % number, value=value, partition=0)
    zombie.flush()
    log = KafkaLog(client, topic, topic)
    log.open_writer()
    view = View()
    for entry in log.read(-1):
        view.apply(entry)
    written = amends(view, log.aborted_since(view.settled_offset), 5)
    log.close()
    assert [(record.key, record.value) for record in written] == [
        (b'{"keytype":"MAGICBYTE_ID_MARK","context":".","magic":0}', b'{"context":".","maxId":8}'),
        (key % 1, committed),
        (key % 2, None),
        (b'{"keytype":"MAGICBYTE_SETTLED","magic":0}', b"{}"),
    ]


def test_a_registry_that_cannot_start_says_why_in_a_line(kafka: str) -> None:
    topic = f"unfit-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(topic, 3, 1))
    with (
        pytest.raises(ServerFailed) as raised,
        running_registry("kafka:", bootstrap_servers=kafka, properties={"kafkastore.topic": topic}),
    ):
        pass
    assert raised.value.last_lines[-1].startswith(f"magicbyte: the registry can't start: {topic} has 3 partitions")


@pytest.mark.slow
def test_a_stopped_leader_that_wakes_up_is_fenced(kafka: str) -> None:
    with nodes(kafka, 2) as started:
        register(started[0], "s", '"int"')
        (leader,) = [node for node in started if status(node)["leader"]]
        (other,) = [node for node in started if node is not leader]
        assert leader.pid is not None
        os.kill(leader.pid, signal.SIGSTOP)
        try:
            assert register(other, "t", '"int"').status_code == 200
        finally:
            os.kill(leader.pid, signal.SIGCONT)
        assert register(leader, "u", '"int"').status_code == 200
        until(lambda: [status(node)["leader"] for node in (leader, other)] == [False, True])


@pytest.mark.slow
def test_nodes_restarted_in_turn_fail_no_request_of_a_client_that_retries_once(kafka: str) -> None:
    with nodes(kafka, 2) as started:
        register(started[0], "known", '"int"')
        stop, done = threading.Event(), [0, 0]
        failed: list[str] = []

        def ask(client: int) -> None:
            while not stop.is_set():
                number = done[client]
                first, second = started[number % 2], started[(number + 1) % 2]
                outcome = attempt(first, client, number) and attempt(second, client, number)
                if outcome:
                    failed.append(outcome)
                done[client] += 1

        def attempt(node: ServerProcess, client: int, number: int) -> str:
            try:
                if client == 0:
                    answer = httpx.get(f"{node.url}/subjects/known/versions/latest", timeout=20)
                else:
                    answer = register(node, f"s{number}", schema(f"R{number}"))
            except httpx.HTTPError as error:
                return repr(error)
            return "" if answer.status_code == 200 else answer.text

        clients = [threading.Thread(target=ask, args=(client,)) for client in (0, 1)]
        for client in clients:
            client.start()
        try:
            for node in (*started, started[0]):
                enough = done[1] + 5
                until(lambda enough=enough: done[1] >= enough)
                node.stop()
                node.start()
            enough = done[1] + 5
            until(lambda: done[1] >= enough)
        finally:
            stop.set()
            for client in clients:
                client.join()
        assert failed == []


@pytest.mark.slow
def test_no_node_leads_while_a_registry_of_confluent_is_alive(kafka: str) -> None:
    group = str(uuid.uuid4())
    properties = {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": group}
    with (
        GroupMember(kafka, group, "sr") as theirs,
        running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as ours,
    ):
        found = httpx.get(f"{ours.url}/health/ready", timeout=60)
        assert (found.status_code, found.json()["leader"]) == (503, False)
        assert found.json()["problem"].startswith(f"Confluent's registry is running in the group '{group}' (1 members)")
        theirs.leave()
        assert register(ours, "s", '"int"').status_code == 200


class GroupMember:
    """A member of a group of any protocol type, which the client library has none for: it joins, and it leaves."""

    def __init__(self, broker: str, group: str, protocol_type: str) -> None:
        host, _, port = broker.partition(":")
        self._group = _string(group)
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        protocols = struct.pack(">i", 1) + _string("v0") + struct.pack(">i", 2) + b"{}"
        # It sends no heartbeats.
        timeouts = struct.pack(">ii", 300_000, 300_000)
        # JoinGroup, version 2: throttle time, error, generation, then protocol, leader and member id.
        answer = self._ask(11, 2, self._group + timeouts + _string("") + _string(protocol_type) + protocols)
        error, at = struct.unpack_from(">ih", answer)[1], 10
        assert error == 0
        for _ in range(3):
            (length,) = struct.unpack_from(">h", answer, at)
            found, at = answer[at : at + 2 + length], at + 2 + length
        self._member = found

    def leave(self) -> None:
        """Leave the group: LeaveGroup, version 1."""
        assert self._ask(13, 1, self._group + self._member)[4:6] == b"\0\0"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def _ask(self, api: int, version: int, body: bytes) -> bytes:
        request = struct.pack(">hhi", api, version, 1) + _string("them") + body
        self._socket.sendall(struct.pack(">i", len(request)) + request)
        reader = self._socket.makefile("rb")
        (length,) = struct.unpack(">i", reader.read(4))
        answer = reader.read(length)
        return answer[4:]


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def test_a_log_without_a_broker_is_an_error() -> None:
    with pytest.raises(LogError, match="no Kafka broker answers"):
        prepare_topic(
            {"bootstrap.servers": "127.0.0.1:1"}, "t", replication=1, configs={}, skip_validation=False, timeout=1
        )
