"""The records of the markers' topic as the page reads them: as pipelines write them, and as others do."""

from __future__ import annotations

import base64
from dataclasses import asdict

import orjson
import pytest

from magicbyte.ui.messages.scan_request import ScannedRecord
from magicbyte.ui.pipelines.bounded_records import BoundedRecords
from magicbyte.ui.pipelines.marker_book import LastChange, MarkerBook, SinkMarker, Written
from spark_avro.pipeline.batch import changes
from spark_avro.pipeline.ports import BatchIdentity, SourceRange
from spark_avro.pipeline.sinks.kafka.division import Division
from spark_avro.pipeline.sinks.kafka.query_records import Owner, StageRecord, marker_key
from spark_avro.pipeline.sinks.marker import Marker


def batch(number: int = 7, query: str = "q1", pipeline: str = "lake") -> BatchIdentity:
    return BatchIdentity(pipeline, query, number)


def marker(number: int = 7, written: int = 10, refused: int = 1) -> Marker:
    ranges = (SourceRange("flights", 0, 5, 9),)
    return Marker(number, written, refused, ranges=ranges, ends={("flights", 0): 9, ("flights", 1): 4})


def record(key: str, value: bytes, time: int = 1_000) -> ScannedRecord:
    return ScannedRecord(0, 0, time, base64.b64encode(key.encode()).decode(), base64.b64encode(value).decode())


def owner_of(writers: int = 0, before: Marker | None = None, time: int = 1, query: str = "q1") -> ScannedRecord:
    value = Owner(query, writers, before, 0).value()
    return record(Owner.key(batch(query=query), "flights-out"), value, time)


def marker_of(number: int, writer: int = 0, query: str = "q1", time: int = 1_000, written: int = 10) -> ScannedRecord:
    key = marker_key(batch(query=query), "flights-out", writer)
    return record(key, marker(number, written).text().encode(), time)


def book(*records: ScannedRecord) -> MarkerBook:
    made = MarkerBook()
    for one in records:
        made.add(one)
    return made


ENDS = {("flights", 0): 9, ("flights", 1): 4}


def sink(number: int, *, query: str = "q1", writers: int = 1, behind: int = 0, time: int | None = 1_000) -> SinkMarker:
    parts = writers - behind
    return SinkMarker("flights-out", query, writers, behind, Written(number, time, 10 * parts, parts, ENDS))


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([], {}),
        # A marker tells of a query, its owner of the pipeline.
        ([marker_of(7)], {}),
        ([owner_of()], {}),
        ([owner_of(), marker_of(7)], {"lake": [sink(7)]}),
        ([marker_of(7), owner_of()], {"lake": [sink(7)]}),
        ([owner_of(), marker_of(7), marker_of(8, time=2_000)], {"lake": [sink(8, time=2_000)]}),
        # A key may have records in several partitions, which are read one after the other.
        ([owner_of(), marker_of(8, time=2_000), marker_of(7)], {"lake": [sink(8, time=2_000)]}),
        # Another checkpoint has taken over.
        (
            [owner_of(time=1), marker_of(7), owner_of(time=2, query="q2"), marker_of(0, query="q2")],
            {"lake": [sink(0, query="q2")]},
        ),
        (
            [owner_of(time=2, query="q2"), owner_of(time=1), marker_of(7), marker_of(0, query="q2")],
            {"lake": [sink(0, query="q2")]},
        ),
        # Two writers on executors, of which one is behind; the third is of an earlier layout.
        (
            [owner_of(2), marker_of(9, 3), marker_of(8, 1), marker_of(7, 2)],
            {"lake": [sink(8, writers=2, behind=1)]},
        ),
        ([owner_of(2), marker_of(8, 1), marker_of(8, 2)], {"lake": [sink(8, writers=2)]}),
    ],
)
def test_sinks(records: list[ScannedRecord], found: dict[str, list[SinkMarker]]) -> None:
    assert book(*records).sinks() == found


