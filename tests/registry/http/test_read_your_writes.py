"""A request that sends back the token of an answer is answered from the log up to there, by any node."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, TypeVar

import httpx
import pytest
from starlette.testclient import TestClient

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from registry.app import create_app
from registry.cluster.commit.committer import Command
from registry.cluster.commit.outcome import Outcome
from registry.cluster.node import SharedLogNode
from registry.http import offset_tokens
from registry.log.memory import MemoryLog
from registry.log.port import LogError, NotLeader
from registry.settings import RegistrySettings
from serdes.client.clients import AsyncRegistryClient, RegistryClient
from tests.http.serving import serving

HEADER = "X-Magicbyte-Offset"
ROUNDS = 40

T = TypeVar("T")


class Node(SharedLogNode):
    """A node whose readings of the log can be replaced."""

    read: Callable[[], None] | None = None

    def sync(self) -> None:
        (self.read or super().sync)()


class Nodes:
    """Nodes on one log; the second reads it when it has to, and else never."""

    def __init__(self, stack: ExitStack) -> None:
        self.log = MemoryLog()
        self.nodes = [Node(self.log, f"http://node-{n}", poll_seconds=3600) for n in range(2)]
        settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:"})
        for node in self.nodes:
            node.start()
        self.first, self.second = (stack.enter_context(TestClient(create_app(settings, node))) for node in self.nodes)


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with ExitStack() as stack:
        yield Nodes(stack)


def token_of(answer: httpx.Response) -> dict[str, str]:
    """The header to send back; none from a registry without tokens."""
    return {HEADER: answer.headers[HEADER]} if HEADER in answer.headers else {}


def schema(*fields: str) -> dict[str, str]:
    named = [{"name": name, "type": "int", "default": 0} for name in fields]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": named})}


def test_a_node_waits_only_for_requests_with_a_token(nodes: Nodes) -> None:
    nodes.first.post("/subjects/s/versions", json=schema("a"))
    path = "/subjects/s/versions/latest"
    assert [nodes.second.get(path).json()["version"] for _ in range(3)] == [1, 1, 1]
    written = nodes.first.post("/subjects/s/versions", json=schema("a", "b"))
    # Without a token the node answers from what it has read, here from memory.
    assert nodes.second.get(path).json()["version"] == 1
    assert nodes.second.get(path, headers=token_of(written)).json()["version"] == 2
    assert nodes.second.get(path).json()["version"] == 2


@pytest.mark.parametrize("path", ["/config/s", "/mode/s", "/subjects", "/subjects/s/versions", "/schemas/ids/1"])
def test_every_read_honours_a_token(nodes: Nodes, path: str) -> None:
    register = nodes.first.post("/subjects/s/versions", json=schema("a"))
    nodes.first.put("/config/s", json={"compatibility": "FULL"})
    answer = nodes.first.put("/mode/s", json={"mode": "READWRITE"})
    before = nodes.second.get(path, headers=token_of(answer)).json()
    nodes.first.put("/config/s", json={"compatibility": "NONE"})
    nodes.first.put("/mode/s", json={"mode": "READONLY"})
    nodes.first.put("/mode/s", json={"mode": "READWRITE"})
    nodes.first.delete("/subjects/s")
    nodes.first.delete("/subjects/s?permanent=true")
    nodes.first.post("/subjects/t/versions", json=schema("b"))
    answer = nodes.first.put("/config", json={"compatibility": "FULL"})
    assert nodes.second.get(path, headers=token_of(register)).json() == before
    known, fresh = nodes.first.get(path), nodes.second.get(path, headers=token_of(answer))
    assert (fresh.status_code, fresh.json()) == (known.status_code, known.json())
    assert fresh.json() != before


def test_a_look_up_and_a_write_honour_a_token(nodes: Nodes) -> None:
    nodes.first.post("/subjects/s/versions", json=schema("a"))
    assert nodes.second.post("/subjects/s", json=schema("a")).status_code == 200
    deleted = nodes.first.delete("/subjects/s")
    assert nodes.second.post("/subjects/s", json=schema("a")).status_code == 200
    assert nodes.second.post("/subjects/s", json=schema("a"), headers=token_of(deleted)).status_code == 404
    nodes.first.post("/subjects/s/versions", json=schema("a"))
    again = nodes.second.post("/subjects/s/versions", json=schema("a"), headers=token_of(deleted)).json()
    assert (again["version"], again["deleted"]) == (2, False)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/subjects/s/versions", schema("b"), 200),
        ("POST", "/subjects/s/versions", schema("a"), 200),
        ("POST", "/subjects/s/versions", {"schema": '{"type":"record","name":"Other","fields":[]}'}, 409),
        ("POST", "/subjects/s/versions", {"schema": "nonsense"}, 422),
        ("POST", "/subjects/s", schema("a"), 200),
        ("PUT", "/config", {"compatibility": "FULL"}, 200),
        ("PUT", "/config/s", {"compatibility": "BACKWARD"}, 200),
        ("PUT", "/mode", {"mode": "READWRITE"}, 200),
        ("DELETE", "/subjects/s/versions/1", None, 200),
        ("DELETE", "/subjects/nowhere", None, 404),
    ],
)
def test_answers_to_writes_carry_a_token(nodes: Nodes, method: str, path: str, body: Any, status: int) -> None:
    nodes.first.post("/subjects/s/versions", json=schema("a"))
    answer = nodes.first.request(method, path, json=body)
    assert (answer.status_code, answer.headers[HEADER]) == (status, f"{nodes.log.log_id}:{nodes.log.end()}")
    assert {"content-type", "content-length", "x-request-id"} < set(answer.headers)


def test_answers_to_reads_carry_no_token(nodes: Nodes) -> None:
    for path in ("/subjects", "/config", "/schemas/types", "/subjects/s/versions/latest"):
        assert HEADER not in nodes.first.get(path).headers
        assert HEADER not in nodes.first.head(path).headers


def test_tokens_of_other_logs_are_ignored(nodes: Nodes) -> None:
    for value in ("other:999999", "a/b+c==:5", ":.:x:9", "other:7, another:8"):
        assert nodes.second.get("/subjects", headers={HEADER: value}).json() == []
    written = nodes.first.post("/subjects/s/versions", json=schema("a"))
    both = {HEADER: f"other:999999, {written.headers[HEADER]}"}
    assert nodes.second.get("/subjects", headers=both).json() == ["s"]


@pytest.mark.parametrize("path", ["/subjects", "/subjects/s/versions/1"])
@pytest.mark.parametrize("value", ["", "x", "5", ":5", "log:", "log:five", "log:5.0", "log:5,", "log:" + "9" * 20])
def test_a_malformed_token_is_refused(nodes: Nodes, path: str, value: str) -> None:
    nodes.second.get(path)
    answer = nodes.second.get(path, headers={HEADER: value})
    assert answer.status_code == 400
    assert answer.json() == {
        "error_code": 400,
        "message": f"X-Magicbyte-Offset: {value[:100]!r} is not <log id>:<offset>",
    }


def test_a_node_behind_the_token_answers_503(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_tokens, "WAIT_SECONDS", 1.0)
    began = time.monotonic()
    answer = nodes.second.get("/subjects", headers={HEADER: f"{nodes.log.log_id}:5"})
    assert 1 <= time.monotonic() - began < 20
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json() == {
        "error_code": 503,
        "message": "This node has not read the log up to offset 5 within 1 s. Ask again, or ask another node.",
    }
    assert nodes.second.get("/subjects").status_code == 200


class Readings:
    """Stands for a node's `sync`: each reading waits to be let go, and the first one fails."""

    def __init__(self, node: Node) -> None:
        self._read = super(Node, node).sync
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.count = 0
        self.at_once = 0
        self.most_at_once = 0

    def sync(self) -> None:
        self.count += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.began.set()
        try:
            assert self.may_end.wait(30)
            if self.count == 1:
                raise LogError("the first reading fails")
            self._read()
        finally:
            self.at_once -= 1


