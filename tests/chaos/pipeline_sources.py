"""Topics that change under a pipeline: made again, with more partitions, and processed a second time.

    python tests/chaos/pipeline_sources.py [--rows 2000]

Each fault runs the command `magicbyte pipeline` against a real broker. The table is read by sqlite3 and compared with a
fold over what was produced; nothing here imports spark_avro.

refused      a topic is made again, longer than before: the run ends with an error, and the table stays as it was
again        the same with `on-data-loss: report`: every record of the new topic is in the table
partitions   keys move to partitions that were added: the table has the last value of each
backwards    the last record of each key has an earlier timestamp than the first, and than one of an added partition
deleted      a backfill of the whole past brings no deleted key back

Ends with 1 if any of this does not hold.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from magicbyte.testing import temporary_broker

#: Partition, key and value; None deletes the key.
Record = tuple[int, int, str | None]


class Pipeline:
    """A pipeline from a topic to a table with the newest row of each key."""

    def __init__(self, servers: str, folder: Path, name: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": servers})
        self._producer = Producer({"bootstrap.servers": servers})
        self._servers, self._name, self._folder = servers, name, folder / name
        self._folder.mkdir()
        self._moment = int(time.time() * 1000) - 86_400_000
        self.create()

    def create(self) -> None:
        while True:
            try:
                self._admin.create_topics([NewTopic(self._name, 2)])[self._name].result(30)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
            else:
                return

    def delete(self) -> None:
        self._admin.delete_topics([self._name])[self._name].result(30)

    def add_partitions(self, count: int) -> None:
        self._admin.create_partitions([NewPartitions(self._name, count)])[self._name].result(30)
        # The producer refuses partitions that its metadata does not have yet.
        while len(self._producer.list_topics(self._name, timeout=30).topics[self._name].partitions) < count:
            time.sleep(0.1)

    def produce(self, records: Iterable[Record], *, ahead_ms: int = 0) -> None:
        for partition, key, value in records:
            self._moment += 1
            text = json.dumps({"id": key, "v": value, "op": "d" if value is None else "u"})
            self._producer.produce(self._name, text, partition=partition, timestamp=self._moment + ahead_ms)
            self._producer.poll(0)
        assert self._producer.flush(60) == 0

    def command(self, *arguments: str, policy: str = "fail") -> subprocess.CompletedProcess[str]:
        file = self._folder / "pipeline.yaml"
        file.write_text(f"""
version: 1
name: {self._name}
kafka: {{bootstrap.servers: "{self._servers}"}}
checkpoint: {self._folder}/checkpoint
source:
  topics: [{self._name}]
  value: {{format: json-plain, type: "id int, v string, op string"}}
  on-data-loss: {policy}
sink:
  sql: {{url: "sqlite:///{self._folder}/t.db", table: t, mode: {{upsert: {{key: [id], deletes: "op = 'd'"}}}}}}
""")
        command, *others = arguments
        program = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", command, str(file), *others]
        return subprocess.run(
            [*program, "--master", "local[2]"], capture_output=True, text=True, check=False, timeout=300
        )

    def run(self, policy: str = "fail") -> None:
        done = self.command("run", policy=policy)
        assert done.returncode == 0, done.stderr[-3000:]

    def rows(self) -> dict[int, str]:
        with sqlite3.connect(self._folder / "t.db") as connection:
            return dict(connection.execute("select id, v from t").fetchall())


def folded(*produced: Iterable[Record]) -> dict[int, str]:
    """The last value of each key."""
    rows: dict[int, str] = {}
    for records in produced:
        for _, key, value in records:
            rows.pop(key, None)
            if value is not None:
                rows[key] = value
    return rows


def refused(pipeline: Pipeline, count: int) -> bool:
    old: list[Record] = [(0, key, f"old {key}") for key in range(count)]
    pipeline.produce(old)
    pipeline.run()
    pipeline.delete()
    pipeline.create()
    pipeline.produce((0, key, f"new {key}") for key in range(2 * count))
    done = pipeline.command("run")
    return done.returncode != 0 and "deleted and made again" in done.stderr and pipeline.rows() == folded(old)


def again(pipeline: Pipeline, count: int) -> bool:
    old: list[Record] = [(0, key, f"old {key}") for key in range(count)]
    new: list[Record] = [(0, key, f"new {key}") for key in range(count // 2, 2 * count)]
    pipeline.produce(old)
    pipeline.run()
    pipeline.delete()
    pipeline.create()
    pipeline.produce(new)
    pipeline.run("report")
    return pipeline.rows() == folded(old, new)


def partitions(pipeline: Pipeline, count: int) -> bool:
    old: list[Record] = [(key % 2, key, value) for value in ("a", "b", "c") for key in range(count)]
    new: list[Record] = [(key % 5, key, "moved") for key in range(count)]
    pipeline.produce(old)
    pipeline.run()
    pipeline.add_partitions(5)
    pipeline.produce(new)
    pipeline.run()
    return pipeline.rows() == folded(old, new)


def backwards(pipeline: Pipeline, count: int) -> bool:
    first: list[Record] = [(key % 2, key, "first") for key in range(count)]
    last: list[Record] = [(key % 2, key, "last" if key % 3 else None) for key in range(count)]
    pipeline.produce(first, ahead_ms=3_600_000)
    pipeline.run()
    pipeline.produce(last)
    pipeline.run()
    pipeline.add_partitions(5)
    pipeline.produce(((2 + key % 3, key, "between") for key in range(count)), ahead_ms=1_800_000)
    pipeline.run()
    return pipeline.rows() == folded(first, last)


def deleted(pipeline: Pipeline, count: int) -> bool:
    old: list[Record] = [(key % 2, key, "a") for key in range(count)]
    new: list[Record] = [(key % 2, key, None if key % 3 else "b") for key in range(0, count, 4)]
    pipeline.produce(old)
    pipeline.run()
    pipeline.produce(new)
    pipeline.run()
    before = pipeline.rows()
    last = count // 2 - 1
    done = pipeline.command("backfill", "--offsets", f"0:0-{last}", "--offsets", f"1:0-{last}", "--replace")
    assert done.returncode == 0, done.stderr[-3000:]
    return before == pipeline.rows() == folded(old, new)


FAULTS: dict[str, Callable[[Pipeline, int], bool]] = {
    "refused": refused,
    "again": again,
    "partitions": partitions,
    "backwards": backwards,
    "deleted": deleted,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--fault", action="append", choices=FAULTS)
    options = parser.parse_args()
    well = True
    with tempfile.TemporaryDirectory(prefix="magicbyte-sources-") as folder, temporary_broker() as broker:
        for name in options.fault or FAULTS:
            holds = FAULTS[name](Pipeline(broker.bootstrap_servers, Path(folder), name), options.rows)
            print(f"{name}: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
            well &= holds
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
