"""Writers on executors (`sink.kafka.via: executors`) beside as many bare transactional producers, on 1, 2 and 4 slots.

The bare producers are processes that have their records in a list, and begin together. The sink takes its rows from
Spark, encodes them and sends them by as many writers (goal 0.8 of the rate): by source partition, and by key, for which
it stores them first. All write to one topic in turn. The median and the middle half of the ratios are printed; the
first turns do not count.

The last line writes a million rows by a driver of 512 MiB, in which the tasks run too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from multiprocessing.synchronize import Barrier

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession

import spark_avro
from magicbyte.testing import temporary_broker
from spark_avro.pipeline.file.sinks import KafkaSink, Payload
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, Sink, SinkContext, SourceRange
from spark_avro.pipeline.sinks import open_sink

#: The partitions of the source.
_PARTITIONS = 8
_POSITION = (
    f"named_struct('topic', 't', 'partition', cast(id % {_PARTITIONS} as int), 'offset', id div {_PARTITIONS},"
    " 'timestamp', current_timestamp()) as _kafka"
)
#: How records are divided among the writers, and `SinkContext.of_one_record` for it.
_DIVISIONS = {"by source": True, "by key": False}


def bare(servers: str, topic: str, count: int, turns: int, begin: Barrier, end: Barrier) -> None:
    """A process with a producer: in each turn it sends its records in one transaction."""
    values = [f"{n:x<100}".encode() for n in range(count)]
    keys = [b"%d" % (n % 1000) for n in range(count)]
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "transactional.id": f"bare-{uuid.uuid4()}",
            "linger.ms": 20,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    producer.init_transactions(30)
    for _ in range(turns):
        begin.wait()
        producer.begin_transaction()
        for value, key in zip(values, keys, strict=True):
            producer.produce(topic, value, key)
        producer.commit_transaction(60)
        end.wait()


def opened(spark: SparkSession, servers: str, topic: str, slots: int, folder: str, division: str) -> Sink:
    context = SinkContext(
        spark,
        f"p-{division.replace(' ', '-')}",
        kafka={"bootstrap.servers": servers},
        checkpoint=f"{folder}/{division}",
        of_one_record=_DIVISIONS[division],
    )
    payload = Payload(format="string")
    return open_sink(KafkaSink(topic=Sql(topic), value=payload, via="executors", writers=slots), context)


def rows_of(spark: SparkSession, count: int, slots: int) -> DataFrame:
    texts = "rpad(cast(id as string), 100, 'x') as text", "cast(id % 1000 as string) as _key"
    return spark.range(0, count, 1, slots).selectExpr(*texts, _POSITION)


def written(sink: Sink, rows: DataFrame, number: int, count: int, query: str) -> Callable[[], None]:
    part = count // _PARTITIONS
    ranges = tuple(SourceRange("t", at, number * part, (number + 1) * part) for at in range(_PARTITIONS))
    batch = BatchIdentity(f"bench-{query}", query, number, ranges)

    def write() -> None:
        found = sink.write(rows, batch, reject=_refuse).written
        assert found == count, f"{found:,} of {count:,} rows were written"

    return write


def _refuse(rows: DataFrame) -> None:
    raise AssertionError(f"the topic refused {rows.count():,} rows")


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare(servers: str, slots: int, count: int, warm_up: int, repeats: int) -> None:
    """Compare on so many task slots, in a process of its own: a process has one Spark."""
    topic = f"out-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 4, 1)])[topic].result(30)
    processes = multiprocessing.get_context("spawn")
    begin, end = processes.Barrier(slots + 1), processes.Barrier(slots + 1)
    turns = warm_up + repeats
    arguments = (servers, topic, count // slots, turns, begin, end)
    others = [processes.Process(target=bare, args=arguments, daemon=True) for _ in range(slots)]
    for process in others:
        process.start()
    spark = spark_avro.session("writers", master=f"local[{slots}]")
    rows = rows_of(spark, count, slots).cache()
    rows.count()
    bare_seconds: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in _DIVISIONS}
    with tempfile.TemporaryDirectory(prefix="magicbyte-writers-") as folder:
        sinks = {name: opened(spark, servers, topic, slots, folder, name) for name in _DIVISIONS}
        for turn in range(turns):
            ours = {name: seconds_of(written(sink, rows, turn, count, name)) for name, sink in sinks.items()}
            begin.wait()
            theirs = seconds_of(end.wait)
            if turn >= warm_up:
                bare_seconds.append(theirs)
                for name, seconds in ours.items():
                    taken[name].append(seconds)
        for sink in sinks.values():
            sink.close()
    print(f"{slots} slots: {count / statistics.median(bare_seconds):,.0f} rows/s bare", flush=True)
    for name, times in taken.items():
        ratios = sorted(bare / sink for bare, sink in zip(bare_seconds, times, strict=True))
        quarter = len(ratios) // 4
        rate, middle = count / statistics.median(times), statistics.median(ratios)
        print(
            f"{slots} slots, {name}: {rate:,.0f} rows/s, {middle:.2f} x"
            f" ({ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}), goal 0.8",
            flush=True,
        )


def small_driver(servers: str) -> None:
    topic, count = f"out-{uuid.uuid4()}", 1_000_000
    spark = spark_avro.session("small", master="local[2]", settings={"spark.driver.memory": "512m"})
    with tempfile.TemporaryDirectory(prefix="magicbyte-writers-") as folder:
        sink = opened(spark, servers, topic, 2, folder, "by source")
        seconds = seconds_of(written(sink, rows_of(spark, count, 2), 0, count, "q"))
        sink.close()
    print(f"a driver of 512 MiB: {count:,} rows in {seconds:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--warm-up", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--servers", help="compare on one number of slots, or 0 for the small driver, in this process")
    options = parser.parse_args()
    if options.servers:
        [slots] = options.slots
        if slots:
            compare(options.servers, slots, options.rows, options.warm_up, options.repeats)
        else:
            small_driver(options.servers)
        return
    with temporary_broker() as broker:
        for slots in (*options.slots, 0):
            named = {"slots": slots, "rows": options.rows, "warm-up": options.warm_up, "repeats": options.repeats}
            settings = [text for name, value in named.items() for text in (f"--{name}", str(value))]
            subprocess.run(
                [sys.executable, "-P", __file__, "--servers", broker.bootstrap_servers, *settings], check=True
            )


if __name__ == "__main__":
    main()
