"""A route is a row: what the rows say is what is served, decided on, counted and logged."""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient

from magicbyte.http.asgi import Scope, header
from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.access import OPEN, SIGNED_IN, Access, Decision, Operation, Resource
from magicbyte.http.routing.application import Api, Application, load_contract
from magicbyte.http.routing.recorder import RequestMetrics
from magicbyte.http.routing.remembered import RememberedAnswers
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import WholeResponse
from magicbyte.http.routing.rows import BodyLimit, Row, Streams
from magicbyte.http.routing.table import NO_ROUTE, RouteMatch, Table
from magicbyte.http.routing.unrouted import row_without_route
from magicbyte.kit.errors import ErrorKind
from magicbyte.kit.failure import Failure
from magicbyte.kit.logs.access import ACCESS, LoggedAnswers
from magicbyte.security.principal import Principal
from registry import app as registry_app
from registry.settings import RegistrySettings
from rest_proxy import app as rest_proxy_app
from rest_proxy.settings import RestProxySettings

READ = Access(Operation.READ, Resource.SUBJECT)
REFUSED = ErrorKind(403, "{principal} may not")


def a_registry() -> Application:
    return registry_app.create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}))


def a_rest_proxy() -> Application:
    return rest_proxy_app.create_app(RestProxySettings.from_properties({"bootstrap.servers": "127.0.0.1:1"}))


