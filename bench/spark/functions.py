"""Decoding and encoding on Spark: microseconds of CPU a row of the whole process tree, interleaved in one run.

Every row's ways take turns, each time in another order, on the same Parquet file of messages (9 fields, about 80
bytes), written to `noop`; JVM and Python workers are counted, and reading the file is part of each. Columns: the median
and the middle half, then the same of the ratio to the way it is compared with, taken turn by turn, since what slows the
machine for a while slows both. Each run plans its query, and the first dozens pay the JVM's compilers: take many rows.
`--only guard` adds one after the other what finds broken payloads.
Then the time to plan for a subject of 100 versions, and with `--only kafka` a topic to Parquet beside from_avro.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fastavro
import pandas as pd
import processor_time
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro, to_avro

import spark_avro
from compat.schema import AVRO, SchemaText
from magicbyte.testing import running_registry, temporary_broker
from serdes.client.clients import RegistryClient
from serdes.message import wire
from spark_avro.plan import tree as trees
from spark_avro.plan.guard import shape
from spark_avro.registry import parsed_text

FIELDS: list[tuple[str, Any]] = [
    ("id", "long"),
    ("carrier", "string"),
    ("origin", "string"),
    ("destination", "string"),
    ("tail", ["null", "string"]),
    ("seats", "int"),
    ("delay", "double"),
    ("cancelled", "boolean"),
    ("at", {"type": "long", "logicalType": "timestamp-millis"}),
]


def schema(version: int) -> str:
    """The schema of a version, from 1: each has a field more than the one before, with a default."""
    fields = [{"name": name, "type": kind} for name, kind in FIELDS]
    fields += [{"name": f"extra{n}", "type": ["null", "int"], "default": None} for n in range(1, version)]
    return json.dumps({"type": "record", "name": "Flight", "fields": fields})


def messages(ids: list[int], versions: list[int], count: int) -> Iterator[bytes]:
    """So many messages, by turns of the given ids and versions."""
    writers = [fastavro.parse_schema(json.loads(schema(version))) for version in versions]
    for n in range(count):
        datum = {
            "id": n * 1_000_003,
            "carrier": "United Air Lines Inc.",
            "origin": "EWR",
            "destination": "IAH",
            "tail": f"N{n % 100000}" if n % 2 else None,
            "seats": n % 400,
            "delay": n * 0.5,
            "cancelled": n % 3 == 0,
            "at": 1_600_000_000_000 + n,
            **{f"extra{i}": n for i in range(1, versions[n % len(versions)])},
        }
        out = io.BytesIO(struct.pack(">bI", 0, ids[n % len(ids)]))
        out.seek(5)
        fastavro.schemaless_writer(out, writers[n % len(writers)], datum)
        yield out.getvalue()


class Bench:
    """Ways to compare, on files of messages."""

    def __init__(self, spark: SparkSession, registry: RegistryClient, folder: str, rows: int) -> None:
        self.spark = spark
        self.registry = registry
        self.folder = folder
        self.rows = rows
        self.ids = {}
        for versions in (1, 3, 10):
            subject = f"bench{versions}-value"
            self.ids[versions] = [
                registry.register(subject, SchemaText(AVRO, schema(v))).id for v in range(1, versions + 1)
            ]
            self._write(f"all{versions}", messages(self.ids[versions], list(range(1, versions + 1)), 20_000))
            self._write(f"newest{versions}", messages(self.ids[versions][-1:], [versions], 20_000))

    def _write(self, name: str, values: Iterator[bytes]) -> None:
        table = pa.table({"value": pa.array(list(values), pa.binary())})
        repeated = pa.concat_tables([table] * max(1, self.rows // 2 // table.num_rows))
        for part in range(2):
            Path(self.folder, name).mkdir(exist_ok=True)
            pq.write_table(repeated, f"{self.folder}/{name}/{part}.parquet", use_dictionary=False)
        self.rows = repeated.num_rows * 2

    def read(self, name: str) -> DataFrame:
        """The messages of a file."""
        return self.spark.read.parquet(f"{self.folder}/{name}")

    def bare(self, versions: int) -> Column:
        """Spark's own, with the newest schema hard-coded."""
        return from_avro(F.expr("substring(value, 6)"), schema(versions), {"mode": "FAILFAST"})

    def ours(self, versions: int, **more: Any) -> Column:
        """from_confluent_avro."""
        return spark_avro.from_confluent_avro("value", subject=f"bench{versions}-value", registry=self.registry, **more)

    def fastavro_udf(self) -> Column:
        """The usual way: a pandas UDF around fastavro."""
        text = schema(1)

        def decode(values: pd.Series) -> pd.DataFrame:
            parsed = fastavro.parse_schema(json.loads(text))
            return pd.DataFrame([fastavro.schemaless_reader(io.BytesIO(value[5:]), parsed) for value in values])

        decode.__annotations__ = {"values": pd.Series, "return": pd.DataFrame}
        nullable = from_avro(F.expr("substring(value, 6)"), text, {"mode": "PERMISSIVE"})
        kind = self.read("all1").select(nullable.alias("v")).schema["v"].dataType
        return F.pandas_udf(decode, kind)("value")  # type: ignore[call-overload,unused-ignore]

    def udf(self) -> Column:
        """Ours."""
        return spark_avro.confluent_avro_udf("value", subject="bench1-value", registry=self.registry)


