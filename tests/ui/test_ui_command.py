"""`magicbyte ui`: the page in front of registries that are not ours, and of ours."""

from __future__ import annotations

import json
import re
import selectors
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from tests.ui.kit.prefixing import PASSWORD, USER, prefixing
from tests.ui.kit.upstream import Upstream, upstream

COMMAND = [sys.executable, "-P", "-m", "magicbyte.cli.main", "ui"]


@contextmanager
def running_ui(folder: Path, registry_url: str, *options: str) -> Iterator[httpx.Client]:
    url = f"http://127.0.0.1:{free_port()}"
    command = ["ui", "--schema-registry-url", registry_url, "--listen", url.removeprefix("http://"), *options]
    server = ServerProcess("page", command, url, log=folder / f"{free_port()}.log", probe="/ui/config.json")
    try:
        server.start()
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
            yield client
        assert f"page        {url}/ui/" in server.log.read_text()
    finally:
        server.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ui")


@pytest.fixture(scope="module")
def servers(folder: Path) -> Iterator[tuple[httpx.Client, Upstream]]:
    with upstream() as registry, running_ui(folder, f"{registry.url}/base", "--title", "theirs") as http:
        yield http, registry


@pytest.fixture
def http(servers: tuple[httpx.Client, Upstream]) -> httpx.Client:
    return servers[0]


@pytest.fixture
def theirs(servers: tuple[httpx.Client, Upstream]) -> Upstream:
    registry = servers[1]
    registry.requests, registry.status, registry.parts = [], 200, [b"{}"]
    return registry


def test_the_page_and_its_configuration(http: httpx.Client) -> None:
    answer = http.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "ui/")
    page = http.get("/ui/subjects/s")
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    config = http.get("/ui/config.json").json()
    assert (config["name"], config["registryBase"], config["restAvailable"]) == ("theirs", "registry/", False)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_all_requests_of_the_registry_are_passed_on(http: httpx.Client, theirs: Upstream, method: str) -> None:
    theirs.status, theirs.parts = 409, [b'{"error_code":409}']
    path = "/ui/registry/subjects/a%2Fb%20%252F%3F%23%C3%A9/versions/latest?deleted=true"
    target = http.base_url.copy_with(raw_path=path.encode())
    headers = {"Authorization": "Bearer t", "If-Match": "3"}
    answer = http.send(http.build_request(method, target, headers=headers, content=b"{}" if method == "POST" else None))
    assert (answer.status_code, answer.content) == (409, b'{"error_code":409}')
    (request,) = theirs.requests
    assert (request.method, request.path) == (method, path.replace("/ui/registry", "/base"))
    assert (request.headers["authorization"], request.headers["if-match"]) == ("Bearer t", "3")
    assert request.headers["x-forwarded-for"] == "127.0.0.1"


def test_the_page_of_the_registry_is_not_the_registry(http: httpx.Client, theirs: Upstream) -> None:
    assert http.get("/ui/registry").headers["content-type"] == "text/html; charset=utf-8"
    assert theirs.requests == []
    assert http.get("/ui/registry/").status_code == 200
    assert [request.path for request in theirs.requests] == ["/base/"]


def test_a_foreign_page_and_a_foreign_name_are_refused(http: httpx.Client, theirs: Upstream) -> None:
    path = "/ui/registry/subjects/s/versions"
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.test"}):
        assert http.post(path, headers=headers, content=b"{}").status_code == 403
    assert http.get("/ui/registry/subjects", headers={"Host": "evil.test"}).status_code == 421
    assert theirs.requests == []


def test_events_have_no_end(http: httpx.Client, theirs: Upstream) -> None:
    theirs.headers, theirs.parts = {"Content-Type": "text/event-stream"}, [b"data: 1\n\n", b"data: 2\n\n"]
    theirs.hold.clear()
    with http.stream("GET", "/ui/registry/events") as answer:
        parts = answer.iter_raw()
        assert next(parts) == b"data: 1\n\n"
        theirs.hold.set()
        assert next(parts) == b"data: 2\n\n"


