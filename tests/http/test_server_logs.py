"""The logs of real servers: forms, the access log, signals, and the reason why a server does not start."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from magicbyte.kit.settings import SettingsError
from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.testing import running_registry
from magicbyte.ui.settings import UiSettings
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings

SHARED = {"ts", "level", "logger", "event", "msg"}


def lines_of(server: ServerProcess) -> list[dict[str, Any]]:
    """The lines of a server's log; each has to be a JSON object."""
    return [json.loads(line) for line in server.log.read_text(encoding="utf-8").splitlines()]


def wait_for(server: ServerProcess, is_there: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The lines of a server, once some are there."""
    deadline = time.monotonic() + 60
    while not is_there(lines := lines_of(server)):
        assert time.monotonic() < deadline, lines[-10:]
        time.sleep(0.02)
    return lines


@pytest.fixture(scope="module")
def registry() -> Iterator[ServerProcess]:
    properties = {"magicbyte.log.format": "json", "magicbyte.node.id": "node-1", "some.unknown": "x", "debug": "true"}
    with running_registry(properties=properties) as server:
        yield server


def test_a_request_that_cannot_be_parsed_has_a_line(registry: ServerProcess) -> None:
    url = httpx.URL(registry.url)
    with socket.create_connection((url.host, url.port)) as connection:
        connection.sendall(b"NONSENSE\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    lines = wait_for(registry, lambda lines: any(line["event"] == "request_refused" for line in lines))
    (line,) = [line for line in lines if line["event"] == "request_refused"]
    assert (line["method"], line["path"], line["status"]) == ("-", "-", 400)
    assert line["reason"]


def test_each_line_is_an_object_with_its_fields(registry: ServerProcess) -> None:
    answer = httpx.get(f"{registry.url}/subjects/none/versions", headers={"x-request-id": "mine"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (404, "mine")
    lines = wait_for(registry, lambda lines: any(line.get("request_id") == "mine" for line in lines))
    assert all(line.keys() >= SHARED for line in lines)
    events = {line["event"]: line for line in lines}
    # Told before the settings were read.
    assert events["property_unknown"]["property"] == "some.unknown"
    assert events["property_without_effect"]["property"] == "debug"
    assert events["log_replayed"]["node"] == "node-1"
    answered = events["request_answered"]
    assert (answered["route"], answered["status"], answered["principal"], answered["logger"]) == (
        "/subjects/{subject}/versions",
        404,
        "User:ANONYMOUS",
        "magicbyte.access",
    )


def test_signals_log_everything_for_a_while_and_what_threads_and_tasks_do(registry: ServerProcess) -> None:
    assert registry.pid is not None
    process = signal.Signals

    def send(number: int) -> None:
        assert registry.pid is not None
        os.kill(registry.pid, number)

    assert httpx.get(f"{registry.url}/subjects", headers={"x-request-id": "before"}).status_code == 200
    # The server has logged an answer when it takes the next request of the connection's client.
    assert httpx.get(f"{registry.url}/subjects").status_code == 200
    send(process.SIGUSR1)
    wait_for(registry, lambda lines: any(line["event"] == "debug_began" and line["seconds"] == 300 for line in lines))
    assert httpx.get(f"{registry.url}/subjects", headers={"x-request-id": "after"}).status_code == 200
    lines = wait_for(registry, lambda lines: any(line.get("request_id") == "after" for line in lines))
    assert not any(line.get("request_id") == "before" for line in lines)
    send(process.SIGUSR2)
    lines = wait_for(registry, lambda lines: any(line["event"] == "task_stack" for line in lines))
    (dumped,) = (line for line in lines if line["event"] == "stacks_dumped")
    stacks = {line["thread_name"]: line["stack"] for line in lines if line["event"] == "thread_stack"}
    assert dumped["threads"] == len(stacks)
    assert any("committer.py" in place for place in stacks["committer"])
    assert "MainThread" in stacks
    assert httpx.get(f"{registry.url}/subjects").status_code == 200


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"magicbyte.log.format": "xml"}, "magicbyte.log.format: must be auto or json or text, not 'xml'"),
        ({"magicbyte.log.access": "some"}, "magicbyte.log.access: must be off or errors or all, not 'some'"),
        ({"magicbyte.log.level": "loud"}, "magicbyte.log.level: must be debug or info or warning or error or critical"),
    ],
)
@pytest.mark.parametrize("settings", [RegistrySettings, RestProxySettings, UiSettings])
def test_wrong_settings_are_refused(settings: Any, properties: dict[str, str], text: str) -> None:
    with pytest.raises(SettingsError) as raised:
        settings.from_properties({"bootstrap.servers": "localhost:9092", **properties})
    assert text in str(raised.value)


def test_with_json_the_reason_of_a_failed_start_is_json_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "jaeger")
    with pytest.raises(ServerFailed) as raised, running_registry(properties={"magicbyte.log.format": "json"}):
        pass
    last = json.loads(raised.value.last_lines[-1])
    assert (last["event"], last["level"]) == ("server_failed", "CRITICAL")
    assert last["msg"] == "OTEL_TRACES_EXPORTER: must be otlp or console or none, not 'jaeger'"


def test_text_is_for_people() -> None:
    with running_registry(properties={"magicbyte.log.format": "text", "magicbyte.log.access": "all"}) as server:
        assert httpx.get(f"{server.url}/subjects", headers={"x-request-id": "mine"}).status_code == 200
        deadline = time.monotonic() + 60
        while "INFO    magicbyte.access: GET /subjects 200 [mine]" not in (log := server.log.read_text()):
            assert time.monotonic() < deadline, log
            time.sleep(0.02)


def test_a_collector_that_does_not_answer_does_not_hold_up_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.getsockname()[1]}")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
        with running_registry(properties={"magicbyte.log.format": "json"}) as server:
            assert httpx.get(f"{server.url}/subjects").status_code == 200
            taken, _ = collector.accept()  # it has begun to send, and gets no answer
            with taken:
                assert server.stop() == 0
            assert "log_closed" in {line["event"] for line in lines_of(server)}
