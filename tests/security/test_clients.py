"""All our clients, and Confluent's, sign in to a registry behind TLS in each way, and show no secret."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import schema_registry as confluent

from compat.schema import SchemaText
from magicbyte.cli.main import main
from magicbyte.testing import running_rest_proxy
from serdes import SchemaRegistryClient
from serdes.client.clients import AsyncRegistryClient
from serdes.client.config import client_options
from serdes.console.client import open_client
from serdes.error import NotAuthorized, RegistryError
from tests.clients.secured_registry import SecuredRegistry
from tests.security.secrets.planted import contents_below

#: Each test runs commands with servers of its own.
pytestmark = pytest.mark.slow

METHODS = ("basic", "key", "token", "oauth", "certificate")
STRING = '{"type":"string"}'
ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}'
NEXT_ORDER = ORDER.replace("]}", ',{"name":"n","type":"int","default":0}]}')


def with_ours(settings: dict[str, Any], subject: str) -> None:
    with SchemaRegistryClient(settings) as client:
        assert client.get_version(subject, client.register(subject, SchemaText("AVRO", STRING)).version or 0)


def with_ours_in_a_loop(settings: dict[str, Any], subject: str) -> None:
    async def register() -> None:
        async with AsyncRegistryClient(**client_options(settings)) as client:
            assert (await client.register(subject, SchemaText("AVRO", STRING))).id

    asyncio.run(register())


def with_the_console_tools_client(settings: dict[str, Any], subject: str) -> None:
    with open_client({f"schema.registry.{name}": value for name, value in settings.items()}) as client:
        assert client.register(subject, SchemaText("AVRO", STRING)).id


def with_confluents(settings: dict[str, Any], subject: str) -> None:
    with confluent.SchemaRegistryClient(settings) as client:
        assert client.register_schema(subject, confluent.Schema(STRING, "AVRO"))
        assert client.get_latest_version(subject).version == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("register", [with_ours, with_ours_in_a_loop, with_the_console_tools_client, with_confluents])
def test_each_client_signs_in_in_each_way(
    secured: SecuredRegistry, method: str, register: Callable[[dict[str, Any], str], None]
):
    register(dict(secured.admin[method]), f"{register.__name__}-{method}")


@pytest.mark.parametrize("method", ["basic", "key", "token"])
def test_a_refusal_shows_no_secret(secured: SecuredRegistry, method: str):
    settings = dict(secured.admin[method])
    name = next(name for name in settings if name in {"basic.auth.user.info", "bearer.auth.token"})
    settings[name] += "wrong"
    with SchemaRegistryClient(settings) as client, pytest.raises(NotAuthorized) as refused:
        client.get_subjects()
    assert str(refused.value) == "Unauthorized (HTTP status code 401, SR code 401)"
    assert settings[name] not in repr(refused.value) + repr(client)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


class Command:
    """Runs commands, and looks for secrets in what they write."""

    def __init__(self, secured: SecuredRegistry, capsys: pytest.CaptureFixture[str]) -> None:
        self._secured, self._capsys = secured, capsys

    def __call__(self, *arguments: str) -> tuple[int, str]:
        """The exit code and all that was written."""
        self._capsys.readouterr()
        code = main(arguments)
        written = "".join(self._capsys.readouterr())
        assert not any(secret in written for secret in self._secured.secrets)
        return code, written


@pytest.fixture
def run(secured: SecuredRegistry, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(secured, capsys)


def test_the_files_of_secure_fit_every_command(secured: SecuredRegistry, project: Path, run: Command):
    app, admin = ("--config", str(secured.files.clients)), ("--config", str(secured.files.admin))
    file = project / "app.orders-value.avsc"
    file.write_text(ORDER)
    code, written = run("register", *app)
    assert (code, written.partition(", id ")[0]) == (
        0,
        "+ register app.orders-value from app.orders-value.avsc: version 1",
    )
    file.write_text(ORDER.replace("string", "int"))
    code, written = run("check", "--against", "registry:", *app)
    assert (code, written.splitlines()[-1]) == (100, "1 schema checked, 1 finding")
    file.write_text(NEXT_ORDER)
    code, written = run("plan", *app)
    # The registry has subjects of other tests, which the plan names last.
    assert (code, written.splitlines()[:2]) == (
        0,
        ["+ register app.orders-value from app.orders-value.avsc", "1 change"],
    )
    assert run("apply", *app)[0] == 0
    denied = "magicbyte: User is denied operation AlterConfigs on Subject: app.orders-value"
    assert run("set-compatibility", "app.orders-value=FULL", *app) == (
        1,
        f"{denied} (HTTP status code 403, SR code 40301)\n",
    )
    assert run("set-compatibility", "app.orders-value=FULL", *admin) == (0, "~ app.orders-value: FULL: done\n")
    assert run("download", "app.orders-*", "--folder", "there", *app) == (0, "+ there/app.orders-value.avsc\n")
    assert run("download", "app.orders-*", "--lock", "there/lock", *admin) == (0, "+ there/lock\n")
    assert json.loads((project / "there" / "lock").read_text())["subjects"]["app.orders-value"]["compatibility"]


def test_settings_come_from_files_the_environment_and_the_command_line(
    secured: SecuredRegistry, project: Path, run: Command, monkeypatch: pytest.MonkeyPatch
):
    (project / "app.first.avsc").write_text(ORDER)
    secrets = secured.files.ca.with_name("secrets.properties")
    url = ("--schema-registry-url", secured.url)
    trusting = (*url, "--property", f"ssl.truststore.location={secured.files.ca}")
    assert run("register", "--dry-run", *url)[0] == 1
    assert run("register", "--dry-run", *trusting) == (
        1,
        "magicbyte: Unauthorized (HTTP status code 401, SR code 401)\n",
    )
    found = (0, "+ register app.first from app.first.avsc: not done (dry run)\n")
    assert (
        run("register", "--dry-run", *trusting, "--property", f"basic.auth.user.info=app:${{file:{secrets}:app}}")
        == found
    )
    monkeypatch.setenv("MAGICBYTE_SCHEMA_REGISTRY_URL", secured.url)
    monkeypatch.setenv("MAGICBYTE_SCHEMA_REGISTRY_SSL_CA_LOCATION", str(secured.files.ca))
    monkeypatch.setenv("MAGICBYTE_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO", f"app:{secured.passwords['app']}")
    assert run("register", "--dry-run") == found
    monkeypatch.setenv("MAGICBYTE_BASIC_AUTH_USER_INFO", "app:wrong")
    # What Kubernetes sets for a Service of this name is no setting.
    monkeypatch.setenv("MAGICBYTE_SCHEMA_REGISTRY_PORT_8081_TCP_ADDR", "10.0.0.1")
    assert run("register", "--dry-run") == found
    monkeypatch.delenv("MAGICBYTE_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO")
    refused = (1, "magicbyte: Unauthorized (HTTP status code 401, SR code 401)\n")
    assert run("register", "--dry-run") == run("acl", "list") == refused
    monkeypatch.setenv("MAGICBYTE_BASIC_AUTH_USER_INFO", f"app:{secured.passwords['app']}")
    assert run("register", "--dry-run") == found
    wrong = ("--property", "schema.registry.basic.auth.user.info=app:wrong")
    assert run("register", "--dry-run", *wrong) == (1, "magicbyte: Unauthorized (HTTP status code 401, SR code 401)\n")
    assert run("register", "--dry-run", "--config", str(project / "none.properties")) == (
        1,
        f"magicbyte: --config: {project}/none.properties cannot be read: No such file or directory\n",
    )
    assert run("register", "--dry-run", "--property", "nope=1") == (
        1,
        "magicbyte: nope: is not a setting of the registry client\n",
    )
    assert run("register", "--dry-run", "--property", "nope") == (
        1,
        "magicbyte: --property: must be name=value, not 'nope'\n",
    )
    assert run("register", "--dry-run", "--property", f"ssl.ca.location={project}/none.pem")[0] == 1


def test_the_project_file_applies_together_with_the_client_file(secured: SecuredRegistry, project: Path, run: Command):
    (project / "app.second.avsc").write_text(ORDER)
    (project / "other.toml").write_text(f'registry = "{secured.url}"\nexclude = ["**"]\n')
    both = ("--config", "other.toml", "--config", str(secured.files.clients))
    assert run("register", *both) == (0, "the registry has all of these schemas already\n")
    assert run("register", *both, "--config", "more.toml") == (
        1,
        "magicbyte: --config: other.toml and more.toml are both the project's; name one\n",
    )


def test_records_go_through_tools_and_commands(kafka: str, secured: SecuredRegistry, tmp_path: Path):
    def run(name: str, *arguments: str, lines: str = "") -> str:
        command = [str(Path(sys.executable).with_name(name)), *arguments, "--bootstrap-server", kafka]
        done = subprocess.run(
            command, input=lines, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert not any(secret in done.stdout + done.stderr for secret in secured.secrets)
        return done.stdout

    for client in (secured.files.clients, secured.files.admin):
        topic = f"app.records-{client.stem}"
        config = (topic, "--config", str(client))
        run("magicbyte", "produce", *config, "--value-schema", ORDER, lines='{"id":"a"}\n')
        container = str(tmp_path / f"{topic}.avro")
        assert run("magicbyte", "consume", *config, "--until-end", "--output-file", container) == ""
        run("magicbyte", "produce", *config, "--input", container)
        common, schema = ("--topic", topic, "--quiet"), ("--property", f"value.schema={ORDER}")
        given = ("--reader-config", str(client))
        run("kafka-avro-console-producer", *common, *given, *schema, lines='{"id":"b"}\n')
        given = ("--formatter-config", str(client), "--from-beginning", "--max-messages", "3")
        seen = run("kafka-avro-console-consumer", *common, *given)
        assert seen.splitlines() == ['{"id":"a"}', '{"id":"a"}', '{"id":"b"}']
        counted = json.loads(run("magicbyte", "ids", *config, "--output", "json"))
        assert f"{topic}-value" in json.dumps(counted)
        (tmp_path / f"{topic}-value.avsc").write_text(NEXT_ORDER)
        against = ("--against", f"topic:{topic}", "--config", str(client), f"{topic}-value.avsc")
        assert "0 findings" in run("magicbyte", "check", *against)


def test_the_rest_proxy_shows_its_certificate_to_the_registry(kafka: str, secured: SecuredRegistry):
    properties = {f"schema.registry.{name}": value for name, value in secured.admin["certificate"].items()}
    properties |= {"schema.registry.ssl.keystore.location": properties.pop("schema.registry.ssl.certificate.location")}
    del properties["schema.registry.ssl.key.location"]
    body = {"value_schema": ORDER, "records": [{"value": {"id": "a"}}]}
    headers = {"content-type": "application/vnd.kafka.avro.v2+json"}
    with running_rest_proxy(kafka, secured.url, properties=properties) as proxy:
        answer = httpx.post(f"{proxy.url}/topics/proxied", content=json.dumps(body), headers=headers, timeout=60)
    assert (answer.status_code, answer.json()["offsets"][0]["offset"]) == (200, 0)


def test_the_client_raises_the_refusal_for_an_unreadable_subject(secured: SecuredRegistry):
    settings = {**secured.admin["basic"], "basic.auth.user.info": f"app:{secured.passwords['app']}"}
    with SchemaRegistryClient(settings) as client, pytest.raises(RegistryError) as refused:
        client.get_version("other", 1)
    assert (refused.value.status, refused.value.code) == (403, 40301)


def test_no_temporary_file_keeps_a_secret(secured: SecuredRegistry):
    folder = secured.files.ca.parent.parent
    for made in Path(tempfile.gettempdir()).glob("magicbyte-*"):
        for path, content in contents_below(made):
            if folder not in path.parents:
                assert not any(secret.encode() in content for secret in secured.secrets), path
