"""Logs as sources: nothing is written to them, and a topic's records keep their headers."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer

from magicbyte.cli.main import main
from magicbyte.kit.failure import Failure
from magicbyte.operations.sources.files.raw import RawFile
from magicbyte.operations.sources.opening import Properties, open_source
from registry.log.topic import prepare_topic


def test_a_database_without_a_log_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table other (x)")
    content = file.read_bytes()
    with pytest.raises(Failure, match="is not the database of a registry"):
        open_source(f"sqlite:///{file}", Properties())
    assert file.read_bytes() == content
    (tmp_path / "no.db").write_text("no database")
    with pytest.raises(Failure):
        open_source(f"sqlite:///{tmp_path}/no.db", Properties())


def test_a_raw_backup_of_a_topic_includes_records_that_no_reader_uses(kafka: str, tmp_path: Path) -> None:
    topic = f"schemas-{uuid.uuid4()}"
    prepare_topic({"bootstrap.servers": kafka}, topic, replication=1, configs={}, skip_validation=False, timeout=60)
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions(10)
    sent: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]] = [
        (b'{"keytype":"OTHER"}', b"{}", [("h", b"\x00"), ("h", None)]),
        (b'{"keytype":"NOOP","magic":0}', None, []),
        (b"\xff", b"\xfe", []),
    ]
    for commits in (True, False):
        producer.begin_transaction()
        for key, value, headers in sent:
            producer.produce(topic, value, key, headers=headers, timestamp=5)
        if commits:
            producer.commit_transaction(10)
        else:
            producer.flush(10)
            producer.abort_transaction(10)
    path = tmp_path / "raw.zst"
    assert main(["backup", f"kafka:{kafka}/{topic}", "-o", str(path), "--format", "raw"]) == 0
    with RawFile(path) as file:
        records = list(file.records())
        assert [(record.key, record.value, list(record.headers)) for record in records] == sent
        assert [(record.offset, record.timestamp) for record in records] == [(0, 5), (1, 5), (2, 5)]
        configs = file.topic_configs()
        assert (configs["cleanup.policy"], configs["partitions"], configs["replication.factor"]) == (
            "compact",
            "1",
            "1",
        )
        assert file.origin().cluster_ids["kafka"]
