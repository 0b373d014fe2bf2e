"""The limits on a client before its request is whole, on real servers."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from magicbyte.testing import running_rest_proxy

ROOT = Path(__file__).parents[2]
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def code(answer: bytes) -> tuple[bytes, int]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.partition(b"\r\n")[0], json.loads(body)["error_code"]


def test_a_head_of_twenty_megabytes_is_refused_and_not_read(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
    # What is sent until then is in the buffers of the kernel; nobody has read it.
    connection.send_until_closed(b"x" * 65536, at_most=20_000_000)
    assert httpx.get(server.url).status_code == 200


def test_the_refusal_of_a_head_says_why(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 33_000)
    assert code(connection.rest()) == (b"HTTP/1.1 431 Request Header Fields Too Large", 431)


@pytest.mark.parametrize(
    ("head", "status", "message"),
    [
        (
            b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: x\r\n" * 100,
            431,
            "The request's head is larger than 100 fields",
        ),
        (
            b"GET /%b HTTP/1.1\r\nHost: localhost\r\n" % (b"x" * 8192),
            414,
            "The request target is longer than 8192 bytes",
        ),
        (
            b"GET http://localhost/%b HTTP/1.1\r\nHost: localhost\r\n" % (b"x" * 8192),
            414,
            "The request target is longer than 8192 bytes",
        ),
        (b"GET * HTTP/1.1\r\nHost: localhost\r\n", 400, "The request target must be a path or an http URL"),
        (
            b"GET ftp://localhost/ HTTP/1.1\r\nHost: localhost\r\n",
            400,
            "The request target must be a path or an http URL",
        ),
    ],
)
def test_refused_heads(server: Any, connect: Any, head: bytes, status: int, message: str) -> None:
    connection = connect(server)
    connection.send(head + b"\r\n")
    answered, body = connection.answer()
    assert (answered, json.loads(body)) == (status, {"error_code": status, "message": message})
    # It is over with the request, not with the connection.
    connection.send(GET)
    assert connection.answer()[0] == 200


def test_heads_as_large_as_may_be_are_served(server: Any, connect: Any) -> None:
    connection = connect(server)
    for _ in range(3):
        connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 32_000 + b"\r\n\r\n")
        assert connection.answer()[0] == 200
    connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: x\r\n" * 99 + b"\r\n")
    assert connection.answer()[0] == 200


def test_simultaneous_requests_do_not_count_as_a_large_head(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(GET * 2000)
    for _ in range(2000):
        assert connection.answer()[0] == 200


def test_simultaneous_requests_have_a_limit(start: Any, connect: Any) -> None:
    server = start(**{"magicbyte.pipelining.buffer.bytes": "1000"})
    few, many = connect(server), connect(server)
    few.send(GET * 20)
    assert [few.answer()[0] for _ in range(20)] == [200] * 20
    many.send(GET * 100)
    assert many.answer()[0] == 200
    status, body = many.answer()
    assert (status, json.loads(body)) == (
        429,
        {
            "error_code": 429,
            "message": "Requests that wait for earlier answers have over 1000 bytes on all connections "
            "(magicbyte.pipelining.buffer.bytes); send each request after the answer to the one before it",
        },
    )
    assert many.rest() == b""
    assert httpx.get(server.url).status_code == 200


def test_a_body_is_as_large_as_ever(server: Any, connect: Any) -> None:
    connection = connect(server)
    body = b'{"a": "%b"}' % (b"x" * 3_000_000)
    connection.send(b"POST /none HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body + GET)
    assert [connection.answer()[0], connection.answer()[0]] == [404, 200]


def test_options_of_the_whole_server(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert connection.head() == (
        b"HTTP/1.1 200 OK\r\nallow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r\ncontent-length: 0\r\n\r\n"
    )


def test_a_head_must_be_whole_in_time(start: Any, connect: Any) -> None:
    server = start(**{"magicbyte.request.head.timeout.ms": "2000"})
    silent, half, slow, kept = (connect(server) for _ in range(4))
    half.send(GET[:-2])
    kept.send(GET)
    assert kept.answer()[0] == 200
    kept.send(GET[:10])
    # A byte now and then does not help.
    slow.send(b"GET / HTTP/1.1\r\nX: ")
    slow.send_until_closed(b"x", at_most=10_000, pause=0.05)
    assert silent.rest() == b""
    for connection in (half, kept):
        assert code(connection.rest()) == (b"HTTP/1.1 408 Request Timeout", 408)
    assert httpx.get(server.url).status_code == 200


def test_a_body_must_come_on(start: Any, connect: Any) -> None:
    server = start(**{"idle.timeout.ms": "1000"})
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
    stopped, slow = connect(server), connect(server)
    stopped.send(head + b"{")
    slow.send(head)
    assert code(stopped.rest()) == (b"HTTP/1.1 408 Request Timeout", 408)
    # A byte now and then is under 1 KiB a second.
    slow.send_until_closed(b"x", at_most=10_000, pause=0.02)


def test_a_body_without_length_must_come_on(start: Any, connect: Any) -> None:
    connection = connect(start(**{"idle.timeout.ms": "1000"}))
    connection.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{")
    assert code(connection.rest()) == (b"HTTP/1.1 408 Request Timeout", 408)


@pytest.mark.slow
def test_a_connection_has_a_time_limit_for_its_next_request(start: Any, connect: Any) -> None:
    connection = connect(start(**{"idle.timeout.ms": "3000"}))
    for _ in range(5):
        asked = time.monotonic()
        connection.send(GET)
        assert connection.answer()[0] == 200
        time.sleep(0.7)
    assert connection.rest() == b""
    assert time.monotonic() - asked >= 3


def test_a_client_must_read_its_answer_in_time(start: Any, connect: Any) -> None:
    server = start(**{"idle.timeout.ms": "1000"})
    greedy = connect(server)
    greedy.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    greedy.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)
    assert is_reset(greedy)
    assert httpx.get(server.url).status_code == 200


def is_reset(connection: Any) -> bool:
    waiting = select.poll()
    waiting.register(connection.socket, 0)
    return bool(waiting.poll(30_000))


@pytest.mark.slow
def test_time_limits_ignore_pauses_of_the_server(start: Any, connect: Any) -> None:
    server = start(**{"magicbyte.request.head.timeout.ms": "3000", "idle.timeout.ms": "3000"})
    half, kept = connect(server), connect(server)
    half.send(GET[:-2])
    kept.send(GET)
    assert kept.answer()[0] == 200
    os.kill(server.pid, signal.SIGSTOP)
    try:
        time.sleep(4)
        half.send(GET[-2:])
        kept.send(GET)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert half.answer()[0] == 200
    assert kept.answer()[0] == 200


def test_an_address_has_so_many_unfinished_heads(start: Any, connect: Any) -> None:
    server = start(**{"magicbyte.unfinished.heads.per.address": "10"})
    idle = []
    for _ in range(30):
        idle.append(connect(server))
        idle[-1].send(GET)
        assert idle[-1].answer()[0] == 200
    halves = [connect(server) for _ in range(30)]
    for connection in halves:
        # The oldest go first, as soon as the server has accepted the others, whether or not they have sent anything.
        with suppress(ConnectionError):
            connection.send(GET[:-2])
    # Clients that have finished a request are not counted.
    for connection in halves[:20]:
        connection.rest()
    for connection in [*halves[20:], *idle]:
        connection.send(GET[-2:] if connection in halves else GET)
        assert connection.answer()[0] == 200


def test_the_server_limits_the_number_of_connections(start: Any, connect: Any) -> None:
    server = start(**{"server.connection.limit": "20"})
    first = connect(server)
    first.send(GET)
    assert first.answer()[0] == 200
    for _ in range(40):
        last = connect(server)
        last.send(GET)
        assert last.answer()[0] == 200
    # Those that have been idle for longest make room.
    assert first.rest() == b""
    last.send(GET)
    assert last.answer()[0] == 200


def test_busy_connections_do_not_make_room(connect: Any, start_registry: Any) -> None:
    server = start_registry(**{"server.connection.limit": "5"})
    followers = [connect(server) for _ in range(5)]
    for follower in followers:
        follower.send(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        follower.head()
    # One connection more than there may be is told so, and is closed.
    assert connect(server).rest().startswith(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n")
    followers.pop().close()
    until_served(server)
    for follower in followers:
        assert follower.socket.recv(100)


def until_served(server: Any) -> None:
    deadline = time.monotonic() + 30
    while httpx.get(server.url).status_code != 200:
        assert time.monotonic() < deadline


def test_the_change_feed_outlives_these_times(connect: Any, start_registry: Any) -> None:
    server = start_registry(**{"idle.timeout.ms": "1500", "magicbyte.request.head.timeout.ms": "1500"})
    follower = connect(server)
    follower.send(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    follower.head()
    for _ in range(2):
        idle = connect(server)
        idle.send(GET)
        idle.answer()
        assert idle.rest() == b""
    httpx.post(f"{server.url}/subjects/s/versions", json={"schema": '"int"'})
    received = b""
    while b"event: schema.registered" not in received:
        received += follower.socket.recv(65536)


def test_a_long_poll_outlives_these_times(connect: Any, kafka: str) -> None:
    with running_rest_proxy(kafka, "", properties={"idle.timeout.ms": "500"}) as server:
        media_type = {"content-type": "application/vnd.kafka.v2+json"}
        made = httpx.post(f"{server.url}/consumers/long-polls", json={"format": "json"}, headers=media_type, timeout=30)
        instance = urlsplit(made.json()["base_uri"]).path
        topics = {"topics": ["of-long-polls"]}
        httpx.post(f"{server.url}{instance}/subscription", json=topics, headers=media_type, timeout=30)
        poll = connect(server)
        accept = b"Accept: application/vnd.kafka.json.v2+json"
        path = instance.encode()
        poll.send(b"GET %b/records?timeout=3000 HTTP/1.1\r\nHost: localhost\r\n%b\r\n\r\n" % (path, accept))
        assert poll.answer() == (200, b"[]")


@pytest.mark.slow
def test_a_smaller_attack() -> None:
    command = [sys.executable, "-P", str(ROOT / "tests" / "chaos" / "connections.py")]
    sizes = {
        "half-sent": 300,
        "descriptors": 120,
        "connections": 240,
        "head-mb": 2,
        "pipelining": 50,
        "head-timeout-ms": 2000,
        "seconds": 1,
        # The other tests of a run may take the machine's time; a client that gets no turn at all waits for longer.
        "p99-ms": 5000,
    }
    options = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    finished = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=240)
    assert finished.returncode == 0, finished.stdout + finished.stderr
