"""Pipelines that remember rows, killed with -9: windows and joined rows are in both targets once.

    python tests/chaos/pipeline_state.py [--kills 20] [--seed 1] [--short]

One driver runs `deduplicate` with `window`, and a `join` of two streams; each pipeline writes to a table of SQLite and
to Parquet files. The driver is killed at named points of a batch, and at random moments within batches. Between a crash
and the repeat, a newer schema is registered and used, and an id that the registry lacked is made known. Records that
make a step fail are in the batches. A third pipeline begins without state and is handed over by `--new-state`, with
kills before and after the pointer to the new query is replaced.

At the end, plain Python works out the rows of both targets from what was produced. The dead letters must be those of
the records that are in no row. Everything is read by code that shares nothing with pipelines. Ends with 1 if any of
this does not hold.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from magicbyte.testing import running_registry, temporary_broker
from serdes.client.clients import RegistryClient
from tests.chaos.kit.state_driver import Driver, Pipeline
from tests.chaos.kit.state_records import LAST, NEAR, WINDOW, Ids, Place, Topic, joined, letters, windows

#: Records of a batch of one topic; of a round between two kills.
BATCH, ROUND = 60, 80
POINTS = ("materialised", "letters", "sink-1", "sink-2", "faults")
SHORT = ("windows:sink-1", "joined:sink-1", "windows:faults")
#: The points of a hand-over by --new-state, in the order in which they are tried.
HAND_OVER = ("pointer-before", "pointer-after", "aligned", "sink-1")

LATE = "30m"
CAST = {"select": ["id", "k", "at", "v", "cast(t as int) as t"]}
#: The same for a target whose column `v` cannot be widened.
WIDE = {"select": ["id", "k", "at", "cast(v as bigint) as v", "cast(t as int) as t"]}
DEDUPLICATE = {"deduplicate": {"by": "id", "time": "at", "within": LATE}}
AGGREGATES = ["count(*) as n", "sum(v) as total", "sum(t) as ts"]
STEPS = {
    "windows": [
        CAST,
        DEDUPLICATE,
        {"window": {"time": "at", "size": f"{WINDOW}s", "late": LATE, "group": "k", "aggregate": AGGREGATES}},
        {"select": ["unix_seconds(window_start) as w", "k", "n", "total", "ts"]},
    ],
    # Spark leaves out an expression that no sink needs, so `t` goes there.
    "joined": [
        {"select": ["id as ordered", "k", "at", "cast(t as int) as t"]},
        {
            "join": {
                "stream": "pays",
                "on": ["k"],
                "within": f"{NEAR}s",
                "time": "at",
                "stream-time": "at",
                "late": LATE,
                "how": "left",
            }
        },
        {"select": ["ordered", "k", "id as paid", "t"]},
    ],
}


@dataclass(slots=True)
class World:
    """The servers, the topics, and the pipelines."""

    folder: Path
    servers: str
    registry: str
    chance: random.Random
    ids: Ids = field(init=False)
    topics: dict[str, Topic] = field(default_factory=dict)
    well: bool = True

    def __post_init__(self) -> None:
        self.ids = Ids(RegistryClient(self.registry))

    def topic(self, name: str) -> Topic:
        """Make a topic."""
        self.topics[name] = Topic(name, self.servers, self.ids, self.chance)
        self.topics[name].create()
        return self.topics[name]

    def pipeline(self, name: str, topic: str, columns: Sequence[str]) -> Pipeline:
        return Pipeline(self.folder / name, topic, columns)

    def settle(self, pipeline: Pipeline) -> dict[str, int]:
        """Decide the records with an unknown id; no driver runs."""
        return self.topics[pipeline.topic].settle(pipeline.committed(), pipeline.begun())

    def compare(self, pipeline: Pipeline, expected: list[tuple[Any, ...]], key: str = "k") -> None:
        """Compare both targets and the dead letters of a pipeline with what they must be."""
        topic = self.topics[pipeline.topic]
        place = list(pipeline.columns).index(key)
        for name, rows in pipeline.targets().items():
            found = Counter(row for row in rows if not str(row[place]).startswith(LAST))
            wanted = Counter(expected)
            problems = [
                f"{what}: {sum(some.values())}, such as {sorted(some, key=str)[:3]}"
                for what, some in (("missing", wanted - found), ("too many", found - wanted))
                if some
            ]
            self.report(f"{pipeline.name}, {name}", problems, f"{len(expected)} rows")
        found_letters, must = self.letters(pipeline), topic.dead()
        problems = [
            f"{what}: {len(some)}, such as {sorted(some)[:3]}"
            for what, some in (("missing", must - found_letters), ("too many", found_letters - must))
            if some
        ]
        self.report(f"{pipeline.name}, dead letters", problems, f"those of {len(must)} records")

    def letters(self, pipeline: Pipeline) -> set[Place]:
        return set(letters(self.servers, pipeline.letters))

    def report(self, what: str, problems: Sequence[str], holds: str) -> None:
        self.well &= not problems
        print(f"{what}: {'; '.join(problems) or holds}", flush=True)


def kill_batches(world: World, points: Sequence[str], kills: int) -> None:
    """Kill the driver of two pipelines at named points and at random, and compare their targets."""
    for name in ("events", "orders", "pays"):
        world.topic(name)
    pipelines = {
        "windows": world.pipeline("windows", "events", ("w", "k", "n", "total", "ts")),
        "joined": world.pipeline("joined", "orders", ("ordered", "k", "paid")),
    }
    pipelines["windows"].declare(world.servers, world.registry, STEPS["windows"], BATCH)
    streams = {"pays": {"topics": ["pays"]}}
    pipelines["joined"].declare(world.servers, world.registry, STEPS["joined"], 2 * BATCH, streams)
    driver = Driver(world.folder, list(pipelines.values()), world.chance)
    produce(world, 2 * ROUND)
    driver.finish()
    for number, way in enumerate([*points, *["random"] * kills]):
        started = time.monotonic()
        name, _, point = way.rpartition(":")
        pipeline = pipelines[name] if name else list(pipelines.values())[number % 2]
        running = crashed(world, driver, pipeline, point)
        settled = {pipeline.topic: world.settle(pipeline) for pipeline in pipelines.values()}
        world.ids.make_known()
        if number % 3 == 2:
            for topic in world.topics.values():
                topic.register()
        found = f"killed within a batch ({time.monotonic() - started:.0f} s; of an unknown id: {settled})"
        problems = [] if running else ["NOT within a batch"]
        world.report(f"{number + 1}. {pipeline.name}, {point}", problems, found)
    for topic in world.topics.values():
        topic.produce_last()
    driver.finish()
    for pipeline in pipelines.values():
        world.topics[pipeline.topic].decide(world.letters(pipeline))
    events, orders, pays = (world.topics[name].rows() for name in ("events", "orders", "pays"))
    world.compare(pipelines["windows"], windows(events))
    keys = {row["id"]: row["k"] for row in orders}
    world.compare(pipelines["joined"], [(ordered, keys[ordered], paid) for ordered, paid in joined(orders, pays)])


def crashed(world: World, driver: Driver, pipeline: Pipeline, point: str) -> bool:
    """Produce a round of records, and kill the driver; whether a batch was running.

    A kill at a random moment may come between two batches, and then is tried again.
    """
    ways: dict[str, Callable[[Pipeline], bool]] = {
        "random": driver.kill_at_random,
        "commit": driver.kill_in_commit,
    }
    produce(world, ROUND)
    if point in ways:
        while not ways[point](pipeline):
            produce(world, ROUND)
        return True
    driver.crash(pipeline, point)
    return pipeline.is_within_batch()


def produce(world: World, count: int) -> None:
    world.topics["events"].produce(count)
    world.topics["orders"].produce(count, key="p", repeats=False)
    world.topics["pays"].produce(count, key="p", repeats=False, odd=False)


def hand_over(world: World, points: Sequence[str]) -> None:
    """Give state to a pipeline that had none, with kills in between, while a batch of it is unfinished."""
    topic = world.topic("handed")
    pipeline = world.pipeline("handed", "handed", ("id", "k", "v", "t"))
    pipeline.declare(world.servers, world.registry, [WIDE], BATCH)
    driver = Driver(world.folder, [pipeline], world.chance)
    topic.produce(2 * BATCH, repeats=False)
    driver.finish()
    world.settle(pipeline)
    world.ids.make_known()
    topic.produce(BATCH, repeats=False, odd=False)
    driver.crash(pipeline, "sink-1")
    world.report("handed, without state", [] if pipeline.is_within_batch() else ["NOT within a batch"], "killed")
    # Repeats of the unfinished batch, which the new state begins with.
    topic.produce(2 * BATCH)
    pipeline.declare(world.servers, world.registry, [WIDE, DEDUPLICATE], BATCH)
    for point in points:
        driver.crash(pipeline, point, "--new-state")
        is_new = pipeline.query() != pipeline.checkpoint
        problems = [] if pipeline.is_within_batch() else ["NOT within a batch"]
        problems += [] if is_new == (point != "pointer-before") else [f"a new query: {is_new}"]
        world.report(f"handed, {point}", problems, "killed")
    world.settle(pipeline)
    world.ids.make_known()
    driver.finish()
    topic.decide(world.letters(pipeline))
    rows = [(row["id"], row["k"], row["v"], int(row["t"])) for row in topic.rows()]
    world.compare(pipeline, sorted(rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="kills at random moments")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="a few points, and one kill at random")
    parser.add_argument("--at", action="append", metavar="PIPELINE:POINT", help="only these points")
    parser.add_argument("--part", choices=("batches", "hand-over"), help="only this part")
    options = parser.parse_args()
    every = [f"{name}:{point}" for point in (*POINTS, "commit") for name in STEPS]
    if unknown := set(options.at or ()) - set(every):
        parser.error(f"there is no point {min(unknown)}, only {', '.join(every)}")
    with (
        tempfile.TemporaryDirectory(prefix="magicbyte-state-") as folder,
        temporary_broker() as broker,
        running_registry() as registry,
    ):
        servers, chance = broker.bootstrap_servers, random.Random(options.seed)
        world = World(Path(folder), servers, registry.url, chance)
        if options.part != "batches":
            hand_over(world, HAND_OVER[:2] if options.short else HAND_OVER)
        if options.part != "hand-over":
            world = World(Path(folder), servers, registry.url, chance, well=world.well)
            points = options.at or (SHORT if options.short else every)
            kill_batches(world, points, 1 if options.short else options.kills)
        return 0 if world.well else 1


if __name__ == "__main__":
    sys.exit(main())