@pytest.mark.parametrize("path", ["events", "events/", "contexts/.c/events"])
def test_followers_leave_the_page_to_others(http: httpx.Client, theirs: Upstream, path: str) -> None:
    theirs.headers, theirs.parts = {"Content-Type": "text/event-stream"}, [b"data: 1\n\n", b"data: 2\n\n"]
    theirs.hold.clear()
    with ExitStack() as open_streams:
        followers = [open_streams.enter_context(http.stream("GET", f"/ui/registry/{path}")) for _ in range(16)]
        # Dropping an iterator would close its connection.
        streams = [following.iter_raw() for following in followers]
        assert [next(stream) for stream in streams] == [b"data: 1\n\n"] * 16
        refused = http.get(f"/ui/registry/{path}")
        assert (refused.status_code, refused.json()["message"]) == (
            429,
            "This client has 16 /events open, and may have no more (magicbyte.ui.events.max.per.client).",
        )
        theirs.hold.set()
        theirs.headers, theirs.parts = {}, [b"{}"]
        assert http.get("/ui/registry/subjects").status_code == 200


def test_a_client_with_slow_requests_leaves_the_page_to_others(http: httpx.Client, theirs: Upstream) -> None:
    theirs.parts = [b"{", b"}"]
    theirs.hold.clear()
    address = (http.base_url.host, http.base_url.port or 0)
    slow = [socket.create_connection(address, timeout=60) for _ in range(24 + 64 + 1)]
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=http.base_url, timeout=60, transport=transport) as neighbour, ExitStack() as connections:
        for connection in slow:
            connections.enter_context(connection)
            connection.sendall(b"GET /ui/registry/subjects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        # 24 are under way, and 64 wait. Which one is refused depends on the order of the connections.
        refused = first_refused(slow)
        body = read(refused).partition(b"\r\n\r\n")[2]
        assert json.loads(body)["message"] == (
            "The page sends the schema registry at most 24 requests of a client at once "
            "(magicbyte.ui.relay.requests.max), and of its other requests 64 may wait "
            "(magicbyte.ui.relay.waiting.max.per.client). This one got no turn: 64 requests of this client wait already"
        )
        with neighbour.stream("GET", "/ui/registry/subjects") as answer:
            assert answer.status_code == 200
            theirs.hold.set()
            assert answer.read() == b"{}"
        answers = [read(connection) for connection in slow if connection is not refused]
    assert [answer.split()[1] for answer in answers] == [b"200"] * 88
    assert len(theirs.requests) == 89


def test_a_client_with_slow_gets_together_leaves_the_page_to_others(http: httpx.Client, theirs: Upstream) -> None:
    theirs.parts = [b"{", b"}"]
    theirs.hold.clear()
    address = (http.base_url.host, http.base_url.port or 0)
    slow = [socket.create_connection(address, timeout=60) for _ in range(8 + 64 + 1)]
    body = json.dumps({"paths": ["/subjects"] * 4}).encode()
    head = b"POST /ui/together HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=http.base_url, timeout=60, transport=transport) as neighbour, ExitStack() as connections:
        for connection in slow:
            connections.enter_context(connection)
            connection.sendall(head % len(body) + body)
        # 8 are under way, and 64 wait.
        refused = first_refused(slow)
        answer = read(refused)
        assert answer.split()[1] == b"429"
        assert b"too many requests for several answers: 64 requests of this client wait already" in answer
        # All their GETs wait for the registry; those of others go beside them.
        with neighbour.stream("GET", "/ui/registry/subjects") as other:
            assert other.status_code == 200
            theirs.hold.set()
            assert other.read() == b"{}"
        answers = [read(connection) for connection in slow if connection is not refused]
    assert [answer.split()[1] for answer in answers] == [b"200"] * 72


def test_the_limits_of_a_client_have_settings(folder: Path) -> None:
    limits = [
        "magicbyte.ui.events.max.per.client=1",
        "magicbyte.ui.relay.requests.max=1",
        "magicbyte.ui.relay.waiting.max.per.client=0",
    ]
    options = [word for limit in limits for word in ("--property", limit)]
    with upstream() as registry, running_ui(folder, registry.url, *options) as http, ExitStack() as open_streams:
        registry.headers, registry.parts = {"Content-Type": "text/event-stream"}, [b"data: 1\n\n", b"data: 2\n\n"]
        registry.hold.clear()
        refusals = []
        for path in ("events", "subjects"):
            parts = open_streams.enter_context(http.stream("GET", f"/ui/registry/{path}")).iter_raw()
            assert next(parts) == b"data: 1\n\n"
            refused = http.get(f"/ui/registry/{path}")
            refusals.append((refused.status_code, refused.json()["message"]))
        registry.hold.set()
    assert refusals == [
        (429, "This client has 1 /events open, and may have no more (magicbyte.ui.events.max.per.client)."),
        (
            429,
            "The page sends the schema registry at most 1 requests of a client at once "
            "(magicbyte.ui.relay.requests.max), and of its other requests 0 may wait "
            "(magicbyte.ui.relay.waiting.max.per.client). This one got no turn: "
            "0 requests of this client wait already",
        ),
    ]


def test_a_client_with_slow_bodies_leaves_the_page_to_others(http: httpx.Client, theirs: Upstream) -> None:
    address = (http.base_url.host, http.base_url.port or 0)
    head = b"POST /ui/registry/subjects/s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{"
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=http.base_url, timeout=60, transport=transport) as neighbour, ExitStack() as connections:
        for _ in range(40):
            connections.enter_context(socket.create_connection(address)).sendall(head)
        assert neighbour.get("/ui/registry/subjects").status_code == 200


