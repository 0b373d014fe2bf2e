"""Start of the console tools until the first record, beside bare Python and a bare client in the same run.

Goal: the first record within 0.3 s beyond bare Python's start and the broker's own time. The broker's own time is what
a script of a few lines on confluent-kafka takes beyond importing it. All are run in turn, several times over.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from magicbyte.testing import running_registry, temporary_broker

BIN = Path(sys.executable).parent
SCHEMA = '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":"string"}]}'

#: Prints how long the broker took to hand out a topic's first record, in seconds.
CONSUME = """
import sys, time
from confluent_kafka import Consumer, TopicPartition
began = time.perf_counter()
consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": "bare"})
consumer.list_topics("t", timeout=10)
consumer.assign([TopicPartition("t", 0, 0)])
assert consumer.poll(10).error() is None
print(time.perf_counter() - began)
"""
PRODUCE = """
import sys, time
from confluent_kafka import Producer
began = time.perf_counter()
producer = Producer({"bootstrap.servers": sys.argv[1]})
producer.produce("t", b"x")
assert producer.flush(10) == 0
print(time.perf_counter() - began)
"""


def seconds(command: list[str], text: bytes = b"") -> tuple[float, float, bytes]:
    """Wall time until the first line or the end, CPU time in all, and the output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.close()
    out = process.stdout.readline()
    wall = time.perf_counter() - began
    process.stdout.read()
    assert process.wait() == 0, command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    with temporary_broker() as broker, running_registry() as registry:
        places = [broker.bootstrap_servers, "--topic", "t", "--property", f"schema.registry.url={registry.url}"]
        produce = [str(BIN / "kafka-avro-console-producer"), "--broker-list", *places]
        produce += ["--property", f"value.schema={SCHEMA}"]
        consume = [str(BIN / "kafka-avro-console-consumer"), "--bootstrap-server", *places]
        consume += ["--from-beginning", "--max-messages", "1", "--quiet"]
        line = b'{"f1": "value1"}\n'
        seconds(produce, line)
        python = [sys.executable, "-P", "-c"]
        measures: dict[str, Callable[[], tuple[float, float, bytes]]] = {
            "bare Python": lambda: seconds([*python, "print()"]),
            "bare client consumes": lambda: seconds([*python, CONSUME, broker.bootstrap_servers]),
            "bare client produces": lambda: seconds([*python, PRODUCE, broker.bootstrap_servers]),
            "kafka-avro-console-consumer": lambda: seconds(consume),
            "kafka-avro-console-producer": lambda: seconds(produce, line),
        }
        taken: dict[str, list[tuple[float, float, bytes]]] = {name: [] for name in measures}
        for _ in range(options.repeats):
            for name, measure in measures.items():
                taken[name].append(measure())
    _print(taken)


def _print(taken: dict[str, list[tuple[float, float, bytes]]]) -> None:
    bare = [wall for wall, _, _ in taken["bare Python"]]
    columns = f"{'CPU ms':>8} {'broker ms':>10} {'beyond ms':>10} {'x Python':>9}"
    print(f"{'':30} {'wall ms: median (least-most)':>30} {columns}")
    for name, samples in taken.items():
        walls = [wall * 1000 for wall, _, _ in samples]
        cpu = statistics.median(cpu for _, cpu, _ in samples) * 1000
        of_broker = "consumes" if "consume" in name else "produces"
        broker = [float(out) for _, _, out in taken[f"bare client {of_broker}"]] if name != "bare Python" else [0.0]
        beyond = statistics.median(
            (wall - python - brokers) * 1000
            for (wall, _, _), python, brokers in zip(samples, bare, broker * len(samples), strict=False)
        )
        ratio = statistics.median(wall / python for (wall, _, _), python in zip(samples, bare, strict=True))
        spread = f"{statistics.median(walls):.0f} ({min(walls):.0f}-{max(walls):.0f})"
        milliseconds = statistics.median(broker) * 1000
        print(f"{name:30} {spread:>30} {cpu:>8.0f} {milliseconds:>10.0f} {beyond:>10.0f} {ratio:>9.1f}")
    load = os.getloadavg()[0]
    print(f"goal: beyond <= 300 ms; load average {load:.1f}")


if __name__ == "__main__":
    main()
