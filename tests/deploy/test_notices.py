"""Notices of servers to systemd: READY after the replay, STOPPING at SIGTERM, WATCHDOG as long as the reader works."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from magicbyte.kit.processes.service_manager import READY, WATCHDOG, ServiceManager
from magicbyte.platform.broker import free_port
from magicbyte.testing.broker import temporary_broker
from registry.cluster.worker_notices import WorkerNotices
from tests.deploy.service_manager import Manager, managing

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `magicbyte` with arguments; what it writes to stderr is in server.log."""
    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "server.log").open("wb"))

        def run(*arguments: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-P", "-m", "magicbyte.cli.main", *arguments]
            server = subprocess.Popen(command, stderr=log)
            stack.callback(server.wait)
            stack.callback(server.kill)
            return server

        yield run


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    with managing(tmp_path, monkeypatch, watchdog_seconds=0.9) as found:
        yield found


def _get(port: int, path: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return int(answer.status)


def _stop(server: subprocess.Popen[bytes], manager: Manager) -> int:
    server.send_signal(signal.SIGTERM)
    manager.wait_for("STOPPING=1")
    return server.wait(30)


@pytest.mark.slow
def test_a_registry_is_ready_after_the_replay_and_gives_no_sign_while_its_reader_is_stuck(
    start: Start, manager: Manager, postgresql: str, tmp_path: Path
) -> None:
    arguments = ["registry", "--storage", postgresql, "--listen"]
    # The first start makes the table.
    first = start(*arguments, f"127.0.0.1:{free_port()}")
    manager.wait_for(READY)
    assert _stop(first, manager) == 0
    manager.waiting()
    port = free_port()
    with psycopg.connect(postgresql) as holder:
        holder.execute("lock table log in access exclusive mode")
        server = start(*arguments, f"127.0.0.1:{port}")
        _wait_until_somebody_waits(postgresql)
        assert READY not in manager.waiting()
    before = manager.wait_for(READY)
    assert before[0].startswith("STATUS=reading the log: offset ")
    assert before[-2:] == ["STATUS=serving", READY]
    assert _get(port, "/subjects") == 200
    manager.wait_for(WATCHDOG)
    log = tmp_path / "server.log"
    with psycopg.connect(postgresql) as holder:
        holder.execute("lock table log in access exclusive mode")
        while "has done nothing for" not in log.read_text():
            assert server.poll() is None
            time.sleep(0.02)
        # The event loop goes on, and gives no sign for the reader.
        manager.waiting()
        assert _get(port, "/health/live") == 200
        assert manager.waiting() == []
    manager.wait_for(WATCHDOG)
    assert _stop(server, manager) == 0


def _wait_until_somebody_waits(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        while not connection.execute("select count(*) from pg_locks where not granted").fetchone()[0]:  # type: ignore[index]
            time.sleep(0.02)


def test_a_rest_proxy_is_ready_when_it_listens_though_no_broker_answers(start: Start, manager: Manager) -> None:
    port = free_port()
    server = start("rest-proxy", "--bootstrap-servers", "127.0.0.1:1", "--listen", f"127.0.0.1:{port}")
    assert manager.wait_for(READY) == ["STATUS=serving", READY]
    assert _get(port, "/health/live") == 200
    manager.wait_for(WATCHDOG)
    manager.wait_for(WATCHDOG)
    assert _stop(server, manager) == 0


@pytest.mark.slow
def test_workers_are_ready_together(start: Start, manager: Manager, tmp_path: Path) -> None:
    port = free_port()
    storage = f"sqlite:///{tmp_path}/schemas.db"
    server = start("registry", "--storage", storage, "--workers", "2", "--listen", f"127.0.0.1:{port}")
    before = manager.wait_for(READY)
    assert before[-2:] == ["STATUS=serving with 2 workers", READY]
    assert before.count(READY) == 1
    assert _get(port, "/subjects") == 200
    assert READY not in manager.wait_for(WATCHDOG)
    assert _stop(server, manager) == 0


_SENDER = """
import sys
from magicbyte.kit.processes.service_manager import ServiceManager
for line in sys.stdin:
    ServiceManager().notify(line.strip())
    print("sent", flush=True)
"""


@pytest.fixture
def another(manager: Manager) -> Iterator[tuple[WorkerNotices, int, Callable[[str], None]]]:
    """The notices of workers, another process that may be a worker, and what makes it send one."""
    notices = WorkerNotices(ServiceManager())
    command = [sys.executable, "-P", "-c", _SENDER]
    process = subprocess.Popen(
        command, env=notices.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def send(line: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "sent\n"

    with process:
        yield notices, process.pid, send


def test_one_worker_alone_is_neither_ready_nor_a_sign_of_life(
    manager: Manager, another: tuple[WorkerNotices, int, Callable[[str], None]]
) -> None:
    notices, pid, send = another
    both = (os.getpid(), pid)
    ours = ServiceManager(notices.environment)

    def passed_on(workers: Collection[int] = both) -> list[str]:
        notices.pass_on(workers)
        return manager.waiting()

    send("STATUS=reading the log: offset 5 of 9")
    assert passed_on() == ["STATUS=reading the log: offset 5 of 9"]
    ours.notify(READY)
    assert passed_on() == []
    send(READY)
    assert passed_on() == ["STATUS=serving with 2 workers", READY, WATCHDOG]
    ours.notify(WATCHDOG)
    ours.notify(WATCHDOG)
    assert passed_on() == []
    send(WATCHDOG)
    assert passed_on() == [WATCHDOG]
    # Another process that finds the socket speaks for nobody.
    ours.notify(WATCHDOG)
    assert passed_on([pid]) == []


@pytest.mark.slow
def test_an_outage_of_kafka_stops_no_signs_of_life(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with temporary_broker() as broker, managing(tmp_path, monkeypatch, watchdog_seconds=30) as manager:
        servers, port = broker.bootstrap_servers, free_port()
        server = start("registry", "--bootstrap-servers", servers, "--listen", f"127.0.0.1:{port}")
        assert "STATUS=reading the log: offset 0" in "".join(manager.wait_for(READY))
        broker.stop()
        manager.waiting()
        for _ in range(3):
            manager.wait_for(WATCHDOG)
        assert _get(port, "/health/live") == 200
        server.kill()


def test_without_a_manager_nothing_is_sent() -> None:
    manager = ServiceManager({"WATCHDOG_USEC": "1000000"})
    assert (manager.is_there, manager.pause) == (False, None)
    manager.notify(READY)


@pytest.mark.parametrize(
    ("more", "pause"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 20.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_pause_between_signs_of_life(more: dict[str, str], pause: float | None) -> None:
    assert ServiceManager({"NOTIFY_SOCKET": "/nowhere", **more}).pause == pause


def test_a_socket_in_the_abstract_namespace_gets_notices() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        receiving.bind("")
        address = receiving.getsockname()[1:].decode()
        ServiceManager({"NOTIFY_SOCKET": f"@{address}"}).status("reading", READY)
        assert receiving.recv(100) == b"STATUS=reading\nREADY=1"
    # The manager is gone: nothing happens.
    ServiceManager({"NOTIFY_SOCKET": f"@{address}"}).notify(READY)
