"""`magicbyte ids`: records counted in a second, beside bare consume loops on the same topic, in turn.

Goal: at least 0.8 of the rate of a bare loop with the client's defaults, which takes batches and looks at no record.
Another bare loop has the settings that `magicbyte ids` gives its consumer, and shows what counting itself costs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from harness import Sample, interleaved, print_table

from magicbyte.testing import temporary_broker
from magicbyte.topic_ids.scan import SETTINGS, Scanner, Selection
from serdes.console.kafka import consumer_config
from serdes.message import wire

TOPIC = "t"
PARTITIONS = 2
#: Schema id -> records of a million.
PLANTED = {1: 1, 2: 1_000, 3: 332_000, 4: 666_999}


def fill(servers: str, payload: int) -> int:
    """Send the planted records, and return their number."""
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        future.result()
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 2_000_000})
    order = [schema_id for schema_id, count in PLANTED.items() for _ in range(count)]
    for number in range(len(order)):
        value = wire.prefix(order[number * 7 % len(order)]) + b"x" * payload
        while True:
            try:
                producer.produce(TOPIC, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0
    return len(order)


def measured(count: int, read: Callable[[], None]) -> Sample:
    began, cpu = time.perf_counter(), time.process_time()
    read()
    seconds = time.perf_counter() - began
    return Sample(count / seconds, seconds * 1000, seconds * 1000, (time.process_time() - cpu) / count * 1e6, 0.0)


def bare(servers: str, count: int, settings: dict[str, object], batch: int) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bare", "enable.auto.commit": False, **settings})
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    taken = 0
    while taken < count:
        taken += len(consumer.consume(batch, 0.2))
    consumer.close()


def counting(servers: str) -> None:
    scanner = Scanner(consumer_config(servers, {}, group="ids", committing=False), 30)
    scan = scanner.open(TOPIC, Selection())
    scanner.run(scan)
    scanner.close()
    assert {schema_id: usage.records for schema_id, usage in scan.tally.ids.items()} == PLANTED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--payload", type=int, default=95, help="bytes behind the schema id (default 95)")
    options = parser.parse_args()
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        count = fill(servers, options.payload)
        tuned: dict[str, object] = {**SETTINGS, "enable.partition.eof": False}
        measures: dict[str, Callable[[], Sample]] = {
            "bare loop, same settings": lambda: measured(count, lambda: bare(servers, count, tuned, 1000)),
            "bare loop, defaults": lambda: measured(count, lambda: bare(servers, count, {}, 10_000)),
            "magicbyte ids": lambda: measured(count, lambda: counting(servers)),
        }
        for measure in measures.values():
            measure()
        samples = interleaved(measures, options.repeats)
    print_table(f"{count:,} records counted exactly; a request is a record", samples, "bare loop, same settings")


if __name__ == "__main__":
    main()
