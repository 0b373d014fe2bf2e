"""Reads the targets of pipelines without Spark and without the code of pipelines: each returns the pairs (n, v).

A target that does not exist yet has none.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import fastavro
import psycopg
import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

Pairs = list[tuple[int, str]]


def parquet_folder(folder: Path) -> Pairs:
    """A folder of Parquet files; names that begin with an underscore are not data."""
    files = (file for file in folder.rglob("*.parquet") if not any(part[0] in "_." for part in file.parts[1:]))
    return _of_files(files)


def delta_table(folder: Path) -> Pairs:
    """A Delta table, by the actions of its log."""
    live: dict[str, None] = {}
    for commit in sorted((folder / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
        for action in actions:
            if "add" in action:
                live[action["add"]["path"]] = None
    return _of_files(folder / unquote(path) for path in live)


def iceberg_table(folder: Path) -> Pairs:
    """A table of a Hadoop catalog, by its manifests; without deletes."""
    hint = folder / "metadata/version-hint.text"
    if not hint.exists():
        return []
    number = hint.read_text().strip()
    metadata = json.loads((folder / f"metadata/v{number}.metadata.json").read_text())
    snapshot = metadata["current-snapshot-id"]
    lists = [entry["manifest-list"] for entry in metadata["snapshots"] if entry["snapshot-id"] == snapshot]
    files = [
        Path(entry["data_file"]["file_path"].removeprefix("file:"))
        for name in lists
        for manifest in _records(name)
        for entry in _records(manifest["manifest_path"])
        if entry["status"] != 2  # deleted
    ]
    return _of_files(files)


def sqlite_table(file: Path) -> Pairs:
    if not file.exists():
        return []
    with sqlite3.connect(file) as connection:
        if not connection.execute("select 1 from sqlite_master where name = 'rows_here'").fetchone():
            return []
        return sorted(connection.execute("select n, v from rows_here"))


def postgresql_table(url: str) -> Pairs:
    with psycopg.connect(url) as connection:
        if connection.execute("select to_regclass('rows_here')").fetchone() == (None,):
            return []
        return sorted(connection.execute("select n, v from rows_here").fetchall())


def topic(servers: str, name: str) -> Pairs:
    """The committed records of a topic."""
    config = {"bootstrap.servers": servers, "group.id": "bare", "isolation.level": "read_committed"}
    consumer = Consumer({**config, "enable.auto.commit": False, "enable.partition.eof": True})
    topics = consumer.list_topics(timeout=30).topics
    partitions = topics[name].partitions if name in topics else {}
    consumer.assign([TopicPartition(name, number, 0) for number in partitions])
    pairs, ended = [], 0
    while ended < len(partitions):
        message = consumer.poll(60)
        assert message is not None
        if message.error() is None:
            record = json.loads(message.value() or b"")
            pairs.append((record["n"], record["v"]))
        else:
            ended += 1
    consumer.close()
    return sorted(pairs)


def _of_files(files: Iterable[Path]) -> Pairs:
    rows = (row for file in files for row in pq.ParquetFile(file).read(["n", "v"]).to_pylist())
    return sorted((row["n"], row["v"]) for row in rows)


def _records(path: str) -> list[Any]:
    with Path(path.removeprefix("file:")).open("rb") as file:
        return list(fastavro.reader(file))
