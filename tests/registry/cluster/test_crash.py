"""The registry killed, starved and stopped during registrations: the chaos runs in short."""

from __future__ import annotations

import runpy
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.testing.servers import running_registry
from tests.waiting import PATIENCE

#: Each test kills nodes of its own.
pytestmark = pytest.mark.slow

#: The same with 20 kills of each storage, by its own command.
CHAOS = Path(__file__).parents[2] / "chaos/registry_killed.py"


def own_cluster() -> dict[str, str]:
    return {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}


def register(url: str, subject: str, number: int) -> httpx.Response:
    schema = f'{{"type":"record","name":"R{number}","fields":[]}}'
    return httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": schema}, timeout=PATIENCE)


def storage_options(storage: str, folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    if storage == "sqlite":
        return {"storage": f"sqlite:///{folder}/schemas.db"}
    if storage == "postgresql":
        return {"storage": request.getfixturevalue("postgresql")}
    return {
        "storage": "kafka:",
        "bootstrap_servers": request.getfixturevalue("kafka"),
        "properties": own_cluster(),
    }


@pytest.mark.parametrize("storage", ["sqlite", "postgresql", "kafka"])
def test_no_answered_write_is_lost_to_kill_9(storage: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    kill_under_writes = runpy.run_path(str(CHAOS))["kill_under_writes"]
    answered, problems = kill_under_writes(2, **storage_options(storage, tmp_path, request))
    assert problems == []
    assert answered > 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits on the address space are Linux's")
def test_no_answered_write_is_lost_to_a_lack_of_memory_or_a_stop() -> None:
    command = [
        sys.executable,
        "-P",
        str(CHAOS.with_name("registry_stopped.py")),
        "--rounds",
        "3",
        "--storage",
        "sqlite",
    ]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "3 rounds" in finished.stdout
    assert "; 0 problems" in finished.stdout


def test_a_node_that_comes_back_leads_again_within_seconds(kafka: str) -> None:
    properties = {**own_cluster(), "kafkagroup.session.timeout.ms": "120000"}
    with running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as server:
        assert register(server.url, "s", 1).status_code == 200
        server.kill()
        started = time.monotonic()
        server.start()
        assert register(server.url, "s2", 2).json()["id"] == 2
        # Static membership; without it the partition would come back after the session timeout.
        assert time.monotonic() - started < 110