def run(data: DataFrame) -> tuple[float, float]:
    """Seconds of CPU and of the clock that a query takes."""
    before, start = processor_time.of_children(), time.perf_counter()
    data.write.format("noop").mode("overwrite").save()
    return processor_time.of_children() - before, time.perf_counter() - start


Way = tuple[str, Callable[[], DataFrame], str | None]


def ways(bench: Bench) -> list[Way]:
    """A name, the query, and the name of what it is compared with."""
    queries: list[Way] = [("reading alone", lambda: bench.read("all1").select(F.octet_length("value")), None)]
    for versions in (1, 3, 10):
        bare = f"from_avro, schema of version {versions}"
        queries += [
            (bare, lambda v=versions: bench.read(f"newest{v}").select(bench.bare(v)), None),
            (f"ours, {versions} versions", lambda v=versions: bench.read(f"all{v}").select(bench.ours(v)), bare),
        ]
    one = "from_avro, schema of version 1"
    decoded = lambda column: bench.read("all1").select(column.alias("v"))  # noqa: E731 - short
    queries += [
        ("from_avro, then where", lambda: decoded(bench.bare(1)).where("v.seats > 5"), one),
        (
            "from_confluent_avro, then where",
            lambda: decoded(bench.ours(1)).where("v.seats > 5"),
            "from_avro, then where",
        ),
        ("ours, 2 fields", lambda: decoded(bench.ours(1, fields=["id", "delay"])), one),
        ("confluent_avro_udf", lambda: decoded(bench.udf()), one),
        ("pandas UDF with fastavro", lambda: decoded(bench.fastavro_udf()), "confluent_avro_udf"),
    ]
    return queries


def guards(bench: Bench) -> list[Way]:
    """The steps that find broken payloads, one after the other, each compared with bare from_avro."""
    bare, [schema_id] = "from_avro", bench.ids[1]
    reader = trees.tree(parsed_text(schema(1)), "version 1", reader=True)
    around = shape(reader, [reader])
    body, header = F.expr("substring(value, 6)"), F.expr("substring(value, 1, 5)")
    size = F.octet_length("value") + F.lit(len(around.suffix) - 5)
    padded = F.call_function("rpad", body, size, F.lit(around.suffix))
    tested = F.when(header == F.lit(wire.prefix(schema_id)), padded)
    options = {"mode": "PERMISSIVE", "avroSchema": trees.text(around.reader(reader))}
    guarded = trees.text(around.writer(reader))
    steps = {
        bare: from_avro(body, schema(1), {"mode": "FAILFAST"}),
        "mode PERMISSIVE": from_avro(body, schema(1), {"mode": "PERMISSIVE"}),
        "and four bytes after the payload": from_avro(padded, schema(1), {"mode": "PERMISSIVE"}),
        "and the schema's fields for them": from_avro(padded, guarded, options),
        "and the header's id compared": from_avro(tested, guarded, options),
        "from_confluent_avro": bench.ours(1),
    }
    query = lambda column: bench.read("all1").select(column)  # noqa: E731 - short
    return [(name, partial(query, column), None if name == bare else bare) for name, column in steps.items()]


def encoders(bench: Bench) -> list[Way]:
    """The same for encoding, from a file of structs."""
    path = f"{bench.folder}/structs"
    bench.read("all1").select(bench.bare(1).alias("v")).write.mode("overwrite").parquet(path)
    read = lambda: bench.spark.read.parquet(path)  # noqa: E731 - short

    def ours() -> DataFrame:
        settings = {"subject": "bench1-value", "registry": bench.registry, "schema": schema(1), "data": read()}
        return read().select(spark_avro.to_confluent_avro("v", **settings))

    return [
        ("reading alone", lambda: read().select("v"), None),
        ("to_avro", lambda: read().select(to_avro("v", schema(1))), None),
        ("to_confluent_avro", ours, "to_avro"),
    ]


