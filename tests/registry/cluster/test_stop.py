"""A registry that is told to stop: it finishes its work, hands over, leaves whole files, and ends with 0."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.platform.broker import free_port, port_is_free
from magicbyte.testing.servers import running_registry

#: Each test starts and stops nodes of its own.
pytestmark = pytest.mark.slow


def register(url: str, subject: str, text: str = '"int"') -> httpx.Response:
    return httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": text}, timeout=20)


def versions_in(file: Path) -> int:
    with sqlite3.connect(file) as connection:
        (count,) = connection.execute("select count(*) from log").fetchone()
    return int(count)


@pytest.fixture(autouse=True)
def _hangups_count() -> Iterator[None]:
    """A run under nohup ignores SIGHUP, and so would the servers that it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stopped_registry_on_sqlite_leaves_its_files_whole(tmp_path: Path, number: int) -> None:
    (tmp_path / "data").mkdir()
    with running_registry(f"sqlite:///{tmp_path}/data/schemas.db") as server:
        for index in range(20):
            assert register(server.url, f"s{index}").status_code == 200
        assert server.pid is not None
        os.kill(server.pid, number)
        assert server.wait(20) == 0
        assert sorted(file.name for file in (tmp_path / "data").iterdir()) == ["schemas.db", "schemas.db-ids"]
        assert b'{"closed":true}' in (tmp_path / "data/schemas.db-ids").read_bytes()
        shutil.copy(tmp_path / "data/schemas.db", tmp_path / "copy.db")
        assert versions_in(tmp_path / "copy.db") == 20
        assert json.loads(server.last_lines()[-1])["msg"] == "log closed at offset 19"


def test_stopped_workers_leave_their_files_whole(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    properties = {"magicbyte.workers": "2"}
    with running_registry(f"sqlite:///{tmp_path}/data/schemas.db", properties=properties) as server:
        for index in range(20):
            assert register(server.url, f"s{index}").status_code == 200
        assert server.stop(20) == 0
        assert sorted(file.name for file in (tmp_path / "data").iterdir()) == ["schemas.db", "schemas.db-ids"]
        assert b'{"closed":true}' in (tmp_path / "data/schemas.db-ids").read_bytes()
        assert versions_in(tmp_path / "data/schemas.db") == 20


def test_followers_of_changes_do_not_delay_a_stop() -> None:
    with running_registry() as server, httpx.stream("GET", f"{server.url}/events", timeout=20) as following:
        lines = following.iter_lines()
        assert next(lines) == ": following"
        server.terminate()
        assert list(lines) == [""]
        assert server.wait(20) == 0
        # Requests that do not end are cancelled after 5 s.
        assert "timeout graceful shutdown exceeded" not in server.log.read_text()


def test_a_stop_loses_no_answered_write(tmp_path: Path) -> None:
    answered: dict[str, int] = {}
    enough = threading.Event()

    def write(writer: int) -> None:
        for number in range(100_000):
            try:
                text = f'{{"type":"fixed","name":"F{writer}","size":{number}}}'
                response = register(server.url, f"s{writer}-{number}", text)
            except httpx.HTTPError:
                return
            answered[f"s{writer}-{number}"] = response.json()["id"]
            if len(answered) > 50:
                enough.set()

    with running_registry(f"sqlite:///{tmp_path}/schemas.db") as server:
        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for writer in writers:
            writer.start()
        assert enough.wait(60)
        assert server.stop(20) == 0
        for writer in writers:
            writer.join()
        server.start()
        for subject, schema_id in answered.items():
            assert httpx.get(f"{server.url}/subjects/{subject}/versions/1").json()["id"] == schema_id


def own_cluster(node: int, group: str) -> dict[str, str]:
    return {
        "kafkastore.topic": f"_schemas-{group}",
        "schema.registry.group.id": group,
        "magicbyte.node.id": f"node-{node}",
        "kafkagroup.session.timeout.ms": "60000",
    }


def test_a_stopped_leader_hands_over_before_its_session_ends(kafka: str) -> None:
    group = str(uuid.uuid4())
    with (
        running_registry("kafka:", bootstrap_servers=kafka, properties=own_cluster(0, group)) as first,
        running_registry("kafka:", bootstrap_servers=kafka, properties=own_cluster(1, group)) as second,
    ):
        assert register(first.url, "a").json()["id"] == 1
        nodes = {
            bool(httpx.get(f"{node.url}/health/ready", timeout=20).json()["leader"]): node for node in (first, second)
        }
        started = time.monotonic()
        assert nodes[True].stop(20) == 0
        assert register(nodes[False].url, "b", '"string"').json()["id"] == 2
        assert time.monotonic() - started < 55


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_registry_that_waits_for_kafka_can_be_stopped(tmp_path: Path, workers: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config = tmp_path / "config"
        config.write_text(
            f"kafkastore.bootstrap.servers=127.0.0.1:{silent.getsockname()[1]}\nmagicbyte.workers={workers}\n"
        )
        command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "registry", "--config", str(config)]
        command += ["--listen", f"127.0.0.1:{free_port()}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as waiting:
            silent.settimeout(60)
            connection, _ = silent.accept()
            waiting.terminate()
            _, said = waiting.communicate(timeout=60)
            connection.close()
        assert waiting.returncode == 0, said
        assert "Traceback" not in said


_STOPPED_IN_A_NAME = """
class Named:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
class Owner:
    name = Named()
"""

_STOPPED_IN_A_FINALIZER = """
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
Finalized()
"""


@pytest.mark.parametrize("program", [_STOPPED_IN_A_NAME, _STOPPED_IN_A_FINALIZER], ids=["name", "finalizer"])
def test_stopping_a_server_at_any_point_of_its_start_is_no_error(program: str) -> None:
    """An exception from the signal's handler would be replaced here by a RuntimeError, or be ignored."""
    start = "import os, signal\nfrom magicbyte.cli.servers.stopping import exit_on_signals\nexit_on_signals()\n"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", f"{start}{program}\nsys.exit(9)"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_answer_under_way_when_the_stop_comes_is_finished() -> None:
    with running_registry() as server:
        port = int(server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n")
            connection.settimeout(20)
            # The head is with the server once it has answered another request.
            httpx.get(f"{server.url}/subjects")
            server.terminate()
            while not port_is_free(port):
                time.sleep(0.01)
            connection.sendall(b'{"schema":"\\"int\\""}')
            assert connection.recv(100).startswith(b"HTTP/1.1 200 OK")
        assert server.wait(20) == 0


def test_repeated_signals_do_not_interrupt_a_stop(tmp_path: Path) -> None:
    """A second signal, as of an impatient supervisor, does not end it halfway."""
    with running_registry(f"sqlite:///{tmp_path}/schemas.db") as server:
        assert register(server.url, "s").status_code == 200
        pid: Any = server.pid
        for _ in range(3):
            os.kill(pid, signal.SIGTERM)
            time.sleep(0.05)
        assert server.wait(20) == 0
