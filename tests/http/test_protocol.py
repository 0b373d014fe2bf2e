"""HTTP/1.1 on real servers: Host, encodings, upgrades, and requests that come together or in parts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from magicbyte.platform.java import find_broker_java

CLIENT = Path(__file__).with_name("UpgradingClient.java")
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n"
#: Both servers refuse the body below for its content, so they have read it.
PATHS = {"registry": b"/subjects/never-registered/versions", "rest proxy": b"/topics/t"}
TYPES = {"registry": b"application/json", "rest proxy": b"application/vnd.kafka.json.v2+json"}


def a_post(kind: str, fields: bytes, framed: bytes) -> bytes:
    head = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: %b\r\n" % (PATHS[kind], TYPES[kind])
    return head + fields + framed


SIZED = b"Content-Length: 19\r\n\r\n" + b'{"unknown-field":1}'
CHUNKED = (
    b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + b'{"unk' + b"\r\ne\r\n" + b'nown-field":1}' + b"\r\n0\r\nX: y\r\n\r\n"
)


def kind_of(server: Any) -> str:
    return "registry" if "registry" in server.name else "rest proxy"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (b"", "The request has no Host field"),
        (b"Host: localhost\r\nHost: localhost\r\n", "The request has more than one Host field"),
        (b"Host: localhost\r\nHost: page.test\r\n", "The request has more than one Host field"),
        (b"Host: a b\r\n", "The Host field of the request is neither HOST nor HOST:PORT"),
        (b"Host: localhost:port\r\n", "The Host field of the request is neither HOST nor HOST:PORT"),
        (b"Host: user@localhost\r\n", "The Host field of the request is neither HOST nor HOST:PORT"),
        (b"Host: localhost/\r\n", "The Host field of the request is neither HOST nor HOST:PORT"),
        (b"Host: [localhost\r\n", "The Host field of the request is neither HOST nor HOST:PORT"),
    ],
)
def test_a_request_names_one_host(server: Any, connect: Any, fields: bytes, message: str) -> None:
    connection = connect(server)
    connection.send(b"GET / HTTP/1.1\r\n" + fields + b"\r\n")
    status, body = connection.answer()
    assert (status, json.loads(body)) == (400, {"error_code": 400, "message": message})
    connection.send(GET)
    assert connection.answer()[0] == 200


def test_http_1_0_needs_no_host(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(b"GET / HTTP/1.0\r\n\r\n")
    assert connection.rest().startswith(b"HTTP/1.1 200 OK\r\n")


def test_an_unknown_version_is_refused(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n")
    status, body = connection.answer()
    assert (status, json.loads(body)["message"]) == (505, "HTTP/2.0 is not supported; use HTTP/1.1")


def test_connect_is_refused_and_the_connection_closes(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n" + GET)
    answers = connection.rest()
    assert answers.startswith(b"HTTP/1.1 405 Method Not Allowed\r\n")
    assert answers.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("encoding", [b"gzip", b"GZIP", b"deflate", b"identity, br", b"x"])
def test_an_encoded_body_is_refused(server: Any, connect: Any, encoding: bytes) -> None:
    connection = connect(server)
    connection.send(a_post(kind_of(server), b"Content-Encoding: %b\r\n" % encoding, SIZED))
    head = connection.head()
    assert head.startswith(b"HTTP/1.1 415 Unsupported Media Type\r\n")
    assert b"\r\naccept-encoding: identity\r\n" in head
    assert json.loads(connection.rest()) == {
        "error_code": 415,
        "message": f"The request has Content-Encoding: {encoding.decode()}; "
        "send the body without an encoding (identity)",
    }


@pytest.mark.parametrize("encoding", [b"identity", b"Identity, identity", b""])
def test_identity_is_no_encoding(server: Any, connect: Any, encoding: bytes) -> None:
    plain, encoded = connect(server), connect(server)
    plain.send(a_post(kind_of(server), b"", SIZED))
    encoded.send(a_post(kind_of(server), b"Content-Encoding: %b\r\n" % encoding, SIZED))
    answer = plain.answer()
    assert answer[0] in (400, 422)
    assert encoded.answer() == answer


def test_an_unknown_transfer_encoding_is_refused(server: Any, connect: Any) -> None:
    connection = connect(server)
    fields = b"Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
    connection.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n" + fields)
    assert connection.head().startswith(b"HTTP/1.1 501 Not Implemented\r\n")


@pytest.mark.parametrize("framed", [SIZED, CHUNKED], ids=["sized", "chunked"])
def test_an_upgrade_keeps_its_body(server: Any, connect: Any, framed: bytes) -> None:
    plain, upgrading = connect(server), connect(server)
    plain.send(a_post(kind_of(server), b"", framed))
    answer = plain.answer()
    assert answer[0] in (400, 422)
    upgrading.send(a_post(kind_of(server), UPGRADE, framed) + GET + a_post(kind_of(server), UPGRADE, framed))
    assert [upgrading.answer(), upgrading.answer()[0], upgrading.answer()] == [answer, 200, answer]


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\n", b"HEAD / HTTP/1.1\r\n", b"DELETE /none HTTP/1.1\r\n"])
def test_an_upgrade_without_a_body(server: Any, connect: Any, head: bytes) -> None:
    connection = connect(server)
    connection.send((head + b"Host: localhost\r\n" + UPGRADE + b"\r\n") * 2)
    for _ in range(2):
        answered = connection.head()
        assert answered.split(b" ")[1] in (b"200", b"404", b"405")
        length = next(line for line in answered.split(b"\r\n") if line.startswith(b"content-length: "))
        if not head.startswith(b"HEAD"):
            connection.socket.recv(int(length.partition(b": ")[2]))


def test_the_body_of_the_jdks_client_arrives(server: Any) -> None:
    kind = kind_of(server)
    url, media_type = server.url + PATHS[kind].decode(), TYPES[kind].decode()
    command = [str(find_broker_java().executable), str(CLIENT), url, media_type, '{"unknown-field":1}']
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert finished.returncode == 0, finished.stderr
    # One line for each request: without an upgrade, with one and a length, with one and in chunks, and with both again.
    answers = finished.stdout.splitlines()
    assert len(answers) == 5
    assert set(answers) == {answers[0]}
    assert answers[0].startswith(("400 ", "422 "))
    assert "null" not in answers[0]


def test_a_broken_chunk_is_refused_at_once(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(a_post(kind_of(server), b"", b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nx\r\n"))
    assert connection.rest().startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_trailer_without_end_is_refused(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(a_post(kind_of(server), b"", b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: "))
    connection.send_until_closed(b"x" * 65536, at_most=20_000_000)


def test_bad_data_after_a_request_is_answered_after_it(server: Any, connect: Any) -> None:
    connection = connect(server)
    connection.send(GET + b"\x00\r\n\r\n" + GET)
    assert connection.answer()[0] == 200
    answers = connection.rest()
    assert answers.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert answers.count(b"HTTP/1.1 ") == 1