def table(bench: Bench, rows: list[Way], repeats: int, warm: int) -> None:
    """Runs the ways by turns and prints them."""
    took: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    for turn in range(repeats + warm):
        for name, query, _ in random.sample(rows, len(rows)):
            seconds, _ = run(query())
            if turn >= warm:
                took[name].append(seconds / bench.rows * 1e6)
    for name, _, beside in rows:
        middle, low, high = quarters(took[name])
        ratio = ""
        if beside in took:
            ratio = "{:6.2f} x ({:.2f} to {:.2f}) {}".format(
                *quarters([one / other for one, other in zip(took[name], took[beside], strict=True)]), beside
            )
        print(f"{name:40} {middle:7.2f} us  ({low:.2f} to {high:.2f})  {ratio}", flush=True)


def quarters(values: list[float]) -> tuple[float, float, float]:
    """The median, and the ends of the middle half."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]


def planning(bench: Bench) -> None:
    """The seconds that a plan takes for 100 versions: the registry's answers, the column, and Spark's analysis."""
    subject = "bench100-value"
    for version in range(100):
        fields = [{"name": name, "type": kind} for name, kind in FIELDS]
        fields.append({"name": f"only{version}", "type": ["null", "int"], "default": None})
        text = json.dumps({"type": "record", "name": "Flight", "fields": fields})
        bench.registry.register(subject, SchemaText(AVRO, text))
    # Looking at the file is no part of a plan.
    data = bench.read("all1")
    for turn in range(3):
        client = RegistryClient(bench.registry.urls[0])
        start = time.perf_counter()
        column = spark_avro.from_confluent_avro("value", subject=subject, registry=client)
        planned = time.perf_counter()
        data.select(column.alias("v")).schema  # noqa: B018 - asks for the analysis
        analysed = time.perf_counter()
        print(
            f"100 versions, turn {turn + 1}: plan {planned - start:.2f} s, Spark's analysis {analysed - planned:.2f} s"
        )


def kafka(bench: Bench, count: int) -> None:
    """A topic to Parquet, by ours and by hard-coded from_avro: rows a second of the clock, by turns."""
    from confluent_kafka import Producer

    with temporary_broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "queue.buffering.max.messages": 1_000_000})
        sample = list(messages(bench.ids[1], [1], 20_000))
        for n in range(count):
            producer.produce("bench1", sample[n % len(sample)])
            if n % 10_000 == 0:
                producer.poll(0)
        producer.flush(60)
        rates: dict[str, list[float]] = {"hard-coded from_avro": [], "from_confluent_avro": []}
        for turn in range(5):
            for name, column in (("hard-coded from_avro", bench.bare(1)), ("from_confluent_avro", bench.ours(1))):
                with tempfile.TemporaryDirectory() as folder:
                    start = time.perf_counter()
                    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "bench1"}
                    stream = (
                        bench.spark.readStream.format("kafka").options(**options, startingOffsets="earliest").load()
                    )
                    rows = stream.select(column.alias("v")).select("v.*").writeStream.format("parquet")
                    rows = rows.option("path", f"{folder}/out").option("checkpointLocation", f"{folder}/checkpoint")
                    rows.trigger(availableNow=True).start().awaitTermination()
                    if turn:
                        rates[name].append(count / (time.perf_counter() - start))
        bare, ours = (statistics.median(values) for values in rates.values())
        print(f"{count} records from Kafka to Parquet: hard-coded {bare:.0f}/s, ours {ours:.0f}/s, {ours / bare:.0%}")


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warm", type=int, default=3, help="turns before those that count, which are the compilers'")
    parser.add_argument("--ways", default="", help="only ways whose names have one of these parts, with commas between")
    parser.add_argument("--only", choices=("decode", "guard", "encode", "plan", "kafka"))
    parser.add_argument("--records", type=int, default=500_000, help="records through Kafka")
    arguments = parser.parse_args()
    is_wanted = lambda part: arguments.only in (None, part)  # noqa: E731 - short
    named = lambda rows: [way for way in rows if any(part in way[0] for part in arguments.ways.split(","))]  # noqa: E731
    settings = {"spark.driver.memory": "2g", "spark.log.level": "OFF", "spark.sql.shuffle.partitions": "2"}
    spark = spark_avro.session("bench", master="local[2]", settings=settings)
    with tempfile.TemporaryDirectory() as folder, running_registry() as server:
        registry = RegistryClient(server.url)
        registry.put_config({"compatibility": "NONE"})
        bench = Bench(spark, registry, folder, arguments.rows)
        if is_wanted("decode"):
            table(bench, named(ways(bench)), arguments.repeats, arguments.warm)
        if is_wanted("guard"):
            table(bench, named(guards(bench)), arguments.repeats, arguments.warm)
        if is_wanted("encode"):
            table(bench, named(encoders(bench)), arguments.repeats, arguments.warm)
        if is_wanted("plan"):
            planning(bench)
        if is_wanted("kafka"):
            kafka(bench, arguments.records)
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