@pytest.mark.parametrize(
    ("make", "contracts"),
    [(a_registry, ["registry.yaml"]), (a_rest_proxy, ["rest-proxy-v2.yaml", "rest-proxy-v3.yaml"])],
    ids=["registry", "rest proxy"],
)
def test_contract_routes_and_rows_are_the_same(make: Callable[[], Application], contracts: list[str]) -> None:
    app = make()
    rows = {(row.method, row.path, row.operation_id) for row in app.table.rows}
    routes = {
        (method, route.path, route.name)  # type: ignore[attr-defined]
        for route in app.fastapi.routes
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
    }
    documented = {
        (method.upper(), path, operation["operationId"])
        for contract in contracts
        for path, item in load_contract(contract)["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert rows == routes
    assert rows == documented


@pytest.mark.parametrize("make", [a_registry, a_rest_proxy])
def test_a_server_with_a_route_without_a_row_does_not_start(make: Callable[[], Application]) -> None:
    app = make()

    @app.fastapi.get("/hidden")
    async def hidden() -> str:
        return "nobody decided"

    with (
        pytest.raises(Failure, match=r"^the route GET /hidden has no row in the table$"),
        TestClient(app, raise_server_exceptions=False),
    ):
        pass


def negotiate(request: Request) -> None:
    request.media_type = "application/json"


async def answer(request: Request) -> Response:
    return WholeResponse(repr(dict(request.match.parameters)).encode(), 200, "text/plain")


async def stream(_request: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        yield b"part"

    return StreamingResponse(parts())


async def refuse(_request: Request) -> Response:
    raise NOT_FOUND()


ROWS = (
    Row("GET", "/things/{thing}", "thing", READ, answer, negotiate, is_remembered=True),
    Row("GET", "/things/-", "all", READ, answer, negotiate),
    Row("POST", "/things/{thing}", "make", READ, answer, negotiate, is_quiet=True),
    Row("POST", "/refused", "refused", READ, refuse, negotiate, is_quiet=True),
    Row("GET", "/moving", "moving", READ, answer, negotiate, is_safe=False, streams=Streams.ANSWER),
    Row("GET", "/stream", "stream", OPEN, stream, negotiate),
)


@pytest.fixture
def make() -> Iterator[Callable[..., TestClient]]:
    """Makes servers of these rows with a seam of their own; nothing but the principal changes an answer."""
    with ExitStack() as stack:

        def make(**parts: Any) -> TestClient:
            api = Api(
                name="test",
                contract="registry.yaml",
                rows=ROWS,
                error_response=lambda _, error: Response(error.message, error.status, dict(error.headers)),
                body_limits={BodyLimit.USUAL: 100},
                unrouted_media_types=negotiate,
                remembered=RememberedAnswers(lambda: 1, {}),
                **parts,
            )
            return stack.enter_context(TestClient(Application(api)))

        yield make


@pytest.mark.parametrize(("method", "path"), [("GET", "/things/a"), ("POST", "/things/a"), ("GET", "/stream")])
def test_no_answer_leaves_without_an_access_decision(make: Any, method: str, path: str) -> None:
    decisions = [Decision.ALLOWED, None, None]
    client = make(decide=lambda *_: decisions.pop(0))
    # The first one is remembered, and must not be given to a request that the seam did not decide on.
    assert [client.request(method, path).status_code for _ in range(3)] == [200, 500, 500]


def test_an_error_needs_no_decision(make: Any) -> None:
    client = make(decide=lambda *_: None)
    assert client.post("/refused").status_code == 404
    assert client.get("/none").status_code == 404


def by_header(scope: Scope) -> Principal:
    return Principal(header(scope, b"x-user") or "nobody")


def only_alice(principal: Principal, _scope: Scope, match: RouteMatch) -> Decision:
    if principal.name == "alice" or match.row.access is SIGNED_IN or match.parameters.get("thing") == "public":
        return Decision.ALLOWED
    raise REFUSED(principal=principal.name)


@pytest.mark.parametrize("headers", [{}, {"x-request-id": "1"}])
def test_the_access_decision_also_guards_remembered_answers(make: Any, headers: dict[str, str]) -> None:
    client = make(identify=by_header, decide=only_alice)
    for _ in range(2):
        assert client.get("/things/a", headers={"x-user": "alice", **headers}).status_code == 200
        answer = client.get("/things/a", headers={"x-user": "bob", **headers})
        assert (answer.status_code, answer.text) == (403, "bob may not")
        assert client.get("/things/public", headers={"x-user": "bob", **headers}).status_code == 200


def test_an_answer_is_remembered_for_one_principal() -> None:
    remembered = RememberedAnswers(lambda: 1, {})
    asked: list[str] = []

    async def name(request: Request) -> Response:
        asked.append(request.principal.name)
        return WholeResponse(request.principal.name.encode(), 200, "text/plain")

    row = Row("GET", "/me", "me", READ, name, negotiate, is_remembered=True)
    api = Api(
        name="test",
        contract="registry.yaml",
        rows=[row],
        error_response=lambda _, error: Response(error.message, error.status),
        body_limits={BodyLimit.USUAL: 100},
        unrouted_media_types=negotiate,
        remembered=remembered,
        identify=by_header,
    )
    with TestClient(Application(api)) as client:
        answers = [client.get("/me", headers={"x-user": user}).text for user in ("alice", "bob", "alice", "bob")]
    assert answers == ["alice", "bob", "alice", "bob"]
    assert asked == ["alice", "bob"]


def test_a_literal_segment_goes_before_a_parameter(make: Any) -> None:
    client = make()
    assert client.get("/things/-").text == "{}"
    assert client.get("/things/%2F").text == "{'thing': '%2F'}"
    assert client.post("/things/-").text == "{'thing': '-'}"
    assert client.get("/things/").status_code == 404
    assert client.get("/things/a/b").status_code == 404


def test_methods(make: Any) -> None:
    client = make()
    assert client.head("/things/a").status_code == 200
    answer = client.delete("/things/a")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    answer = client.head("/moving")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


def test_a_parameter_for_the_rest_of_a_path() -> None:
    rows = (
        Row("GET", "/x/{path:path}", "any", OPEN, answer, negotiate),
        Row("GET", "/x/y/{path:path}", "deeper", OPEN, answer, negotiate, streams=Streams.ANSWER),
        Row("POST", "/x/y/{path:path}", "post", OPEN, answer, negotiate),
        Row("GET", "/x/{name}/z", "exact", OPEN, answer, negotiate),
        Row("POST", "/x/a", "literal", OPEN, answer, negotiate),
    )
    table = Table(rows, lambda path: (path, {}), row_without_route(negotiate))

    def found(method: str, path: bytes) -> tuple[str, Any]:
        match = table.find(method, path)
        return match.row.operation_id, match.parameters

    assert found("GET", b"/x/a/b%2Fc//d/?q") == ("any", {"path": "a/b%2Fc//d/"})
    assert found("GET", b"/x/") == ("any", {"path": ""})
    assert found("GET", b"/x/a") == ("any", {"path": "a"})
    assert found("POST", b"/x/a") == ("literal", {})
    assert found("GET", b"/x/y/z") == ("exact", {"name": "y"})
    assert found("GET", b"/x/y/") == ("deeper", {"path": ""})
    assert found("GET", b"/x/y") == ("any", {"path": "y"})
    assert found("HEAD", b"/x/y/b/c") == ("deeper", {"path": "b/c"})
    assert found("POST", b"/x/y/b") == ("post", {"path": "b"})
    assert found("GET", b"/x") == ("none", {})
    assert found("GET", b"/xy/z") == ("none", {})
    assert table.find("PUT", b"/x/y/b").allowed == ["GET", "HEAD", "POST"]
    assert table.streams(b"/x/y/b") is Streams.ANSWER
    assert table.streams(b"/x/b") is Streams.NOTHING


def test_rows_that_contradict_each_other() -> None:
    def table(*rows: Row) -> Table:
        return Table(rows, lambda path: (path, {}), row_without_route(negotiate))

    with pytest.raises(ValueError, match=r"^GET /stream \(other\) is in the table already$"):
        table(ROWS[-1], Row("GET", "/stream", "other", OPEN, stream, negotiate))
    with pytest.raises(ValueError, match=r"^GET /other \(stream\) is in the table already$"):
        table(ROWS[-1], Row("GET", "/other", "stream", OPEN, stream, negotiate))


def test_the_table_names_streaming_and_safe_rows() -> None:
    table = Table(ROWS, lambda path: (path, {}), row_without_route(negotiate))
    assert [table.streams(path) for path in (b"/moving", b"/moving?a=b", b"/things/a", b"/none")] == [
        Streams.ANSWER,
        Streams.ANSWER,
        Streams.NOTHING,
        Streams.NOTHING,
    ]
    assert [table.is_safe(path) for path in (b"/moving", b"/things/a", b"/none")] == [False, True, True]


@pytest.mark.parametrize(
    ("access", "logged_successes", "logged_failures"),
    [(LoggedAnswers.OFF, False, False), (LoggedAnswers.ERRORS, False, True), (LoggedAnswers.ALL, True, True)],
)
def test_the_access_log_has_no_answers_or_failures_or_all(
    make: Any, caplog: pytest.LogCaptureFixture, access: LoggedAnswers, logged_successes: bool, logged_failures: bool
) -> None:
    client = make()

    def logged(method: str, path: str, **options: Any) -> list[str]:
        caplog.clear()
        client.request(method, path, **options)
        return [record.getMessage() for record in caplog.records if record.name == "magicbyte.access"]

    def expected(text: str, *, are_logged: bool) -> list[str]:
        return [text] if are_logged else []

    ACCESS.choose(access)
    try:
        with caplog.at_level(logging.INFO, "magicbyte.access"):
            for _ in range(2):  # the second one is remembered
                assert logged("GET", "/things/a") == expected("GET /things/a 200", are_logged=logged_successes)
            for headers in ({}, {"x-request-id": "1"}):
                lines = logged("POST", "/things/a", headers=headers)
                assert lines == expected("POST /things/a 200", are_logged=logged_successes)
            assert logged("POST", "/refused") == expected("POST /refused 404", are_logged=logged_failures)
            lines = logged("POST", "/things/a", content=b"x" * 101)
            assert lines == expected("POST /things/a 413", are_logged=logged_failures)
    finally:
        ACCESS.choose(LoggedAnswers.ERRORS)


def counts(app: Application) -> dict[tuple[str, str, int], int]:
    return {
        (tallies.method, tallies.route, status): tally.count
        for tallies in app.recorder.tallies
        for status, tally in tallies.by_status.items()
    }


def test_every_answer_is_counted(make: Any) -> None:
    client = make()
    for _ in range(3):
        client.get("/things/a")
    client.get("/none")
    client.put("/things/a")
    client.post("/things/a", content=b"x" * 101)
    client.get("/stream")
    assert counts(client.app) == {
        ("GET", "/things/{thing}", 200): 3,
        (NO_ROUTE, NO_ROUTE, 404): 1,
        (NO_ROUTE, NO_ROUTE, 405): 1,
        ("POST", "/things/{thing}", 413): 1,
        ("GET", "/stream", 200): 1,
    }
    assert client.app.recorder.in_progress == 0


def test_clients_cannot_make_series(make: Any) -> None:
    app = make().app
    metrics = CollectorRegistry()
    metrics.register(RequestMetrics(app.recorder))
    numbers = random.Random(1)
    for _ in range(10_000):
        app.table.find("GET", b"/things/%d" % numbers.getrandbits(64)).tallies.add(200, 0.001)
        app.table.find(f"X{numbers.getrandbits(64)}", b"/%d" % numbers.getrandbits(64)).tallies.add(404, 0.001)
    lines = [line for line in generate_latest(metrics).decode().splitlines() if not line.startswith("#")]
    name = "magicbyte_http_requests_total"
    assert f'{name}{{app="test",method="GET",route="/things/{{thing}}",status="200"}} 10000.0' in lines
    assert f'{name}{{app="test",method="none",route="none",status="404"}} 10000.0' in lines
    assert len(lines) < 100


def counted(url: str, status: int) -> float:
    """The number of answers without a route that a server has counted by its common metrics."""
    found = [
        float(line.rpartition(" ")[2])
        for line in httpx.get(f"{url}/metrics").text.splitlines()
        if line.startswith("magicbyte_http_requests_total{") and f'method="none",route="none",status="{status}"' in line
    ]
    return sum(found)


def test_answers_that_do_not_get_to_a_route_are_counted(server: Any, connect: Any) -> None:
    def refused(status: int, *lines: bytes) -> None:
        before = counted(server.url, status)
        raw = connect(server)
        raw.send(b"\r\n".join((*lines, b"", b"")))
        assert raw.head().startswith(b"HTTP/1.1 %d " % status)
        raw.close()
        assert counted(server.url, status) == before + 1

    refused(421, b"GET / HTTP/1.1", b"Host: page.test")
    refused(400, b"GET http://user@127.0.0.1/ HTTP/1.1", b"Host: 127.0.0.1")
    refused(400, b"nonsense")
    refused(403, b"POST / HTTP/1.1", b"Host: 127.0.0.1", b"Origin: http://page.test", b"Content-Length: 0")
    refused(414, b"GET /" + b"a" * 9000 + b" HTTP/1.1", b"Host: 127.0.0.1")
    refused(431, b"GET / HTTP/1.1", b"Host: 127.0.0.1", *[b"X: y"] * 101)
    refused(404, b"GET /none HTTP/1.1", b"Host: 127.0.0.1")
    refused(405, b"DELETE / HTTP/1.1", b"Host: 127.0.0.1")
