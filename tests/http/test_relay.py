"""Requests that are passed on: which headers travel, what a relay sends, and the application in this process."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.relay.headers import HeaderPolicy, names_of
from magicbyte.http.relay.in_process import ask
from magicbyte.http.relay.relay import LongBody, Relay, long_body_of
from magicbyte.http.routing.access import OPEN
from magicbyte.http.routing.recorder import Tallies
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.table import RouteMatch
from magicbyte.security.principal import ANONYMOUS
from tests.ui.kit.upstream import Recorded, Upstream, upstream

REQUEST = [
    *((b"accept", b"a/b"), (b"accept", b"c/d"), (b"x-a", b"1"), (b"authorization", b"Basic x"), (b"cookie", b"a=b")),
    *((b"content-length", b"2"), (b"connection", b"close"), (b"te", b"trailers"), (b"origin", b"http://page")),
    *((b"magicbyte-identity", b"forged"), (b"magicbyte-new", b"x"), (b"x-forwarded-for", b"192.0.2.1")),
    *((b"x-request-id", b"id"), (b"sec-fetch-site", b"same-origin")),
]
ANSWER = [
    *((b"Content-Type", b"a/b"), (b"Link", b"<1>"), (b"Link", b"<2>"), (b"Content-Length", b"2")),
    *((b"Set-Cookie", b"x"), (b"Transfer-Encoding", b"chunked"), (b"X-Request-ID", b"id")),
    (b"Cache-Control", b"no-store"),
]
FOR_NODES = HeaderPolicy(sent=None, answered=None)


@pytest.mark.parametrize(
    ("policy", "sent"),
    [
        (FOR_NODES, [(b"accept", b"a/b"), (b"accept", b"c/d"), (b"x-a", b"1")]),
        (HeaderPolicy(names_of("Accept", " x-b", ""), None), [(b"accept", b"a/b"), (b"accept", b"c/d")]),
        (HeaderPolicy(names_of("authorization", "sec-fetch-site"), None), [REQUEST[3], REQUEST[-1]]),
        # Whatever a policy names, the connection, the length and the identity are the relay's own.
        (HeaderPolicy(names_of("connection", "content-length", "magicbyte-identity", "te"), None), []),
    ],
)
def test_the_headers_of_a_request_that_travel(policy: HeaderPolicy, sent: list[tuple[bytes, bytes]]) -> None:
    assert policy.to_send(REQUEST) == sent


@pytest.mark.parametrize(
    ("policy", "answered"),
    [
        (FOR_NODES, [(b"content-type", b"a/b"), (b"link", b"<1>"), (b"link", b"<2>"), (b"set-cookie", b"x")]),
        (HeaderPolicy(None, names_of("link", "content-length")), [(b"link", b"<1>"), (b"link", b"<2>")]),
    ],
)
def test_the_headers_of_an_answer_that_travel(policy: HeaderPolicy, answered: list[tuple[bytes, bytes]]) -> None:
    assert policy.to_answer(ANSWER) == answered


class Signer:
    def proof(self, request: Request, target: str, body_digest: str) -> str:
        return f"{request.method} {target} {body_digest}"


@pytest.fixture(scope="module")
def server() -> Iterator[Upstream]:
    with upstream() as running:
        yield running


def request_of(method: str, target: str, headers: list[tuple[bytes, bytes]], body: bytes) -> Request:
    path, _, query = target.encode("latin-1").partition(b"?")
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path.decode(),
        "raw_path": path,
        "query_string": query,
        "headers": headers,
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def nothing(_request: Request) -> Any:
        raise AssertionError

    row = Row(method, "/", "op", OPEN, nothing, lambda _request: None)
    return Request(scope, receive, RouteMatch(row, Tallies(method, "/"), "/", {}), ANONYMOUS, None)


def passed_on(server: Upstream, request: Request, policy: HeaderPolicy, **options: Any) -> tuple[Recorded, Any]:
    """The request as the server got it, and the answer."""

    async def pass_on() -> Any:
        relay = Relay(policy, ssl.create_default_context, httpx.Timeout(30), Signer())
        try:
            return await relay.ask(request, f"{server.url}/behind/", {b"x-a": "set"}, **options)
        finally:
            await relay.close()

    server.requests.clear()
    answer = asyncio.run(pass_on())
    (recorded,) = server.requests
    return recorded, answer


def test_a_relay_sends_the_target_as_it_came_and_proves_the_sender(server: Upstream) -> None:
    server.headers = {"Content-Type": "a/b", "X-Request-ID": "theirs", "Link": "<1>"}
    server.status, server.parts = 207, [b"one", b"two"]
    target, body = "/a%2Fb%20c?x=%2F&y", b"{}"
    recorded, answer = passed_on(server, request_of("POST", target, REQUEST, body), FOR_NODES)
    assert (recorded.method, recorded.path, recorded.body) == ("POST", f"/behind{target}", body)
    digest = hashlib.sha256(body).hexdigest()
    for name, value in {
        "accept": "c/d",  # the last line
        "x-a": "set",
        "content-length": "2",
        "magicbyte-identity": f"POST /behind{target} {digest}",
        "accept-encoding": "identity",
        "user-agent": "magicbyte",
    }.items():
        assert recorded.headers[name] == value, name
    assert {"authorization", "cookie", "origin", "x-forwarded-for", "magicbyte-new"} & set(recorded.headers) == set()
    response = answer.response()
    assert (response.status_code, response.body) == (207, b"onetwo")
    assert [line for line in response.raw_headers if line[0] not in (b"server", b"date")] == [
        (b"content-type", b"a/b"),
        (b"link", b"<1>"),
        (b"content-length", b"6"),
    ]


@pytest.mark.parametrize(
    ("target", "received"),
    [
        ("/a/", "/behind/a/"),
        ("/a%2fb", "/behind/a%2fb"),
        ('/a?b="c"', "/behind/a?b=%22c%22"),
        ("/a?b=\xe9", "/behind/a?b=%E9"),
    ],
)
def test_the_proof_is_about_the_target_that_is_received(server: Upstream, target: str, received: str) -> None:
    server.status, server.parts = 200, [b"{}"]
    recorded, _ = passed_on(server, request_of("GET", target, [], b""), FOR_NODES)
    assert recorded.path == received
    assert recorded.headers["magicbyte-identity"].split()[1] == recorded.path


def test_an_answer_without_content_has_no_length(server: Upstream) -> None:
    server.status, server.parts = 204, []
    _, answer = passed_on(server, request_of("GET", "/a", [], b""), FOR_NODES)
    assert (answer.response().status_code, b"content-length" in dict(answer.response().raw_headers)) == (204, False)


def test_a_long_body_is_sent_in_parts_with_its_size_and_digest(server: Upstream) -> None:
    server.status, server.parts = 200, [b"{}"]

    async def parts() -> AsyncIterator[bytes]:
        yield b"abc"
        yield b"de"

    request = request_of("POST", "/import", [(b"content-length", b"99")], b"")
    recorded, _ = passed_on(server, request, FOR_NODES, body=LongBody(parts(), 5, "digest"))
    assert (recorded.body, recorded.headers["content-length"]) == (b"abcde", "5")
    assert recorded.headers["magicbyte-identity"] == "POST /behind/import digest"
    assert "transfer-encoding" not in recorded.headers


@pytest.mark.parametrize(
    ("headers", "size"),
    [
        ([], ()),
        ([(b"content-length", b"7")], (7,)),
        ([(b"transfer-encoding", b"chunked")], (None,)),
    ],
)
def test_a_request_has_a_body_if_its_head_says_so(headers: list[tuple[bytes, bytes]], size: tuple[int | None]) -> None:
    body = long_body_of(request_of("POST", "/a", headers, b""))
    assert (() if body is None else (body.size,)) == size


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with what it was sent; breaks off at `/broken` and at `/cut`."""
    body = (await receive())["body"]
    if scope["path"] == "/raises":
        raise ValueError("out of order")
    await send({"type": "http.response.start", "status": 201, "headers": [(b"X-Offset", b"7"), (b"x-offset", b"8")]})
    if scope["path"] == "/broken":
        return
    shown = {name: scope[name] for name in ("method", "path", "raw_path", "query_string", "client", "scheme")}
    await send({"type": "http.response.body", "body": repr(shown).encode(), "more_body": True})
    if scope["path"] == "/cut":
        return
    await send({"type": "http.response.body", "body": body})
    assert (await receive())["type"] == "http.disconnect"


