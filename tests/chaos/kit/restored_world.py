"""A pipeline with a sink of each kind, its servers, and a comparison of its targets with what was produced."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.chaos.kit import bare_readers
from tests.chaos.kit.bare_readers import Row
from tests.chaos.kit.pipeline_driver import SPARK

KILLED = -9
SOURCE = "numbers"
PARTITIONS = 2
#: The targets in the order of the file.
TARGETS = ("parquet", "delta", "iceberg", "sqlite", "postgresql", "kafka", "kafka, executors")
#: The targets with each kind of marker. Files and Iceberg write theirs after the rows are there.
MARKERS = {"files": TARGETS[:1], "iceberg": TARGETS[2:3], "sql": TARGETS[3:5], "kafka": TARGETS[5:6]}
AFTER_ROWS = ("files", "iceberg")
#: The points of the writers on executors: nothing, one or all of them have committed.
WRITERS = ("stage", "writer:1", "writer:2")
POINTS = (
    *(f"sink:{number}" for number in range(1, len(TARGETS) + 1)),
    *(f"marker:{kind}" for kind in MARKERS),
    *WRITERS,
)


@dataclass(frozen=True, slots=True)
class Run:
    """A driver that has ended: exit code, output, duration, and the records of its batches by the checkpoint."""

    code: int
    output: str
    seconds: float
    read: int

    def end(self) -> str:
        return f"ended with {self.code}: {self.output[-1500:]}"

    def problems(self, code: int, text: str) -> list[str]:
        """The problems with the exit code, the output, and the counts that a run without an error reports."""
        counts = f"read={self.read} written={self.read} dead=0" if code == 0 else ""
        return [] if self.code == code and text in self.output and counts in self.output else [self.end()]


@dataclass(slots=True)
class World:
    """The pipeline, its servers and its targets."""

    folder: Path
    servers: str
    postgresql: str
    name: str = "restored"
    checkpoint_name: str = "checkpoint"
    is_reversed: bool = False
    policy: str = "fail"
    produced: int = 0
    well: bool = True
    _readers: Mapping[str, Callable[[], list[Row]]] = field(init=False)

    def __post_init__(self) -> None:
        folder, columns = self.folder, ("n", "v")
        self._readers = {
            "parquet": lambda: bare_readers.files_folder(folder / "files", "parquet", columns),
            "delta": lambda: bare_readers.delta_table(folder / "delta", columns),
            "iceberg": lambda: bare_readers.iceberg_table(folder / "warehouse/db/rows_here", columns),
            "sqlite": lambda: bare_readers.sqlite_table(folder / "rows.db", "rows_here", columns),
            "postgresql": lambda: bare_readers.postgresql_table(self.postgresql, "rows_here", columns),
            "kafka": lambda: bare_readers.topic(self.servers, "out-one", columns),
            "kafka, executors": lambda: bare_readers.topic(self.servers, "out-two", columns),
        }

    @property
    def checkpoint(self) -> Path:
        return self.folder / self.checkpoint_name

    @property
    def tables(self) -> tuple[str, str]:
        """The tables that can be maintained: Delta's folder and Iceberg's name."""
        return str(self.folder / "delta"), "lake.db.rows_here"

    def rename(self) -> None:
        self.name, self.is_reversed = "renamed", True

    def write_file(self) -> Path:
        ways: dict[str, dict[str, Any]] = {"one": {}, "two": {"via": "executors", "writers": 2}}
        value = {"format": "json-plain"}
        topics = [{"kafka": {"topic": f"out-{name}", "value": value, **way}} for name, way in ways.items()]
        catalog = {"type": "hadoop", "warehouse": str(self.folder / "warehouse")}
        databases = (f"sqlite:///{self.folder}/rows.db", self.postgresql)
        sinks = [
            {"files": {"path": str(self.folder / "files"), "partition": []}},
            {"delta": {"path": str(self.folder / "delta")}},
            {"iceberg": {"table": "lake.db.rows_here", "catalog": catalog}},
            *({"sql": {"url": url, "table": "rows_here"}} for url in databases),
            *topics,
        ]
        file = self.folder / "pipeline.yaml"
        declared = {
            "version": 1,
            "name": self.name,
            "kafka": {"bootstrap.servers": self.servers},
            "checkpoint": str(self.checkpoint),
            "spark": SPARK,
            "source": {
                "topics": [SOURCE],
                "value": {"format": "json-plain", "type": "n bigint, v string"},
                "limit": {"records": 50},
                "on-data-loss": self.policy,
            },
            "sinks": sinks[::-1] if self.is_reversed else sinks,
        }
        file.write_text(yaml.safe_dump(declared, sort_keys=False))
        return file

    def create_source(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.create_topics([NewTopic(SOURCE, PARTITIONS, 1)])[SOURCE].result(60)

    def recreate_source(self) -> None:
        """Delete the topic and make it again, longer than before, with records that no target may get."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.delete_topics([SOURCE], operation_timeout=30)[SOURCE].result(60)
        deadline = time.monotonic() + 60
        while SOURCE in admin.list_topics(timeout=30).topics and time.monotonic() < deadline:
            time.sleep(0.1)
        self.create_source()
        before, self.produced = self.produced, 10_000
        self.produce(before + 200)
        self.produced = before

    def produce(self, count: int = 80) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        for n in range(self.produced, self.produced + count):
            producer.produce(SOURCE, json.dumps({"n": n, "v": f"v{n * 7}"}).encode(), partition=n % PARTITIONS)
        assert producer.flush(60) == 0
        self.produced += count

    def run(self, *options: str) -> Run:
        """Run a driver to the end of the source."""
        start, before = time.monotonic(), self._end("commits")
        script = Path(__file__).parent / "pipeline_crashing.py"
        run = subprocess.run(
            [sys.executable, "-P", str(script), str(self.write_file()), *options],
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
            timeout=1800,
        )
        read = self._end("offsets") - before
        return Run(run.returncode, run.stdout + run.stderr, time.monotonic() - start, read)

    def _end(self, folder: str) -> int:
        """The number of records in the batches up to the last one that a folder of the checkpoint has."""
        numbers = [int(file.name) for file in (self.checkpoint / folder).glob("[0-9]*") if file.name.isdecimal()]
        if not numbers:
            return 0
        text = (self.checkpoint / f"offsets/{max(numbers)}").read_text()
        return sum(json.loads(text.splitlines()[-1])[SOURCE].values())

    def read(self) -> dict[str, list[Row]]:
        """The rows of each target, sorted; none if it does not exist yet."""
        return {name: sorted(self._readers[name]()) for name in TARGETS}

    def forget_commit(self) -> None:
        """Crash between the sinks and the checkpoint: the last batch is repeated."""
        last = max(int(file.name) for file in (self.checkpoint / "commits").iterdir() if file.name.isdecimal())
        for file in (self.checkpoint / "commits").glob(f"*{last}*"):
            file.unlink()

    def expect(self, what: str, code: int, run: Run, text: str = "") -> None:
        """Compare a driver's exit code, output and counts, and all targets."""
        expected = [(n, f"v{n * 7}") for n in range(self.produced)]
        problems = run.problems(code, text)
        for name, rows in self.read().items():
            if rows != expected:
                problems.append(f"{name}: {len(rows)} rows, {len(set(rows))} distinct, of {len(expected)}")
        refused = "refused, " if code else ""
        self.report(what, run, problems, f"{refused}{len(expected)} rows in each target")

    def stop(self, what: str, run: Run, text: str) -> None:
        """Compare the exit code and output of a driver that is refused by one target, after others have the batch."""
        self.report(what, run, run.problems(1, text), "refused")

    def crash(self, what: str, point: str) -> None:
        """Crash at a point of the next batch: the sinks before it have the batch, and the others do not."""
        before = {name: len(rows) for name, rows in self.read().items()}
        run = self.run("--crash", point)
        written = [name for name, rows in self.read().items() if len(rows) > before[name]]
        expected = written_at(point, TARGETS[::-1] if self.is_reversed else TARGETS)
        problems = [] if run.code == KILLED else [run.end()]
        if set(written) != set(expected):
            problems.append(f"written to {', '.join(written)}, not {', '.join(expected)}")
        self.report(what, run, problems, "killed")

    def report(self, what: str, run: Run, problems: list[str], holds: str) -> None:
        self.well &= not problems
        print(f"{what}: {'; '.join(problems) or holds} ({run.seconds:.0f} s)", flush=True)


def written_at(point: str, order: Sequence[str]) -> Sequence[str]:
    """The targets that have a batch at a point of its crash."""
    kind, _, name = point.partition(":")
    if kind == "sink":
        return order[: int(name)]
    if kind in ("stage", "writer"):
        return order[: order.index("kafka, executors") + (kind == "writer")]
    first = min(order.index(target) for target in MARKERS[name])
    return order[: first + (name in AFTER_ROWS)]
