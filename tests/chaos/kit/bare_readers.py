"""Reads the targets of pipelines without Spark and without the code of pipelines; returns some columns of all rows.

A target that does not exist yet has none. A column that a file or record lacks is None.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import fastavro
import psycopg
import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

#: The columns of a row in the order that was asked for.
Row = tuple[Any, ...]
Columns = Sequence[str]


def files_folder(folder: Path, kind: str, columns: Columns) -> list[Row]:
    """A folder of Parquet, Avro or JSON files; names that begin with an underscore or a dot are not data."""
    files = sorted(folder.rglob(f"*.{kind}"))
    data = (file for file in files if not any(part[0] in "_." for part in file.relative_to(folder).parts))
    return [row for file in data for row in _FORMATS[kind](file, columns)]


def delta_table(folder: Path, columns: Columns) -> list[Row]:
    """A Delta table, by the actions of its log; without deletion vectors, and as long as no commit is deleted."""
    live: dict[str, None] = {}
    for commit in sorted((folder / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
        for action in actions:
            if "add" in action:
                assert not action["add"].get("deletionVector")
                live[action["add"]["path"]] = None
    return [row for path in live for row in _parquet(folder / unquote(path), columns)]


def iceberg_table(folder: Path, columns: Columns) -> list[Row]:
    """A table of a Hadoop catalog, by its manifests; without files of deletes."""
    hint = folder / "metadata/version-hint.text"
    if not hint.exists():
        return []
    number = hint.read_text().strip()
    metadata = json.loads((folder / f"metadata/v{number}.metadata.json").read_text())
    snapshot = metadata["current-snapshot-id"]
    lists = [entry["manifest-list"] for entry in metadata["snapshots"] if entry["snapshot-id"] == snapshot]
    manifests = [manifest for name in lists for manifest in _records(name)]
    assert all(manifest["content"] == 0 for manifest in manifests)
    files = [
        Path(entry["data_file"]["file_path"].removeprefix("file:"))
        for manifest in manifests
        for entry in _records(manifest["manifest_path"])
        if entry["status"] != 2  # deleted
    ]
    return [row for file in files for row in _parquet(file, columns)]


def sqlite_table(file: Path, table: str, columns: Columns) -> list[Row]:
    if not file.exists():
        return []
    connection = sqlite3.connect(file, timeout=60)
    try:
        if not connection.execute("select 1 from sqlite_master where name = ?", [table]).fetchone():
            return []
        return connection.execute(f"select {', '.join(columns)} from {table}").fetchall()
    finally:
        connection.close()


def postgresql_table(url: str, table: str, columns: Columns) -> list[Row]:
    with psycopg.connect(url) as connection:
        if connection.execute("select to_regclass(%s)", [table]).fetchone() == (None,):
            return []
        query = f"select {', '.join(columns)} from {table}"
        return connection.execute(query.encode()).fetchall()


def topic(servers: str, name: str, columns: Columns) -> list[Row]:
    """The committed records of a topic, whose values are JSON."""
    config = {"bootstrap.servers": servers, "group.id": "bare", "isolation.level": "read_committed"}
    consumer = Consumer({**config, "enable.auto.commit": False, "enable.partition.eof": True})
    topics = consumer.list_topics(timeout=30).topics
    partitions = topics[name].partitions if name in topics else {}
    consumer.assign([TopicPartition(name, number, 0) for number in partitions])
    rows, ended = [], 0
    while ended < len(partitions):
        message = consumer.poll(60)
        assert message is not None
        if message.error() is None:
            record = json.loads(message.value() or b"")
            rows.append(tuple(record.get(column) for column in columns))
        else:
            ended += 1
    consumer.close()
    return rows


def _parquet(file: Path, columns: Columns) -> Iterable[Row]:
    found = pq.ParquetFile(file)
    table = found.read([name for name in columns if name in found.schema_arrow.names])
    values = [table[name].to_pylist() if name in table.column_names else [None] * len(table) for name in columns]
    return zip(*values, strict=True)


def _avro(file: Path, columns: Columns) -> Iterable[Row]:
    return (tuple(record.get(name) for name in columns) for record in _records(str(file)))


def _json(file: Path, columns: Columns) -> Iterable[Row]:
    # Not `splitlines`, which also divides a text at characters that JSON need not escape.
    records = (json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line)
    return (tuple(record.get(name) for name in columns) for record in records)


_FORMATS: Mapping[str, Callable[[Path, Columns], Iterable[Row]]] = {"parquet": _parquet, "avro": _avro, "json": _json}


def _records(path: str) -> list[Any]:
    with Path(path.removeprefix("file:")).open("rb") as file:
        return list(fastavro.reader(file))
