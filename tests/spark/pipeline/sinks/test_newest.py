"""The order of an upsert's rows is total, whatever their timestamps: in theory, and by the statements in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from spark_avro.pipeline.sinks.newest import is_newer
from spark_avro.pipeline.sinks.sql.statements import DELETED, STAGE, Table

FIELDS = ("topic", "partition", "offset", "timestamp")
PLACES = (("f", 0), ("f", 1), ("g", 0))


@dataclass(frozen=True)
class Record:
    """A record of one key; `clock` is the latest timestamp of its partition up to it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    deletes: bool
    clock: int

    @property
    def rank(self) -> tuple[int, str, int, int]:
        return self.clock, self.topic, self.partition, self.offset


def records_of(drawn: Iterable[tuple[int, int, bool]]) -> list[Record]:
    """Records from the number of a place, a timestamp, and whether the record deletes the key."""
    ends: dict[int, tuple[int, int]] = {}
    records = []
    for place, timestamp, deletes in drawn:
        offset, clock = ends.get(place, (0, timestamp))
        clock = max(clock, timestamp)
        records.append(Record(*PLACES[place], offset, timestamp, deletes, clock))
        ends[place] = (offset + 1, clock)
    return records


drawn_record = st.tuples(st.integers(0, len(PLACES) - 1), st.integers(0, 4), st.booleans())


@settings(max_examples=300)
@given(st.lists(drawn_record, min_size=3, max_size=6))
@example([(0, 4, False), (1, 3, False), (0, 2, False)])
def test_of_two_records_one_is_newer_and_the_order_is_transitive(drawn: list[tuple[int, int, bool]]) -> None:
    records = records_of(drawn)
    newer = is_newer(lambda name: f"new.{name}_", lambda name: f"old.{name}_")
    places = [", ".join(f"? AS {name}_" for name in FIELDS)] * 2
    query = f"SELECT {newer} FROM (SELECT {places[0]}) AS new, (SELECT {places[1]}) AS old"
    with closing(sqlite3.connect(":memory:")) as connection:

        def is_newer_than(new: Record, old: Record) -> bool:
            values = [value for one in (new, old) for value in (one.topic, one.partition, one.offset, one.clock)]
            return bool(connection.execute(query, values).fetchone()[0])

        for one in records:
            for other in records:
                assert is_newer_than(one, other) != is_newer_than(other, one) or one == other
                # Within one partition, the offset decides.
                if (one.topic, one.partition) == (other.topic, other.partition):
                    assert is_newer_than(one, other) == (one.offset >= other.offset)
                for third in records:
                    if is_newer_than(one, other) and is_newer_than(other, third):
                        assert is_newer_than(one, third)


TABLE = Table(
    '"t"',
    {"id": "integer", "v": "integer", **{f"_kafka_{name}": "" for name in FIELDS}},
    ("id",),
    "_kafka_offset",
    is_by_offset=True,
    deletes=True,
    deleted_keys='"t_deleted_keys"',
)

BESIDE = Table(
    '"t"',
    {"id": "integer", "v": "integer"},
    ("id",),
    "_kafka_offset",
    is_by_offset=True,
    deletes=True,
    key_places='"t_key_places"',
    places={f"_kafka_{name}": "" for name in FIELDS},
)


def write(connection: sqlite3.Connection, records: Iterable[Record], table: Table = TABLE) -> None:
    connection.execute(table.create_stage())
    rows = [(1, one.timestamp, one.topic, one.partition, one.offset, one.timestamp, one.deletes) for one in records]
    columns = f"id, v, {', '.join(f'_kafka_{name}' for name in FIELDS)}, {DELETED}"
    connection.executemany(f"INSERT INTO {STAGE} ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    for statement in table.merge():
        connection.execute(statement)
    connection.execute(f"DROP TABLE {STAGE}")


@settings(max_examples=400, deadline=None)
@given(
    st.lists(drawn_record, min_size=1, max_size=9),
    st.sets(st.integers(1, 8)),
    st.tuples(st.integers(0, 8), st.integers(1, 9)),
)
@example([(0, 4, False), (0, 2, False), (1, 3, False)], {1, 2}, (1, 2))
@example([(0, 4, False), (0, 2, False), (1, 3, False)], {1}, (0, 1))
@example([(0, 4, False), (0, 2, True), (1, 3, False)], {1, 2}, (1, 2))
def test_a_table_has_the_newest_record_however_a_topic_is_divided_into_batches(
    drawn: list[tuple[int, int, bool]], cuts: set[int], again: tuple[int, int]
) -> None:
    records = records_of(drawn)
    ends = [0, *sorted(cut for cut in cuts if cut < len(records)), len(records)]
    newest = max(records, key=lambda one: one.rank)
    place = (newest.topic, newest.partition, newest.offset, newest.clock)
    left = [] if newest.deletes else [(newest.timestamp, *place)]
    query = f"SELECT v, {', '.join(f'_kafka_{name}' for name in FIELDS)} FROM t"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(TABLE.create())
        connection.execute(TABLE.create_deleted_keys())
        for start, end in pairwise(ends):
            write(connection, records[start:end])
        assert connection.execute(query).fetchall() == left
        # Another checkpoint reads some of them again.
        write(connection, records[slice(*sorted(again))])
        assert connection.execute(query).fetchall() == left


@settings(max_examples=400, deadline=None)
@given(
    st.lists(drawn_record, min_size=1, max_size=9),
    st.sets(st.integers(1, 8)),
    st.tuples(st.integers(0, 8), st.integers(1, 9)),
    st.booleans(),
)
@example([(0, 4, False), (0, 2, True), (1, 3, False)], {1, 2}, (1, 2), True)
def test_a_table_without_places_has_the_newest_record_too(
    drawn: list[tuple[int, int, bool]], cuts: set[int], again: tuple[int, int], deletes: bool
) -> None:
    records = records_of([(partition, time, is_deletion and deletes) for partition, time, is_deletion in drawn])
    ends = [0, *sorted(cut for cut in cuts if cut < len(records)), len(records)]
    newest = max(records, key=lambda one: one.rank)
    left = [] if newest.deletes else [(1, newest.timestamp)]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(BESIDE.create())
        connection.execute(BESIDE.create_key_places())
        for start, end in pairwise(ends):
            write(connection, records[start:end], BESIDE)
        assert connection.execute("SELECT * FROM t").fetchall() == left
        write(connection, records[slice(*sorted(again))], BESIDE)
        assert connection.execute("SELECT * FROM t").fetchall() == left
        assert connection.execute("SELECT count(*) FROM t_key_places").fetchall() == [(1,)]


def test_a_place_without_its_row_does_not_hold_older_records_back() -> None:
    newer, older = records_of([(0, 5, False), (0, 1, False)])[::-1]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(BESIDE.create())
        connection.execute(BESIDE.create_key_places())
        write(connection, [newer], BESIDE)
        connection.execute("DELETE FROM t")
        write(connection, [older], BESIDE)
        assert connection.execute("SELECT v FROM t").fetchall() == [(older.timestamp,)]
        write(connection, [newer], BESIDE)
        assert connection.execute("SELECT v FROM t").fetchall() == [(newer.timestamp,)]