def first_refused(connections: Sequence[socket.socket]) -> socket.socket:
    """The first connection whose answer is 429; answers of others may have begun."""
    with selectors.DefaultSelector() as pending:
        for connection in connections:
            pending.register(connection, selectors.EVENT_READ, connection)
        while True:
            readable = pending.select(60)
            assert readable, "no request is refused"
            for key, _ in readable:
                if key.data.recv(13, socket.MSG_PEEK | socket.MSG_WAITALL) == b"HTTP/1.1 429 ":
                    found: socket.socket = key.data
                    return found
                pending.unregister(key.fileobj)


def read(connection: socket.socket) -> bytes:
    """The answer on a connection that the server closes after it."""
    with connection.makefile("rb") as answer:
        return answer.read()


def test_reading_alone(folder: Path) -> None:
    with upstream() as registry, running_ui(folder, registry.url, "--read-only", "--rest-url", registry.url) as http:
        assert http.get("/ui/config.json").json()["readOnly"] is True
        for method, path in (
            ("POST", "registry/subjects/s/versions"),
            ("POST", "registry/contexts/.c/subjects/s/versions"),
            ("POST", "registry/subjects/s/undelete"),
            ("POST", "registry/import"),
            ("PUT", "registry/config"),
            ("DELETE", "registry/subjects/s"),
            ("POST", "rest/topics/t"),
        ):
            assert http.request(method, f"/ui/{path}", content=b"{}").status_code == 403, path
        assert registry.requests == []
        for path in (
            "subjects/s",
            "contexts/.c/subjects/s",
            "compatibility/subjects/s/versions/latest",
            "contexts/.c/compatibility/subjects/s/versions",
            "outline",
            "subjects/s/compare",
        ):
            assert http.post(f"/ui/registry/{path}", content=b"{}").status_code == 200, path
        assert http.get("/ui/rest/topics").status_code == 200


