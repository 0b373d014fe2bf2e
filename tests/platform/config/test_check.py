"""`magicbyte config check`: all that a server would refuse, in the words of the server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from magicbyte.cli.config.checking import refusals, warnings_of_settings
from magicbyte.cli.config.servers import SERVERS
from registry.cluster.open import open_node
from registry.log.port import LogError
from registry.settings import RegistrySettings
from tests.platform.config.conftest import Run

REGISTRY = {"magicbyte.storage": "memory:"}
PROXY = {"bootstrap.servers": "localhost:1"}
UI = {"schema.registry.url": "http://localhost:8081"}
OPEN_HTTP = (
    "listeners: passwords and tokens would cross the network in the clear; use https://, a loopback address, or"
    " magicbyte.allow.plaintext.credentials=true behind a proxy that speaks TLS"
)
NAMED_TWICE = "listeners: 127.0.0.1:1 is named twice; give each listener its own host or port"
CASES = [
    ("registry", REGISTRY, []),
    ("rest-proxy", PROXY, []),
    ("ui", UI, []),
    (
        "registry",
        {},
        [
            "say where the schemas are to be kept: --storage sqlite:///FILE, --storage postgresql://USER@HOST/DATABASE,"
            " --bootstrap-servers HOST:PORT for Kafka, or --storage memory: to lose them at the end"
        ],
    ),
    ("rest-proxy", {}, ["say which Kafka cluster it is for: --bootstrap-servers HOST:PORT"]),
    ("ui", {}, ["say which registry the page is for: --schema-registry-url http://HOST:8081"]),
    (
        "registry",
        REGISTRY
        | {
            "mode.mutability": "perhaps",
            "kafkastore.timeout.ms": "0",
            "allow.everyone.if.no.acl.found": "true",
            "magicbyte.audit.events": "all",
            "ssl.keystore.key": "${env:NOT_SET}",
        },
        [
            "ssl.keystore.key: ${env:NOT_SET} cannot be resolved: the variable is not set",
            "allow.everyone.if.no.acl.found: what no rule allows is never allowed",
            "magicbyte.audit.events: there is no audit log yet",
            "kafkastore.timeout.ms: must be a whole number of milliseconds, at least 1, not '0'",
            "mode.mutability: must be true or false, not 'perhaps'",
        ],
    ),
    (
        "registry",
        REGISTRY | {"authentication.method": "BASIC,SSL", "listeners": "http://0.0.0.0:1", "magicbyte.workers": "2"},
        [
            "--workers needs a storage that processes can share; memory: is each one's own",
            "magicbyte.users.file: BASIC needs users; make a file with `magicbyte user add`",
            "ssl.client.authentication: SSL as a method needs REQUESTED or REQUIRED",
            OPEN_HTTP,
        ],
    ),
    ("registry", REGISTRY | {"listeners": "http://127.0.0.1:1,https://127.0.0.1:1"}, [NAMED_TWICE]),
    ("rest-proxy", PROXY | {"listeners": "http://127.0.0.1:1, 127.0.0.1:1"}, [NAMED_TWICE]),
    (
        "registry",
        REGISTRY | {"listeners": "http://127.0.0.1:0,http://127.0.0.1:0,http://[::1]:1,http://127.0.0.1:1"},
        [],
    ),
    # What follows from a wrong value is not reported.
    (
        "registry",
        REGISTRY | {"authentication.method": "BASC", "super.users": "User:a"},
        [
            "authentication.method: BASC is not supported; use NONE, or a list of BASIC, BEARER, SSL;"
            " did you mean BASIC?"
        ],
    ),
    (
        "registry",
        {"kafkastore.bootstrap.servers": "localhost:1", "kafkastore.sasl.mechanism": "PLAIN", "kafkastore.foo": "1"},
        None,
    ),
    (
        "registry",
        REGISTRY | {"magicbyte.users.file": "/nowhere", "authentication.method": "BASIC"},
        ["/nowhere cannot be read: No such file or directory"],
    ),
    (
        "registry",
        REGISTRY | {"listeners": "https://127.0.0.1:1", "ssl.keystore.location": "/nowhere"},
        ["ssl.keystore.location: /nowhere cannot be read: No such file or directory"],
    ),
    ("registry", {"magicbyte.storage": "etcd:"}, None),
    (
        "rest-proxy",
        PROXY | {"peers.self": "http://a:1", "peers": "http://b:1", "producer.linger.ms": "x", "port": "0"},
        [
            "port: must be a whole number from 1 to 65535, not '0'",
            "peers.self: http://a:1 is not among peers (http://b:1)",
            'producer.* and client.*: Invalid value for configuration property "queue.buffering.max.ms"',
        ],
    ),
    (
        "ui",
        UI | {"listeners": "https://localhost:1"},
        ["--listen: the page is served over http; put a proxy that speaks TLS in front of it"],
    ),
    (
        "ui",
        UI | {"magicbyte.ui.color": "red", "basic.auth.usr.info": "a:planted"},
        [
            "magicbyte.ui.color: not a color; write it as #ae231c (was 'red')",
            "basic.auth.usr.info: is not a setting of the registry client; did you mean basic.auth.user.info?",
        ],
    ),
]


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        ("sqlite://u:planted@x/y", "the database refused: Invalid SQLite URL: sqlite://u:***@x/y"),
        ("sqlite:////nowhere/there/x.db", "the folder /nowhere/there of the database does not exist"),
        ("sqlite:////tmp", "the database /tmp is a folder"),
        ("postgresql://u:planted@host:port/x", "magicbyte.storage is no URL such as sqlite:///FILE or postgresql://"),
    ],
)
def test_a_database_that_cannot_be_there_is_refused_by_check_and_server(storage: str, told: str) -> None:
    properties = {"magicbyte.storage": storage}
    found = refusals(SERVERS["registry"], properties)
    assert (told in found[0], "planted" in str(found)) == (True, False), found
    with pytest.raises(LogError, match=re.escape(told)):
        open_node(RegistrySettings.from_properties(properties))


@pytest.mark.parametrize(("server", "properties", "expected"), CASES)
def test_all_refusals_are_named(server: str, properties: dict[str, str], expected: list[str] | None) -> None:
    with warnings_of_settings():
        found = refusals(SERVERS[server], dict(properties))
    if expected is None:
        assert found
    else:
        assert found == expected
    assert "planted" not in str(found)


@pytest.mark.parametrize(
    ("server", "properties"),
    [("registry", REGISTRY), ("rest-proxy", PROXY), ("ui", UI)],
)
def test_an_address_of_another_machine_is_a_warning(server: str, properties: dict[str, str]) -> None:
    with warnings_of_settings() as warnings:
        assert refusals(SERVERS[server], properties | {"listeners": "http://192.0.2.1:8081"}) == []
    assert [text for text in warnings if "192.0.2.1" in text] == [
        "listeners: this machine cannot listen on 192.0.2.1: Cannot assign requested address"
    ]


def test_a_property_that_is_repeated_is_a_warning(magicbyte: Run, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("magicbyte.storage=memory:\nhost.name=a\n# no\nhost.name=b\n")
    ran = magicbyte("config", "check", "registry", "--config", "f")
    assert (ran.returncode, ran.stderr) == (
        0,
        "warning: host.name: f:4 repeats the property of f:2, whose value is not used\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "text"),
    [
        ("registry", "magicbyte.storage=memory:\nmode.mutability=perhaps\nkafkastore.timeout.ms=0\n"),
        ("registry", "magicbyte.storage=etcd:\n"),
        ("registry", "magicbyte.storage=kafka:\nkafkastore.bootstrap.servers=localhost:1\nkafkastore.foo=1\n"),
        ("registry", "magicbyte.storage=memory:\nauthentication.method=BASIC\nmagicbyte.users.file=/nowhere\n"),
        ("registry", "magicbyte.storage=memory:\nauthentication.method=BASIC,SSL\n"),
        ("rest-proxy", "bootstrap.servers=localhost:1\nconsumer.foo=1\nproducer.foo=1\n"),
        ("rest-proxy", "bootstrap.servers=localhost:1\nproxy.protocol.enabled=true\ndos.filter.enabled=true\n"),
        ("ui", "schema.registry.url=http://a\nmax.retires=5\n"),
    ],
)
def test_the_server_says_the_same(server: str, text: str, magicbyte: Run, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(text)
    checked = magicbyte("config", "check", server, "--config", "f", "--output", "json")
    assert checked.returncode == 2
    started = magicbyte(server, "--config", "f")
    assert started.returncode == 1
    refused = json.loads(checked.stdout)["refused"]
    assert sorted(started.stderr.partition("magicbyte: ")[2].splitlines()) == sorted(refused)


@pytest.mark.slow
def test_the_command_exits_with_2_and_prints_refusals_and_warnings(magicbyte: Run, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("magicbyte.storage=memory:\nschema.cahce.size=5\nhost.port=x\nhttp2.enabled=true\n")
    ran = magicbyte("config", "check", "registry", "--config", "f")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines() == [
        "refused: f:3: host.port: must be a whole number, not 'x'",
        "warning: f:4: property http2.enabled has no effect: HTTP/1.1 is spoken; a proxy in front can speak HTTP/2",
        "warning: f:2: unknown property schema.cahce.size; did you mean schema.cache.size?",
    ]
    ran = magicbyte("config", "check", "registry", "--storage", "memory:")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "`magicbyte registry` would start with these settings, as far as files tell\n"
    ran = magicbyte("config", "check", "registry", "--config", "nowhere")
    assert (ran.returncode, ran.stderr) == (
        2,
        "refused: --config nowhere cannot be read: No such file or directory\n",
    )