def test_the_marker_before_another_number_of_writers() -> None:
    (found,) = book(owner_of(2, marker(6))).sinks()["lake"]
    assert (found.last.batch, found.writers, found.behind) == (6, 2, 0)


def test_backfills_and_stages_are_no_progress() -> None:
    backfill = BatchIdentity("lake", "bf-1", 0)
    records = [
        record(Owner.key(backfill, "flights-out"), Owner("bf-1", 0, None, 0).value()),
        record(marker_key(backfill, "flights-out", 0), marker().text().encode()),
        record(StageRecord.key(batch(), "flights-out"), StageRecord(marker(), 1, Division.BY_KEY, "a1", (1,)).value()),
    ]
    made = book(*records)
    assert (made.sinks(), made.changes(), made.unreadable) == ({}, {}, 0)


def test_the_last_change() -> None:
    def posted(time: str, number: int, *statements: str) -> ScannedRecord:
        change = changes.Change(time, "q1", number, {"7": 2, "8": None}, statements)
        return record(f"lake/change/q1-{number}", orjson.dumps(asdict(change)))

    made = book(
        posted("2026-01-01T08:00:00+00:00", 3, "ALTER TABLE t ADD COLUMN a"),
        posted("2026-01-01T07:00:00+00:00", 2),
    )
    statements = ("ALTER TABLE t ADD COLUMN a",)
    assert made.changes() == {"lake": LastChange(1_767_254_400_000, 3, {"7": 2, "8": None}, statements)}


@pytest.mark.parametrize(
    ("key", "value", "unreadable"),
    [
        ("_marker/q1/0/t", b"{}", 1),
        ("_marker/q1/0/t", b"not JSON", 1),
        ("_marker/q1/0/t", b'{"batch":"7","written":1}', 1),
        ("_marker/q1/x/t", b'{"batch":7,"written":1}', 1),
        ("_marker/q1/0/t", b'{"batch":7,"written":1,"ranges":[["t"]]}', 1),
        ("_marker/q1/0/t", b'{"batch":7,"written":1,"x":' + b"[" * 90_000 + b"]" * 90_000 + b"}", 1),
        ("_marker/q1/0/t", b" " * 300_000, 1),
        ("_owner/lake/t", b'{"query":null}', 1),
        ("_owner/lake/t", b'{"query":"q1","before":"not JSON"}', 1),
        ("lake/change/q1-1", b'{"time":1}', 1),
        # A record of another program.
        ("something", b"else", 0),
    ],
)
def test_records_that_no_pipeline_writes(key: str, value: bytes, unreadable: int) -> None:
    made = book(owner_of(), marker_of(7), record(key, value))
    assert made.unreadable == unreadable
    assert made.sinks() == {"lake": [sink(7)]}


@pytest.mark.parametrize("key", ["=", "%%%", base64.b64encode(b"\xff").decode()])
def test_keys_that_are_no_text(key: str) -> None:
    assert book(ScannedRecord(0, 0, 1, key, "e30=")).unreadable == 1


def test_records_without_a_key_or_value() -> None:
    assert book(ScannedRecord(0, 0, 1, None, "e30="), ScannedRecord(0, 0, 1, "e30=", None)).unreadable == 0


def test_a_time_that_is_none() -> None:
    made = book(record("lake/change/q1-1", b'{"time":"yesterday","query":"q1","batch":1}'))
    assert made.changes()["lake"].time is None


def test_the_memory_is_bounded() -> None:
    records = BoundedRecords[int, int]()
    for number in range(6_000):
        records.put(number, number, 100)
    assert len(list(records)) == 5_000
    assert (records.get(999), records.get(1_000)) == (None, 1_000)
    records.put(1_000, -1, 8 << 20)
    assert (list(records), records.get(1_000)) == ([1_000], -1)
    records.remove(1_000)
    records.remove(1_000)
    records.put(1, 1, 8 << 20)
    assert list(records) == [1]
