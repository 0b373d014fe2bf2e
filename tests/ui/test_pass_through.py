"""Requests that the page passes on to the REST proxy: where they go, what goes with them, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from magicbyte import __version__
from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.processes import descendants, words_of
from tests.ui.kit.upstream import Upstream, upstream

JSON = "application/vnd.kafka.json.v2+json"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[httpx.Client, Upstream]]:
    with upstream() as rest:
        properties = {
            "magicbyte.ui.rest.url": f"{rest.url}/behind/",
            "magicbyte.ui.name": "test",
            "magicbyte.ui.color": "#AE231C",
        }
        with (
            running_registry("memory:", properties=properties) as registry,
            httpx.Client(base_url=registry.url, trust_env=False) as client,
        ):
            yield client, rest


@pytest.fixture
def http(servers: tuple[httpx.Client, Upstream]) -> httpx.Client:
    return servers[0]


@pytest.fixture
def rest(servers: tuple[httpx.Client, Upstream]) -> Upstream:
    rest = servers[1]
    fresh = Upstream(rest.url)
    rest.requests, rest.status, rest.headers, rest.parts = [], 200, fresh.headers, fresh.parts
    return rest


def client_of(registry: ServerProcess) -> httpx.Client:
    return httpx.Client(base_url=registry.url, trust_env=False)


def raw(http: httpx.Client, method: str, path: str, **options: Any) -> httpx.Response:
    """Send a path as it is."""
    return http.send(http.build_request(method, http.base_url.copy_with(raw_path=path.encode()), **options))


def test_the_configuration_tells_of_the_proxy(http: httpx.Client) -> None:
    answer = http.get("/ui/config.json")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "name": "test",
        "color": "#ae231c",
        "readOnly": False,
        "restAvailable": True,
        "pipelinesConfigured": False,
        "accessRules": False,
        "registryBase": "../",
        "version": __version__,
        "features": [],
    }


def test_a_worker_for_messages_starts_when_the_page_reads_topics() -> None:
    def workers(pid: int | None) -> int:
        return sum("magicbyte.ui.messages.worker" in words_of(child) for child in descendants(pid))

    with (
        upstream() as rest,
        running_registry("memory:", properties={"magicbyte.ui.rest.url": rest.url}) as registry,
        client_of(registry) as http,
    ):
        assert http.get("/ui/config.json").status_code == 200
        assert workers(registry.pid) == 0
        for _ in range(3):
            assert http.get("/ui/rest/topics").status_code == 200
        deadline = time.monotonic() + 30
        while not workers(registry.pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert http.post("/ui/decode", json={"messages": []}).status_code < 500
        assert workers(registry.pid) == 1


def test_a_request_goes_on_as_it_is(http: httpx.Client, rest: Upstream) -> None:
    rest.status, rest.headers = 207, {"Content-Type": JSON, "Set-Cookie": "a=b", "Server": "x", "Location": "http://x/"}
    rest.parts = [b'{"offsets":', b"[]}"]
    headers = {
        "Authorization": "Bearer token",
        "Content-Type": JSON,
        "Accept": JSON,
        "Cookie": "c=d",
        "X-Forwarded-For": "1.2.3.4",
        "X-Request-Id": "mine",
    }
    answer = raw(http, "POST", "/ui/rest/topics/a%2Fb%20c?x=%2F&y", headers=headers, content=b'{"records":[]}')
    assert (answer.status_code, answer.content) == (207, b'{"offsets":[]}')
    assert answer.headers["content-type"] == JSON
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert {"set-cookie", "server", "location"} & set(answer.headers) == set()
    (request,) = rest.requests
    assert (request.method, request.path) == ("POST", "/behind/topics/a%2Fb%20c?x=%2F&y")
    assert request.body == b'{"records":[]}'
    assert {
        name: request.headers.get(name) for name in ("authorization", "content-type", "accept", "x-request-id")
    } == {
        "authorization": "Bearer token",
        "content-type": JSON,
        "accept": JSON,
        "x-request-id": "mine",
    }
    assert {"cookie", "sec-fetch-site"} & set(request.headers) == set()
    # Nobody may claim an address: it is the one that the connection comes from.
    assert request.headers["x-forwarded-for"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/topics"),
        ("GET", "/brokers"),
        ("DELETE", "/consumers/g/instances/i"),
        ("PATCH", "/v3/clusters/c/topics/t"),
        ("GET", "/v3/clusters"),
    ],
)
def test_what_is_passed_on(http: httpx.Client, rest: Upstream, method: str, path: str) -> None:
    assert http.request(method, f"/ui/rest{path}").status_code == 200
    assert [(request.method, request.path) for request in rest.requests] == [(method, f"/behind{path}")]


@pytest.mark.parametrize(
    "path",
    [
        "/security/acls",
        "/health/live",
        "/metrics",
        "/topics/../security/acls",
        "/topics/%2e%2e/security/acls",
        "/topics/.%2E/x",
        "/topicsX",
        "//topics",
        "/%74opics",
    ],
)
def test_what_is_not_passed_on(http: httpx.Client, rest: Upstream, path: str) -> None:
    assert raw(http, "GET", f"/ui/rest{path}").status_code == 404
    assert rest.requests == []


def test_other_methods_are_refused(http: httpx.Client, rest: Upstream) -> None:
    answer = http.put("/ui/rest/topics/t", content=b"{}")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST, PATCH, DELETE")
    assert rest.requests == []


def test_a_foreign_page_passes_nothing_on(http: httpx.Client, rest: Upstream) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.test"}):
        for path in ("/ui/rest/topics/t", "/ui/decode", "/ui/dead-letters", "/ui/dead-letter", "/ui/together"):
            assert http.post(path, headers=headers, content=b"{}").status_code == 403, path
        assert http.patch("/ui/rest/v3/clusters/c/topics/t", headers=headers, content=b"{}").status_code == 403
    assert http.delete("/ui/rest/consumers/g/instances/i", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert http.get("/ui/rest/topics", headers={"Host": "evil.test"}).status_code == 421
    assert http.get("/ui/", headers={"Host": "evil.test"}).status_code == 421
    assert rest.requests == []


CONSUME = "/ui/rest/consumers/g/instances/i/records"


def test_a_page_that_may_use_the_registry_takes_no_records_away() -> None:
    page = "https://allowed.test"
    with upstream() as rest:
        properties = {
            "magicbyte.ui.rest.url": rest.url,
            "access.control.allow.origin": page,
            "access.control.allow.methods": "GET,POST,DELETE",
        }
        with running_registry("memory:", properties=properties) as registry, client_of(registry) as http:
            foreign = [{"Sec-Fetch-Site": site, "Origin": page} for site in ("cross-site", "same-site")]
            for headers in (*foreign, {"Origin": page}, {"Sec-Fetch-Site": "cross-site"}):
                assert http.get("/subjects", headers=headers).status_code == 200
                for method, path in (("GET", CONSUME), ("GET", "/ui/rest/topics"), ("POST", "/ui/decode")):
                    refused = http.request(method, path, headers=headers)
                    assert (refused.status_code, "access-control-allow-origin" in refused.headers) == (403, False)
            assert rest.requests == []
            for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}):
                assert http.get(CONSUME, headers=headers).status_code == 200
            # The proxy decides too.
            sites = [request.headers.get("sec-fetch-site") for request in rest.requests]
            assert sites == ["same-origin", "none", None]


def test_the_proxy_gets_the_address_that_a_trusted_proxy_reports() -> None:
    with upstream() as rest:
        properties = {"magicbyte.ui.rest.url": rest.url, "magicbyte.trusted.proxies": "127.0.0.1,10.0.0.0/8"}
        with running_registry("memory:", properties=properties) as registry, client_of(registry) as http:
            for reported in ("192.0.2.7", "6.6.6.6, 192.0.2.7, 10.1.1.1"):
                assert http.get("/ui/rest/topics", headers={"X-Forwarded-For": reported}).status_code == 200
            assert [request.headers["x-forwarded-for"] for request in rest.requests] == ["192.0.2.7"] * 2


def test_an_answer_is_relayed_in_parts(http: httpx.Client, rest: Upstream) -> None:
    rest.parts = [b"first\n", b"last\n"]
    rest.hold.clear()
    with http.stream("GET", "/ui/rest/topics") as answer:
        parts = answer.iter_raw()
        assert next(parts) == b"first\n"
        rest.hold.set()
        assert b"".join(parts) == b"last\n"


def test_errors_and_challenges_are_those_of_the_proxy(http: httpx.Client, rest: Upstream) -> None:
    rest.status, rest.parts = 401, [b'{"error_code":401,"message":"Unauthorized"}']
    rest.headers = {"Content-Type": "application/json", "WWW-Authenticate": 'Basic realm="KafkaRest"'}
    answer = http.get("/ui/rest/topics")
    assert (answer.status_code, answer.json()) == (401, {"error_code": 401, "message": "Unauthorized"})
    assert answer.headers["www-authenticate"] == 'Basic realm="KafkaRest"'


def test_a_large_body_is_refused(http: httpx.Client, rest: Upstream) -> None:
    answer = http.post("/ui/rest/topics/t", content=b"x" * (9 << 20))
    assert answer.status_code == 413
    assert rest.requests == []


def test_without_a_proxy() -> None:
    with running_registry("memory:") as registry, client_of(registry) as http:
        answer = http.get("/ui/rest/topics")
        assert (answer.status_code, answer.json()) == (
            404,
            {"error_code": 404, "message": "No REST proxy is configured: set magicbyte.ui.rest.url=http://HOST:8082"},
        )
        assert http.get("/ui/config.json").json()["restAvailable"] is False


def test_a_proxy_that_is_gone() -> None:
    properties = {"magicbyte.ui.rest.url": f"http://127.0.0.1:{free_port()}", "magicbyte.ui.read.only": "true"}
    with running_registry("memory:", properties=properties) as registry, client_of(registry) as http:
        answer = http.get("/ui/rest/topics")
        assert (answer.status_code, answer.json()) == (
            502,
            {"error_code": 502, "message": "The REST proxy cannot be reached"},
        )
        refused = {"error_code": 403, "message": "The page may only read here: magicbyte.ui.read.only is set"}
        for method, path in (
            ("POST", "topics/t"),
            ("POST", "consumers/g"),
            ("DELETE", "v3/clusters/c/topics/t"),
            ("PATCH", "v3/clusters/c/topics/t"),
        ):
            answer = http.request(method, f"/ui/rest/{path}", content=b"{}")
            assert (answer.status_code, answer.json()) == (403, refused)
        assert http.get("/ui/config.json").json()["readOnly"] is True
        # Decoding changes nothing.
        assert http.post("/ui/decode", content=b'{"data":[]}').status_code in (200, 400)


def test_the_page_can_be_switched_off() -> None:
    off = {"magicbyte.ui.enabled": "false"}
    with running_registry("memory:", properties=off) as registry, client_of(registry) as http:
        assert http.get("/ui/").status_code == 404
        answer = http.get("/", headers={"Accept": "text/html,*/*", "Sec-Fetch-Mode": "navigate"})
        assert (answer.status_code, answer.json()) == (200, {})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("magicbyte.ui.rest.url", "localhost:8082", "not an http URL"),
        ("magicbyte.ui.rest.url", "http://u:secret@h:1", "must not contain a user name"),
        ("magicbyte.ui.color", "red", "not a color; write it as #ae231c"),
        ("magicbyte.ui.read.only", "perhaps", "must be true or false"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, reason: str) -> None:
    from magicbyte.kit.settings import SettingsError  # noqa: PLC0415
    from registry.settings import RegistrySettings  # noqa: PLC0415

    with pytest.raises(SettingsError) as raised:
        RegistrySettings.from_properties({name: value})
    assert str(raised.value).startswith(f"{name}: ")
    assert reason in str(raised.value)
    assert "secret" not in str(raised.value)
