"""Answers, processes and outgoing requests of both servers give nothing away."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import socket
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import KafkaError

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.principal import Peer, Principal
from magicbyte.security.sign_in.authenticator import Authenticator
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.testing import running_registry, running_rest_proxy
from registry.feed import outgoing
from registry.feed.outgoing import ForbiddenAddress, post_to_allowed
from rest_proxy.errors import delivery_error, from_kafka

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow

Start = Callable[..., ServerProcess]
PEOPLE = ("admin", "reader", "settings")
RULES = "allow User:reader READ SUBJECT PREFIXED a\nallow User:settings DESCRIBE_CONFIGS SUBJECT PREFIXED a\n"


def guarded(folder: Path, **more: str) -> dict[str, str]:
    """Settings with a user for each of the people, and rules."""
    users, rules = folder / "users", folder / "rules"
    write_users(users, PEOPLE)
    rules.write_text(RULES)
    return {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
        "super.users": "User:admin",
        "magicbyte.authentication.failure.ms": "0",
        **{name.replace("__", "."): value for name, value in more.items()},
    }


def write_users(path: Path, names: tuple[str, ...], ending: str = "") -> None:
    part = path.with_suffix(".part")
    part.write_text("".join(f"{name}:{hash_key('mbs_' + name)}{ending}\n" for name in names))
    part.chmod(0o600)
    part.replace(path)


def client(server: ServerProcess, name: str = "admin") -> httpx.Client:
    return httpx.Client(base_url=server.url, auth=(name, f"mbs_{name}"), timeout=30)


def test_data_is_no_page(start_either: Start) -> None:
    server = start_either({})
    for path in ("/", "/none", "/openapi.json"):
        headers = httpx.get(server.url + path).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "no-referrer", path
        assert headers.get_list("content-security-policy") == ["default-src 'none'; frame-ancestors 'none'"], path
        assert "cache-control" not in headers, path


def test_settings_go_before_our_headers(start_either: Start) -> None:
    given = "set Referrer-Policy: origin, set Content-Security-Policy: default-src https:"
    server = start_either({"response.http.headers.config": given, "nosniff.prevention.enable": "false"})
    headers = httpx.get(server.url).headers
    assert headers.get_list("referrer-policy") == ["origin"]
    assert headers.get_list("content-security-policy") == ["default-src https:"]
    assert "x-content-type-options" not in headers


def test_no_cache_stores_answers_that_depend_on_the_principal(start_registry: Start, tmp_path: Path) -> None:
    with client(start_registry(guarded(tmp_path))) as admin:
        admin.post("/subjects/a/versions", json={"schema": '"int"'})
        for path in (
            "/subjects",
            "/subjects/a/versions",
            "/subjects/a/versions/1",
            "/config",
            "/subjects/none/versions",
        ):
            for _ in range(2):
                assert admin.get(path).headers.get_list("cache-control") == ["no-store"], path
        for path in ("/", "/schemas/types", "/docs", "/openapi.json", "/health/live", "/none"):
            assert "cache-control" not in admin.get(path).headers, path


def test_the_page_of_the_api_has_a_strict_policy(start_registry: Start) -> None:
    page = httpx.get(start_registry({}).url + "/docs")
    hashes = {
        name: b64encode(
            hashlib.sha256(re.findall(rf"<{name}>(.*?)</{name}>", page.text, re.DOTALL)[0].encode()).digest()
        )
        for name in ("script", "style")
    }
    assert page.headers.get_list("content-security-policy") == [
        f"default-src 'none'; script-src 'sha256-{hashes['script'].decode()}';"
        f" style-src 'sha256-{hashes['style'].decode()}'; connect-src 'self'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'; require-trusted-types-for 'script'"
    ]
    assert not re.search(r"\son\w+=|\sstyle=|innerHTML|javascript:|<script [^>]*src", page.text)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "sasl_ssl://b-1.internal.example:9096/1: Connect to ipv4#10.20.30.40:9096 failed: Connection refused"
            " (after 0ms in state CONNECT)",
            "a broker: Connect to a broker failed: Connection refused (after 0ms in state CONNECT)",
        ),
        (
            "127.0.0.1:9092/bootstrap: Disconnected (after 3ms in state UP)",
            "a broker: Disconnected (after 3ms in state UP)",
        ),
        ("GroupCoordinator: b-2.internal:9092: timed out", "GroupCoordinator: a broker: timed out"),
        ("[fe80::1%eth0]:9092/3: Failed", "a broker: Failed"),
        ("ssl handshake: error:0A000086:SSL routines::certificate verify failed", None),
        ("Broker: Topic authorization failed", None),
    ],
)
def test_texts_of_kafka_name_no_broker(said: str, told: str | None) -> None:
    error = KafkaError(KafkaError._TRANSPORT, said)
    assert from_kafka(error).message == (told or said)
    unknown = KafkaError(KafkaError._MSG_TIMED_OUT, said)
    assert delivery_error(unknown)[1] == (
        f"Unknown: no answer from the broker ({told or said}); the record may or may not be in the topic."
    )


def test_a_process_with_secrets_leaves_no_core_and_no_readable_file(start_either: Start, tmp_path: Path) -> None:
    hardened, plain = start_either(guarded(tmp_path)), start_either({})
    for server, umask, owner in ((hardened, "0077", 0), (plain, None, os.getuid())):
        status = Path(f"/proc/{server.pid}/status").read_text()
        limits = Path(f"/proc/{server.pid}/limits").read_text()
        if umask is not None:
            assert f"Umask:\t{umask}" in status
            assert re.search(r"Max core file size +0 +0 ", limits)
        # Of a process that can't be dumped, root owns the files of the system.
        assert Path(f"/proc/{server.pid}/mem").stat().st_uid == owner


def resolving(addresses: list[str]) -> Any:
    async def getaddrinfo(_host: str, port: int, **_: Any) -> list[Any]:
        families = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in addresses]
        return [
            (family, socket.SOCK_STREAM, 6, "", (address, port))
            for family, address in zip(families, addresses, strict=True)
        ]

    return getaddrinfo


@pytest.mark.parametrize(
    "addresses",
    [["169.254.169.254"], ["fe80::1"], ["fe80::1%2"], ["::ffff:169.254.1.1"], ["127.0.0.1", "169.254.169.254"]],
)
def test_nothing_is_posted_to_a_link_local_address(addresses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def post() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolving(addresses), raising=False)
        transport = httpx.MockTransport(lambda _: pytest.fail("posted"))
        async with httpx.AsyncClient(transport=transport) as posting:
            await post_to_allowed(posting, "http://metadata.example/latest", b"{}", {})

    with pytest.raises(ForbiddenAddress, match=r"^metadata\.example leads to the link-local address "):
        asyncio.run(post())


def test_webhooks_post_to_the_resolved_address(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((str(request.url), request.headers["host"], request.extensions["sni_hostname"]))
        if request.url.host == "192.0.2.1":
            raise httpx.ConnectError("not there")
        return httpx.Response(204)

    async def post() -> httpx.Response:
        monkeypatch.setattr(outgoing, "addresses_of", lambda *_: asyncio.sleep(0, ["192.0.2.1", "2001:db8::1"]))
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as posting:
            return await post_to_allowed(posting, "https://hooks.example:8443/a?b=c", b"{}", {})

    assert asyncio.run(post()).status_code == 204
    assert seen == [
        ("https://192.0.2.1:8443/a?b=c", "hooks.example:8443", "hooks.example"),
        ("https://[2001:db8::1]:8443/a?b=c", "hooks.example:8443", "hooks.example"),
    ]


@contextmanager
def following(server: ServerProcess, name: str) -> Iterator[Iterator[str]]:
    with client(server, name) as follower, follower.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": following"
        yield lines


def ends(lines: Iterator[str]) -> list[str]:
    """The rest of a stream; raises when it goes on for longer than the client waits."""
    return [line for line in lines if line.startswith("data:")]


def test_a_stream_continues_while_its_reader_has_valid_credentials(start_registry: Start, tmp_path: Path) -> None:
    server = start_registry(guarded(tmp_path))
    with client(server) as admin, following(server, "reader") as lines:
        write_users(tmp_path / "users", (*PEOPLE, "another"))
        wait_for(lambda: httpx.get(server.url, auth=("another", "mbs_another")).status_code == 200)
        admin.post("/subjects/a/versions", json={"schema": '"int"'})
        data = next(line for line in lines if line.startswith("data:"))
        assert json.loads(data.removeprefix("data:"))["subject"] == "a"


def test_a_stream_ends_when_its_reader_is_removed(start_registry: Start, tmp_path: Path) -> None:
    server = start_registry(guarded(tmp_path))
    with following(server, "reader") as lines:
        write_users(tmp_path / "users", ("admin",))
        assert ends(lines) == []


def test_credentials_that_expire_meanwhile_are_not_good(tmp_path: Path) -> None:
    properties = guarded(tmp_path, magicbyte__authentication__cache__seconds="300")
    authenticator = Authenticator(SignInSettings.from_properties(properties), realm="r")
    headers = [(b"authorization", b"Basic " + b64encode(b"reader:mbs_reader"))]

    async def is_good(expires: float | None, groups: frozenset[str] = frozenset()) -> bool:
        principal = Principal("User:reader", groups, "BASIC", expires)
        return await authenticator.is_still_good(principal, headers, Peer("10.1.2.3"))

    async def ask() -> list[bool]:
        return [
            await is_good(None),
            await is_good(time.time() - 1),
            # In another group than when the answer began.
            await is_good(None, frozenset(("Group:ops",))),
        ]

    assert asyncio.run(ask()) == [True, False, False]
    authenticator.close()


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("reader", RULES.replace("READ", "DESCRIBE")),
        ("reader", RULES + "deny User:reader ALL SUBJECT LITERAL *\n"),
        ("settings", RULES.replace("User:settings", "User:other")),
    ],
)
def test_a_stream_ends_when_the_last_right_is_lost(
    start_registry: Start, tmp_path: Path, name: str, rules: str
) -> None:
    server = start_registry(guarded(tmp_path))
    with following(server, name) as lines:
        (tmp_path / "rules").write_text(rules)
        assert ends(lines) == []


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)


def test_clients_cannot_say_what_nodes_say_to_each_other(start_registry: Start, tmp_path: Path) -> None:
    server = start_registry(guarded(tmp_path))
    forged = {"magicbyte-identity": "x", "magicbyte-principal": "User:admin", "x-forward": "true"}
    assert httpx.get(f"{server.url}/subjects", headers=forged).status_code == 401
    told = httpx.get(f"{server.url}/config", headers=forged, auth=("reader", "mbs_reader"))
    assert told.status_code == 403


def test_a_dry_run_denies_nothing_and_says_so(start_either: Start, tmp_path: Path) -> None:
    server = start_either(guarded(tmp_path, magicbyte__authorization__dry__run="true"))
    with client(server, "reader") as reader:
        told = reader.get("/metrics")
        assert told.status_code == 200
        text = reader.get("/metrics").text
        counted = r'magicbyte_authorization_total\{operation="DESCRIBE",outcome="dry_run",type="\w+"\} [1-9]'
        assert re.search(counted, text), [line for line in text.splitlines() if "authorization" in line]
    assert "magicbyte.authorization.dry.run: User:reader would be denied DESCRIBE on" in server.log.read_text()


def test_the_rest_proxy_uses_no_http_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    body = json.dumps({"value_schema": '"int"', "records": [{"value": 1}]})
    headers = {"content-type": "application/vnd.kafka.avro.v2+json"}
    with (
        running_registry() as registry,
        running_rest_proxy("127.0.0.1:1", registry.url) as proxy,
        httpx.Client(trust_env=False, timeout=30) as client,
    ):
        # There is no broker, but the schema is registered before anything is sent.
        client.post(f"{proxy.url}/topics/t?timeout=1", content=body, headers=headers)
        assert client.get(f"{registry.url}/subjects").json() == ["t-value"]
