"""Sign-in on both servers, on real ones: what is answered to whom, before anything else is looked at."""

from __future__ import annotations

import os
import signal
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings import SettingsError
from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.security.sign_in.password_hash import hash_key, hash_password
from magicbyte.security.tls.authority import Authority, Issued
from magicbyte.testing import running_registry, running_rest_proxy
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings

Start = Callable[..., ServerProcess]
SECONDS = 30.0
LINES = (
    f"alice:{hash_password('wonderland')}:groups=ops",
    f"carol:{hash_password('wonderland')}",
    f"mbk_ci:{hash_key('mbs_secret')}:principal=User:ci",
)
ALICE, CI = ("alice", "wonderland"), ("mbk_ci", "mbs_secret")
OPEN = "nobody has to sign in: all clients that reach this server may read and change everything"
REALMS = {"registry": "SchemaRegistry", "rest proxy": "KafkaRest"}


def users_file(folder: Path, lines: tuple[str, ...] = LINES) -> Path:
    path = folder / "users"
    part = folder / "users.part"
    part.write_text("".join(f"{line}\n" for line in lines))
    part.chmod(0o600)
    return part.replace(path)


def properties(folder: Path, **more: str) -> dict[str, str]:
    given = {
        "authentication.method": "BASIC",
        "magicbyte.authorization": "none",
        "magicbyte.users.file": str(users_file(folder)),
    }
    return given | {name.replace("__", "."): value for name, value in more.items()}


@pytest.fixture(scope="module", params=REALMS)
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """URL and realm of a server that asks for passwords: in turn each that there is."""
    # How long failures take is test_authenticator's.
    given = properties(
        tmp_path_factory.mktemp("users"),
        authentication__skip__paths="/openapi.json",
        magicbyte__authentication__failure__ms="0",
    )
    with ExitStack() as stack:
        server = stack.enter_context(
            running_registry(properties=given)
            if request.param == "registry"
            else running_rest_proxy("127.0.0.1:1", "", properties=given)
        )
        yield server.url, REALMS[request.param]


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)


def told(answer: httpx.Response) -> tuple[int, bytes, str | None]:
    return answer.status_code, answer.content, answer.headers.get("www-authenticate")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Basic " + b64encode(b"alice:wrong").decode()},
        {"authorization": "Basic " + b64encode(b"nobody:wonderland").decode()},
        {"authorization": "Basic !"},
        {"authorization": "Bearer x"},
        {"authorization": "mbk_ci"},
        {"cookie": "authorization=" + b64encode(b"alice:wonderland").decode()},
        {"magicbyte-identity": "x"},
        {"x-forward": "true"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/metrics"),
        ("GET", "/subjects"),
        ("GET", "/topics"),
        ("POST", "/subjects/s/versions"),
        ("POST", "/topics/t"),
        ("DELETE", "/subjects/s"),
        ("GET", "/no/such/route"),
        ("PATCH", "/"),
        ("GET", "/contexts/.c/subjects"),
        ("GET", "/contexts/a:b/subjects"),
        ("GET", "/subjects/%2e%2e/versions/"),
        ("GET", "/openapi.json/"),
        ("GET", "/?apikey=mbk_ci"),
    ],
)
def test_whoever_has_not_signed_in_learns_nothing(
    guarded: tuple[str, str], method: str, path: str, headers: dict[str, str]
):
    url, realm = guarded
    if path == "/openapi.json/":
        # A slash at the end means nothing: the path is one of those that are left without sign-in.
        assert httpx.request(method, url + path, headers=headers).status_code == 200
        return
    answer = httpx.request(method, url + path, headers=headers)
    body = b"" if method == "HEAD" else b'{"error_code":401,"message":"Unauthorized"}'
    assert told(answer) == (401, body, f'Basic realm="{realm}", charset="UTF-8"')


def test_whoever_has_signed_in_is_answered_as_on_an_open_server(guarded: tuple[str, str]):
    url, _ = guarded
    for credentials in (ALICE, CI, ALICE):
        assert httpx.get(url, auth=credentials).status_code == 200
        assert httpx.get(f"{url}/no/such/route", auth=credentials).status_code == 404
        assert httpx.patch(url, auth=credentials).status_code == 405


