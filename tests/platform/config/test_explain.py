"""`magicbyte config explain`: each value with its source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from magicbyte.cli.config.explaining import explanation
from magicbyte.cli.config.servers import SERVERS
from magicbyte.cli.servers.command import Layer
from magicbyte.kit.command_line import CommandParser
from tests.platform.config.conftest import Run


def explained(
    server: str, line: list[str], monkeypatch: pytest.MonkeyPatch, **variables: str
) -> dict[str, tuple[str, str, str]]:
    """Setting -> value, source with what it overrides, and note."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    command = SERVERS[server]
    parser = CommandParser()
    command.add_options(parser)
    rows = explanation(command.all_settings(), command.layers(parser.parse_args(line)))
    return {row.name: (row.value, " < ".join(map(str, (row.winner, *row.overridden))), row.note) for row in rows}


#: Lines of a file, and the rows that they make.
FILE = [
    ("kafkastore.topic=mine", "kafkastore.topic", ("mine", "f:1", "")),
    ("master.eligibility=false", "leader.eligibility", ("false", "f:1", "")),
    ("master.eligibility=false", "master.eligibility", ("false", "f:1", "old name of leader.eligibility")),
    ("kafkastore.tpoic=mine", "kafkastore.topic", ("_schemas", "default", "")),
    ("schema.cahce.size=5", "schema.cahce.size", ("5", "f:1", "unknown; did you mean schema.cache.size?")),
    ("zzz=5", "zzz", ("5", "f:1", "unknown")),
    (
        "kafkastore.write.max.retries=5",
        "kafkastore.write.max.retries",
        ("5", "f:1", "without effect: a write that another one overtakes is always decided again"),
    ),
    (
        "allow.everyone.if.no.acl.found=true",
        "allow.everyone.if.no.acl.found",
        ("true", "f:1", "refused unless it is off: what no rule allows is never allowed"),
    ),
    (
        "kafkastore.topic.config.retention.ms=-1",
        "kafkastore.topic.config.retention.ms",
        ("-1", "f:1", "passed on to a new topic of the schemas, as its configs"),
    ),
    # Secrets: by name, by what the setting is, by what the text is, and by what was meant.
    ("magicbyte.inter.instance.secret=planted", "magicbyte.inter.instance.secret", ("***", "f:1", "")),
    ("magicbyte.webhook.urls=https://h/planted", "magicbyte.webhook.urls", ("***", "f:1", "")),
    ("magicbyte.storage=postgresql://u:planted@h/d", "magicbyte.storage", ("postgresql://***@h/d", "f:1", "")),
    (
        "kafkastore.sasl.jaas.config=x password=planted",
        "kafkastore.sasl.jaas.config",
        ("***", "f:1", "passed on to the Kafka client that reads and writes the topic of the schemas"),
    ),
    (
        "magicbyte.webhook.url=https://h/planted",
        "magicbyte.webhook.url",
        ("***", "f:1", "unknown; did you mean magicbyte.webhook.urls?"),
    ),
    (
        "opts=-Djavax.net.ssl.keyStorePassword=planted",
        "opts",
        ("***", "f:1", "without effect: there is no JVM here; java.security.auth.login.config is a property"),
    ),
    ("confluent.license=planted", "confluent.license", ("***", "f:1", "unknown")),
    ("my.bearer=plantedABC0123456", "my.bearer", ("***", "f:1", "unknown")),
    ("my.path=/srv/plain/0123456789", "my.path", ("/srv/plain/0123456789", "f:1", "unknown")),
    ("my.jwt=eyJhbGciOiJub25l.eyJzdWIiOiJwIn0.planted", "my.jwt", ("***", "f:1", "unknown")),
    ("ssl.key.password=${file:/run/p:k}", "ssl.key.password", ("${file:/run/p:k}", "f:1", "")),
    ("ssl.key.password=${env:P:-planted}", "ssl.key.password", ("***", "f:1", "")),
]


