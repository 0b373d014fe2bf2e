"""Pipelines under faults other than kills: each row is in each target once, with its value, or the run is refused.

    python tests/chaos/pipeline_restored.py [--short]

One pipeline writes to Parquet files, Delta, Iceberg, SQLite, PostgreSQL and two topics. It crashes at named points
(after each sink, and before each kind of marker). It is renamed, and its sinks change places. Snapshots are expired and
files vacuumed between crash and repeat. An older copy of the checkpoint is restored, and two copies run in turn. The
source topic is deleted and made again. After each fault all targets are compared, value by value, by readers that share
no code with pipelines. Ends with 1 if any of this does not hold.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import temporary_broker
from tests.chaos.kit import bare_readers
from tests.chaos.kit.bare_readers import Pairs
from tests.chaos.kit.pipeline_targets import PostgreSQL

KILLED = -9
SOURCE = "numbers"
PARTITIONS = 2
SINKS = 7
POINTS = (
    *(f"sink:{number}" for number in range(1, SINKS + 1)),
    *("marker:files", "marker:iceberg", "marker:sql", "marker:kafka"),
)
#: The points of the short form: between two sinks, after the last one, and before the markers that follow the rows.
SHORT = ("sink:3", "sink:7", "marker:iceberg")

_SPARK = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.log.level": "OFF",
}


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
    _readers: Mapping[str, Callable[[], Pairs]] = field(init=False)

    def __post_init__(self) -> None:
        folder = self.folder
        self._readers = {
            "parquet": lambda: bare_readers.parquet_folder(folder / "files"),
            "delta": lambda: bare_readers.delta_table(folder / "delta"),
            "iceberg": lambda: bare_readers.iceberg_table(folder / "warehouse/db/rows_here"),
            "sqlite": lambda: bare_readers.sqlite_table(folder / "rows.db"),
            "postgresql": lambda: bare_readers.postgresql_table(self.postgresql),
            "kafka": lambda: bare_readers.topic(self.servers, "out-one"),
            "kafka, second topic": lambda: bare_readers.topic(self.servers, "out-two"),
        }

    @property
    def checkpoint(self) -> Path:
        return self.folder / self.checkpoint_name

    def write_file(self) -> Path:
        topics = [{"kafka": {"topic": f"out-{name}", "value": {"format": "json-plain"}}} for name in ("one", "two")]
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
            "spark": _SPARK,
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

    def produce(self, count: int = 80) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        for n in range(self.produced, self.produced + count):
            producer.produce(SOURCE, json.dumps({"n": n, "v": f"v{n * 7}"}).encode(), partition=n % PARTITIONS)
        assert producer.flush(60) == 0
        self.produced += count

    def run(self, *options: str) -> tuple[int, str]:
        """The exit code and output of a driver."""
        script = Path(__file__).parent / "kit/pipeline_crashing.py"
        run = subprocess.run(
            [sys.executable, "-P", str(script), str(self.write_file()), *options],
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
            timeout=1800,
        )
        return run.returncode, run.stdout + run.stderr

    def forget_commit(self) -> None:
        """Crash between the sinks and the checkpoint: the last batch is repeated."""
        last = max(int(file.name) for file in (self.checkpoint / "commits").iterdir() if file.name.isdecimal())
        for file in (self.checkpoint / "commits").glob(f"*{last}*"):
            file.unlink()

    def expect(self, what: str, code: int, run: tuple[int, str], text: str = "") -> None:
        """Compare exit code, output and all targets."""
        expected = [(n, f"v{n * 7}") for n in range(self.produced)]
        problems = [] if run[0] == code and text in run[1] else [f"ended with {run[0]}: {run[1][-1500:]}"]
        # A driver that was killed may have written to some targets only.
        for name, read in self._readers.items() if code != KILLED else ():
            pairs = read()
            if pairs != expected:
                problems.append(f"{name}: {len(pairs)} rows, {len(set(pairs))} distinct, of {len(expected)}")
        self.well &= not problems
        print(f"{what}: {'; '.join(problems) or f'{len(expected)} rows in each target'}", flush=True)


def crash(world: World, points: tuple[str, ...]) -> None:
    """Crash at each point, and go on."""
    for point in points:
        world.produce()
        world.expect(f"crash at {point}", KILLED, world.run("--crash", point))
        world.expect(f"repeat after {point}", 0, world.run())


def rename(world: World) -> None:
    """Rename the pipeline and turn its sinks round after a crash."""
    world.forget_commit()
    world.name, world.is_reversed = "renamed", True
    world.expect("renamed, sinks reordered", 0, world.run())


def maintain(world: World) -> None:
    """Expire snapshots and vacuum between crash and repeat."""
    world.forget_commit()
    tables = (str(world.folder / "delta"), "lake.db.rows_here")
    world.expect("expired and vacuumed", 0, world.run("--maintain", *tables))


def restore(world: World) -> None:
    """Restore an older copy of the checkpoint, whose next batch has other offsets; then the newest one."""
    older, newest = world.folder / "older", world.folder / "newest"
    shutil.copytree(world.checkpoint, older)
    world.produce()
    world.expect("further batches", 0, world.run())
    world.checkpoint.rename(newest)
    shutil.copytree(older, world.checkpoint)
    # Nothing is written, and the refusal names the way out.
    world.expect("older copy", 1, world.run(), "source.start: {numbers: {0: ")
    world.expect("older copy, --adopt", 1, world.run("--adopt"), "older copy")
    shutil.rmtree(world.checkpoint)
    newest.rename(world.checkpoint)
    world.produce()
    world.expect("newest copy", 0, world.run())


def copy(world: World) -> None:
    """Run two copies of a checkpoint in turn: the same batch is skipped, and the copy that is behind is refused."""
    first, second = world.checkpoint_name, "copied"
    shutil.copytree(world.checkpoint, world.folder / second)
    world.produce(40)
    world.expect("one batch of the original", 0, world.run())
    world.checkpoint_name = second
    world.expect("the same batch of a copied checkpoint", 0, world.run())
    world.produce()
    world.expect("further batches of the copy", 0, world.run())
    world.checkpoint_name = first
    world.expect("the original, behind its copy", 1, world.run(), "older copy")
    world.checkpoint_name = second


def recreate(world: World) -> None:
    """Delete the source topic and make it again, longer than before."""
    admin = AdminClient({"bootstrap.servers": world.servers})
    admin.delete_topics([SOURCE], operation_timeout=30)[SOURCE].result(60)
    deadline = time.monotonic() + 60
    while SOURCE in admin.list_topics(timeout=30).topics and time.monotonic() < deadline:
        time.sleep(0.1)
    create_source(admin)
    before = world.produced
    world.produced = 10_000
    world.produce(before + 200)
    world.produced = before
    world.expect("topic made again", 1, world.run(), "deleted and made again")
    # A checkpoint without topic ids does not notice, but the markers do. `report` must not go on from such offsets.
    shutil.rmtree(world.checkpoint / "_magicbyte/topics")
    world.policy = "report"
    world.expect("topic made again, ids lost", 1, world.run(), "Start with a new checkpoint")


def create_source(admin: Any) -> None:
    admin.create_topics([NewTopic(SOURCE, PARTITIONS, 1)])[SOURCE].result(60)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="crash at three points only")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="magicbyte-restored-") as folder,
        tempfile.TemporaryDirectory(prefix="magicbyte-postgresql-") as database,
        temporary_broker() as broker,
    ):
        postgresql = PostgreSQL(Path(database))
        try:
            world = World(Path(folder), broker.bootstrap_servers, postgresql.url("restored"))
            create_source(AdminClient({"bootstrap.servers": world.servers}))
            world.produce()
            world.expect("first run", 0, world.run())
            rename(world)
            maintain(world)
            restore(world)
            copy(world)
            crash(world, SHORT if options.short else POINTS)
            recreate(world)
        finally:
            postgresql.close()
    return 0 if world.well else 1


if __name__ == "__main__":
    sys.exit(main())
