"""Pages of other origins, by what browsers say of them; tests/browser does the same with a real one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

PAGE = "http://page.test"
#: A write that a page may send without asking: it has no Content-Type.
WRITES = {"registry": "/subjects/s/versions", "REST proxy": "/topics/t"}
REFUSED = {
    "error_code": 403,
    "message": "Requests from pages of http://page.test are refused: access.control.allow.origin does not allow them",
}


def ask(server: Any, method: str, path: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = b'{"schema": "\\"int\\""}' if method in ("POST", "PUT") else None
    return httpx.request(method, f"{server.url}{path}", headers=named, content=content, timeout=30)


def write(server: Any, method: str = "POST", **headers: str) -> httpx.Response:
    return ask(server, method, WRITES[server.name], **headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site", "origin": PAGE},
        {"sec_fetch_site": "same-site", "origin": PAGE},
        {"sec_fetch_site": "what-comes-next", "origin": PAGE},
        # To a plain-http URL of another machine browsers send no Sec-Fetch-Site.
        {"origin": PAGE},
        {"origin": "http://localhost", "host": "localhost:1", "sec_fetch_site": "cross-site"},
    ],
)
def test_a_foreign_page_does_not_write(server: Any, headers: dict[str, str]) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        refused = write(server, method, **headers)
        assert refused.status_code == 403
        assert refused.json()["message"] == REFUSED["message"].replace(PAGE, headers["origin"])
        assert "access-control-allow-origin" not in refused.headers
    if server.name == "registry":
        assert httpx.get(f"{server.url}/subjects?deleted=true").json() == []


def test_the_refusal_of_a_write_without_an_origin_names_its_site(server: Any) -> None:
    refused = write(server, sec_fetch_site="cross-site")
    assert refused.json()["message"].startswith("Requests from pages of a cross-site origin are refused")


@pytest.mark.parametrize("origin", ["null", "http://localhost.page.test", "https://localhost", "http://localhost:2"])
def test_an_origin_that_looks_like_ours(server: Any, origin: str) -> None:
    assert write(server, origin=origin, host="localhost:1").status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec_fetch_site": "none"},
        {"sec_fetch_site": "same-origin"},
        {"origin": "http://localhost:1", "host": "localhost:1"},
        {"origin": "http://LOCALHOST", "host": "localhost:80"},
        # Behind a proxy that ends TLS.
        {"origin": "https://localhost", "host": "localhost"},
        # Behind one that sends another Host; the browser itself says that the page is ours.
        {"sec_fetch_site": "same-origin", "origin": "https://registry.test"},
    ],
)
def test_our_own_pages_and_all_other_clients_write(server: Any, headers: dict[str, str]) -> None:
    assert write(server, **headers).status_code != 403


def test_a_foreign_page_asks_and_cannot_read(server: Any) -> None:
    for headers in ({"sec_fetch_site": "cross-site", "origin": PAGE}, {"origin": PAGE}):
        answered = ask(server, "GET", "/", **headers)
        assert answered.status_code == 200
        assert "access-control-allow-origin" not in answered.headers
        preflight = ask(server, "OPTIONS", "/", access_control_request_method="PUT", **headers)
        assert preflight.status_code == 405
        assert "access-control-allow-origin" not in preflight.headers


def test_a_foreign_page_does_not_take_records_away(server: Any) -> None:
    if server.name == "REST proxy":
        refused = ask(server, "GET", "/consumers/g/instances/i/records", sec_fetch_site="cross-site", origin=PAGE)
        assert (refused.status_code, refused.json()) == (403, REFUSED)


def test_an_allowed_page(start: Any) -> None:
    server = start(
        **{
            "access.control.allow.origin": f"https://else.test, {PAGE}",
            "access.control.allow.methods": "GET,POST,PUT",
            "access.control.allow.headers": "Content-Type,X-Mine",
        }
    )
    page = {"origin": PAGE, "sec_fetch_site": "cross-site"}
    answered = write(server, **page)
    assert answered.status_code != 403
    for answer in (answered, ask(server, "GET", "/", **page)):
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["access-control-allow-credentials"] == "true"
        assert answer.headers["vary"] == "Origin"
    # A method that is not allowed is not, though a page may send it without asking.
    refused = write(server, "DELETE", **page)
    assert refused.status_code == 403
    assert refused.json()["message"] == (
        "Requests from pages of http://page.test are refused: access.control.allow.origin does not allow DELETE for "
        "them"
    )
    assert write(server, origin="http://page.test:81").status_code == 403
    assert "access-control-allow-origin" not in ask(server, "GET", "/").headers


def test_a_preflight(start: Any) -> None:
    server = start(**{"access.control.allow.origin": PAGE, "access.control.allow.methods": "GET,PUT"})
    page = {"origin": PAGE, "sec_fetch_site": "cross-site"}
    allowed = ask(
        server,
        "OPTIONS",
        "/config",
        access_control_request_method="PUT",
        access_control_request_headers="content-type, accept-language",
        **page,
    )
    assert (allowed.status_code, allowed.content) == (200, b"")
    assert allowed.headers["access-control-allow-origin"] == PAGE
    assert allowed.headers["access-control-allow-methods"] == "GET,PUT"
    assert allowed.headers["access-control-allow-headers"] == "x-requested-with,content-type,accept,origin"
    assert allowed.headers["access-control-allow-credentials"] == "true"
    assert allowed.headers["access-control-max-age"] == "1800"
    assert allowed.headers["vary"] == "Origin"
    for surplus, name in (
        ({"access_control_request_method": "DELETE"}, "DELETE for them (access.control.allow.methods)"),
        (
            {"access_control_request_method": "PUT", "access_control_request_headers": "x-mine"},
            "x-mine for them (access.control.allow.headers)",
        ),
    ):
        refused = ask(server, "OPTIONS", "/config", **page, **surplus)
        assert refused.status_code == 403
        assert refused.json()["message"].endswith(f"does not allow {name}")
        assert "access-control-allow-origin" not in refused.headers


def test_all_origins_are_allowed_without_credentials(start: Any) -> None:
    server = start(**{"access.control.allow.origin": "*"})
    for origin in (PAGE, "null"):
        answered = write(server, origin=origin, sec_fetch_site="cross-site")
        assert answered.status_code != 403
        assert answered.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answered.headers
    assert "every web page that a user of this network opens may write here" in server.log.read_text()


def test_options_can_be_refused_to_all(start: Any) -> None:
    server = start(**{"reject.options.request": "true", "access.control.allow.origin": PAGE})
    for headers in ({}, {"origin": PAGE, "access_control_request_method": "GET"}):
        refused = ask(server, "OPTIONS", "/", **headers)
        assert (refused.status_code, refused.json()) == (403, {"error_code": 403, "message": "Forbidden"})


@pytest.mark.parametrize("host", ["page.test", "page.test:8081", "localhost.page.test", "192.168.0.1", "[::2]", ""])
def test_a_foreign_host_on_the_loopback(server: Any, connect: Any, host: str) -> None:
    for method in ("GET", "POST"):
        connection = connect(server)
        connection.send(f"{method} / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        status, body = connection.answer()
        assert status == 421
        assert body == (
            b'{"error_code":421,"message":"This server is not %b; if it is known by that name too, add the name to '
            b'magicbyte.allowed.hosts"}' % host.encode()
        )


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8081", "127.9.9.9", "[::1]:8081", "a.localhost"]
)
def test_a_host_of_ours(server: Any, host: str) -> None:
    assert httpx.get(server.url, headers={"host": host}).status_code == 200


def test_hosts_from_the_settings(start: Any) -> None:
    server = start(**{"host.name": "Registry.test", "magicbyte.allowed.hosts": "proxy.test, other.test"})
    for host in ("registry.test:8081", "registry.test.", "proxy.test", "OTHER.test"):
        assert httpx.get(server.url, headers={"host": host}).status_code == 200
    assert httpx.get(server.url, headers={"host": "page.test"}).status_code == 421


def test_all_hosts_by_setting(start: Any) -> None:
    server = start(**{"magicbyte.allowed.hosts": "*"})
    assert httpx.get(server.url, headers={"host": "page.test"}).status_code == 200