def test_requests_that_wait_share_one_reading_and_try_again(nodes: Nodes) -> None:
    readings = Readings(nodes.nodes[1])
    nodes.nodes[1].read = readings.sync
    written = nodes.first.post("/subjects/s/versions", json=schema("a"))
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(nodes.second.get, "/subjects", headers=token_of(written)) for _ in range(20)]
        assert readings.began.wait(30)
        # Others are served meanwhile.
        assert nodes.second.get("/subjects").json() == []
        readings.may_end.set()
        assert [answer.result(30).json() for answer in waiting] == [["s"]] * 20
    assert readings.most_at_once == 1
    assert 2 <= readings.count < 20


class Follower(SharedLogNode):
    """A node that may not write, and whose leader is whatever the test starts."""

    leader = ""

    def submit(self, command: Command[T], client: str = "") -> Outcome[T]:  # noqa: ARG002  no client waits here
        refused: Outcome[T] = Outcome()
        refused.set_error(NotLeader(f"{command} is for the leader"))
        return refused

    def leader_url(self) -> str | None:
        return self.leader


@pytest.mark.parametrize("token", ["log:7", None])
def test_the_answer_to_a_forwarded_write_has_the_leaders_token_or_none(token: str | None) -> None:
    sent: list[str | None] = []

    class Leader(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            sent.append(self.headers[HEADER])
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            if token is not None:
                self.send_header(HEADER, token)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None: ...

    node = Follower(MemoryLog(), "http://127.0.0.1:8081")
    settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:"})
    with serving(HTTPServer(("127.0.0.1", 0), Leader)) as node.leader:
        node.start()
        with TestClient(create_app(settings, node)) as client:
            answer = client.put("/config", json={"compatibility": "FULL"}, headers={HEADER: "log:5"})
    assert (answer.status_code, answer.headers.get(HEADER), sent) == (200, token, ["log:5"])


STORES = ["kafka", "postgresql"]


@pytest.fixture(scope="module", params=STORES)
def pair(request: pytest.FixtureRequest) -> Iterator[list[ServerProcess]]:
    """Two nodes of a real cluster: of one writer on Kafka, of two on a database."""
    with ExitStack() as stack:
        if request.param == "kafka":
            own = {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}
            servers = request.getfixturevalue("kafka")
            start = lambda: running_registry("kafka:", bootstrap_servers=servers, properties=own)  # noqa: E731
        else:
            server = request.getfixturevalue("postgresql_server")
            name = f"registry_{uuid.uuid4().hex}"
            server.psql(f"create database {name};")
            url = str(server.get_uri(name))
            start = lambda: running_registry(url)  # noqa: E731
        yield [stack.enter_context(start()) for _ in range(2)]


def in_both_directions(pair: list[ServerProcess]) -> Iterator[tuple[int, httpx.Client, httpx.Client]]:
    with (
        httpx.Client(base_url=pair[0].url, timeout=30) as first,
        httpx.Client(base_url=pair[1].url, timeout=30) as second,
    ):
        for number in range(ROUNDS):
            yield number, *((first, second) if number % 2 else (second, first))


def test_a_config_is_read_on_the_other_node(pair: list[ServerProcess]) -> None:
    stale = 0
    for number, writer, reader in in_both_directions(pair):
        level = ("FULL", "NONE", "FORWARD")[number % 3]
        written = writer.put("/config/configured", json={"compatibility": level})
        assert written.status_code == 200, written.text
        read = reader.get("/config/configured", headers=token_of(written)).json()
        stale += read.get("compatibilityLevel") != level
    assert stale == 0


def test_an_id_that_was_deleted_for_good_is_gone_on_the_other_node(pair: list[ServerProcess]) -> None:
    stale = 0
    for number, writer, reader in in_both_directions(pair):
        schema_id = writer.post("/subjects/deleted/versions", json=schema(f"f{number}")).json()["id"]
        path = f"/schemas/ids/{schema_id}"
        # Twice, so that the node has the answer in its memory.
        assert [reader.get(path).status_code for _ in range(2)] == [200, 200]
        writer.delete("/subjects/deleted")
        written = writer.delete("/subjects/deleted?permanent=true")
        assert written.status_code == 200, written.text
        stale += reader.get(path, headers=token_of(written)).status_code != 404
    assert stale == 0


def test_the_latest_version_is_read_on_the_other_node(pair: list[ServerProcess]) -> None:
    stale = 0
    for number, writer, reader in in_both_directions(pair):
        written = writer.post("/subjects/latest/versions", json=schema(*(f"f{n}" for n in range(number + 1))))
        assert written.status_code == 200, written.text
        read = reader.get("/subjects/latest/versions/latest", headers=token_of(written)).json()
        stale += read["version"] != written.json()["version"]
    assert stale == 0


def test_a_write_without_a_change_also_returns_a_token(pair: list[ServerProcess]) -> None:
    stale = 0
    for number, writer, reader in in_both_directions(pair):
        body = schema(*(f"f{n}" for n in range(number + 1)))
        version = writer.post("/subjects/same/versions", json=body).json()["version"]
        # Whichever node takes it finds the version that is there.
        again = writer.post("/subjects/same/versions", json=body)
        assert again.json()["version"] == version
        read = reader.get("/subjects/same/versions/latest", headers=token_of(again)).json()
        stale += read["version"] != version
    assert stale == 0


class Balancer(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends each request to another node than the one before, as a load balancer in front of them may."""

    def __init__(self, pair: list[ServerProcess]) -> None:
        self._nodes = itertools.cycle([httpx.URL(node.url) for node in pair])
        self._blocking, self._asynchronous = httpx.HTTPTransport(), httpx.AsyncHTTPTransport()

    def _directed(self, request: httpx.Request) -> httpx.Request:
        node = next(self._nodes)
        request.url = request.url.copy_with(host=node.host, port=node.port)
        return request

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._blocking.handle_request(self._directed(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._asynchronous.handle_async_request(self._directed(request))

    def close(self) -> None:
        self._blocking.close()

    async def aclose(self) -> None:
        await self._asynchronous.aclose()


def test_our_client_reads_its_writes_behind_a_load_balancer(pair: list[ServerProcess]) -> None:
    stale = 0
    with RegistryClient("http://localhost", transport=Balancer(pair)) as client:
        for number in range(ROUNDS):
            level = ("FULL", "NONE", "FORWARD")[number % 3]
            client.put_config({"compatibility": level}, "client")
            # Three requests a round, so that both nodes write.
            stale += [client.config("client")["compatibilityLevel"] for _ in range(2)] != [level, level]
    assert stale == 0


def test_our_asynchronous_client_does_so_too(pair: list[ServerProcess]) -> None:
    async def session() -> int:
        stale = 0
        async with AsyncRegistryClient("http://localhost", transport=Balancer(pair)) as client:
            for number in range(ROUNDS):
                level = ("FULL", "NONE", "FORWARD")[number % 3]
                await client.put_config({"compatibility": level}, "client-2")
                read = [(await client.config("client-2"))["compatibilityLevel"] for _ in range(2)]
                stale += read != [level, level]
        return stale

    assert asyncio.run(session()) == 0
