"""The bounds of a request to `/ui/decode`, `/ui/encode` and `/ui/example`: its worker process can be killed."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from magicbyte.ui.decode import unless_gone
from tests.garbage import left_in_cycles, uncollected
from tests.processes import descendants, is_computing, words_of
from tests.waiting import until

#: A busy machine gives a worker little processor time.
GENEROUS = {"magicbyte.ui.messages.timeout.ms": "100000"}
LIMITS = {**GENEROUS, "magicbyte.ui.messages.cpu.ms": "600", "magicbyte.ui.messages.max.bytes": "1000000"}
#: A JSON Schema whose validation doubles with each level.
ENDLESS = {
    "schemaType": "JSON",
    "schema": json.dumps(
        {
            "definitions": {
                **{f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(60)},
                "d60": {"type": "integer"},
            },
            "$ref": "#/definitions/d0",
        }
    ),
}
#: Records of one byte each, whose JSON has 250 bytes, and which take 184 bytes of memory.
LONG_NAMES = {
    "type": "array",
    "items": {"type": "record", "name": "R", "fields": [{"name": "n" * 245, "type": "int"}]},
}
WAIT_SECONDS = 60.0


def varint(number: int) -> bytes:
    number, encoded = number << 1, b""
    while number > 127:
        number, encoded = number >> 7, encoded + bytes([number & 127 | 128])
    return encoded + bytes([number])


def many(schema_id: int, count: int) -> str:
    """A message with so many items of one byte, in base64."""
    return base64.b64encode(b"\0" + schema_id.to_bytes(4) + varint(count) + bytes(count + 1)).decode()


def register(http: httpx.Client, subject: str, schema: Any, schema_type: str = "AVRO") -> int:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": text, "schemaType": schema_type})
    return int(answer.json()["id"])


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with running_registry(properties=LIMITS) as server:
        yield server


@pytest.fixture(scope="module")
def http(server: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=120) as http:
        register(http, "longs-value", '"long"')
        yield http


LONG = base64.b64encode(b"\0\0\0\0\1\2").decode()


def decoded(http: httpx.Client, *messages: str) -> Any:
    answer = http.post("/ui/decode", json={"data": messages})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_processor_time(http: httpx.Client) -> None:
    # Six million values are decoded and examined for remarks.
    schema_id = register(http, "nulls-value", {"type": "array", "items": "null"})
    message = base64.b64encode(b"\0" + schema_id.to_bytes(4) + varint(60_000) + b"\0").decode()
    answer = http.post("/ui/decode", json={"data": [message] * 100})
    assert (answer.status_code, answer.json()) == (
        422,
        {
            "error_code": 42201,
            "message": "this takes more than 600 ms of processor time (magicbyte.ui.messages.cpu.ms); send fewer or "
            "smaller messages, or use a simpler schema",
        },
    )
    assert decoded(http, LONG)[0]["value"] == 1


def test_memory() -> None:
    with (
        running_registry(properties={**GENEROUS, "magicbyte.ui.messages.memory.bytes": str(128 << 20)}) as server,
        httpx.Client(base_url=server.url, timeout=120) as http,
    ):
        schema_id = register(http, "names-value", LONG_NAMES)
        answer = http.post("/ui/decode", json={"data": [many(schema_id, 1_000_000)]})
        assert (answer.status_code, answer.json()) == (
            422,
            {
                "error_code": 42201,
                "message": "this takes more than 134217728 bytes of memory (magicbyte.ui.messages.memory.bytes); "
                "send fewer or smaller messages, or use a simpler schema",
            },
        )
        assert len(decoded(http, many(schema_id, 10))[0]["value"]) == 10


@pytest.mark.parametrize("form", [{}, {"logical": False}, {"unions": "tagged"}])
def test_a_value_is_counted_before_its_text_is_made(http: httpx.Client, form: dict[str, Any]) -> None:
    schema_id = register(http, "names-value", LONG_NAMES)
    answer = http.post("/ui/decode", json={"data": [many(schema_id, 4_000), LONG, many(schema_id, 3_900)], **form})
    large, small, fitting = answer.json()["data"]
    assert (large["reason"], large["error"]) == (
        "size",
        "its JSON has more than 1000000 bytes (magicbyte.ui.messages.max.bytes)",
    )
    assert small["value"] == 1
    assert len(fitting["value"]) == 3_900


def test_a_value_with_logical_types_is_counted(http: httpx.Client) -> None:
    fields = [{"name": "n" * 245, "type": {"type": "int", "logicalType": "date"}}]
    schema_id = register(
        http, "dates-value", {"type": "array", "items": {"type": "record", "name": "D", "fields": fields}}
    )
    (item,) = decoded(http, many(schema_id, 4_000))
    assert item["error"] == "its JSON has more than 1000000 bytes (magicbyte.ui.messages.max.bytes)"


def test_a_protobuf_value_is_counted(http: httpx.Client) -> None:
    text = f'syntax = "proto3"; message M {{ repeated I items = 1; }} message I {{ int32 {"n" * 245} = 1; }}'
    schema_id = register(http, "items-value", text, "PROTOBUF")
    message = b"\0" + schema_id.to_bytes(4) + b"\0"
    large, small = decoded(http, *(base64.b64encode(message + b"\n\0" * count).decode() for count in (4_000, 100)))
    assert large["error"] == "its JSON has more than 1000000 bytes (magicbyte.ui.messages.max.bytes)"
    assert len(small["value"]["items"]) == 100


def test_the_items_of_an_answer_have_a_size_together(http: httpx.Client) -> None:
    schema_id = register(http, "names-value", LONG_NAMES)
    first, second, third = decoded(http, many(schema_id, 3_000), many(schema_id, 3_000), LONG)
    assert len(first["value"]) == 3_000
    assert second == {
        "error": "the items of an answer have at most 1000000 bytes (magicbyte.ui.messages.max.bytes), and this one "
        "does not fit",
        "reason": "size",
        "at": None,
    }
    assert third["value"] == 1
    name = "N" * 100_000
    schema = {"type": "record", "name": name, "fields": []}
    answer = http.post("/ui/encode", json={"proposal": {"schema": json.dumps(schema)}, "data": [{}] * 20})
    assert [item.get("name", "")[:1] for item in answer.json()["data"]] == ["N"] * 9 + [""] * 11


def test_a_decimal_on_a_huge_fixed_is_not_made(http: httpx.Client) -> None:
    schema = {"type": "fixed", "name": "F", "size": 2_000_000_000, "logicalType": "decimal", "precision": 9, "scale": 2}
    answer = http.post("/ui/encode", json={"proposal": {"schema": json.dumps(schema)}, "data": ["12.50"]})
    assert answer.json()["data"][0]["error"] == (
        "str does not fit fixed F (decimal) (a decimal of 2000000000 bytes; the limit is 1786 bytes, which have 4300 "
        "digits)"
    )


def test_validation_has_a_time_for_all_values_of_a_request(http: httpx.Client) -> None:
    answer = http.post("/ui/encode", json={"proposal": ENDLESS, "data": ["x"] * 50})
    errors = [item["error"] for item in answer.json()["data"]]
    assert "validation was ended, as it took more than" in errors[0]
    assert errors[-1].endswith("validation was not begun, as the values before it took all of its time")
    # The time is that of one request.
    number = {"schemaType": "JSON", "schema": '{"type": "number"}'}
    (item,) = http.post("/ui/encode", json={"proposal": number, "data": [1]}).json()["data"]
    assert base64.b64decode(item["data"]) == b"\0\0\0\0\x001"


def test_a_body_that_is_nested_too_deeply(http: httpx.Client) -> None:
    answer = http.post("/ui/encode", content='{"topic":"t","data":[' + "[" * 100_000 + "]" * 100_000 + "]}")
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "the body is no such request: maximum recursion depth exceeded while deserializing an object",
    )


def processes(server: ServerProcess, module: str) -> list[int]:
    """The processes that run a module, of those that a server has started."""
    return [pid for pid in descendants(server.pid) if module in words_of(pid)]


WORKER, VALIDATOR = "magicbyte.ui.messages.worker", "serdes.validation.worker"


def is_validating(worker: int) -> bool:
    return any(VALIDATOR in words_of(pid) and is_computing(pid) for pid in descendants(worker))


def busy_worker(server: ServerProcess) -> int:
    """Wait until a worker validates; return its process id."""
    found: list[int] = []

    def validating() -> bool:
        found[:] = [worker for worker in processes(server, WORKER) if is_validating(worker)]
        return bool(found)

    until(validating)
    return found[0]


def sent(server: ServerProcess) -> socket.socket:
    """A connection with a request that takes seconds."""
    body = json.dumps({"proposal": ENDLESS}).encode()
    target = urlsplit(server.url)
    connection = socket.create_connection((target.hostname, target.port or 0), WAIT_SECONDS)
    connection.sendall(b"POST /ui/example HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return connection


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_its_job_repeated(server: ServerProcess, http: httpx.Client) -> None:
    decoded(http, LONG)
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(http.post, "/ui/example", json={"proposal": ENDLESS})
        os.kill(busy_worker(server), signal.SIGKILL)
        assert decoded(http, LONG)[0]["value"] == 1
        # Another worker has taken over, because the first one had worked before.
        assert slow.result().json()["error"] == "no example was found: the schema may have none that is finite"


def test_a_client_that_leaves_ends_its_worker(server: ServerProcess, http: httpx.Client) -> None:
    with sent(server):
        worker = busy_worker(server)
    until(lambda: worker not in processes(server, WORKER))
    assert decoded(http, LONG)[0]["value"] == 1


@pytest.mark.usefixtures("http")
def test_a_client_with_slow_requests_delays_itself_alone(server: ServerProcess) -> None:
    # Two are worked on, and eight may wait.
    slow = [sent(server) for _ in range(30)]
    try:
        head, _, body = slow[-1].recv(4096).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nretry-after: 1\r\n" in head.lower()
        assert json.loads(body)["message"] == (
            "too many messages are being decoded: 8 requests of this client wait already; ask again later "
            "(magicbyte.ui.messages.workers, magicbyte.ui.messages.waiting.max.per.client)"
        )
        transport = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(base_url=server.url, timeout=60, transport=transport) as neighbour:
            assert decoded(neighbour, LONG)[0]["value"] == 1
    finally:
        for connection in slow:
            connection.close()


def test_the_number_of_workers_and_of_waiting_requests_have_settings() -> None:
    properties = {
        **GENEROUS,
        "magicbyte.ui.messages.workers": "1",
        "magicbyte.ui.messages.waiting.max.per.client": "0",
    }
    with running_registry(properties=properties) as server, sent(server):
        busy_worker(server)
        with httpx.Client(base_url=server.url, timeout=60) as http:
            refused = http.post("/ui/example", json={"proposal": ENDLESS})
    assert (refused.status_code, refused.json()["message"]) == (
        429,
        "too many messages are being decoded: 0 requests of this client wait already; ask again later "
        "(magicbyte.ui.messages.workers, magicbyte.ui.messages.waiting.max.per.client)",
    )


def post_decode(server: ServerProcess, body: bytes, address: str, *, whole: bool = True) -> socket.socket:
    """A connection from an address that has sent a request, and whose client reads nothing by itself."""
    target = urlsplit(server.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(WAIT_SECONDS)
    connection.bind((address, 0))
    connection.connect((target.hostname, target.port or 0))
    length = len(body) if whole else 1_400_000
    connection.sendall(b"POST /ui/decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % length + body)
    return connection


def http_from(server: ServerProcess, address: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=address)
    return httpx.Client(base_url=server.url, timeout=WAIT_SECONDS, transport=transport)


#: The kernel takes up to 4 MB of an answer that is not read.
UNREAD = {**GENEROUS, "magicbyte.ui.messages.max.bytes": "6000000"}
SPACES = b" " * 1_300_000
HELD = (
    "this client's messages, and the answers that it has not read, have over 29854548 bytes "
    "(four times magicbyte.ui.messages.max.bytes and the largest body); read the answers, and ask again"
)


@pytest.fixture(scope="module")
def unread() -> Iterator[tuple[ServerProcess, bytes]]:
    """A server, and a body whose answer has almost six million bytes."""
    with running_registry(properties=UNREAD) as server, http_from(server, "127.0.0.1") as http:
        register(http, "longs-value", '"long"')
        schema_id = register(http, "names-value", LONG_NAMES)
        yield server, json.dumps({"data": [many(schema_id, 23_600)]}).encode()


@pytest.mark.parametrize("what", ["answers", "bodies"])
def test_a_client_holds_at_most_so_many_bytes(unread: tuple[ServerProcess, bytes], what: str) -> None:
    server, body = unread
    held: list[socket.socket] = []
    with http_from(server, "127.0.0.3") as client, http_from(server, "127.0.0.2") as neighbour:
        try:
            for _ in range(5 if what == "answers" else 22):
                held.append(
                    post_decode(server, body if what == "answers" else SPACES, "127.0.0.3", whole=what != "bodies")
                )
                if what == "answers":
                    assert held[-1].recv(12) == b"HTTP/1.1 200"

            def is_full() -> bool:
                if client.post("/ui/decode", content=SPACES).status_code == 429:
                    return True
                if what == "bodies":  # the request before may have taken the room of the last one
                    held.append(post_decode(server, SPACES, "127.0.0.3", whole=False))
                return False

            until(is_full)
            refused = client.post("/ui/decode", content=SPACES)
            assert refused.headers["retry-after"] == "1"
            assert refused.json() == {"error_code": 42901, "message": HELD}
            # A small message still has room, and others have room of their own.
            assert decoded(client, LONG)[0]["value"] == 1
            assert neighbour.post("/ui/decode", content=body).status_code == 200
        finally:
            for connection in held:
                connection.close()
        until(lambda: client.post("/ui/decode", content=SPACES).status_code == 400)


def test_clients_that_read_nothing_take_no_room_from_others(unread: tuple[ServerProcess, bytes]) -> None:
    server, body = unread
    held: list[socket.socket] = []
    try:
        for number in range(12):
            # About 72 million bytes, of which all clients together may hold 59,709,096.
            connection = post_decode(server, body, f"127.0.0.{4 + number % 3}")
            held.append(connection)
            assert connection.recv(12) == b"HTTP/1.1 200"
        with http_from(server, "127.0.0.2") as neighbour:
            answer = neighbour.post("/ui/decode", content=body)
            assert (answer.status_code, len(answer.content) > 5_900_000) == (200, True)
        # The first ones were cut short to make room.
        read = 0
        while part := held[0].recv(1 << 16):
            read += len(part)
        assert read < 5_900_000
    finally:
        for connection in held:
            connection.close()


def test_a_request_without_a_worker_leaves_nothing_to_the_garbage_collector() -> None:
    """Its body may have megabytes, and would stay until the next search for cycles."""

    class Refused(Exception):
        pass

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def work() -> None:
        raise Refused

    async def ask() -> None:
        with pytest.raises(Refused):
            await unless_gone(receive, work())

    async def run() -> None:
        await ask()
        with uncollected():
            await ask()
            assert left_in_cycles(Refused) == []

    asyncio.run(run())