def test_health_is_open_and_says_little(guarded: tuple[str, str]):
    url, realm = guarded
    assert httpx.get(f"{url}/health/live").status_code == 200
    assert httpx.get(f"{url}/openapi.json").status_code == 200
    if realm == "SchemaRegistry":
        assert httpx.get(f"{url}/health/ready").json() == {"status": "UP"}
        assert httpx.get(f"{url}/_health").json() == {"healthy": True}
        # There are no rules here, so whoever signs in may see all.
        assert httpx.get(f"{url}/health/ready", auth=ALICE).json()["leaderUrl"] == url
        assert httpx.get(f"{url}/health/ready", auth=("alice", "wrong")).json() == {"status": "UP"}


def test_the_body_of_a_refused_request_ends_the_connection(guarded: tuple[str, str]):
    url, _ = guarded
    answer = httpx.post(f"{url}/subjects/s/versions", content=b"x" * 1000)
    assert (answer.status_code, answer.headers["connection"]) == (401, "close")


def test_two_headers_are_a_bad_request(guarded: tuple[str, str]):
    url, _ = guarded
    value = "Basic " + b64encode(b"alice:wonderland").decode()
    answer = httpx.get(url, headers=[("authorization", value), ("authorization", value)])
    assert answer.status_code == 400
    assert answer.json() == {"error_code": 400, "message": "There is more than one Authorization header"}


def test_sign_ins_are_counted_without_names(guarded: tuple[str, str]):
    url, _ = guarded
    httpx.get(url, auth=("planted-name", "planted-password"))
    text = httpx.get(f"{url}/metrics", auth=ALICE).text
    assert 'magicbyte_authentication_total{method="BASIC",outcome="failure"}' in text
    assert "planted" not in text


def test_an_answer_from_memory_is_for_who_has_signed_in(start_registry: Start, tmp_path: Path):
    server = start_registry(properties(tmp_path))
    body = {"schema": '{"type":"string"}'}
    registered = httpx.post(f"{server.url}/subjects/s/versions", json=body, auth=ALICE)
    assert registered.status_code == 200
    path = f"{server.url}/schemas/ids/{registered.json()['id']}"
    for _ in range(3):
        assert httpx.get(path, auth=ALICE).status_code == 200
    assert httpx.get(path).status_code == 401
    assert httpx.get(path, headers={"x-request-id": "x"}).status_code == 401
    assert httpx.get(path, auth=("alice", "wrong")).status_code == 401


def test_a_removed_user_is_refused_and_a_broken_file_changes_nothing(start_either: Start, tmp_path: Path):
    server = start_either(properties(tmp_path))
    assert httpx.get(server.url, auth=ALICE).status_code == 200
    users_file(tmp_path, ("alice:broken",))
    os.kill(server.pid or 0, signal.SIGHUP)
    failed = 'magicbyte_security_reloads_total{outcome="failure",what="users"} 1.0'
    wait_for(lambda: failed in httpx.get(f"{server.url}/metrics", auth=ALICE).text)
    users_file(tmp_path, LINES[1:])
    os.kill(server.pid or 0, signal.SIGHUP)
    wait_for(lambda: httpx.get(server.url, auth=ALICE).status_code == 401)
    assert httpx.get(server.url, auth=CI).status_code == 200
    # Without a signal, too.
    users_file(tmp_path)
    wait_for(lambda: httpx.get(server.url, auth=("carol", "wonderland")).status_code == 200)
    wait_for(lambda: httpx.get(server.url, auth=ALICE).status_code == 200)


def test_the_server_checks_roles(start_either: Start, tmp_path: Path):
    server = start_either(properties(tmp_path, authentication__roles="ops"))
    assert httpx.get(server.url, auth=ALICE).status_code == 200
    answer = httpx.get(server.url, auth=("carol", "wonderland"))
    assert (answer.status_code, answer.json()) == (403, {"error_code": 403, "message": "!role"})
    assert OPEN not in server.log.read_text()


def test_an_open_server_says_so_once(start_either: Start):
    server = start_either({})
    assert httpx.get(server.url).status_code == 200
    wait_for(lambda: server.log.read_text().count(OPEN) == 1)
    server.terminate()
    assert server.wait(SECONDS) == 0
    assert server.log.read_text().count(OPEN) == 1


