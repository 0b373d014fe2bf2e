"""`magicbyte serve`: which server the variables of Confluent's images choose."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from magicbyte.cli.main import main
from magicbyte.cli.servers import registry, rest_proxy
from magicbyte.platform.broker import free_port
from tests.deploy.service_manager import managing


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({"SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS": "k:9092"}, "registry"),
        ({"SCHEMA_REGISTRY_MAGICBYTE_STORAGE": "memory:", "KAFKA_REST_LISTENERS": "http://0.0.0.0:8082"}, "registry"),
        ({"KAFKA_REST_BOOTSTRAP_SERVERS": "k:9092", "SCHEMA_REGISTRY_LISTENERS": "http://0.0.0.0:8081"}, "rest-proxy"),
        # A Service that is called schema-registry.
        ({"KAFKA_REST_BOOTSTRAP_SERVERS": "k:9092", "SCHEMA_REGISTRY_PORT": "tcp://10.0.0.1:8081"}, "rest-proxy"),
    ],
)
def test_the_variables_choose_the_server(
    variables: dict[str, str], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run: list[str] = []
    monkeypatch.setattr(registry, "main", lambda arguments: run.append("registry") or len(arguments))
    monkeypatch.setattr(rest_proxy, "main", lambda arguments: run.append("rest-proxy") or len(arguments))
    assert main(["serve"]) == 0
    assert run == [chosen]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (
            {},
            "no variable tells which server to run: set SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS or "
            "SCHEMA_REGISTRY_MAGICBYTE_STORAGE for the schema registry, KAFKA_REST_BOOTSTRAP_SERVERS for the REST "
            "proxy; or name the command, such as `registry`",
        ),
        (
            {"SCHEMA_REGISTRY_MAGICBYTE_STORAGE": "memory:", "KAFKA_REST_BOOTSTRAP_SERVERS": "k:9092"},
            "the variables configure a schema registry and a REST proxy; name the command, `registry` or `rest-proxy`",
        ),
    ],
)
def test_without_a_choice_nothing_starts(
    variables: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["serve"]) == 2
    assert capsys.readouterr().err == f"magicbyte: {told}\n"


def test_a_compose_file_for_confluents_image_runs_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    variables = {
        "SCHEMA_REGISTRY_HOST_NAME": "schema-registry",
        "SCHEMA_REGISTRY_MAGICBYTE_STORAGE": "memory:",
        "SCHEMA_REGISTRY_LISTENERS": f"http://127.0.0.1:{port}",
        "SCHEMA_REGISTRY_SCHEMA_COMPATIBILITY_LEVEL": "full",
        "SCHEMA_REGISTRY_HEAP_OPTS": "-Xmx512m",
        "SCHEMA_REGISTRY_LOG4J_ROOT_LOGLEVEL": "INFO",
        "SCHEMA_REGISTRY_PORT": "tcp://10.0.0.1:8081",
        "SCHEMA_REGISTRY_SERVICE_HOST": "10.0.0.1",
    }
    with managing(tmp_path, monkeypatch) as manager:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "magicbyte.cli.main", "serve"],
            env=os.environ | variables,
            stderr=subprocess.PIPE,
            text=True,
        )
        manager.wait_for("READY=1")
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/config")
    assert connection.getresponse().read() == b'{"compatibilityLevel":"FULL"}'
    connection.close()
    server.send_signal(signal.SIGTERM)
    _, log = server.communicate(timeout=30)
    assert server.returncode == 0
    told = [line for line in log.splitlines() if line.startswith("magicbyte: ")]
    assert told == [
        "magicbyte: variables that Kubernetes sets for a Service are no settings: SCHEMA_REGISTRY_PORT, "
        "SCHEMA_REGISTRY_SERVICE_HOST; `enableServiceLinks: false` in the pod's spec leaves them out",
    ]
    assert "unknown property" not in log
