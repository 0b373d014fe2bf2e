"""The registry killed with -9 between and during registrations: every answered write is there afterwards."""

from __future__ import annotations

import threading
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.testing.servers import running_registry

WRITERS = 4
KILLS = 2


def own_cluster() -> dict[str, str]:
    return {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}


def register(url: str, subject: str, number: int) -> httpx.Response:
    schema = f'{{"type":"record","name":"R{number}","fields":[]}}'
    return httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": schema}, timeout=20)


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
    with running_registry(**storage_options(storage, tmp_path, request)) as server:
        answered: dict[int, tuple[str, int]] = {}
        stop = threading.Event()

        def write(first: int) -> None:
            number = first
            while not stop.is_set():
                subject = f"s{number % 7}-{number}"
                try:
                    response = register(server.url, subject, number)
                except httpx.HTTPError:
                    time.sleep(0.05)
                    continue
                if response.status_code == 200:
                    answered[number] = (subject, response.json()["id"])
                    number += WRITERS
                else:
                    time.sleep(0.05)

        writers = [threading.Thread(target=write, args=(first,)) for first in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(KILLS):
                enough = len(answered) + 20
                wait_for(lambda enough=enough: len(answered) >= enough)
                server.kill()
                server.start()
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        server.kill()
        server.start()
        ids = [schema_id for _, schema_id in answered.values()]
        assert len(set(ids)) == len(ids)
        for number, (subject, schema_id) in answered.items():
            body = httpx.get(f"{server.url}/subjects/{subject}/versions/latest", timeout=20).json()
            assert (body["id"], body["schema"]) == (schema_id, f'{{"type":"record","name":"R{number}","fields":[]}}')


def test_a_node_that_comes_back_leads_again_within_seconds(kafka: str) -> None:
    with running_registry("kafka:", bootstrap_servers=kafka, properties=own_cluster()) as server:
        assert register(server.url, "s", 1).status_code == 200
        server.kill()
        started = time.monotonic()
        server.start()
        assert register(server.url, "s2", 2).json()["id"] == 2
        # Static membership; without it the partition would come back after the session timeout of 6 s or more.
        assert time.monotonic() - started < 5


def wait_for(condition: Any, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
