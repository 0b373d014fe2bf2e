"""Secrets that are planted in settings and requests are found in no log, metric, answer, argument or temporary file."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from pathlib import Path

import httpx
import pytest

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings import SettingsError
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing import running_registry, running_rest_proxy
from registry.settings import RegistrySettings

#: No other text of a server's holds it.
MARK = "planted7f3a"


def planted(name: str) -> str:
    return f"{MARK}-{name}-0123456789-0123456789"


def basic(name: str, password: str) -> str:
    return "Basic " + b64encode(f"{name}:{password}".encode()).decode()


SETTINGS = {
    name: planted(name)
    for name in (
        "ssl.truststore.password",
        "magicbyte.webhook.secret",
        "magicbyte.inter.instance.secret",
        "magicbyte.inter.instance.secret.previous",
        "kafkastore.sasl.jaas.config",
        "kafkastore.ssl.key.password",
        "schema.registry.basic.auth.user.info",
        "schema.registry.bearer.auth.token",
        "some.unknown.password",
        "bearer.auth.client.secret",
    )
}
REQUESTS = [
    {"authorization": basic("alice", planted("password"))},
    {"authorization": basic(planted("name"), "x")},
    {"authorization": f"Basic {planted('malformed')}"},
    {"authorization": f"Bearer {planted('token')}"},
    {"authorization": f"Digest {planted('digest')}"},
    {"magicbyte-identity": planted("identity")},
    {"cookie": planted("cookie")},
    {"x-forwarded-for": planted("forwarded")},
]


@pytest.mark.parametrize("server", ["registry", "rest proxy"])
def test_no_planted_secret_is_found(server: str, tmp_path: Path):
    users = tmp_path / "users"
    users.write_text(f"alice:{hash_password(planted('real'))}\n")
    users.chmod(0o600)
    properties = {
        **{name: value for name, value in SETTINGS.items() if not name.startswith("schema.registry.")},
        "authentication.method": "BASIC",
        "magicbyte.authorization": "none",
        "magicbyte.users.file": str(users),
        "magicbyte.authentication.failure.ms": "0",
        "ssl.key.password": planted("key-password"),
    }
    if server == "registry":
        properties |= {
            "magicbyte.log.level": "debug",
            "magicbyte.webhook.urls": f"http://u:{planted('url')}@127.0.0.1:1",
        }
        running = running_registry(properties=properties)
    else:
        running = running_rest_proxy("127.0.0.1:1", "", properties={**properties, "debug": "true"})
    with running as started:
        signed_in = httpx.BasicAuth("alice", planted("real"))
        answers = [httpx.get(f"{started.url}/metrics", auth=signed_in)]
        for headers in REQUESTS:
            for path in ("/", "/subjects"):
                answers += [httpx.get(started.url + path, headers=headers)]
        answers.append(httpx.get(f"{started.url}/metrics", auth=signed_in))
        for answer in answers:
            assert MARK not in answer.text + str(answer.headers)
        assert MARK.encode() not in Path(f"/proc/{started.pid}/cmdline").read_bytes()
        assert MARK not in started.log.read_text()
        own = started.log.parent
        for path in Path(tempfile.gettempdir()).glob("magicbyte-*/**/*"):
            if path.is_file() and own not in path.parents:
                assert MARK.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_settings_do_not_show_what_is_planted(name: str):
    settings = RegistrySettings.from_properties({name: SETTINGS[name], "magicbyte.storage": "memory:"})
    assert MARK not in repr(settings) + str(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.client.authentication", f"http://u:{planted('a')}@h"),
        ("magicbyte.inter.instance.secret", f"{MARK}"),
        ("idle.timeout.ms", f"https://u:{planted('b')}@h"),
    ],
)
def test_a_wrong_value_is_not_repeated(name: str, value: str):
    with pytest.raises(SettingsError) as raised:
        HttpSettings.from_properties({name: value})
    assert MARK not in str(raised.value)