CONNECTION = {"client": ("192.0.2.1", 1), "scheme": "https"}


def test_an_application_in_this_process_gets_the_request_as_a_server_gives_it() -> None:
    answer = asyncio.run(ask(application, "POST", "/a%20b?c=%2F", [], body=b"body", connection=CONNECTION))
    assert (answer.status, answer.header(b"x-offset"), answer.header(b"other")) == (201, "7", None)
    assert answer.content == (
        b"{'method': 'POST', 'path': '/a b', 'raw_path': b'/a%20b', 'query_string': b'c=%2F',"
        b" 'client': ('192.0.2.1', 1), 'scheme': 'https'}body"
    )


def test_the_answer_to_head_has_no_body() -> None:
    answer = asyncio.run(ask(application, "HEAD", "/a", [], connection=CONNECTION))
    assert (answer.status, answer.content) == (201, b"")


@pytest.mark.parametrize(
    ("path", "error", "text"),
    [
        ("/raises", ValueError, "out of order"),
        ("/broken", ConnectionError, "the application did not complete its answer to GET /broken"),
        ("/cut", ConnectionError, "the application did not complete its answer to GET /cut"),
    ],
)
def test_an_application_that_fails(path: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        asyncio.run(ask(application, "GET", path, [], connection=CONNECTION))


async def _streaming(scope: Scope, receive: Receive, send: Send) -> None:
    """Takes an error of `send` for a client that has gone, as frameworks do."""
    try:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"12345", "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    except OSError:
        if scope["path"] == "/raises":
            raise ValueError("the client has gone") from None


def test_an_answer_that_is_too_large() -> None:
    for path in ("/quiet", "/raises"):
        with pytest.raises(ConnectionError, match=f"the answer to GET {path} has more than 14 bytes"):
            asyncio.run(ask(_streaming, "GET", path, [], connection=CONNECTION, most_bytes=14))
        answer = asyncio.run(ask(_streaming, "GET", path, [], connection=CONNECTION, most_bytes=15))
        assert answer.content == b"12345" * 3
