"""HTTP/1.1 on real servers: Host, encodings, upgrades, and requests that come together or in parts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from magicbyte.http.connection.request.head_checks import refusal_of
from magicbyte.http.connection.request.parser import Head, RequestParser
from magicbyte.http.connection_limits import Limits
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


ABSOLUTE = [
    (b"http://localhost/", b"/"),
    (b"http://localhost", b"/"),
    (b"HTTP://LocalHost:1/", b"/"),
    (b"http://localhost?pretty=true", b"/?pretty=true"),
    (b"http://[::1]:8081/", b"/"),
    (b"http://localhost/absent?a=%2F&b=http://c/", b"/absent?a=%2F&b=http://c/"),
    (b"http://localhost/subjects/a%2Fb%252F/versions/1", b"/subjects/a%2Fb%252F/versions/1"),
    (b"http://localhost//absent", b"//absent"),
    (b"http://localhost/http://page.test/", b"/http://page.test/"),
]


@pytest.mark.parametrize(("target", "path"), ABSOLUTE, ids=[target.decode() for target, _ in ABSOLUTE])
def test_a_target_in_absolute_form_names_host_and_path(server: Any, connect: Any, target: bytes, path: bytes) -> None:
    connection = connect(server)
    connection.send(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)
    answer = connection.answer()
    # The authority takes the place of Host, even if Host is a name that this server refuses.
    for host in (b"localhost", b"page.test", b""):
        connection.send(b"GET %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (target, host))
        assert connection.answer() == answer
    # The authority is not taken for the Host of the next request.
    connection.send(b"GET %b HTTP/1.1\r\nHost: page.test\r\n\r\n" % path)
    assert connection.answer()[0] == 421


def test_percent_encodings_of_a_target_in_absolute_form_stay(plain_server: Any, connect: Any) -> None:
    connection = connect(plain_server("registry"))
    connection.send(b"GET http://localhost/subjects/a%2Fb%252F/versions/1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert json.loads(connection.answer()[1]) == {"error_code": 40401, "message": "Subject 'a/b%2F' not found."}


NO_AUTHORITY = "The authority of the request target is neither HOST nor HOST:PORT"
#: httptools refuses a target that is no URL, and the connection closes.
NOT_HTTP = "Invalid HTTP request received."


@pytest.mark.parametrize(
    ("target", "fields", "status", "message"),
    [
        (b"http://user@localhost/", b"Host: localhost\r\n", 400, NO_AUTHORITY),
        (b"http://user:secret@localhost/", b"Host: localhost\r\n", 400, NO_AUTHORITY),
        (b"http://localhost:port/", b"Host: localhost\r\n", 400, NOT_HTTP),
        (b"http:///subjects", b"Host: localhost\r\n", 400, NOT_HTTP),
        (b"http://:8081/", b"Host: localhost\r\n", 400, NOT_HTTP),
        (b"http://localhost/", b"", 400, "The request has no Host field"),
        (
            b"http://localhost/",
            b"Host: localhost\r\nHost: localhost\r\n",
            400,
            "The request has more than one Host field",
        ),
        (b"http://localhost/", b"Host: a b\r\n", 400, "The Host field of the request is neither HOST nor HOST:PORT"),
        (
            b"http://page.test/",
            b"Host: localhost\r\n",
            421,
            "This server is not page.test; if it is known by that name too, add the name to magicbyte.allowed.hosts",
        ),
        (
            b"https://localhost/",
            b"Host: localhost\r\n",
            421,
            "This listener speaks http, and the request target has another scheme",
        ),
    ],
)
def test_a_target_in_absolute_form_that_is_refused(
    server: Any, connect: Any, target: bytes, fields: bytes, status: int, message: str
) -> None:
    connection = connect(server)
    connection.send(b"GET %b HTTP/1.1\r\n%b\r\n" % (target, fields))
    answered, body = connection.answer()
    assert (answered, json.loads(body)["message"]) == (status, message)
    if message == NOT_HTTP:
        assert connection.rest() == b""
    else:
        connection.send(GET)
        assert connection.answer()[0] == 200


@pytest.mark.parametrize(
    ("target", "listener", "accepted"),
    [
        (b"http://localhost/", "http", True),
        (b"https://localhost/", "https", True),
        (b"HTTPS://localhost/", "https", True),
        (b"https://localhost/", "http", False),
        (b"http://localhost/", "https", False),
    ],
)
def test_the_scheme_of_a_target_is_the_listeners(target: bytes, listener: str, accepted: bool) -> None:
    refusals = []

    class Refusals:
        def on_head(self, head: Head) -> Any:
            refusals.append(refusal_of(head, Limits(), None, None, listener))

        def on_end(self) -> None: ...

    RequestParser(Refusals(), 1024).feed(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % target, 0)
    assert [error and error.status for error in refusals] == [None if accepted else 421]


def test_a_body_comes_to_a_target_in_absolute_form(server: Any, connect: Any) -> None:
    plain, absolute = connect(server), connect(server)
    plain.send(a_post(kind_of(server), b"", SIZED))
    absolute.send(a_post(kind_of(server), b"", SIZED).replace(b"POST /", b"POST http://localhost/", 1) + GET)
    assert [absolute.answer(), absolute.answer()[0]] == [plain.answer(), 200]


def test_a_foreign_page_gains_no_right_by_a_target_in_absolute_form(server: Any, connect: Any) -> None:
    connection = connect(server)
    fields = b"Origin: http://page.test\r\n"
    connection.send(a_post(kind_of(server), fields, SIZED).replace(b"POST /", b"POST http://localhost/", 1))
    assert connection.answer()[0] == 403


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
