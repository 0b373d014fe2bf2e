"""The cost of a batch of a pipeline without steps, compared with Spark's own plan: fixed, and for each record.

Both ways read the same topics and write the same Parquet files, in turn, in batches of two sizes. The figures are the
seconds that Spark reports for each batch (`triggerExecution`): from asking the broker for offsets until the batch is in
the checkpoint. The first batch of each query and the first turns do not count: a pipeline runs for days, in a JVM that
has compiled its code.

Goals: a fixed part of at most 0.4 s more than by hand, and at most 1.2 times as much for each record.
"""

from __future__ import annotations

import argparse
import json
import statistics
import struct
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro

import spark_avro
from compat.schema import AVRO, SchemaText
from magicbyte.testing import running_registry, temporary_broker
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from spark_avro.pipeline.run.running import Running

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "carrier", "type": "string"},
            {"name": "origin", "type": "string"},
            {"name": "tail", "type": ["null", "string"]},
            {"name": "delay", "type": "double"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
)

#: Reads a topic in batches of so many records, and returns the query, which has ended.
Way = Callable[[str, int], Any]

#: The batches of a query that do not count: the first plans the query.
FIRST = 1


class Ways:
    """The ways from a topic to Parquet files."""

    def __init__(self, spark: SparkSession, servers: str, registry: str, folder: Path) -> None:
        self._spark, self._servers, self._registry, self._folder = spark, servers, registry, folder

    def by_hand(self, topic: str, records: int) -> Any:
        """Spark's own functions and its own sink."""
        folder = self._new_folder()
        options = {"kafka.bootstrap.servers": self._servers, "subscribe": topic, "startingOffsets": "earliest"}
        stream = self._spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger=str(records)).load()
        value = from_avro(F.expr("substring(value, 6)"), SCHEMA, {"mode": "PERMISSIVE"}).alias("value")
        position = F.struct("topic", "partition", "offset", "timestamp").alias("_kafka")
        writer = stream.select(value, position).select("value.*", "_kafka").writeStream.format("parquet")
        query = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
        started = query.start(f"{folder}/out")
        started.awaitTermination()
        return started

    def by_file(self, topic: str, records: int) -> Any:
        """A pipeline."""
        folder = self._new_folder()
        declared = {
            "version": 1,
            "name": f"bench-{folder.name}",
            "kafka": {"bootstrap.servers": self._servers},
            "registry": {"url": self._registry},
            "checkpoint": f"{folder}/checkpoint",
            "source": {"topics": [topic], "limit": {"records": records}},
            "sink": {"files": {"path": f"{folder}/out", "partition": [], "keep-position": True}},
        }
        file = folder / "pipeline.yaml"
        file.write_text(yaml.safe_dump(declared))
        queries: list[Any] = []
        pipeline = spark_avro.pipeline(file).file
        Running(pipeline, self._spark, on_batch=lambda _: queries.extend(self._spark.streams.active)).run()
        return queries[0]

    def _new_folder(self) -> Path:
        folder = self._folder / uuid.uuid4().hex[:8]
        folder.mkdir()
        return folder


def seconds_of_batches(query: Any, records: int) -> list[float]:
    """The seconds of each whole batch of a query, without the first ones."""
    whole = [progress for progress in query.recentProgress if progress["numInputRows"] == records]
    return [progress["durationMs"]["triggerExecution"] / 1000 for progress in whole[FIRST:]]


def fill(servers: str, topic: str, partitions: int, records: int, schema_id: int) -> None:
    """Create a topic and write records to its partitions in turn."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
    encode, prefix = compile_codec(SCHEMA).encode, struct.pack(">bI", 0, schema_id)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    for n in range(records):
        flight = {"id": n, "carrier": "UA", "origin": "EWR", "tail": f"N{n}", "delay": n * 0.5, "at": 1_600_000_000_000}
        producer.produce(topic, prefix + encode(flight), partition=n % partitions)
        if n % 10_000 == 0:
            producer.poll(0)
    producer.flush(60)


def shown(seconds: list[float]) -> str:
    """The median of some seconds, and their middle half."""
    ordered = sorted(seconds)
    quarter = len(ordered) // 4
    return f"{statistics.median(ordered):6.3f} s ({ordered[quarter]:.3f} to {ordered[-1 - quarter]:.3f})"


def compare(ways: dict[str, Way], topics: dict[int, str], repeats: int, warm_up: int) -> None:
    """Run all ways on all topics in turn, and print seconds, fixed part and slope of each."""
    taken: dict[tuple[str, int], list[float]] = {(name, size): [] for name in ways for size in topics}
    for turn in range(warm_up + repeats):
        for size, topic in topics.items():
            for name in sorted(ways, reverse=turn % 2 == 1):
                seconds = seconds_of_batches(ways[name](topic, size), size)
                if turn >= warm_up:
                    taken[name, size] += seconds
                print(f"turn {turn + 1:2} {name:18} {size:7,} records {shown(seconds)}", file=sys.stderr, flush=True)
    for (name, size), seconds in taken.items():
        print(f"{name:18} {size:7,} records {shown(seconds)} in {len(seconds)} batches", flush=True)
    parts: dict[str, tuple[float, float]] = {}
    small, large = topics
    for name in ways:
        at_small, at_large = (statistics.median(taken[name, size]) for size in (small, large))
        slope = (at_large - at_small) / (large - small)
        parts[name] = at_small - slope * small, slope
        print(f"{name:18} fixed {parts[name][0]:.3f} s, {slope * 1e6:.2f} s for a million records", flush=True)
    (hand, hand_slope), (ours, our_slope) = (parts[name] for name in ways)
    print(f"fixed {ours - hand:+.3f} s (goal +0.4), slope {our_slope / hand_slope:.2f} x (goal 1.2)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs=2, default=(1_000, 50_000), help="records of a batch")
    parser.add_argument("--batches", type=int, default=6, help="batches of a query")
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--warm-up", type=int, default=3, help="turns that do not count")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    settings = {"spark.driver.memory": "2g", "spark.log.level": "OFF"}
    spark = spark_avro.session("bench", master="local[2]", settings=settings)
    with tempfile.TemporaryDirectory() as folder, temporary_broker() as broker, running_registry() as registry:
        servers = broker.bootstrap_servers
        topics: dict[int, str] = {}
        for size in options.sizes:
            topics[size] = f"flights-{size}-{uuid.uuid4()}"
            schema_id = RegistryClient(registry.url).register(f"{topics[size]}-value", SchemaText(AVRO, SCHEMA)).id
            fill(servers, topics[size], options.partitions, size * options.batches, schema_id)
        ways = Ways(spark, servers, registry.url, Path(folder))
        both: dict[str, Way] = {"Spark's own plan": ways.by_hand, "a pipeline's file": ways.by_file}
        compare(both, topics, options.repeats, options.warm_up)
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