def test_certificates_sign_in_over_tls(
    start_either: Start, authority: Authority, trusting: Callable[[Issued | None], ssl.SSLContext], tmp_path: Path
):
    trust = tmp_path / "trust.pem"
    trust.write_bytes(authority.pem)
    given = {
        "authentication.method": "BASIC,SSL",
        "magicbyte.authorization": "none",
        "magicbyte.users.file": str(users_file(tmp_path)),
        "ssl.keystore.location": str(authority.server("127.0.0.1").write(tmp_path / "server.pem")),
        "ssl.truststore.location": str(trust),
        "ssl.client.authentication": "REQUESTED",
        "ssl.principal.mapping.rules": "RULE:CN=(\\w+)/$1/",
    }
    alice, other = trusting(authority.client("alice")), trusting(authority.client("a b"))
    server = start_either(given, alice)
    assert httpx.get(server.url, verify=alice).status_code == 200
    # No rule fits this subject.
    assert httpx.get(server.url, verify=other).status_code == 401
    assert httpx.get(server.url, verify=trusting(None)).status_code == 401
    assert httpx.get(server.url, verify=trusting(None), auth=ALICE).status_code == 200
    # A header decides alone.
    assert httpx.get(server.url, verify=alice, auth=("alice", "wrong")).status_code == 401


def listening(**given: str) -> dict[str, str]:
    return {"authentication.method": "BASIC", "magicbyte.users.file": "u"} | {
        name.replace("__", "."): value for name, value in given.items()
    }


@pytest.mark.parametrize(
    ("settings", "given", "text"),
    [
        (
            HttpSettings,
            listening(),
            "magicbyte.acl.store: set file: and the path of a file of rules, log for the rules in the registry's log",
        ),
        (HttpSettings, {"super.users": "User:a"}, "super.users: without authentication.method, or with"),
        (
            HttpSettings,
            listening(magicbyte__acl__store="topic"),
            "magicbyte.acl.store: topic is no store; write log, or file: and the path of a file of rules",
        ),
        (HttpSettings, {"allow.everyone.if.no.acl.found": "true"}, "allow.everyone.if.no.acl.found: what no rule"),
        (HttpSettings, {"magicbyte.audit.output": "stdout"}, "magicbyte.audit.output: there is no audit log yet"),
        (HttpSettings, {"api.endpoints.allowlist": "api.v3.*"}, "api.endpoints.allowlist: the REST proxy keeps it"),
        (
            HttpSettings,
            {"rest.servlet.initializor.classes": "com.acme.X"},
            "rest.servlet.initializor.classes: the plug-in com.acme.X",
        ),
        (
            HttpSettings,
            {"magicbyte.inter.instance.secret": "planted"},
            "magicbyte.inter.instance.secret: must have at least 32 characters (was [hidden])",
        ),
        (
            RestProxySettings,
            {"bootstrap.servers": "b", "schema.registry.url": "", **listening(magicbyte__acl__store="log")},
            "magicbyte.acl.store: log is the registry's: set schema.registry.url",
        ),
        (
            RestProxySettings,
            {"bootstrap.servers": "b", "confluent.rest.auth.propagate.method": "JETTY_AUTH"},
            "confluent.rest.auth.propagate.method: the proxy always asks Kafka under its own name",
        ),
        (
            RestProxySettings,
            listening(
                bootstrap__servers="b",
                peers="http://a,http://b",
                peers__self="http://a",
                magicbyte__authorization="none",
            ),
            "magicbyte.inter.instance.secret: nodes that pass requests on to each other need one secret",
        ),
        (
            RegistrySettings,
            listening(magicbyte__authorization="none"),
            "magicbyte.inter.instance.secret: nodes that forward writes to each other need one secret",
        ),
        (
            RegistrySettings,
            {"inter.instance.headers.whitelist": "x-a, Authorization"},
            "inter.instance.headers.whitelist: authorization never leaves the node it came to",
        ),
    ],
)
def test_a_guard_that_is_not_kept_refuses_to_start(settings: Any, given: dict[str, str], text: str):
    with pytest.raises(SettingsError) as raised:
        settings.from_properties(given).check_security({"http": False})
    assert str(raised.value).startswith(text)
    assert "planted" not in str(raised.value)


def test_passwords_in_the_clear_refuse_to_start(tmp_path: Path):
    given = properties(tmp_path)
    with pytest.raises(SettingsError, match="listeners: passwords and tokens would cross the network in the clear"):
        HttpSettings.from_properties(given).check_security({"http": True})


def test_a_users_file_that_can_not_be_read_refuses_to_start(start_either: Start, tmp_path: Path):
    given = properties(tmp_path)
    (tmp_path / "users").unlink()
    with pytest.raises(ServerFailed) as raised:
        start_either(given)
    assert f"{tmp_path}/users cannot be read: No such file or directory" in "".join(raised.value.last_lines)
