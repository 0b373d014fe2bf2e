"""Secrets that are planted in settings and requests are found in no log, metric, answer, argument, child or file."""

from __future__ import annotations

import json
import os
import signal
from base64 import b64encode
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings import SettingsError
from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.sign_in.password_hash import hash_key, hash_password
from magicbyte.testing import running_registry, running_rest_proxy
from registry.settings import RegistrySettings
from tests.processes import descendants
from tests.security.rights.rule_servers import wait_for
from tests.security.secrets.planted import MARK, files_with_secrets, of_process, planted

#: Each test starts servers of its own.
pytestmark = pytest.mark.slow


def basic(name: str, password: str) -> str:
    return "Basic " + b64encode(f"{name}:{password}".encode()).decode()


SETTINGS = {
    name: planted(name)
    for name in (
        "ssl.truststore.password",
        "ssl.key.password",
        "magicbyte.webhook.secret",
        "magicbyte.inter.instance.secret.previous",
        "kafkastore.sasl.jaas.config",
        "kafkastore.ssl.key.password",
        "kafkastore.ssl.truststore.password",
        "client.sasl.password",
        "client.ssl.keystore.password",
        "producer.sasl.password",
        "schema.registry.basic.auth.user.info",
        "schema.registry.bearer.auth.token",
        "schema.registry.ssl.key.password",
        "some.unknown.password",
        "some.unknown.secret",
        "bearer.auth.client.secret",
        "bearer.auth.token",
        "aws.secret.access.key",
        "oauthbearer.client.credential",
    )
}
HEADERS = {
    "authorization": [
        basic("alice", planted("password")),
        basic(planted("name"), "x"),
        f"Basic {planted('malformed')}",
        f"Bearer {planted('token')}",
        f"Bearer {b64encode(planted('header').encode()).decode()}.{planted('payload')}.{planted('signature')}",
        f"Digest {planted('digest')}",
        planted("no-scheme"),
    ],
    "magicbyte-identity": [planted("identity")],
    "proxy-authorization": [planted("proxy")],
    "cookie": [f"session={planted('cookie')}"],
    "x-forwarded-for": [planted("forwarded")],
    "x-api-key": [planted("api-key")],
}
#: What bodies hold is written down nowhere, even if they are refused.
REQUESTS = [
    ("POST", "/topics/t", {"records": [{"value": planted("record")}]}),
    ("POST", "/topics/t", {"records": planted("records")}),
    ("POST", "/subjects/s/versions", {"schema": planted("schema")}),
    ("POST", "/import", {"kind": planted("kind")}),
    ("PUT", "/config", {"compatibility": "NONE", "overrideMetadata": {"sensitive": [planted("sensitive")]}}),
]


def start(stack: ExitStack, server: str, folder: Path, properties: dict[str, str]) -> ServerProcess:
    if server == "registry":
        more = {
            "magicbyte.log.level": "debug",
            "magicbyte.log.access": "all",
            "magicbyte.workers": "2",
            "magicbyte.webhook.urls": f"http://u:{planted('url')}@127.0.0.1:1/",
        }
        return stack.enter_context(running_registry(f"sqlite:///{folder}/log", properties=properties | more))
    more = {"debug": "true", "magicbyte.log.access": "all"}
    return stack.enter_context(running_rest_proxy("127.0.0.1:1", "", properties=properties | more))