@pytest.mark.parametrize(("line", "name", "row"), FILE)
def test_a_value_of_a_file_has_its_line(
    line: str, name: str, row: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_text(f"{line}\n")
    found = explained("registry", ["--config", "f"], monkeypatch)
    assert found[name] == row
    assert "planted" not in str(found)


def test_options_override_variables_and_variables_override_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_text("# a comment\nlisteners=http://f:1\nkafkastore.topic=file\nhost.name=file\n")
    Path("secret").write_text("from the file\n")
    found = explained(
        "registry",
        ["--config", "f", "--port", "9", "--storage", "memory:"],
        monkeypatch,
        SCHEMA_REGISTRY_LISTENERS="http://v:1",
        SCHEMA_REGISTRY_KAFKASTORE_TOPIC="variable",
        SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID_FILE="secret",
    )
    assert found["listeners"][:2] == ("http://0.0.0.0:9", "--listen or --port < SCHEMA_REGISTRY_LISTENERS < f:2")
    assert found["kafkastore.topic"][:2] == ("variable", "SCHEMA_REGISTRY_KAFKASTORE_TOPIC < f:3")
    assert found["host.name"][:2] == ("file", "f:4")
    assert found["magicbyte.storage"][:2] == ("memory:", "--storage")
    assert found["schema.registry.group.id"][:2] == ("from the file", "SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID_FILE")
    assert found["request.timeout.ms"][:2] == ("600000", "default")


def test_a_present_name_wins_over_an_old_one() -> None:
    catalog = SERVERS["registry"].all_settings()
    layers = [Layer("file", {"leader.eligibility": "true"}), Layer("environment", {"master.eligibility": "false"})]
    row = next(row for row in explanation(catalog, layers) if row.name == "leader.eligibility")
    assert (row.value, row.winner.source, [value.text for value in row.overridden]) == ("true", "file", ["false"])


@pytest.mark.parametrize(
    ("server", "line", "name", "row"),
    [
        ("rest-proxy", ["--bootstrap-servers", "b:1"], "bootstrap.servers", ("b:1", "--bootstrap-servers", "")),
        ("rest-proxy", [], "bootstrap.servers", ("required", "default", "")),
        ("ui", ["--title", "t"], "magicbyte.ui.name", ("t", "--title", "")),
        ("ui", ["--property", "max.retries=5"], "schema.registry.max.retries", ("5", "--property", "")),
        ("ui", [], "listeners", ("http://127.0.0.1:8080", "default", "")),
    ],
)
def test_each_server_has_its_options(
    server: str, line: list[str], name: str, row: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert explained(server, line, monkeypatch)[name] == row


def test_the_command_prints_a_table_or_json(magicbyte: Run, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("kafkastore.topic=mine\nfoo=1\n")
    ran = magicbyte("config", "explain", "registry", "--config", "f")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[0].split() == ["setting", "value", "source", "note"]
    assert ["kafkastore.topic", "mine", "f:1"] in [line.split() for line in ran.stdout.splitlines()]
    ran = magicbyte("config", "explain", "registry", "--config", "f", "--output", "json", SCHEMA_REGISTRY_FOO="2")
    result: dict[str, Any] = json.loads(ran.stdout)
    rows = {row["name"]: row for row in result["settings"]}
    assert result["server"] == "registry"
    assert rows["kafkastore.topic"] == {
        "name": "kafkastore.topic",
        "value": "mine",
        "source": "file",
        "place": "f",
        "line": 1,
    }
    assert rows["foo"] == {
        "name": "foo",
        "value": "2",
        "source": "environment",
        "place": "SCHEMA_REGISTRY_FOO",
        "overrides": ["f:2"],
        "note": "unknown",
    }
    assert rows["mode.mutability"] == {"name": "mode.mutability", "value": "true", "source": "default"}


def test_a_file_that_cannot_be_read_is_a_wrong_call(magicbyte: Run) -> None:
    ran = magicbyte("config", "explain", "rest-proxy", "--config", "nowhere")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "magicbyte config: --config nowhere cannot be read: No such file or directory\n"
