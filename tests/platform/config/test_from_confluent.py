"""`magicbyte config from-confluent`: a verdict on every property of Confluent's servers, and our file from them."""

from __future__ import annotations

import json
import stat
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from magicbyte.cli.config.converting import Settings, verdicts_on
from magicbyte.cli.config.main import main
from magicbyte.cli.config.references import catalog_of
from magicbyte.cli.config.servers import SERVERS
from magicbyte.cli.config.verdicts import Judge
from magicbyte.kit.properties_file import read_properties_file
from tests.platform.config.confluents_names import HONOURED, IDLE, PROPERTIES, REFUSED, UNKNOWN
from tests.platform.config.conftest import Run


@cache
def judge(server: str) -> Judge:
    return Judge(catalog_of(server), catalog_of("ui"))


@pytest.mark.parametrize(("server", "entry", "kind"), PROPERTIES, ids=[f"{row[0]}-{row[1]}" for row in PROPERTIES])
def test_every_property_of_confluents_has_a_verdict(server: str, entry: str, kind: str) -> None:
    name, equals, value = entry.partition("=")
    verdict = judge(server).verdict(name, value if equals else "1")
    assert str(verdict.kind) == kind
    assert bool(verdict.properties) == (kind == HONOURED)
    assert verdict.reason or kind in (HONOURED, UNKNOWN)


@pytest.mark.parametrize("server", ["registry", "rest-proxy"])
def test_every_property_that_the_reference_has_is_in_the_table(server: str) -> None:
    """A property without effect, refused or renamed is one of Confluent's, so it has its row."""
    catalog = SERVERS[server].all_settings()
    rows = {entry.partition("=")[0] for owner, entry, _ in PROPERTIES if owner == server}
    named = {*catalog.without_effect, *catalog.refused, *catalog.translated, *catalog.old_names}
    of_ours = {name for name in named if name.startswith("magicbyte.")}
    rare = {name for name in named if name.startswith(("dos.filter.", "network.traffic.", "ssl.spire.", "websocket."))}
    variables = {"gc.log.opts", "jmx.hostname", "jvm.performance.opts", "log4j.opts", "log4j.tools.root.loglevel"}
    plug_ins = {name for name in named if name.endswith("resource.extension.class")}
    assert named - rows - of_ours - rare - variables - plug_ins - {"api.endpoints.blocklist"} == set()


def sorted_by_kind(properties: dict[str, str], server: str = "registry") -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for verdict in verdicts_on(Settings("f", server, properties)):
        found.setdefault(str(verdict.kind), set()).add(verdict.name)
    return found


def test_a_value_that_our_server_refuses_is_refused() -> None:
    given = {"schema.compatibility.level": "FULLEST", "kafkastore.timeout.ms": "${env:T}", "host.port": "x"}
    assert sorted_by_kind({**given, "listeners": "http://h:1"}) == {
        REFUSED: {"schema.compatibility.level", "host.port"},
        HONOURED: {"kafkastore.timeout.ms", "listeners"},
    }


def test_settings_that_do_not_fit_are_refused_although_their_files_are_elsewhere() -> None:
    given = {
        "listeners": "https://0.0.0.0:8081",
        "ssl.keystore.location": "/elsewhere/keys.p12",
        "ssl.client.authentication": "REQUIRED",
    }
    assert sorted_by_kind(given) == {
        REFUSED: {"ssl.client.authentication"},
        HONOURED: {"listeners", "ssl.keystore.location"},
    }


def test_confluents_defaults_are_written_where_they_matter() -> None:
    assert sorted_by_kind({"mode.mutability": "true"}) == {HONOURED: {"mode.mutability", "listeners"}}
    given = {"listeners": "http://localhost:1", "authentication.method": "BASIC", "magicbyte.users.file": "u"}
    found = {item.name: item.properties for item in verdicts_on(Settings("f", "registry", given))}
    assert found["authentication.roles"] == {"authentication.roles": "*"}
    given["authentication.roles"] = "admin"
    found = {item.name: item.properties for item in verdicts_on(Settings("f", "registry", given))}
    assert found["authentication.roles"] == {"authentication.roles": "admin"}


FILE = """
kafkastore.bootstrap.servers=SSL://a:9093
kafkastore.sasl.jaas.config=x required username="u" password="planted";
master.eligibility=false
host.name=\\\\a\\tb
kafkastore.write.max.retries=5
dos.filter.enabled=true
foo.bar=planted
"""


def test_the_written_file_has_our_names_and_the_rest_as_comments(magicbyte: Run, tmp_path: Path) -> None:
    (tmp_path / "schema-registry.properties").write_text(FILE)
    ran = magicbyte("config", "from-confluent", "schema-registry.properties", "-o", "ours")
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "planted" not in ran.stdout
    assert ran.stdout.splitlines()[:3] == [
        "schema-registry.properties: settings of `magicbyte registry`",
        "",
        "honoured (5)",
    ]
    written = tmp_path / "ours"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert read_properties_file(written) == {
        "kafkastore.bootstrap.servers": "SSL://a:9093",
        "kafkastore.sasl.jaas.config": 'x required username="u" password="planted";',
        "leader.eligibility": "false",
        "host.name": "\\a\tb",
        "listeners": "http://0.0.0.0:8081",
    }
    assert written.read_text().splitlines()[-8:] == [
        "# without effect:",
        "# kafkastore.write.max.retries: a write that another one overtakes is always decided again",
        "",
        "# refused:",
        "# dos.filter.enabled: there is no DoS filter; limit requests in a proxy in front, or connections by"
        " server.connection.limit",
        "",
        "# unknown:",
        "# foo.bar",
    ]
    ran = magicbyte("config", "from-confluent", "schema-registry.properties", "-o", "ours")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--output-file ours exists; name another file, or remove it" in ran.stderr


