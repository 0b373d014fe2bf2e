from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from magicbyte.kit.kafka.client_settings import client_config
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.platform.broker import free_port, port_is_free
from tests.processes import descendants, is_running, words_of

MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]


class Up:
    """A running `magicbyte up` on ports of its own."""

    def __init__(self, *options: str, kafka: str | None = None) -> None:
        self.registry_port, self.rest_port = free_port(), free_port()
        ports = ["--registry-port", str(self.registry_port), "--rest-port", str(self.rest_port)]
        if kafka is None:
            self.kafka_port = free_port()
            ports += ["--kafka-port", str(self.kafka_port)]
        self.process = subprocess.Popen(
            [*MAGICBYTE, "up", *ports, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if line.startswith("ready"):
                return
        raise AssertionError(self.process.communicate())

    def processes(self) -> list[int]:
        """The command's process, and those that it started."""
        return [self.process.pid, *descendants(self.process.pid, recursive=False)]

    def call(self, port: int, path: str, body: object = None, content_type: str = "application/json") -> object:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": content_type})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)


def assert_gone(pids: Sequence[int], up: Up, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in pids if is_running(pid)] == []
    assert all(map(port_is_free, (up.kafka_port, up.registry_port, up.rest_port)))


@contextmanager
def running(*options: str, kafka: str | None = None) -> Iterator[Up]:
    up = Up(*options, kafka=kafka)
    try:
        up.wait_until_ready()
        yield up
    finally:
        up.process.terminate()
        up.process.communicate(timeout=60)


def memory_folders() -> set[str]:
    memory = Path("/dev/shm")
    return {folder.name for folder in memory.glob("magicbyte-up-*")} if memory.is_dir() else set()


USER = {"type": "record", "name": "User", "fields": [{"name": "username", "type": "string"}]}


@pytest.mark.slow
def test_the_oldest_session_works_to_the_letter_and_nothing_is_left() -> None:
    before = memory_folders()
    with running("--ephemeral") as up:
        assert sorted(up.lines[:3]) == [
            f"REST proxy  http://127.0.0.1:{up.rest_port}",
            f"broker      127.0.0.1:{up.kafka_port}",
            f"registry    http://127.0.0.1:{up.registry_port}",
        ]
        assert up.lines[3] == f"page        http://127.0.0.1:{up.registry_port}/ui/"
        # The page reaches the REST proxy through the registry.
        assert up.call(up.registry_port, "/ui/rest/topics") == ["_schemas"]
        request = urllib.request.Request(
            f"http://localhost:{up.rest_port}/topics/avrotest",
            b'{"value_schema": "{\\"type\\": \\"record\\", \\"name\\": \\"User\\", \\"fields\\": [{\\"name\\":'
            b' \\"username\\", \\"type\\": \\"string\\"}]}", "records": [{"value": {"username": "testUser"}},'
            b' {"value": {"username": "testUser2"}}]}',
            {"Content-Type": "application/vnd.kafka.avro.v1+json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            assert response.status == 200
            assert response.headers["Content-Type"] == "application/vnd.kafka.v1+json"
            assert response.read() == (
                b'{"key_schema_id":null,"value_schema_id":1,"offsets":'
                b'[{"partition":0,"offset":0,"error_code":null,"error":null},'
                b'{"partition":0,"offset":1,"error_code":null,"error":null}]}'
            )
        assert up.call(up.registry_port, "/subjects") == ["avrotest-value"]
        pids = up.processes()
        assert len(pids) >= 4
        assert len(memory_folders() - before) <= 1
        up.process.send_signal(signal.SIGINT)
        out, err = up.process.communicate(timeout=30)
        assert (up.process.returncode, out, err) == (0, "", "")
        assert_gone(pids, up, 0.5)
    assert memory_folders() <= before


@pytest.mark.slow
def test_kill_9_leaves_no_process_and_loses_no_acknowledged_write(tmp_path: Path) -> None:
    with running("--data-dir", str(tmp_path)) as up:
        body = {"schema": json.dumps(USER)}
        answer = up.call(up.registry_port, "/subjects/users/versions", body)
        assert isinstance(answer, dict)
        assert answer["id"] == 1
        pids = up.processes()
        up.process.kill()
        up.process.wait()
        assert_gone(pids, up, 60)
    with running("--data-dir", str(tmp_path)) as up:
        assert up.call(up.registry_port, "/subjects/users/versions") == [1]
        assert {file.name for file in tmp_path.iterdir()} >= {"broker.log", "registry.log", "rest-proxy.log", "kafka"}


def test_a_kafka_that_exists_is_used_and_left_alone(kafka: str, tmp_path: Path) -> None:
    with running("--bootstrap-servers", kafka, "--data-dir", str(tmp_path), kafka=kafka) as up:
        assert up.lines[0] == f"broker      {kafka} yours"
        assert isinstance(up.call(up.rest_port, "/topics"), list)
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(30) == 0
    last = {name: (tmp_path / f"{name}.log").read_text().splitlines()[-1] for name in ("registry", "rest-proxy")}
    assert json.loads(last["registry"])["msg"].startswith("log closed at offset ")
    assert json.loads(last["rest-proxy"])["msg"].startswith("Finished server process ")
    socket.create_connection(("127.0.0.1", int(kafka.rpartition(":")[2]))).close()
    assert not (tmp_path / "kafka").exists()


def test_the_page_is_opened(kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = tmp_path / "opened"
    os.mkfifo(opened)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    options = ("--bootstrap-servers", kafka, "--data-dir", str(tmp_path / "data"), "--open")
    with running(*options, kafka=kafka) as up:
        # Reading waits until the browser's command writes.
        assert opened.read_text() == f"http://127.0.0.1:{up.registry_port}/ui/\n"


def test_up_stops_all_servers_if_one_ends_and_shows_the_end_of_its_log(kafka: str, tmp_path: Path) -> None:
    with running("--bootstrap-servers", kafka, "--data-dir", str(tmp_path), kafka=kafka) as up:
        (registry,) = [pid for pid in up.processes() if "--storage" in words_of(pid)]
        os.kill(registry, signal.SIGKILL)
        _, err = up.process.communicate(timeout=30)
        assert up.process.returncode == 1
        assert err.splitlines()[-1] == "magicbyte: the registry ended with exit code -9"
        assert port_is_free(up.rest_port)


def test_the_error_for_a_server_that_cannot_start_has_the_end_of_its_log(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEMA_REGISTRY_SCHEMA_COMPATIBILITY_LEVEL", "SIDEWAYS")
    up = Up("--bootstrap-servers", kafka, "--data-dir", str(tmp_path), kafka=kafka)
    _, err = up.process.communicate(timeout=60)
    assert up.process.returncode == 1
    assert "SIDEWAYS" in err
    assert err.splitlines()[-1] == "magicbyte: the registry ended with exit code 1"
    assert "Traceback" not in err


def call(*options: str) -> tuple[int, str]:
    result = subprocess.run([*MAGICBYTE, "up", *options], capture_output=True, text=True, check=False, timeout=60)
    assert result.stdout == ""
    return result.returncode, result.stderr.splitlines()[-1]


def test_up_reports_a_port_in_use_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        free = ["--rest-port", str(free_port()), "--kafka-port", str(free_port()), "--data-dir", str(tmp_path)]
        assert call(*free, "--registry-port", str(port)) == (
            1,
            f"magicbyte: port {port} is in use: stop what listens there, or choose another with --registry-port",
        )
    assert list(tmp_path.iterdir()) == []


def test_one_line_says_which_options_are_wrong(tmp_path: Path) -> None:
    port, other, nobody = (str(free_port()) for _ in range(3))
    ports = ["--registry-port", port, "--rest-port", other]
    (tmp_path / "file").write_text("")
    cases = [
        (["--ephemeral", "--data-dir", "x"], 2, "magicbyte up: error: --ephemeral keeps nothing: leave out --data-dir"),
        (
            ["--bootstrap-servers", "x:1", "--kafka-port", "9"],
            2,
            "magicbyte up: error: --kafka-port is the port of the local broker, which --bootstrap-servers replaces",
        ),
        (
            ["--kafka-port", port, "--registry-port", port, "--rest-port", other],
            1,
            f"magicbyte: --kafka-port, --registry-port, --rest-port must differ (they are {port}, {port}, {other})",
        ),
        (
            ["--kafka-port", nobody, "--registry-port", port, "--rest-port", "70000"],
            1,
            "magicbyte: --rest-port 70000: a port is a number from 1 to 65535",
        ),
        (
            [*ports, "--bootstrap-servers", f"127.0.0.1:{nobody}"],
            1,
            f"magicbyte: no Kafka broker answers (127.0.0.1:{nobody}: Connection refused)",
        ),
        (
            [*ports, "--bootstrap-servers", "localhost"],
            1,
            "magicbyte: --bootstrap-servers localhost: write HOST:PORT",
        ),
        (
            [*ports, "--kafka-port", nobody, "--data-dir", str(tmp_path / "file")],
            1,
            f"magicbyte: the data folder {tmp_path / 'file'} cannot be made: File exists",
        ),
    ]
    for options, code, message in cases:
        assert call(*options) == (code, message), options


@pytest.mark.slow
def test_a_secured_platform_refuses_other_users_of_the_machine(tmp_path: Path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "left").write_text("by an earlier start")
    with running("--secure", "--data-dir", str(folder)) as up:
        address = f"127.0.0.1:{up.kafka_port}"
        # Without the password the broker serves nobody, at either of its listeners.
        settings = read_properties_file(folder / "server.properties")
        controller = settings["controller.quorum.voters"].partition("@")[2]
        for place in (address, controller):
            with pytest.raises(KafkaException):
                AdminClient({"bootstrap.servers": place, "log_level": 0}).list_topics(timeout=3)
        secure = folder / "secure"
        wrong = client_config({**read_properties_file(secure / "kafka-client.properties"), **WRONG})
        with pytest.raises(KafkaException):
            AdminClient({"bootstrap.servers": address, **wrong, "log_level": 0}).list_topics(timeout=3)
        client = client_config(read_properties_file(secure / "kafka-client.properties"))
        assert "_schemas" in AdminClient({"bootstrap.servers": address, **client}).list_topics(timeout=30).topics
        # Nobody else reads a segment, a log or a setting.
        assert folder.stat().st_mode & 0o777 == 0o700
        made = [path for path in folder.rglob("*") if path.name != "left"]
        assert list(folder.rglob("*.log"))
        assert [path for path in made if path.stat().st_mode & 0o077] == []
        _app_uses_what_is_its_own(up, secure)


WRONG = {
    "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="magicbyte" password="wrong";'
}


def _app_uses_what_is_its_own(up: Up, secure: Path) -> None:
    """The stock user opens the settings of its subjects, and lists, makes and reads its topics; no others."""
    auth = ("app", read_properties_file(secure / "secrets.properties")["app"])
    trust = ssl.create_default_context(cafile=secure / "ca.pem")
    with httpx.Client(verify=trust, auth=auth, timeout=60) as app:
        registry, rest = f"https://127.0.0.1:{up.registry_port}", f"https://127.0.0.1:{up.rest_port}"
        produced = app.post(
            f"{rest}/topics/app.orders",
            content=json.dumps({"value_schema": '"string"', "records": [{"value": "x"}]}),
            headers={"content-type": "application/vnd.kafka.avro.v2+json"},
        )
        assert produced.status_code == 200, produced.text
        # The page's Settings.
        for path in ("/config/app.orders-value?defaultToGlobal=true", "/config?defaultToGlobal=true"):
            assert app.get(registry + path).json()["compatibilityLevel"] == "BACKWARD"
        assert app.get(f"{registry}/mode/app.orders-value?defaultToGlobal=true").json() == {"mode": "READWRITE"}
        assert app.put(f"{registry}/config", json={"compatibility": "NONE"}).status_code == 403
        # The page's Topics, through the registry.
        (cluster,) = app.get(f"{registry}/ui/rest/v3/clusters").json()["data"]
        topics = app.get(f"{registry}/ui/rest/v3/clusters/{cluster['cluster_id']}/topics").json()["data"]
        assert [topic["topic_name"] for topic in topics] == ["app.orders"]
        assert app.get(f"{rest}/topics").json() == ["app.orders"]
        other = app.post(
            f"{rest}/topics/other",
            content=b'{"records":[{"value":"eA=="}]}',
            headers={"content-type": "application/vnd.kafka.binary.v2+json"},
        )
        assert other.status_code == 403
