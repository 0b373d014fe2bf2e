"""Forwarded requests: the identity that goes with them is bound to one request, and credentials stay at home."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from magicbyte.http.routing.identity import digest_of
from magicbyte.kit.secret import Secret
from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.forwarded_identity import ForgedIdentity, IdentitySigner
from magicbyte.security.principal import ANONYMOUS, Principal
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_registry, running_rest_proxy
from registry.app import create_app
from registry.http.forwarded_clients import open_forwarded_clients
from registry.settings import RegistrySettings
from tests.http.serving import serving
from tests.security.matrix.in_process import ADDRESS, running

SECRET, OTHER = "s" * 32, "o" * 32
ALICE = Principal("User:alice", frozenset(("Group:ops",)), "BASIC")
CREDENTIALS = ("mbk_ci", "mbs_planted-secret")
EMPTY = digest_of(b"")


def signer(secret: str = SECRET, previous: str | None = None, audience: str = "group") -> IdentitySigner:
    return IdentitySigner(Secret(secret), Secret(previous) if previous else None, audience)


def test_an_identity_is_good_once_for_one_request():
    value = signer().sign(ALICE, "10.1.2.3", "POST", "/subjects/s/versions?normalize=true", EMPTY)
    verifier = signer()
    forwarded = verifier.verify(value, "POST", "/subjects/s/versions?normalize=true")
    assert forwarded.principal == Principal("User:alice", frozenset(("Group:ops",)), "FORWARDED")
    assert (forwarded.address, forwarded.body_digest) == ("10.1.2.3", EMPTY)
    with pytest.raises(ForgedIdentity, match="it was used already"):
        verifier.verify(value, "POST", "/subjects/s/versions?normalize=true")


@pytest.mark.parametrize(
    ("made_by", "method", "target", "text"),
    [
        (signer(OTHER), "GET", "/", "it is not signed with this group's secret"),
        (signer(audience="other"), "GET", "/", "it is for another request or group of nodes"),
        (signer(), "DELETE", "/", "it is for another request or group of nodes"),
        (signer(), "GET", "/subjects", "it is for another request or group of nodes"),
        (signer(), "GET", "/?a=b", "it is for another request or group of nodes"),
    ],
)
def test_an_identity_of_another_request_is_forged(made_by: IdentitySigner, method: str, target: str, text: str):
    with pytest.raises(ForgedIdentity, match=text):
        signer().verify(made_by.sign(ALICE, "10.1.2.3", "GET", "/", EMPTY), method, target)


def test_an_identity_expires(monkeypatch: pytest.MonkeyPatch):
    value = signer().sign(ALICE, "10.1.2.3", "GET", "/", EMPTY)
    now = time.time()
    for moment in (now + 61, now - 31):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        with pytest.raises(ForgedIdentity, match="it has expired, or is not valid yet"):
            signer().verify(value, "GET", "/")


def test_a_new_secret_is_given_to_one_node_after_the_other():
    old, both = signer(SECRET), signer(OTHER, SECRET)
    assert both.verify(old.sign(ALICE, "::1", "GET", "/", EMPTY), "GET", "/").principal.name == "User:alice"
    with pytest.raises(ForgedIdentity):
        old.verify(both.sign(ALICE, "::1", "GET", "/", EMPTY), "GET", "/")


@pytest.mark.parametrize("value", ["", "x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."])
def test_an_unreadable_identity_counts_as_forged(value: str):
    with pytest.raises(ForgedIdentity, match="it is not signed with this group's secret"):
        signer().verify(value, "GET", "/")


def users_file(folder: Path) -> str:
    path = folder / "users"
    path.write_text(f"{CREDENTIALS[0]}:{hash_key(CREDENTIALS[1])}:principal=User:ci\n")
    path.chmod(0o600)
    return str(path)


def sign_in(folder: Path) -> dict[str, str]:
    return {
        "authentication.method": "BASIC",
        "magicbyte.authorization": "none",
        "magicbyte.users.file": users_file(folder),
        "magicbyte.inter.instance.secret": SECRET,
        "magicbyte.allow.plaintext.credentials": "true",
        "magicbyte.authentication.failure.ms": "0",
    }


@pytest.fixture(scope="module")
def pair(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ServerProcess]]:
    shared = {
        **sign_in(tmp_path_factory.mktemp("users")),
        "kafkastore.topic": f"_schemas-{uuid.uuid4()}",
        "schema.registry.group.id": "group",
    }
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_registry("kafka:", bootstrap_servers=kafka, properties=shared))
            for _ in range(2)
        ]


def register(url: str, subject: str, **more: Any) -> httpx.Response:
    body = json.dumps({"schema": '{"type":"string"}'}).encode()
    headers = {"content-type": "application/json", **more.pop("headers", {})}
    return httpx.post(f"{url}/subjects/{subject}/versions", content=body, headers=headers, timeout=30, **more)


def test_writes_go_through_any_node(pair: list[ServerProcess]):
    for index, node in enumerate(pair):
        assert register(node.url, f"s{index}", auth=CREDENTIALS).status_code == 200
        assert register(node.url, f"s{index}").status_code == 401
        line = json.dumps({"type": "mode", "mode": "READWRITE"})
        imported = httpx.post(f"{node.url}/import?lines=true", content=line, auth=CREDENTIALS, timeout=30)
        assert imported.status_code == 200, imported.text
    counts = [httpx.get(f"{node.url}/metrics", auth=CREDENTIALS, timeout=30).text for node in pair]
    forwarded = 'magicbyte_authentication_total{method="FORWARDED",outcome="success"}'
    assert sorted(forwarded in text for text in counts) == [False, True]


def test_a_forged_identity_is_refused_by_every_node(pair: list[ServerProcess]):
    target, body = "/subjects/forged/versions", json.dumps({"schema": '{"type":"string"}'}).encode()
    good = signer().sign(ALICE, "10.1.2.3", "POST", target, digest_of(body))
    of_another_body = signer().sign(ALICE, "10.1.2.3", "POST", target, EMPTY)
    for node in pair:
        for identity in (
            "x",
            signer(OTHER).sign(ALICE, "10.1.2.3", "POST", target, digest_of(body)),
            signer(audience="other").sign(ALICE, "10.1.2.3", "POST", target, digest_of(body)),
            signer().sign(ALICE, "10.1.2.3", "POST", "/subjects/other/versions", digest_of(body)),
            of_another_body,
        ):
            headers = {"magicbyte-identity": identity, "x-forward": "true"}
            answer = register(node.url, "forged", headers=headers)
            assert (answer.status_code, answer.json()) == (401, {"error_code": 401, "message": "Unauthorized"})
        of_another_body = signer().sign(ALICE, "10.1.2.3", "POST", target, EMPTY)
    subjects = httpx.get(f"{pair[0].url}/subjects", auth=CREDENTIALS, timeout=30).json()
    assert "forged" not in subjects
    first = register(pair[0].url, "forged", headers={"magicbyte-identity": good})
    replayed = register(pair[0].url, "forged", headers={"magicbyte-identity": good})
    assert (first.status_code, replayed.status_code) == (200, 401)


def test_forged_identities_are_counted_and_logged_once_in_a_while(tmp_path: Path):
    with running_registry(properties=sign_in(tmp_path)) as server:
        of_another_body = [signer().sign(ALICE, "10.1.2.3", "POST", "/subjects/s/versions", EMPTY) for _ in range(20)]
        for identity in ["x"] * 20 + of_another_body:
            answer = register(server.url, "s", headers={"magicbyte-identity": identity})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (
                401,
                'Basic realm="SchemaRegistry", charset="UTF-8"',
            )
        metrics = httpx.get(f"{server.url}/metrics", auth=CREDENTIALS, timeout=30).text
        assert 'magicbyte_authentication_total{method="FORWARDED",outcome="failure"} 40.0' in metrics
        lines = [json.loads(line) for line in server.log.read_text().splitlines() if "a forwarded identity" in line]
    text = "a forwarded identity from 127.0.0.1 is refused: it is not signed with this group's secret"
    assert [(line["msg"], line["level"], line["address"]) for line in lines] == [(text, "WARNING", "127.0.0.1")]


class Recording(BaseHTTPRequestHandler):
    """A false leader, or peer: it takes what it is sent."""

    server: Any

    def do_POST(self):
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None: ...


def test_a_false_peer_receives_no_credentials(tmp_path: Path):
    false_peer = ThreadingHTTPServer(("127.0.0.1", 0), Recording)
    received: list[dict[str, str]] = []
    false_peer.headers = received  # type: ignore[attr-defined]
    with serving(false_peer) as peer:
        given = {**sign_in(tmp_path), "peers": f"{peer},http://own", "peers.self": "http://own"}
        with running_rest_proxy("127.0.0.1:1", "", properties=given) as proxy:
            for name in map(str, range(20)):
                httpx.post(
                    f"{proxy.url}/consumers/g/instances/{name}/subscription",
                    json={"topics": ["t"]},
                    auth=CREDENTIALS,
                    headers={"cookie": "planted-secret"},
                )
    assert received
    assert all("authorization" not in headers and "cookie" not in headers for headers in received)
    assert "planted-secret" not in json.dumps(received)
    assert all(headers["magicbyte-identity"].count(".") == 2 for headers in received)


TARGET = "/subjects/s/versions"


# An identity expires, so each is signed when its test begins.
@pytest.mark.parametrize(
    ("identity", "client"),
    [
        (lambda: signer().sign(ANONYMOUS, "10.9.8.7", "POST", TARGET, EMPTY), "10.9.8.7"),
        (lambda: signer().sign(ANONYMOUS, "2001:db8::1:2:3:4", "POST", TARGET, EMPTY), "2001:db8::"),
        (lambda: signer(OTHER).sign(ANONYMOUS, "10.9.8.7", "POST", TARGET, EMPTY), ADDRESS),
        (lambda: signer().sign(ANONYMOUS, "10.9.8.7", "DELETE", TARGET, EMPTY), ADDRESS),
        (lambda: signer().sign(ANONYMOUS, "10.9.8.7", "POST", "/subjects/t/versions", EMPTY), ADDRESS),
        (lambda: "10.9.8.7", ADDRESS),
        (None, ADDRESS),
    ],
)
def test_a_request_counts_for_another_client_only_with_a_valid_identity(
    identity: Callable[[], str] | None, client: str
):
    properties = {"magicbyte.storage": "memory:", "magicbyte.inter.instance.secret": SECRET}
    app = create_app(RegistrySettings.from_properties({**properties, "schema.registry.group.id": "group"}))
    with running(app) as registry:
        headers = [] if identity is None else [("magicbyte-identity", identity())]
        body = json.dumps({"schema": '"int"'}).encode()
        for _ in range(2):
            answer = registry.ask("POST", TARGET, [("x-forwarded-for", "10.1.1.1"), *headers], body=body)
            assert answer.status == 200
            headers = []
        assert set(app.state.registry._serving) == {client, ADDRESS}


def test_a_node_signs_the_address_of_a_client_that_it_forwards():
    properties = {"magicbyte.inter.instance.secret": SECRET, "magicbyte.trusted.proxies": "10.0.0.0/8"}
    settings = RegistrySettings.from_properties({**properties, "schema.registry.group.id": "group"})
    clients = open_forwarded_clients(settings)
    assert clients is not None
    for address, reported, expected in (
        ("192.0.2.1", b"192.0.2.9", "192.0.2.1"),
        ("10.0.0.1", b"192.0.2.9", "192.0.2.9"),
    ):
        scope = {"type": "http", "method": "POST", "headers": [(b"x-forwarded-for", reported)], "client": (address, 1)}
        proof = clients.proof(cast("Any", SimpleNamespace(scope=scope, method="POST")), TARGET, EMPTY)
        forwarded = signer().verify(proof, "POST", TARGET)
        assert (forwarded.principal.name, forwarded.address) == ("User:ANONYMOUS", expected)