COMPOSE = """
services:
  broker: {image: apache/kafka, environment: {KAFKA_NODE_ID: 1}}
  sr:
    env_file: sr.env
    environment:
      SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: "PLAINTEXT://broker:${PORT:-9092}"
      SCHEMA_REGISTRY_MODE_MUTABILITY: false
      SCHEMA_REGISTRY_HOST_NAME: $$a
      SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID:
      SCHEMA_REGISTRY_HEAP_OPTS: -Xmx1g
      METADATA_ENCODER_SECRET: planted
      CUB_CLASSPATH: /x
  rest:
    environment:
      - KAFKA_REST_BOOTSTRAP_SERVERS=broker:9092
      - KAFKA_REST_CLIENT_SASL_JAAS_CONFIG=$JAAS
      - KAFKAREST_OPTS=-Xmx1g -Djava.security.auth.login.config="/etc/rest.jaas"
"""
IN_COMPOSE = {
    "sr": {
        "kafkastore.topic": (HONOURED, {"kafkastore.topic": "mine"}),
        "kafkastore.bootstrap.servers": (
            HONOURED,
            {"kafkastore.bootstrap.servers": "PLAINTEXT://broker:${env:PORT:-9092}"},
        ),
        "mode.mutability": (HONOURED, {"mode.mutability": "false"}),
        "host.name": (HONOURED, {"host.name": "$a"}),
        "schema.registry.group.id": (
            HONOURED,
            {"schema.registry.group.id": "${env:SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID}"},
        ),
        "listeners": (HONOURED, {"listeners": "http://0.0.0.0:8081"}),
        "heap.opts": (IDLE, None),
        "metadata.encoder.secret": (REFUSED, None),
        "CUB_CLASSPATH": (UNKNOWN, None),
    },
    "rest": {
        "bootstrap.servers": (HONOURED, {"bootstrap.servers": "broker:9092"}),
        "client.sasl.jaas.config": (HONOURED, {"client.sasl.jaas.config": "${env:JAAS}"}),
        "opts": (HONOURED, {"java.security.auth.login.config": "/etc/rest.jaas"}),
    },
}


@pytest.mark.parametrize("service", IN_COMPOSE)
def test_the_environment_of_a_service_is_sorted(service: str, magicbyte: Run, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    (tmp_path / "sr.env").write_text("# mine\nSCHEMA_REGISTRY_KAFKASTORE_TOPIC='mine'\n")
    ran = magicbyte("config", "from-confluent", "compose.yaml", "--service", service, "--output", "json")
    result: dict[str, Any] = json.loads(ran.stdout)
    assert result["source"] == f"compose.yaml, service {service}"
    found = {row["name"]: (row["verdict"], row.get("properties")) for row in result["settings"]}
    assert found == IN_COMPOSE[service]
    assert "planted" not in ran.stdout


@pytest.mark.parametrize(
    ("name", "text", "options", "told"),
    [
        ("f.properties", "listeners=http://a:1\n", (), "the names do not tell whose settings these are; add --server"),
        ("f.properties", "a=1\n", ("--service", "a"), "--service: only a compose file (.yml, .yaml) has services"),
        ("c.yaml", COMPOSE.replace("    env_file: sr.env\n", ""), (), "several with settings: sr, rest; choose one by"),
        ("c.yaml", COMPOSE, ("--service", "sr"), "sr: env_file sr.env cannot be read"),
        ("c.yaml", COMPOSE.replace("    env_file: sr.env\n", ""), ("--service", "x"), "--service x: c.yaml has broker"),
        ("c.yaml", "a: [", (), "c.yaml cannot be read: "),
        ("c.yaml", "a: 1\n", (), "c.yaml has no services"),
        ("c.yaml", "services: {a: {environment: 5}}", (), "c.yaml: a: environment must be a mapping or a list"),
        (
            "c.yaml",
            "services: {a: {environment: {D: 2024-13-45}}}",
            (),
            "c.yaml cannot be read: month must be in 1..12",
        ),
        ("c.yaml", f"services: {'[' * 3000}", (), "c.yaml cannot be read: it is nested too deeply"),
        ("c.yaml", "services: {a: }", (), "c.yaml: service a must be a mapping"),
        (
            "c.yaml",
            "services: {a: {environment: {B: '${C:-${D}}'}}}",
            (),
            "c.yaml: a: B: its value has a variable within",
        ),
        ("c.yaml", "services: {a: {environment: {B: '${C:+x}'}}}", (), "c.yaml: a: B: its value has a variable within"),
        ("c.yaml", "services: {a: {env_file: latin.env}}", (), "a: env_file latin.env cannot be read: it is no UTF-8"),
        ("c.yaml", "services: {a: {environment: {B: 1}}}", (), "c.yaml has 1 services, none with settings"),
    ],
)
def test_the_command_reports_a_wrong_file(
    name: str,
    text: str,
    options: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    Path("latin.env").write_bytes(b"A=\xe9\n")
    assert main(["from-confluent", name, *options]) in (1, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err