@pytest.mark.parametrize("server", ["registry", "rest proxy"])
def test_no_planted_secret_is_found(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users, temporary = tmp_path / "users", tmp_path / "temporary"
    users.write_text(f"alice:{hash_password(planted('real'))}\nmbk_ci:{hash_key('mbs_' + planted('key'))}\n")
    users.chmod(0o600)
    temporary.mkdir()
    (tmp_path / "secrets").write_text(f"instance={planted('from-file')}\n")
    (tmp_path / "in-folder").write_text(planted("from-folder"))
    (tmp_path / "in-file").write_text(planted("name-file"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("SOME_VARIABLE", planted("variable"))
    # Nothing listens there, so that the exporter logs its failures.
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://u:{planted('collector')}@127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization={planted('otlp-header')}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    prefix = {"registry": "SCHEMA_REGISTRY_", "rest proxy": "KAFKA_REST_"}[server]
    monkeypatch.setenv(f"{prefix}MY_CLIENT_SECRET", planted("environment"))
    monkeypatch.setenv(f"{prefix}MY_URL", f"https://u:{planted('user-info')}@127.0.0.1")
    monkeypatch.setenv(f"{prefix}MY_OTHER_PASSWORD_FILE", str(tmp_path / "in-file"))
    # What the proxy passes on to clients of its own is for their settings to refuse.
    passed_on = () if server == "registry" else ("schema.registry.", "client.", "producer.", "bearer.", "oauthbearer.")
    properties = {
        **{name: value for name, value in SETTINGS.items() if not name.startswith(passed_on or ("schema.registry.",))},
        "authentication.method": "BASIC",
        "magicbyte.authorization": "none",
        "magicbyte.users.file": str(users),
        "magicbyte.authentication.failure.ms": "0",
        "magicbyte.inter.instance.secret": f"${{file:{tmp_path}/secrets:instance}}",
        "magicbyte.one.password": f"${{directory:{tmp_path}:in-folder}}",
        "magicbyte.two.password": "${env:SOME_VARIABLE}",
    }
    with ExitStack() as stack:
        started = start(stack, server, tmp_path, properties)
        assert started.pid is not None
        answers = asked(started.url)
        assert {answer.status_code for answer in answers} >= {200, 401}
        for answer in answers:
            assert MARK not in answer.text + str(answer.headers), answer.request.url
        processes = [started.pid, *descendants(started.pid)]
        if server == "registry":
            assert len(processes) >= 3
        for pid in processes:
            assert MARK.encode() not in of_process(pid, "cmdline")
        # The workers of a registry have the headers for the collector, as the server has; their own children do not.
        for pid in processes[1:]:
            environment = of_process(pid, "environ").replace(planted("otlp-header").encode(), b"")
            assert MARK.encode() not in environment.replace(planted("collector").encode(), b"")
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            os.kill(started.pid, number)
        wait_for(lambda: "task_stack" in started.log.read_text())
        assert {answer.status_code for answer in asked(started.url)} >= {200, 401}
        log = started.log.read_text()
        assert "tracing_message" in log
        assert "request_answered" in log
        assert len(log) > 500
        assert MARK not in log
        assert files_with_secrets(temporary) == []


def asked(url: str) -> list[httpx.Response]:
    answers = []
    good = httpx.BasicAuth("alice", planted("real"))
    with httpx.Client(base_url=url, timeout=30) as client:
        for name, values in HEADERS.items():
            for value in values:
                answers += [client.get(path, headers={name: value}) for path in ("/", "/subjects", "/topics")]
        for method, path, body in REQUESTS:
            media = "application/vnd.kafka.json.v2+json" if path.startswith("/topics") else "application/json"
            headers = {"content-type": media}
            content = json.dumps(body)
            if path == "/import":
                answers.append(client.request(method, path, content=content, headers=headers, auth=good))
            # Whoever has not signed in is not heard at all.
            answers.append(client.request(method, path, content=content, headers=headers))
        answers += [client.get(path, auth=good) for path in ("/", "/metrics", "/health/ready", "/openapi.json")]
        answers.append(client.get("/", auth=("mbk_ci", "mbs_" + planted("key"))))
        answers.append(client.get("/", params={"access_token": planted("query")}))
    return answers


def test_forty_are_planted() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert len(SETTINGS) + text.partition("HEADERS = {")[2].count("planted(") >= 40


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_settings_do_not_show_what_is_planted(name: str) -> None:
    settings = RegistrySettings.from_properties({name: SETTINGS[name], "magicbyte.storage": "memory:"})
    assert MARK not in repr(settings) + str(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.client.authentication", f"http://u:{planted('a')}@h"),
        ("magicbyte.inter.instance.secret", f"{MARK}"),
        ("idle.timeout.ms", f"https://u:{planted('b')}@h"),
    ],
    ids=["ssl", "secret", "timeout"],
)
def test_a_wrong_value_is_not_repeated(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as raised:
        HttpSettings.from_properties({name: value})
    assert MARK not in str(raised.value)