@pytest.mark.slow
def test_the_credentials_of_the_settings_are_for_who_has_none(registry: ServerProcess, folder: Path) -> None:
    with prefixing(registry.url, asks_for_password=True) as url:
        with running_ui(folder, url) as http:
            refused = http.get("/ui/registry/subjects")
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Basic realm="proxy"')
            assert "flights-value" in http.get("/ui/registry/subjects", auth=(USER, PASSWORD)).json()
        settings = folder / "client.properties"
        settings.write_text(f"basic.auth.user.info={USER}:{PASSWORD}\n")
        with running_ui(folder, url, "--config", str(settings)) as http:
            assert "flights-value" in http.get("/ui/registry/subjects").json()
            assert http.get("/ui/registry/subjects", auth=("other", "x")).status_code == 401
            flights = http.get("/ui/registry/subjects/flights-key/versions/1").json()["id"]
            data = b64encode(b"\0" + flights.to_bytes(4) + b"\4hi").decode()
            (item,) = http.post("/ui/decode", content=json.dumps({"data": [data]})).json()["data"]
            assert item["value"] == "hi"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "say which registry the page is for: --schema-registry-url http://HOST:8081"),
        (["--schema-registry-url", "http://localhost:1", "--listen", "nowhere"], "listeners: "),
        (
            ["--schema-registry-url", "http://localhost:1", "--listen", "https://127.0.0.1:1"],
            "--listen: the page is served over",
        ),
        (["--schema-registry-url", "http://localhost:1", "--rest-url", "localhost"], "magicbyte.ui.rest.url: "),
        (["--schema-registry-url", "http://localhost:1", "--property", "nonsense=1"], "nonsense"),
        (
            ["--schema-registry-url", "http://localhost:1", "--property", "magicbyte.ui.messages.cpu.ms=0"],
            "magicbyte.ui.messages.cpu.ms: ",
        ),
        (
            [
                "--schema-registry-url",
                "http://localhost:1",
                "--listen",
                "0.0.0.0:1",
                "--property",
                "basic.auth.user.info=u:pw",
            ],
            "everybody who reaches http://127.0.0.1:1 would have the credentials of the settings",
        ),
        (["--schema-registry-url", "http://u:pw@localhost:1", "--listen", "0.0.0.0:1"], "would have the credentials"),
    ],
)
def test_what_is_refused(options: Sequence[str], text: str) -> None:
    ran = subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("magicbyte: ")
    assert text in ran.stderr
    assert "pw" not in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_the_help_names_the_command() -> None:
    ran = subprocess.run([*COMMAND[:-1], "--help"], capture_output=True, text=True, check=True)
    assert re.search(r"^  ui +show any registry in the browser$", ran.stdout, re.MULTILINE)


def test_a_registry_that_is_gone(folder: Path) -> None:
    with running_ui(folder, f"http://127.0.0.1:{free_port()}") as http:
        answer: Any = http.get("/ui/registry/subjects")
        assert (answer.status_code, answer.json()) == (
            502,
            {"error_code": 502, "message": "The schema registry cannot be reached"},
        )
        (item,) = http.post("/ui/decode", json={"data": ["AAAAAAEC"]}).json()["data"]
        assert (item["error"], item["reason"]) == ("the registry does not answer", "registry")


def test_several_gets_are_passed_on_together(http: httpx.Client, theirs: Upstream) -> None:
    answer = http.post("/ui/together", json={"paths": ["/subjects/a%2Fb/versions", "/config?defaultToGlobal=true"]})
    lines = sorted(map(json.loads, answer.text.splitlines()), key=lambda line: int(line["index"]))
    assert lines == [{"index": index, "status": 200, "body": "{}"} for index in (0, 1)]
    targets = {request.path for request in theirs.requests}
    # Requests of the test before may come late.
    assert targets >= {"/base/subjects/a%2Fb/versions", "/base/config?defaultToGlobal=true"}
