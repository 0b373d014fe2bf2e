"""Restores of 100,000 schemas with a full verification: seconds by target, memory, and how long other writers wait.

PYTHONPATH=bench/kit python -P bench/operations/restore.py [--schemas 100000] [--target memory] [--target kafka] ...

Each target is empty; `memory`, `sqlite-url` and `kafka-url` are running registries, and the others logs. While a
registry takes the restore, another client registers schemas one after the other.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import httpx
import orjson
from schemas_topic import schema

from magicbyte.testing import running_registry, temporary_broker

GOAL_SECONDS = 60.0


def write_backup(file: Path, count: int) -> None:
    """Write an export: ten versions to a subject, each tenth one refers to the one before it."""
    digest, lines = hashlib.sha256(), 0
    from magicbyte.operations.state import State
    from registry.feed.export import version_value

    with file.open("wb") as out:

        def write(value: Mapping[str, object]) -> None:
            nonlocal lines
            line = orjson.dumps(value) + b"\n"
            digest.update(line)
            lines += 1
            out.write(line)

        write({"kind": "manifest", "format": 2, "magicbyte": "bench", "offset": count})
        write({"kind": "context", "context": ".", "listed": True, "maxId": count + 10})
        for number in range(count):
            refers = number % 10 == 9
            line = {
                "kind": "schema",
                "subject": f"subject-{number // 10}",
                "version": number % 10 + 1,
                "id": number + 1,
            }
            line |= {
                "schema": schema(number, number - 1 if refers else None),
                "deleted": False,
                "ts": 1_700_000_000_000,
            }
            if refers:
                target = {"name": f"Record{number - 1}", "subject": f"subject-{number // 10}", "version": 9}
                line["references"] = [target]
            # With its guid, so that the registry compares it and does not parse the text.
            for version in State.of_lines([line]).versions.values():
                write(version_value(version))
        out.write(orjson.dumps({"kind": "end", "lines": lines, "sha256": digest.hexdigest()}) + b"\n")


class Writer:
    """A client that registers a schema of its own again and again, and notes how long each takes, in seconds."""

    def __init__(self, url: str) -> None:
        self.waits: list[float] = []
        self._url = url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as client:
            number = 0
            while not self._stopping.wait(0.02):
                began = time.perf_counter()
                body = {"schema": f'{{"type":"fixed","name":"F{number}","size":1}}'}
                client.post(f"/subjects/:.other:s{number}/versions", json=body).raise_for_status()
                self.waits.append(time.perf_counter() - began)
                number += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()


def restore(file: Path, target: str) -> tuple[float, float, float]:
    """Restore and verify; returns the seconds, those of its processor, and the peak memory of all so far in MiB."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "restore", str(file), "--to", target]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{target}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, after.ru_maxrss / 1024


@contextmanager
def memory(_folder: Path) -> Iterator[str]:
    with running_registry() as server:
        yield server.url


@contextmanager
def sqlite_url(folder: Path) -> Iterator[str]:
    with running_registry(f"sqlite:///{folder}/{uuid.uuid4()}.db") as server:
        yield server.url


@contextmanager
def sqlite(folder: Path) -> Iterator[str]:
    yield f"sqlite:///{folder}/{uuid.uuid4()}.db"


@contextmanager
def kafka_url(_folder: Path) -> Iterator[str]:
    with temporary_broker() as broker, running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers) as server:
        yield server.url


@contextmanager
def kafka(_folder: Path) -> Iterator[str]:
    with temporary_broker() as broker:
        yield f"kafka:{broker.bootstrap_servers}/{uuid.uuid4()}"


TARGETS: Mapping[str, Callable[[Path], object]] = {
    "memory": memory,
    "sqlite-url": sqlite_url,
    "kafka-url": kafka_url,
    "sqlite": sqlite,
    "kafka": kafka,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--target", action="append", choices=TARGETS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="magicbyte-bench-") as folder:
        file = Path(folder) / "backup.ndjson"
        write_backup(file, options.schemas)
        print(f"{options.schemas:,} schemas, {file.stat().st_size / 1e6:.0f} MB; goal {GOAL_SECONDS:.0f} s")
        for name in options.target or TARGETS:
            seconds: list[float] = []
            for _ in range(options.repeats):
                with TARGETS[name](Path(folder)) as target:  # type: ignore[attr-defined]
                    if target.startswith("http"):
                        with Writer(target) as writer:
                            took, processor, peak = restore(file, target)
                        waits = sorted(writer.waits)
                        median, longest = statistics.median(waits) * 1000, waits[-1] * 1000
                        waited = f"other writers: median {median:.0f} ms, longest {longest:.0f} ms"
                    else:
                        took, processor, peak = restore(file, target)
                        waited = ""
                    seconds.append(took)
            print(
                f"  {name:12} {statistics.median(seconds):6.1f} s  {processor:5.1f} s CPU  {peak:6.0f} MiB  {waited}",
                flush=True,
            )


if __name__ == "__main__":
    main()
